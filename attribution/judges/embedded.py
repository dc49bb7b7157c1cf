"""The embedded judge: a small regression over similarity, numbers and shared words, with no network of its own."""

from __future__ import annotations

import math
from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, replace
from statistics import fmean

import numpy as np

from propcite.attribution.citations import Verdict
from propcite.attribution.english import missing_numbers, numbers, plain_share
from propcite.attribution.judges import SUPPORTED_FROM, Case
from propcite.attribution.judges.excerpts import with_excerpt
from propcite.attribution.judges.word_checks import RULES, checked_verdict
from propcite.retrieval.encoding.base import Floats, TextEncoder, TokenVectors
from propcite.retrieval.encoding.cache import CachedEncoder
from propcite.retrieval.text import Passage


@dataclass(frozen=True, slots=True)
class Features:
    """The inputs of the regression, each from 0 to 1."""

    similarity: float  # mean over the claim's tokens of the best similarity in the evidence
    weakest: float  # mean of the claim's worst quarter of tokens: parts that the evidence does not mention
    numbers: float  # share of the claim's numbers that the evidence states
    overlap: float  # share of the claim's content words, without numbers, that the evidence contains

    def row(self) -> list[float]:
        return [self.similarity, self.weakest, self.numbers, self.overlap]


# A logistic regression on Features.row(), fitted on all rows of expertqa and of propsegment's propositions, except the
# weight of the overlap, which is set by hand: between 0.3 and 1 it changes the mean AUC of eight sources by 0.1 points.
INTERCEPT = -5.022
WEIGHTS = (4.371, 3.36, 0.923, 0.5)


class EmbeddedJudge:
    """Compares token vectors of claim and evidence; word checks overrule the score.

    It caches the vectors of evidence, because the same sentences of a collection are judged for many answers.
    """

    def __init__(self, encoder: TextEncoder, *, supported_from: float = SUPPORTED_FROM) -> None:
        self.encoder = encoder
        self.supported_from = supported_from
        self.name = f"embedded/{encoder.name}+{RULES}"
        self._evidence_cache = CachedEncoder(encoder)

    def judge(self, cases: Sequence[Case]) -> list[Verdict]:
        features = self.features(cases)
        return [self.verdict(case, f) for case, f in zip(cases, features, strict=True)]

    def features(self, cases: Sequence[Case]) -> list[Features]:
        """Return the features of each case; long evidence and its excerpt are averaged."""
        groups = [with_excerpt(case) for case in cases]
        features = iter(self._features([case for group in groups for case in group]))
        return [_mean([next(features) for _ in group]) for group in groups]

    def _features(self, cases: Sequence[Case]) -> list[Features]:
        """Return the features of each case, and encode each claim and each text once."""
        claims = list(dict.fromkeys(case.claim for case in cases))
        texts = list(dict.fromkeys(text for case in cases for text in case.evidence if text.strip()))
        as_query = dict(zip(claims, self.encoder.encode_queries(claims), strict=True))
        as_passage = dict(zip(texts, self.encode_evidence(texts), strict=True))
        return [_case_features(case, as_query[case.claim], as_passage) for case in cases]

    def encode_evidence(self, evidence: Sequence[str]) -> list[TokenVectors]:
        """Return the vectors of each text, and cache them for later cases."""
        return self._evidence_cache.encode_passages([Passage(id="", text=text) for text in evidence])

    def with_encoder(self, encoder: TextEncoder) -> EmbeddedJudge:
        """Return the same judge with another encoder for claims; both share the cache of evidence."""
        other = copy(self)
        other.encoder = encoder
        return other

    def verdict(self, case: Case, features: Features) -> Verdict:
        """Return the verdict of the score, unless the word checks rule out support."""
        p = support_probability(features)
        return checked_verdict(case.claim, case.text, p, features.overlap, self.supported_from, case.context)


def support_logit(features: Features) -> float:
    return INTERCEPT + sum(w * x for w, x in zip(WEIGHTS, features.row(), strict=True))


def support_probability(features: Features) -> float:
    return probability(support_logit(features))


def probability(logit: float) -> float:
    return round(1.0 / (1.0 + math.exp(-logit)), 4)


def _mean(features: Sequence[Features]) -> Features:
    """Average the similarities; numbers and overlap are those of the first, which has the whole evidence."""
    similarities = ((f.similarity, f.weakest) for f in features)
    similarity, weakest = (fmean(values) for values in zip(*similarities, strict=True))
    return replace(features[0], similarity=similarity, weakest=weakest)


def _case_features(case: Case, query: TokenVectors, vectors: dict[str, TokenVectors]) -> Features:
    best = _best_similarity(query, [vectors[text] for text in case.evidence if text.strip()])
    return Features(
        similarity=float(best.mean()) if len(best) else 0.0,
        weakest=float(np.sort(best)[: max(1, len(best) // 4)].mean()) if len(best) else 0.0,
        numbers=number_share(case.claim, case.text),
        overlap=plain_share(case.claim, case.text),
    )


def number_share(claim: str, evidence: str) -> float:
    """Return the share of the claim's numbers that the evidence states; 1 for a claim without numbers."""
    stated = numbers(claim)
    return 1.0 - len(missing_numbers(claim, evidence)) / len(stated) if stated else 1.0


def _best_similarity(query: TokenVectors, passages: Sequence[TokenVectors]) -> Floats:
    """Return each word token's best similarity among the word tokens of the evidence.  (q,)"""
    own = query.vectors[query.offsets[:, 0] >= 0]
    others = [p.vectors[p.offsets[:, 0] >= 0] for p in passages]
    if not len(own) or not sum(map(len, others)):
        return np.zeros(0, dtype=np.float32)
    best: Floats = (own @ np.concatenate(others).T).max(axis=1)
    return best
