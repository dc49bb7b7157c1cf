"""Measuring judges: does a score tell what supports a claim from what does not, and does 0.7 mean 70 of 100?"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from sklearn.metrics import balanced_accuracy_score, roc_auc_score

from app.evaluate.gold import GoldVerdict
from attribution import words
from attribution.judges import SUPPORTED_FROM, Case, Judge
from retrieval.encoder import Encoder, Floats
from retrieval.granularity import score_units
from retrieval.text import Passage, Span

BINS = 10

Scorer = Callable[[Sequence[Case]], Sequence[float]]


@dataclass(frozen=True, slots=True)
class Judged:
    """A score on the claims of one source, in percent; the calibration error is that of ten equal bins."""

    source: str
    rows: int
    score: str
    auc: float
    balanced_accuracy: float
    calibration_error: float


def judged(rows: Sequence[GoldVerdict], scorers: dict[str, Scorer]) -> Iterator[Judged]:
    """Each score on each source with both kinds of claims, and the plain mean over these."""
    cases = [Case(row.claim, row.evidence) for row in rows]
    truth = np.array([row.supported for row in rows])
    sources = np.array([row.source for row in rows])
    both = [s for s in dict.fromkeys(sources.tolist()) if 0 < truth[sources == s].mean() < 1]
    for name, scorer in scorers.items():
        scores = np.array(scorer(cases))
        found = [_judged(source, name, truth[sources == source], scores[sources == source]) for source in both]
        yield from found
        if found:
            yield _mean(found, name)


def _judged(source: str, name: str, truth: Floats, scores: Floats) -> Judged:
    return Judged(
        source,
        len(truth),
        name,
        round(100 * float(roc_auc_score(truth, scores)), 1),
        round(100 * float(balanced_accuracy_score(truth, scores >= SUPPORTED_FROM)), 1),
        round(100 * calibration_error(truth, scores), 1),
    )


def _mean(found: Sequence[Judged], name: str) -> Judged:
    figures = np.mean([(f.auc, f.balanced_accuracy, f.calibration_error) for f in found], axis=0)
    return Judged("mean", sum(f.rows for f in found), name, *(round(float(x), 1) for x in figures))


def calibration_error(truth: Floats, scores: Floats) -> float:
    """How far, on average, a probability is from the share that turned out true.

    >>> calibration_error(np.array([1, 0, 1, 1]), np.array([0.75, 0.75, 0.75, 0.75]))
    0.0
    """
    bins = np.minimum((np.clip(scores, 0, 1) * BINS).astype(int), BINS - 1)
    gaps = [(bins == b).mean() * abs(truth[bins == b].mean() - scores[bins == b].mean()) for b in set(bins.tolist())]
    return float(sum(gaps))


def scorers(judge: Judge | None, encoder: Encoder) -> dict[str, Scorer]:
    """Word overlap and similarity alone, and the judge beside them."""
    plain: dict[str, Scorer] = {
        "overlap": lambda cases: [words.plain_share(case.claim, case.text) for case in cases],
        "similarity": lambda cases: similarities(cases, encoder),
    }
    if judge is None:
        return plain
    return {**plain, judge.name.split("/")[0]: lambda cases: [v.probability for v in judge.judge(cases)]}


def similarities(cases: Sequence[Case], encoder: Encoder) -> list[float]:
    """Each claim's mean over its tokens of the best similarity in its evidence, the best piece of it."""
    claims = encoder.encode_queries([case.claim for case in cases])
    texts = list(dict.fromkeys(text for case in cases for text in case.evidence))
    encoded = dict(zip(texts, encoder.encode_passages([Passage("", text) for text in texts]), strict=True))
    return [
        max(
            float(score_units(claim.vectors, claim.weights(), encoded[text], [(Span(0, len(text)),)])[0])
            for text in case.evidence
        )
        for claim, case in zip(claims, cases, strict=True)
    ]
