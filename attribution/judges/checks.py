"""What plain words forbid whatever a score says: other numbers, units, names, words or roles, a "not", a "may"."""

from __future__ import annotations

from propcite.attribution.citations import Label, Verdict
from propcite.attribution.english import words
from propcite.attribution.english.comparing.contradictions import SPEAKS_OF_IT, reason_against
from propcite.attribution.judges import label_of

RULES = "words3"  # in a judge's name: figures of other rules are another judge's
REFUSED = 0.35  # the most a claim may score that the evidence's numbers or negation forbid; below any threshold used


def checked(
    claim: str, evidence: str, probability: float, overlap: float, supported_from: float, context: str = ""
) -> Verdict:
    """The score's verdict, unless plain words forbid it.  `overlap`: share of the claim's words in the evidence.

    `context` stands around the evidence: what it names is no other name.
    """
    reason = reason_against(claim, evidence, overlap, context)
    if reason or words.missing_numbers(claim, evidence):
        probability = min(probability, REFUSED)
        label = Label.CONTRADICTED if reason else label_of(probability, supported_from)
        return Verdict(label, probability, reason)
    open_to_doubt = probability >= supported_from and not words.stands_in(claim, evidence)
    if open_to_doubt and words.only_hedged(claim, evidence, share=SPEAKS_OF_IT):
        probability = max(0.0, supported_from - 1e-4)
        return Verdict(label_of(probability, supported_from), probability, "the source only says that it may")
    return Verdict(label_of(probability, supported_from), probability)


def refused(claim: str, evidence: str, overlap: float, context: str = "") -> bool:
    """Whether plain words forbid support, so that no score is needed to say no."""
    return bool(words.missing_numbers(claim, evidence)) or bool(reason_against(claim, evidence, overlap, context))
