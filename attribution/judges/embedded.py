"""The embedded judge: it reads similarity, numbers and negation, and needs no weights but the encoder's."""

from __future__ import annotations

import math
from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, replace
from statistics import fmean

import numpy as np

from propcite.attribution.citations import Verdict
from propcite.attribution.english import words
from propcite.attribution.judges import SUPPORTED_FROM, Case
from propcite.attribution.judges.checks import RULES, checked
from propcite.attribution.judges.nearest import readings
from propcite.retrieval.encoding.base import Floats, TextEncoder, TokenVectors
from propcite.retrieval.encoding.cache import CachedEncoder
from propcite.retrieval.text import Passage


@dataclass(frozen=True, slots=True)
class Features:
    """What the embedded judge looks at, each from 0 to 1; what is alike in long evidence, as `readings` has it."""

    similarity: float  # mean over the claim's tokens of the best similarity in the evidence
    weakest: float  # the mean of the claim's worst quarter of tokens: what the evidence does not speak of
    numbers: float  # share of the claim's numbers that the evidence states
    overlap: float  # share of the claim's content words, without numbers, that the evidence holds

    def row(self) -> list[float]:
        return [self.similarity, self.weakest, self.numbers, self.overlap]


# A logistic regression on Features.row(), fitted on all rows of expertqa and of propsegment's propositions; but for
# the overlap, whose weight is set by hand: between 0.3 and 1 it changes the mean AUC of eight sources by a tenth.
INTERCEPT = -5.022
WEIGHTS = (4.371, 3.36, 0.923, 0.5)


class EmbeddedJudge:
    """A judge without weights of its own but the encoder's, and a check of numbers that no score overrules.

    Evidence that it read last it knows: answers over one collection are often judged by the same sentences.
    """

    def __init__(self, encoder: TextEncoder, *, supported_from: float = SUPPORTED_FROM) -> None:
        self.encoder = encoder
        self.supported_from = supported_from
        self.name = f"embedded/{encoder.name}+{RULES}"
        self._evidence = CachedEncoder(encoder)

    def judge(self, cases: Sequence[Case]) -> list[Verdict]:
        features = self.features(cases)
        return [self.verdict(case, f) for case, f in zip(cases, features, strict=True)]

    def features(self, cases: Sequence[Case]) -> list[Features]:
        """What is alike in long evidence is the mean of the whole and of its nearest sentences."""
        read = [readings(case) for case in cases]
        known = iter(self._alone([reading for some in read for reading in some]))
        return [_mean([next(known) for _ in some]) for some in read]

    def _alone(self, cases: Sequence[Case]) -> list[Features]:
        """Each claim and each text is encoded once, however often it comes."""
        claims = list(dict.fromkeys(case.claim for case in cases))
        texts = list(dict.fromkeys(text for case in cases for text in case.evidence if text.strip()))
        as_query = dict(zip(claims, self.encoder.encode_queries(claims), strict=True))
        as_passage = dict(zip(texts, self.read(texts), strict=True))
        return [_features(case, as_query[case.claim], as_passage) for case in cases]

    def read(self, evidence: Sequence[str]) -> list[TokenVectors]:
        """Each piece of evidence as it is compared; what is likely to be judged may be read before."""
        return self._evidence.encode_passages([Passage(id="", text=text) for text in evidence])

    def reading_with(self, encoder: TextEncoder) -> EmbeddedJudge:
        """Return the same judge with another encoder for claims; the cache of evidence is shared."""
        other = copy(self)
        other.encoder = encoder
        return other

    def verdict(self, case: Case, features: Features) -> Verdict:
        """The score's verdict, unless plain words forbid it: other numbers, units, names, or a "not" on one side."""
        p = support_probability(features)
        return checked(case.claim, case.text, p, features.overlap, self.supported_from, case.context)


def support_logit(features: Features) -> float:
    return INTERCEPT + sum(w * x for w, x in zip(WEIGHTS, features.row(), strict=True))


def support_probability(features: Features) -> float:
    return probability(support_logit(features))


def probability(logit: float) -> float:
    return round(1.0 / (1.0 + math.exp(-logit)), 4)


def _mean(read: Sequence[Features]) -> Features:
    """Of several readings of one evidence, of which the first is the whole; numbers and words are the whole's."""
    similarity, weakest = (fmean(values) for values in zip(*((f.similarity, f.weakest) for f in read), strict=True))
    return replace(read[0], similarity=similarity, weakest=weakest)


def _features(case: Case, query: TokenVectors, encoded: dict[str, TokenVectors]) -> Features:
    best = _best_similarity(query, [encoded[text] for text in case.evidence if text.strip()])
    return Features(
        similarity=float(best.mean()) if len(best) else 0.0,
        weakest=float(np.sort(best)[: max(1, len(best) // 4)].mean()) if len(best) else 0.0,
        numbers=numbers_found(case.claim, case.text),
        overlap=words.plain_share(case.claim, case.text),
    )


def numbers_found(claim: str, evidence: str) -> float:
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
