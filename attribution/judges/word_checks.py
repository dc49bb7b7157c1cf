"""Overrule any score by plain words: other numbers or units, opposed words, exchanged roles, "not"."""

from __future__ import annotations

from collections.abc import Sequence

from propcite.attribution.citations import Label, Verdict
from propcite.attribution.english import contradiction, missing_numbers, plain_share
from propcite.attribution.judges import SUPPORTED_FROM, Case, Judge, label_of, with_threshold

RULES = "words5"  # version of the rules, part of judges' names: results under other rules are not comparable
MAX_REFUSED_PROBABILITY = 0.35  # of a claim that the evidence's words rule out; below any threshold in use


def checked_verdict(
    claim: str, evidence: str, probability: float, overlap: float, supported_from: float, context: str = ""
) -> Verdict:
    """Return the verdict of a probability, lowered if plain words rule out support.

    `overlap` is the share of the claim's words in the evidence.  `context` is the text around the evidence, which may
    say what it speaks of.
    """
    reason = contradiction(claim, evidence, overlap, context)
    if reason or missing_numbers(claim, evidence):
        probability = min(probability, MAX_REFUSED_PROBABILITY)
        label = Label.CONTRADICTED if reason else label_of(probability, supported_from)
        return Verdict(label, probability, reason)
    return Verdict(label_of(probability, supported_from), probability)


class WordCheckedJudge:
    """Applies the word checks to the supported verdicts of any judge.

    The checks cannot add or convert: a sum that a language model accepts is refused.
    """

    def __init__(self, judge: Judge, *, supported_from: float = SUPPORTED_FROM) -> None:
        self.inner = judge
        self._supported_from = supported_from
        self.name = f"{judge.name}+{RULES}"

    @property
    def supported_from(self) -> float:
        return self._supported_from

    @supported_from.setter
    def supported_from(self, supported_from: float) -> None:
        self._supported_from = supported_from
        self.inner = with_threshold(self.inner, supported_from)

    def judge(self, cases: Sequence[Case]) -> list[Verdict]:
        return [self._checked(*pair) for pair in zip(cases, self.inner.judge(cases), strict=True)]

    def _checked(self, case: Case, verdict: Verdict) -> Verdict:
        if verdict.label is not Label.SUPPORTED:
            return verdict
        overlap = plain_share(case.claim, case.text)
        return checked_verdict(case.claim, case.text, verdict.probability, overlap, self.supported_from, case.context)
