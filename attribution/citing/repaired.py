"""Values of a repaired answer: what became of each marker, and the answer cited anew."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from propcite.attribution.citations import CitedAnswer, Evidence, Verdict
from propcite.attribution.formats.alce import marked
from propcite.retrieval.text import Passage, Span


class State(StrEnum):
    """What became of a marker."""

    KEPT = "kept"
    DROPPED = "dropped"
    UNKNOWN = "no such passage"
    ADDED = "added"


@dataclass(frozen=True, slots=True)
class Check:
    """One number at one sentence: `marker` is its place in the given answer, none when PropCite added it.

    `verdict` is the best that the passage reaches for any claim of the sentence, `evidence` the words that reach it.
    """

    number: int
    state: State
    sentence: Span
    marker: Span | None = None
    verdict: Verdict | None = None
    evidence: Evidence | None = None


@dataclass(frozen=True, slots=True)
class Repaired:
    """An answer cited anew.  `answer` is without markers of its own; `checks` is the difference to what was given."""

    given: str
    answer: CitedAnswer
    passages: tuple[Passage, ...]
    checks: tuple[Check, ...]

    @property
    def text(self) -> str:
        """The answer with its right markers, numbered as the passages were given."""
        return marked(self.answer, self.passages)

    def numbers(self, state: State) -> tuple[int, ...]:
        """The numbers that a state befell, in the order of the answer."""
        return tuple(check.number for check in self.checks if check.state is state)

    @property
    def changed(self) -> bool:
        return any(check.state is not State.KEPT for check in self.checks)
