"""Text that waits for citations: where these stand in the text, a sentence's come before what follows it."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable

from propcite.app.server.proxy.citing import ReasoningMask
from propcite.attribution.prose.sentences import SentenceStream
from propcite.retrieval.text import Span

_BLANK = re.compile(r"\s")


class SentenceGate:
    """Lets text through up to the end of a sentence, and what follows once that sentence is cited.

    Blanks are held until a word follows them, and text behind a stop until the stop is known to end a sentence or not.
    """

    def __init__(self) -> None:
        self._mask, self._sentences = ReasoningMask(), SentenceStream()
        self._held, self._num_sent = "", 0
        self._ends: deque[int] = deque()  # of sentences that are not cited yet
        self._is_open = False

    def feed(self, text: str) -> str:
        """Take the next piece of the text, and return what can be sent now."""
        self._held += text
        self._note(self._sentences.feed(self._mask.feed(text)))
        return self.next()

    def finish(self) -> str:
        """Take the end of the text, and return what can be sent now."""
        self._note(self._sentences.feed(self._mask.finish()))
        self._note(self._sentences.finish())
        return self.next()

    def cited(self) -> bool:
        """Pass the end of the next sentence; return whether exactly the text up to this end has been sent."""
        return bool(self._ends) and self._ends.popleft() == self._num_sent

    @property
    def is_waiting(self) -> bool:
        """Return whether a sentence has ended that is not cited yet."""
        return bool(self._ends)

    def next(self) -> str:
        """Return what can be sent since the last call."""
        size = self._size()
        text, self._held = self._held[:size], self._held[size:]
        self._num_sent += size
        return text

    def open(self) -> str:
        """Hold nothing from now on, and return what is held."""
        self._is_open = True
        return self.next()

    def _size(self) -> int:
        if self._is_open:
            return len(self._held)
        if self._ends:
            return max(0, self._ends[0] - self._num_sent)
        size, stop = len(self._held), self._sentences.undecided
        if stop is not None:
            blank = _BLANK.search(self._held, max(0, stop - self._num_sent))
            size = blank.start() if blank else size
        return len(self._held[:size].rstrip())

    def _note(self, sentences: Iterable[tuple[Span, str]]) -> None:
        self._ends.extend(span.end for span, _ in sentences)
