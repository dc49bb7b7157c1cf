"""A repaired answer: what happened to each of its markers, and the answer with its citations."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from propcite.attribution.citations import CitedAnswer, Evidence, Verdict
from propcite.attribution.formats.alce import with_markers
from propcite.retrieval.text import Passage, Span


class MarkerState(StrEnum):
    """What happened to a marker.

    >>> MarkerState("dropped")
    <MarkerState.DROPPED: 'dropped'>
    """

    KEPT = "kept"
    DROPPED = "dropped"
    UNKNOWN = "no such passage"
    ADDED = "added"
    UNCHECKED = "not checked"  # the judge failed: the marker stays as it was typed


@dataclass(frozen=True, slots=True)
class MarkerCheck:
    """One number at one sentence.

    `marker` is its place in the original answer, None if PropCite added it.  `verdict` is the best that the passage
    reaches for any claim of the sentence, `evidence` the words that reach it.

    >>> from propcite import PropCite
    >>> passages = ["The museum opened in 1987.", "It rained."]
    >>> repaired = PropCite.default().repair("The museum opened in 1987 [2].", passages)
    >>> [(check.number, check.state.value) for check in repaired.checks]
    [(2, 'dropped'), (1, 'added')]
    """

    number: int
    state: MarkerState
    sentence: Span
    marker: Span | None = None
    verdict: Verdict | None = None
    evidence: Evidence | None = None


@dataclass(frozen=True, slots=True)
class Repaired:
    """A repaired answer.

    `given` is the original text; `answer` is cited and has no markers of its own; `checks` list what changed.

    >>> from propcite import PropCite
    >>> passages = ["The museum opened in 1987.", "It rained."]
    >>> PropCite.default().repair("The museum opened in 1987 [2].", passages).text
    'The museum opened in 1987 [1].'
    """

    given: str
    answer: CitedAnswer
    passages: tuple[Passage, ...]
    checks: tuple[MarkerCheck, ...]

    @property
    def text(self) -> str:
        """Return the answer with its right and unchecked markers, numbered as the passages were given."""
        typed: dict[Span, list[int]] = {}
        for check in self.checks:
            if check.state is MarkerState.UNCHECKED:
                typed.setdefault(check.sentence, []).append(check.number)
        return with_markers(self.answer, self.passages, typed=typed)

    def numbers(self, state: MarkerState) -> tuple[int, ...]:
        """Return the numbers with this state, in the order of the answer."""
        return tuple(check.number for check in self.checks if check.state is state)

    @property
    def changed(self) -> bool:
        return any(check.state not in (MarkerState.KEPT, MarkerState.UNCHECKED) for check in self.checks)
