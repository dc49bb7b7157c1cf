"""Measuring judges: does a score tell what supports a claim from what does not, and does 0.7 mean 70 of 100?"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from sklearn.metrics import balanced_accuracy_score, precision_recall_curve, roc_auc_score

from propcite.app.lab.citing.drawing import (
    Truth,
    auc_drawn,
    balanced_accuracy_drawn,
    calibration_error_drawn,
    cut_drawn,
)
from propcite.app.lab.citing.gold import GoldVerdict
from propcite.app.lab.runs.aggregates import ratio
from propcite.app.lab.runs.keeping import Todo, clocked, portion
from propcite.app.lab.runs.significance import Floats, between, interval
from propcite.app.library.store.runs import RunItem
from propcite.attribution.english import words
from propcite.attribution.judges import SUPPORTED_FROM, Case
from propcite.attribution.propcite import PropCite
from propcite.retrieval.encoding.base import Ints, TextEncoder
from propcite.retrieval.granularity import score_units
from propcite.retrieval.text import Passage, Span

BINS = 10
PRECISIONS = (80, 85, 90, 95)
PLAIN = ("overlap", "similarity")
VERDICTS = "claims judged"  # before a score's name: what its items measure

Scorer = Callable[[Sequence[Case]], Sequence[float]]


@dataclass(frozen=True, slots=True)
class Judged:
    """A score on the claims of one source, in percent; the calibration error is that of ten equal bins.

    Each figure lies between its low and high in 95 of 100 samples of the claims, drawn within each source.
    """

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
class Reliability:
    """What became true of the claims that were given a probability between two tenths, in percent."""

    score: str
    probability: str
    rows: int
    mean: float
    supported: float


@dataclass(frozen=True, slots=True)
class Threshold:
    """The lowest probability from which so many of a hundred accepted claims are supported, and how many that finds.

    In 95 of 100 samples of the claims that probability lies between its low and high, and so do precision and recall
    from the stated one on.
    """

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
class Scored:
    """Claims with what people said of them, and what each score says."""

    rows: Sequence[GoldVerdict]
    scores: dict[str, Floats]

    @classmethod
    def of(cls, rows: Sequence[GoldVerdict], items: Iterable[RunItem]) -> Scored:
        """What a run's items say of these rows."""
        said: dict[str, dict[str, float]] = {}
        for item in items:
            said.setdefault(str(item.output["score"]), {})[item.key] = float(item.measures["score"] or 0.0)
        return cls(rows, {name: np.array([told[row.id] for row in rows]) for name, told in said.items()})

    @property
    def truth(self) -> Truth:
        return np.array([row.supported for row in self.rows], dtype=bool)


def verdict_items(todos: Sequence[Todo[GoldVerdict]], scorers: Mapping[str, Scorer]) -> Iterator[RunItem]:
    """Each claim by each score, several together: a score reads what the others have just read."""
    for name, scorer in scorers.items():
        way = f"{VERDICTS}: {name}"
        asked = [todo.row for todo in todos if way in todo.ways]
        with clocked() as cost:
            scores = scorer([Case(row.claim, row.evidence) for row in asked]) if asked else ()
        for row, score in zip(asked, scores, strict=True):
            yield _verdict(row, way, name, float(score), portion(cost, len(asked)))


def _verdict(row: GoldVerdict, way: str, name: str, score: float, cost: Mapping[str, float]) -> RunItem:
    listed = {"scored": [{"score": score, "right": row.supported}]}
    if name not in PLAIN:
        listed = {"judged": [{"probability": score, "right": row.supported}]}
    measures = {"score": score, "right": float((score >= SUPPORTED_FROM) == row.supported)}
    return RunItem(row.id, way, measures, {"source": row.source, "question": row.claim, "score": name, **listed}, cost)


def judged(told: Scored) -> Iterator[Judged]:
    """Each score on each source with both kinds of claims, and the plain mean over these."""
    sources = np.array([row.source for row in told.rows])
    both = [s for s in dict.fromkeys(sources.tolist()) if 0 < told.truth[sources == s].mean() < 1]
    for name, scores in told.scores.items():
        of = {s: Drawn.of(told.truth[sources == s], scores[sources == s], seed) for seed, s in enumerate(both)}
        for source, drawn in of.items():
            yield Judged(source, drawn.rows, name, *drawn.told())
        if of:
            yield Judged("mean", sum(drawn.rows for drawn in of.values()), name, *Drawn.mean(list(of.values())).told())


@dataclass(frozen=True, slots=True)
class Drawn:
    """AUC, balanced accuracy and calibration error of some claims, and of samples of them.  (3,) and (draws, 3)"""

    rows: int
    values: Floats
    samples: Floats

    @classmethod
    def of(cls, truth: Truth, scores: Floats, seed: int) -> Drawn:
        accepted = scores >= SUPPORTED_FROM
        error = calibration_error(truth, scores)
        values = roc_auc_score(truth, scores), balanced_accuracy_score(truth, accepted), error
        farther = calibration_error_drawn(truth, scores, _bins(scores), seed)
        samples = (
            auc_drawn(truth, scores, seed),
            balanced_accuracy_drawn(truth, accepted, seed),
            np.maximum(2 * error - farther, 0.0),  # a sample is as much farther from the claims as these are from all
        )
        return cls(len(truth), np.array(values), np.column_stack(samples))

    @classmethod
    def mean(cls, several: Sequence[Drawn]) -> Drawn:
        values, samples = ([getattr(one, name) for one in several] for name in ("values", "samples"))
        return cls(sum(one.rows for one in several), np.mean(values, axis=0), np.mean(samples, axis=0))

    def told(self) -> Iterator[float]:
        """Each figure with its low and high, in percent."""
        for value, column in zip(self.values, self.samples.T, strict=True):
            low, high = between(column[~np.isnan(column)])
            yield from (round(100 * float(x), 1) for x in (value, low, high))


def reliability(told: Scored) -> Iterator[Reliability]:
    """The reliability diagram as a table, of the judge alone: other scores are no probabilities."""
    for name in told.scores.keys() - set(PLAIN):
        scores, bins = told.scores[name], _bins(told.scores[name])
        for b in sorted(set(bins.tolist())):
            inside = bins == b
            mean, share = (round(100 * float(x[inside].mean()), 1) for x in (scores, told.truth))
            yield Reliability(name, f"{b / BINS:.1f}-{(b + 1) / BINS:.1f}", int(inside.sum()), mean, share)


def thresholds(told: Scored) -> Iterator[Threshold]:
    """Where to set `supported_from` for a stated precision; none where no threshold reaches it."""
    if not told.truth.any():
        return
    for name in told.scores.keys() - set(PLAIN):
        scores = told.scores[name]
        precision, _, cuts = precision_recall_curve(told.truth, scores)
        for wanted in PRECISIONS:
            reaching = np.flatnonzero(precision[:-1] >= wanted / 100)
            if len(reaching):
                yield _threshold(name, wanted, told.truth, scores, float(cuts[reaching[0]]))


def _threshold(name: str, wanted: int, truth: Truth, scores: Floats, cut: float) -> Threshold:
    accepted = scores >= cut
    low, high = between(cut_drawn(truth, scores, wanted / 100))
    shares = (
        interval(np.column_stack([truth & accepted, of]).astype(float), ratio) for of in (accepted, truth)
    )  # precision, then recall
    percent = (round(100 * value, 1) for share in shares for value in share)
    return Threshold(name, wanted, *(round(value, 3) for value in (cut, low, high)), *percent)


def calibration_error(truth: Floats | Truth, scores: Floats) -> float:
    """How far, on average, a probability is from the share that turned out true.

    >>> calibration_error(np.array([1, 0, 1, 1]), np.array([0.75, 0.75, 0.75, 0.75]))
    0.0
    """
    bins = _bins(scores)
    gaps = [(bins == b).mean() * abs(truth[bins == b].mean() - scores[bins == b].mean()) for b in set(bins.tolist())]
    return float(sum(gaps))


def _bins(scores: Floats) -> Ints:
    return np.minimum((np.clip(scores, 0, 1) * BINS).astype(np.int64), BINS - 1)


def scorers(propcite: PropCite) -> dict[str, Scorer]:
    """Word overlap and similarity alone, and the judge beside them; both read with one memory."""
    both = propcite.cached()
    encoder, judge = both.encoder, both.judge
    plain: dict[str, Scorer] = {
        "overlap": lambda cases: [words.plain_share(case.claim, case.text) for case in cases],
        "similarity": lambda cases: similarities(cases, encoder),
    }
    if judge is None:
        return plain
    return {**plain, judge.name.split("/")[0]: lambda cases: [v.probability for v in judge.judge(cases)]}


def similarities(cases: Sequence[Case], encoder: TextEncoder) -> list[float]:
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
