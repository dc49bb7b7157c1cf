"""The embedded judge: it reads similarity, numbers and negation, and needs no weights but the encoder's."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from attribution import words
from attribution.citations import Label, Verdict
from attribution.judges import SUPPORTED_FROM, Case, label_of
from retrieval.encoder import Encoder, Floats, TokenVectors
from retrieval.text import Passage

REFUSED = 0.35  # the most a claim may score that the evidence's numbers or negation forbid; below any threshold used
SPEAKS_OF_IT = 0.6  # with this share of the claim's words beside other numbers, the evidence speaks against it


@dataclass(frozen=True, slots=True)
class Features:
    """What the embedded judge looks at, each from 0 to 1."""

    similarity: float  # mean over the claim's tokens of the best similarity in the evidence
    weakest: float  # the mean of the claim's worst quarter of tokens: what the evidence does not speak of
    numbers: float  # share of the claim's numbers that the evidence states
    overlap: (
        float  # share of the claim's content words, without numbers, that the evidence holds: not scored, see `verdict`
    )

    def row(self) -> list[float]:
        """What the regression reads; overlap, pairs of words and names were tried and lowered the mean AUC."""
        return [self.similarity, self.weakest, self.numbers]


# A logistic regression on Features.row(); fitted by tests/benchmarks/fit_judge.py, which prints these lines.
INTERCEPT = -4.722
WEIGHTS = (4.371, 3.36, 0.923)


class EmbeddedJudge:
    """The default judge: no weights of its own but the encoder's, and a check of numbers that no score overrules."""

    def __init__(self, encoder: Encoder, *, supported_from: float = SUPPORTED_FROM) -> None:
        self.encoder = encoder
        self.supported_from = supported_from
        self.name = f"embedded/{encoder.name}"

    def judge(self, cases: Sequence[Case]) -> list[Verdict]:
        features = self.features(cases)
        return [self.verdict(case.claim, case.text, f) for case, f in zip(cases, features, strict=True)]

    def features(self, cases: Sequence[Case]) -> list[Features]:
        """Each claim and each text is encoded once, however often it comes."""
        claims = list(dict.fromkeys(case.claim for case in cases))
        texts = list(dict.fromkeys(text for case in cases for text in case.evidence if text.strip()))
        as_query = dict(zip(claims, self.encoder.encode_queries(claims), strict=True))
        passages = [Passage(id="", text=text) for text in texts]
        as_passage = dict(zip(texts, self.encoder.encode_passages(passages), strict=True))
        return [_features(case, as_query[case.claim], as_passage) for case in cases]

    def verdict(self, claim: str, evidence: str, features: Features) -> Verdict:
        """The score's verdict, unless plain words forbid it: other numbers, units or words, or a "not" on one side."""
        probability = support_probability(features)
        speaks_of_it = features.overlap >= SPEAKS_OF_IT
        if words.missing_numbers(claim, evidence):
            probability = min(probability, REFUSED)
            difference = _difference(claim, evidence) if speaks_of_it else ""
            return Verdict(
                Label.CONTRADICTED if difference else label_of(probability, self.supported_from),
                probability,
                difference,
            )
        if reason := _contradiction(claim, evidence, speaks_of_it=speaks_of_it):
            return Verdict(Label.CONTRADICTED, min(probability, REFUSED), reason)
        open_to_doubt = probability >= self.supported_from and not words.stands_in(claim, evidence)
        if open_to_doubt and words.only_hedged(claim, evidence, share=SPEAKS_OF_IT):
            probability = max(0.0, self.supported_from - 1e-4)
            return Verdict(label_of(probability, self.supported_from), probability, "the source only says that it may")
        return Verdict(label_of(probability, self.supported_from), probability)


def support_probability(features: Features) -> float:
    z = INTERCEPT + sum(w * x for w, x in zip(WEIGHTS, features.row(), strict=True))
    return round(1.0 / (1.0 + math.exp(-z)), 4)


def _features(case: Case, query: TokenVectors, encoded: dict[str, TokenVectors]) -> Features:
    best = _best_similarity(query, [encoded[text] for text in case.evidence if text.strip()])
    return Features(
        similarity=float(best.mean()) if len(best) else 0.0,
        weakest=float(np.sort(best)[: max(1, len(best) // 4)].mean()) if len(best) else 0.0,
        numbers=_numbers_found(case.claim, case.text),
        overlap=words.plain_share(case.claim, case.text),
    )


def _numbers_found(claim: str, evidence: str) -> float:
    stated = words.numbers(claim)
    return 1.0 - len(words.missing_numbers(claim, evidence)) / len(stated) if stated else 1.0


def _best_similarity(query: TokenVectors, passages: Sequence[TokenVectors]) -> Floats:
    """Each word token's best similarity among the word tokens of the evidence.  -> (q,)"""
    own = query.vectors[query.offsets[:, 0] >= 0]
    others = [p.vectors[p.offsets[:, 0] >= 0] for p in passages]
    if not len(own) or not sum(map(len, others)):
        return np.zeros(0, dtype=np.float32)
    best: Floats = (own @ np.concatenate(others).T).max(axis=1)
    return best


def _contradiction(claim: str, evidence: str, *, speaks_of_it: bool) -> str:
    """Why plain words say that the evidence speaks against the claim, where its numbers do not; "" where they do not.

    Words that stand in the evidence as they are may still be negated there, but no other word or unit opposes them.
    """
    if not words.stands_in(claim, evidence):
        pair = words.opposed_words(claim, evidence, share=SPEAKS_OF_IT)
        if pair := pair or (words.other_unit(claim, evidence) if speaks_of_it else None):
            return f"source says “{pair[1]}”; answer says “{pair[0]}”"
    if not speaks_of_it or not words.negation_differs(claim, evidence):
        return ""
    same = words.denial_in_other_words(claim, evidence, share=SPEAKS_OF_IT)
    return "" if same else "one of the two is negated, the other is not"


def _difference(claim: str, evidence: str) -> str:
    """What differs, in words: the claim's numbers that the source lacks beside the source's others of the same kind.

    Nothing when none is of a kind: a year that the source does not name is not contradicted by its price.
    """
    says = _number_words(evidence, words.numbers(claim))
    claimed = _number_words(claim, words.numbers(claim) - words.missing_numbers(claim, evidence))
    kinds = {_kind(number) for number in says} & {_kind(number) for number in claimed}
    says = [number for number in says if _kind(number) in kinds]
    claimed = [number for number in claimed if _kind(number) in kinds]
    return f"source says {', '.join(says[:4])}; answer says {', '.join(claimed[:4])}" if says else ""


def _kind(number: str) -> str:
    """What a number as it is written counts: years, months, money, shares, or other things."""
    if re.fullmatch(r"1\d{3}|20\d{2}", number):
        return "year"
    if any(sign in number for sign in "$€£¥"):
        return "money"
    if "%" in number or "per" in number:
        return "share"
    return "date" if any(month in number for month in words.MONTH_NAMES) else "count"


def _number_words(text: str, known: set[str]) -> list[str]:
    """The numbers of a text as it writes them (with their unit), without those that are known already."""
    found = [m.group().strip(" .,;") for m in words.NUMBER_WITH_UNIT.finditer(text) if words.numbers(m.group()) - known]
    return list(dict.fromkeys(found))
