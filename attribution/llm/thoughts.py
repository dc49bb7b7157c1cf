"""Takes a language model's thoughts, `<think>…</think>` in front of its answer, out of a text as it comes."""

from __future__ import annotations

import re
from enum import Enum, auto

_NAMES = ("think", "thinking", "thought", "reasoning")
OPENS = (*(f"<{name}>" for name in _NAMES), "[THINK]")
CLOSES = (*(f"</{name}>" for name in _NAMES), "[/THINK]")
_CLOSE = re.compile("|".join(map(re.escape, CLOSES)))


class _State(Enum):
    BEGINS = auto()  # thoughts, or the answer: not yet known
    INSIDE = auto()
    ANSWERS = auto()  # it seems: a closing sign would show that this was thought
    OVER = auto()  # thoughts have ended, the rest is the answer


class Thoughts:
    """Passes a text on without thoughts; what may still become a sign of one is held back until that is known.

    `late` once thoughts ended whose beginning nobody saw, since it stood in the prompt: what was passed on until then
    was thought.
    """

    def __init__(self) -> None:
        self.late = False
        self._state, self._seen, self._held = _State.BEGINS, False, ""

    @property
    def inside(self) -> bool:
        return self._state is _State.INSIDE

    @property
    def num_held(self) -> int:
        """How many characters at the end of what came are held back; what was passed on last stands before these."""
        return len(self._held)

    def feed(self, text: str) -> str:
        self._held += text
        while self._is_known() and self._state is not _State.OVER and (found := _CLOSE.search(self._held)):
            self.late = self.late or not self.inside
            self._state, self._seen, self._held = _State.BEGINS, True, self._held[found.end() :]
        if self._state is _State.BEGINS:
            return ""
        size = 0 if self._state is _State.OVER else _begun(self._held)
        passed, self._held = self._held[: len(self._held) - size], self._held[len(self._held) - size :]
        return "" if self.inside else passed

    def finish(self) -> str:
        """What was held back, at the end of the text; nothing where it ends in the midst of thoughts."""
        held, self._held = self._held, ""
        return "" if self.inside else held

    def _is_known(self) -> bool:
        """Whether it can be told by now what this is; white space in front of either is left out."""
        if self._state is _State.BEGINS:
            self._held = self._held.lstrip()
            if self._held.startswith(OPENS):
                self._state = _State.INSIDE
            elif not any(sign.startswith(self._held) for sign in OPENS):
                self._state = _State.OVER if self._seen else _State.ANSWERS
        return self._state is not _State.BEGINS


def _begun(text: str) -> int:
    """How many characters at the end may be the beginning of a closing sign."""
    longest = max(map(len, CLOSES)) - 1
    return next((n for n in range(min(longest, len(text)), 0, -1) if any(c.startswith(text[-n:]) for c in CLOSES)), 0)
