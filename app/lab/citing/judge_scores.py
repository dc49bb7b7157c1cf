"""Scores of judges: whether they separate supported claims from others, and whether probabilities are calibrated."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

import numpy as np
from sklearn.metrics import balanced_accuracy_score, precision_recall_curve, roc_auc_score

from propcite.app.lab.citing.gold import GoldVerdict
from propcite.app.lab.citing.judge_bootstrap import (
    Truth,
    bootstrap_auc,
    bootstrap_balanced_accuracy,
    bootstrap_calibration_error,
    bootstrap_threshold,
)
from propcite.app.lab.runs.aggregates import ratio
from propcite.app.lab.runs.runner import Pending, split_cost, timed
from propcite.app.lab.runs.significance import Floats, bootstrap_interval, percentile_interval
from propcite.app.library.store.runs import RunItem
from propcite.attribution import english
from propcite.attribution.judges import SUPPORTED_FROM, Case, plain_case
from propcite.attribution.judges.embedded import EmbeddedJudge
from propcite.attribution.judges.reader import ReaderJudge
from propcite.attribution.propcite import PropCite
from propcite.retrieval.encoding.base import Ints, TextEncoder, TokenVectors
from propcite.retrieval.granularity import score_units
from propcite.retrieval.text import Passage, Span

BINS = 10
PRECISIONS = (80, 85, 90, 95)
PLAIN = ("overlap", "similarity")  # scores that are no probabilities
VERDICTS = "claims judged"  # prefix of the ways of these items

Scorer = Callable[[Sequence[Case]], Sequence[float]]


@dataclass(frozen=True, slots=True)
class JudgeRow:
    """A score on the claims of one source, in percent; the calibration error is over ten bins of equal width.

    Each 95% interval is from low to high, over samples of the claims within each source.
    """

    table: ClassVar[str] = "judged"

    source: str
    rows: int
    score: str
    auc: float
    auc_low: float
    auc_high: float
    balanced_accuracy: float
    balanced_accuracy_low: float
    balanced_accuracy_high: float
    calibration_error: float
    calibration_error_low: float
    calibration_error_high: float


@dataclass(frozen=True, slots=True)
class ReliabilityRow:
    """The claims with a probability between two tenths: their mean probability and supported share, in percent."""

    table: ClassVar[str] = "reliability"

    score: str
    probability: str
    rows: int
    mean: float
    supported: float


@dataclass(frozen=True, slots=True)
class ThresholdRow:
    """The lowest threshold from which a percentage of the accepted claims is supported, and the recall there.

    Each 95% interval is from low to high, over samples of the claims; those of precision and recall are at the
    threshold of all claims.
    """

    table: ClassVar[str] = "threshold"

    score: str
    wanted_precision: int
    supported_from: float
    supported_from_low: float
    supported_from_high: float
    precision: float
    precision_low: float
    precision_high: float
    recall: float
    recall_low: float
    recall_high: float


@dataclass(frozen=True, slots=True)
class ScoredClaims:
    """Labelled claims with each score's values for them."""

    rows: Sequence[GoldVerdict]
    scores: dict[str, Floats]

    @classmethod
    def of(cls, rows: Sequence[GoldVerdict], items: Iterable[RunItem]) -> ScoredClaims:
        """Return the scores that a run's items have for these rows."""
        values: dict[str, dict[str, float]] = {}
        for item in items:
            values.setdefault(str(item.output["score"]), {})[item.key] = float(item.measures["score"] or 0.0)
        return cls(rows, {name: np.array([by_key[row.id] for row in rows]) for name, by_key in values.items()})

    @property
    def truth(self) -> Truth:
        return np.array([row.supported for row in self.rows], dtype=bool)

    @property
    def probabilities(self) -> Iterator[tuple[str, Floats]]:
        """Yield the judges' scores, which are probabilities."""
        return ((name, scores) for name, scores in self.scores.items() if name not in PLAIN)


def verdict_items(pending: Sequence[Pending[GoldVerdict]], scorers: Mapping[str, Scorer]) -> Iterator[RunItem]:
    """Yield each claim's score by each scorer; several claims are scored together, so that scorers share encodings."""
    for name, scorer in scorers.items():
        way = f"{VERDICTS}: {name}"
        rows = [one.row for one in pending if way in one.ways]
        with timed() as cost:
            scores = scorer([plain_case(row.claim, row.evidence, row.context) for row in rows]) if rows else ()
        for row, score in zip(rows, scores, strict=True):
            yield _item(row, way, name, float(score), split_cost(cost, len(rows)))


def _item(row: GoldVerdict, way: str, name: str, score: float, cost: Mapping[str, float]) -> RunItem:
    entries = {"judged": [{"probability": score, "right": row.supported}]}
    if name in PLAIN:
        entries = {"scored": [{"score": score, "right": row.supported}]}
    measures = {"score": score, "right": float((score >= SUPPORTED_FROM) == row.supported)}
    return RunItem(row.id, way, measures, {"source": row.source, "question": row.claim, "score": name, **entries}, cost)


def judge_rows(claims: ScoredClaims) -> Iterator[JudgeRow]:
    """Yield each score on each source that has both kinds of claims, and the unweighted mean over these sources."""
    sources, truth = np.array([row.source for row in claims.rows]), claims.truth
    both_kinds = [s for s in dict.fromkeys(sources.tolist()) if 0 < truth[sources == s].mean() < 1]
    for name, scores in claims.scores.items():
        rows = [
            (source, BootstrapFigures.of(truth[sources == source], scores[sources == source], seed))
            for seed, source in enumerate(both_kinds)
        ]
        if rows:
            rows.append(("mean", BootstrapFigures.mean([figures for _, figures in rows])))
        for source, figures in rows:
            yield JudgeRow(source, figures.rows, name, *figures.with_intervals())


@dataclass(frozen=True, slots=True)
class BootstrapFigures:
    """AUC, balanced accuracy and calibration error of claims, (3,), and of samples of them, (draws, 3)."""

    rows: int
    values: Floats
    samples: Floats

    @classmethod
    def of(cls, truth: Truth, scores: Floats, seed: int) -> BootstrapFigures:
        accepted = scores >= SUPPORTED_FROM
        error = calibration_error(truth, scores)
        values = roc_auc_score(truth, scores), balanced_accuracy_score(truth, accepted), error
        biased = bootstrap_calibration_error(truth, scores, _bins(scores), seed)
        samples = (
            bootstrap_auc(truth, scores, seed),
            bootstrap_balanced_accuracy(truth, accepted, seed),
            np.maximum(2 * error - biased, 0.0),  # a sample's bias from the claims is about theirs from the population
        )
        return cls(len(truth), np.array(values), np.column_stack(samples))

    @classmethod
    def mean(cls, several: Sequence[BootstrapFigures]) -> BootstrapFigures:
        values, samples = ([getattr(one, name) for one in several] for name in ("values", "samples"))
        return cls(sum(one.rows for one in several), np.mean(values, axis=0), np.mean(samples, axis=0))

    def with_intervals(self) -> Iterator[float]:
        """Yield each figure with its low and high, in percent."""
        for value, column in zip(self.values, self.samples.T, strict=True):
            low, high = percentile_interval(column[~np.isnan(column)])
            yield from (round(100 * float(x), 1) for x in (value, low, high))


def reliability_rows(claims: ScoredClaims) -> Iterator[ReliabilityRow]:
    """Yield the reliability diagram of each judge as a table."""
    for name, scores in claims.probabilities:
        bins = _bins(scores)
        for b in sorted(set(bins.tolist())):
            inside = bins == b
            mean, share = (round(100 * float(x[inside].mean()), 1) for x in (scores, claims.truth))
            yield ReliabilityRow(name, f"{b / BINS:.1f}-{(b + 1) / BINS:.1f}", int(inside.sum()), mean, share)


def threshold_rows(claims: ScoredClaims) -> Iterator[ThresholdRow]:
    """Yield the `supported_from` of each judge for each precision that a threshold reaches."""
    truth = claims.truth
    if not truth.any():
        return
    for name, scores in claims.probabilities:
        precision, _, thresholds = precision_recall_curve(truth, scores)
        for minimum in PRECISIONS:
            reaching = np.flatnonzero(precision[:-1] >= minimum / 100)
            if len(reaching):
                yield _threshold_row(name, minimum, truth, scores, float(thresholds[reaching[0]]))


def _threshold_row(name: str, precision: int, truth: Truth, scores: Floats, threshold: float) -> ThresholdRow:
    accepted = scores >= threshold
    low, high = percentile_interval(bootstrap_threshold(truth, scores, precision / 100))
    shares = (
        bootstrap_interval(np.column_stack([truth & accepted, group]).astype(float), ratio)
        for group in (accepted, truth)
    )  # precision, then recall
    percent = (round(100 * value, 1) for share in shares for value in share)
    return ThresholdRow(name, precision, *(round(value, 3) for value in (threshold, low, high)), *percent)


def calibration_error(truth: Floats | Truth, scores: Floats) -> float:
    """Return the mean distance between a probability and the share of true claims in its bin.

    >>> calibration_error(np.array([1, 0, 1, 1]), np.array([0.75, 0.75, 0.75, 0.75]))
    0.0
    """
    bins = _bins(scores)
    gaps = [(bins == b).mean() * abs(truth[bins == b].mean() - scores[bins == b].mean()) for b in set(bins.tolist())]
    return float(sum(gaps))


def _bins(scores: Floats) -> Ints:
    return np.minimum((np.clip(scores, 0, 1) * BINS).astype(np.int64), BINS - 1)


def build_scorers(propcite: PropCite) -> dict[str, Scorer]:
    """Return word overlap, similarity and the judge, if there is one; no text is encoded twice."""
    cached = propcite.cached()
    encoder, judge = cached.encoder, cached.judge
    encode = (
        judge.encode_evidence if isinstance(judge, EmbeddedJudge | ReaderJudge) else partial(_encode_texts, encoder)
    )
    plain: dict[str, Scorer] = {
        "overlap": overlaps,
        "similarity": lambda cases: similarities(cases, encoder, encode),
    }
    if judge is None:
        return plain
    return {**plain, judge.name.split("/")[0]: lambda cases: [v.probability for v in judge.judge(cases)]}


def overlaps(cases: Sequence[Case]) -> list[float]:
    """Return the share of each claim's plain words that its evidence has."""
    return [english.plain_share(case.claim, case.text) for case in cases]


def _encode_texts(encoder: TextEncoder, texts: Sequence[str]) -> list[TokenVectors]:
    return encoder.encode_passages([Passage("", text) for text in texts])


def similarities(
    cases: Sequence[Case], encoder: TextEncoder, encode: Callable[[Sequence[str]], list[TokenVectors]]
) -> list[float]:
    """Return for each claim the mean of its tokens' best similarities, with its nearest piece of evidence."""
    claims = encoder.encode_queries([case.claim for case in cases])
    texts = list(dict.fromkeys(text for case in cases for text in case.evidence))
    encoded = dict(zip(texts, encode(texts), strict=True))
    return [
        max(
            float(score_units(claim.vectors, claim.weights(), encoded[text], [(Span(0, len(text)),)])[0])
            for text in case.evidence
        )
        for claim, case in zip(claims, cases, strict=True)
    ]
