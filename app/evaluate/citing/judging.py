"""Measuring judges: does a score tell what supports a claim from what does not, and does 0.7 mean 70 of 100?"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from sklearn.metrics import balanced_accuracy_score, precision_recall_curve, roc_auc_score

from app.evaluate.citing.gold import GoldVerdict
from app.evaluate.runs.keeping import Todo, clocked, portion
from app.store.runs import RunItem
from attribution import words
from attribution.judges import SUPPORTED_FROM, Case
from attribution.propcite import PropCite
from attribution.remembering import remembering
from retrieval.encoder import Encoder, Floats
from retrieval.granularity import Ints, score_units
from retrieval.text import Passage, Span

BINS = 10
PRECISIONS = (80, 85, 90, 95)
PLAIN = ("overlap", "similarity")
VERDICTS = "claims judged"  # before a score's name: what its items measure

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
    """The lowest probability from which so many of a hundred accepted claims are supported, and how many that finds."""

    score: str
    wanted_precision: int
    supported_from: float
    precision: float
    recall: float


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
    def truth(self) -> Floats:
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
        found = [_judged(source, name, told.truth[sources == source], scores[sources == source]) for source in both]
        yield from found
        if found:
            yield _mean(found, name)


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
        precision, recall, cuts = precision_recall_curve(told.truth, told.scores[name])
        for wanted in PRECISIONS:
            reaching = np.flatnonzero(precision[:-1] >= wanted / 100)
            if len(reaching):
                first = reaching[0]
                reached = (round(100 * float(x[first]), 1) for x in (precision, recall))
                yield Threshold(name, wanted, round(float(cuts[first]), 3), *reached)


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
    bins = _bins(scores)
    gaps = [(bins == b).mean() * abs(truth[bins == b].mean() - scores[bins == b].mean()) for b in set(bins.tolist())]
    return float(sum(gaps))


def _bins(scores: Floats) -> Ints:
    return np.minimum((np.clip(scores, 0, 1) * BINS).astype(np.int64), BINS - 1)


def scorers(propcite: PropCite) -> dict[str, Scorer]:
    """Word overlap and similarity alone, and the judge beside them; both read with one memory."""
    both = remembering(propcite)
    encoder, judge = both.encoder, both.judge
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
