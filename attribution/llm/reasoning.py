"""Remove a language model's reasoning, `<think>…</think>` before its answer, from a text that arrives in pieces."""

from __future__ import annotations

import re
from enum import Enum, auto

_NAMES = ("think", "thinking", "thought", "reasoning")
START_TAGS = (*(f"<{name}>" for name in _NAMES), "[THINK]")
END_TAGS = (*(f"</{name}>" for name in _NAMES), "[/THINK]")
_END_TAG = re.compile("|".join(map(re.escape, END_TAGS)))


class _State(Enum):
    UNDECIDED = auto()  # too little text to tell reasoning from answer
    REASONING = auto()
    ANSWER = auto()  # presumably: an end tag would show that this was reasoning
    FINAL_ANSWER = auto()  # after reasoning ended: later tags are part of the answer


class ReasoningFilter:
    """Passes text on without reasoning; holds back whatever may still turn out to be part of a tag.

    `missed_start` is set when reasoning ends whose start tag was never seen, because it was in the prompt: all text
    passed on before was reasoning.
    """

    def __init__(self) -> None:
        self.missed_start = False
        self._state, self._has_reasoned, self._pending = _State.UNDECIDED, False, ""

    @property
    def is_reasoning(self) -> bool:
        return self._state is _State.REASONING

    @property
    def num_pending(self) -> int:
        """Return how many characters at the end of the input are held back."""
        return len(self._pending)

    def feed(self, text: str) -> str:
        """Take the next piece of text and return what can be passed on."""
        self._pending += text
        while self._is_decided() and self._state is not _State.FINAL_ANSWER and (tag := _END_TAG.search(self._pending)):
            self.missed_start = self.missed_start or not self.is_reasoning
            self._state, self._has_reasoned, self._pending = _State.UNDECIDED, True, self._pending[tag.end() :]
        if self._state is _State.UNDECIDED:
            return ""
        size = 0 if self._state is _State.FINAL_ANSWER else _partial_tag_size(self._pending)
        end = len(self._pending) - size
        passed, self._pending = self._pending[:end], self._pending[end:]
        return "" if self.is_reasoning else passed

    def finish(self) -> str:
        """Return the text held back, at the end of the input; empty if that is inside reasoning."""
        rest, self._pending = self._pending, ""
        return "" if self.is_reasoning else rest

    def _is_decided(self) -> bool:
        """Return whether the text so far is known to be reasoning or answer; drop white space before either."""
        if self._state is _State.UNDECIDED:
            self._pending = self._pending.lstrip()
            if self._pending.startswith(START_TAGS):
                self._state = _State.REASONING
            elif not any(tag.startswith(self._pending) for tag in START_TAGS):
                self._state = _State.FINAL_ANSWER if self._has_reasoned else _State.ANSWER
        return self._state is not _State.UNDECIDED


def _partial_tag_size(text: str) -> int:
    """Return how many characters at the end may be the beginning of an end tag."""
    longest = min(max(map(len, END_TAGS)) - 1, len(text))
    return next((n for n in range(longest, 0, -1) if any(tag.startswith(text[-n:]) for tag in END_TAGS)), 0)
