"""Judges: does this evidence support this claim?  Each is one method wide and gives a calibrated probability."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from attribution.citations import Label, Verdict

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


def label_of(probability: float, supported_from: float = SUPPORTED_FROM) -> Label:
    """The label of a probability that nothing in the words speaks against."""
    if probability >= supported_from:
        return Label.SUPPORTED
    return Label.PARTLY if probability >= min(PARTLY_FROM, supported_from) else Label.UNSUPPORTED


__all__ = ["PARTLY_FROM", "SUPPORTED_FROM", "Case", "Judge", "label_of"]
