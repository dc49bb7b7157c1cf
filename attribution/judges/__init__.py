"""Judges: does this evidence support this claim?  Each is one method wide and gives a calibrated probability."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any, Protocol, cast, runtime_checkable

from propcite.attribution.citations import Label, Verdict
from propcite.attribution.errors import AttributionError
from propcite.retrieval.encoding.base import TextEncoder

SUPPORTED_FROM = 0.5
PARTLY_FROM = 0.3


@dataclass(frozen=True, slots=True)
class Case:
    """What a judge reads: a claim and the pieces of evidence proposed for it, which are read together.

    `context` stands around the evidence (its title, the sentences before it) and says what "it" is there; it is no
    evidence by itself.
    """

    claim: str
    evidence: tuple[str, ...]
    context: str = ""

    @property
    def text(self) -> str:
        return " ".join(self.evidence)


class Judge(Protocol):
    """Anything that says whether evidence supports a claim."""

    @property
    def name(self) -> str: ...

    def judge(self, cases: Sequence[Case]) -> list[Verdict]: ...


@runtime_checkable
class EncodingJudge(Judge, Protocol):
    """A judge that compares token vectors, so that it can share the cache of whatever cites with it."""

    @property
    def encoder(self) -> TextEncoder: ...

    def reading_with(self, encoder: TextEncoder) -> Judge:
        """Return the same judge with another encoder, such as a cache of its own."""
        ...

    def read(self, evidence: Sequence[str]) -> object:
        """Encode evidence that is likely to be judged soon."""
        ...


def accepting_from(judge: Judge, supported_from: float) -> Judge:
    """The same judge with another threshold; what it reads with is shared."""
    if not hasattr(judge, "supported_from"):
        raise AttributionError(f"the judge {judge.name} has no threshold: leave supported_from as it is")
    other: Any = copy(judge)
    other.supported_from = supported_from
    return cast(Judge, other)


def label_of(probability: float, supported_from: float = SUPPORTED_FROM) -> Label:
    """The label of a probability that nothing in the words speaks against."""
    if probability >= supported_from:
        return Label.SUPPORTED
    return Label.PARTLY if probability >= min(PARTLY_FROM, supported_from) else Label.UNSUPPORTED


__all__ = ["PARTLY_FROM", "SUPPORTED_FROM", "Case", "EncodingJudge", "Judge", "accepting_from", "label_of"]
