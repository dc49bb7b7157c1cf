"""Takes a language model's thoughts, `<think>…</think>` in front of its answer, out of a text as it comes."""

from __future__ import annotations

import re

_NAMES = ("think", "thinking", "thought", "reasoning")
OPENS = (*(f"<{name}>" for name in _NAMES), "[THINK]")
CLOSES = (*(f"</{name}>" for name in _NAMES), "[/THINK]")
_CLOSE = re.compile("|".join(map(re.escape, CLOSES)))


class Thoughts:
    """Passes a text on without thoughts; what may still become a sign of one is held back until that is known.

    `inside` while they go on.  `late` once thoughts ended whose beginning nobody saw, since it stood in the prompt:
    what was passed on until then was thought.
    """

    def __init__(self) -> None:
        self.inside, self.late = False, False
        self._known = False  # whether the text begins with thoughts
        self._blank = True  # nothing but white space has been passed on
        self._held = ""

    @property
    def num_held(self) -> int:
        """How many characters are held back."""
        return len(self._held)

    def feed(self, text: str) -> str:
        self._held += text
        if not self._known:
            start = self._held.lstrip()
            if any(sign.startswith(start) and sign != start for sign in OPENS):
                return ""
            self._known, self.inside = True, start.startswith(OPENS)
        while found := _CLOSE.search(self._held):
            self.late = self.late or not self.inside
            self.inside, self._blank = False, True
            self._held = self._held[found.end() :]
        size = _begun(self._held)
        passed, self._held = self._held[: len(self._held) - size], self._held[len(self._held) - size :]
        return "" if self.inside else self._passed(passed)

    def finish(self) -> str:
        """What was held back, at the end of the text; nothing where it ends in the midst of thoughts."""
        held, self._held = self._held, ""
        return "" if self.inside else self._passed(held)

    def _passed(self, text: str) -> str:
        if self._blank:
            text = text.lstrip()
            self._blank = not text
        return text


def _begun(text: str) -> int:
    """How many characters at the end may be the beginning of a closing sign."""
    longest = max(map(len, CLOSES)) - 1
    return next((n for n in range(min(longest, len(text)), 0, -1) if any(c.startswith(text[-n:]) for c in CLOSES)), 0)
