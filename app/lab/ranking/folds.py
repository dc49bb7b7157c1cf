"""What adapting by a few queries gives the other queries, over folds of them (ALIGNER's few-shot adaptation)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import fmean

import numpy as np

from propcite.app.errors import AppError
from propcite.app.lab.adapting.choosing import best_of, choose
from propcite.app.lab.runs.significance import Floats
from propcite.app.lab.runs.sources import source_of
from propcite.app.library.store.runs import RunItem

MEASURE = "nDCG@10"
MEAN = "mean"
SEED = 0


@dataclass(frozen=True, slots=True)
class Folds:
    """A folder's figures in percent: nDCG@10 of the default and of the strategy best for all queries, then the mean
    gain and its deviation over folds of choosing by one fold for the other queries; guarded, only where a choice is
    more than noise; `changed` is the share of folds in which the guard let the default go."""

    source: str
    queries: int
    folds: int
    default: float
    best: str
    best_ndcg: float
    gain: float
    deviation: float | None
    guarded_gain: float
    guarded_deviation: float | None
    changed: float


def folds_of(items: Sequence[RunItem], size: int) -> list[Folds]:
    """By source, then the plain mean over sources where there are several."""
    ways = list(dict.fromkeys(item.way for item in items))
    rows: dict[str, dict[str, dict[str, float]]] = defaultdict(lambda: defaultdict(dict))
    for item in items:
        rows[source_of(item)][item.key][item.way] = item.measures.get(MEASURE) or 0.0
    told = []
    for source, queries in rows.items():
        if len(queries) < 2 * size:
            raise AppError(f"{source} has {len(queries)} queries: folds of {size} need {2 * size} or more")
        told.append(_of_source(source, ways, np.array([[one[way] for way in ways] for one in queries.values()]), size))
    return [*told, _mean(told)] if len(told) > 1 else told


def _of_source(source: str, ways: Sequence[str], scores: Floats, size: int) -> Folds:
    chosen = [(best_of(fold), choose(fold).kept, rest) for fold, rest in folded(scores, size)]
    free = [_gain(rest, best) for best, _, rest in chosen]
    guarded = [_gain(rest, kept) for _, kept, rest in chosen]
    best, means = best_of(scores), 100 * scores.mean(axis=0)
    return Folds(
        source,
        len(scores),
        len(chosen),
        round(float(means[0]), 1),
        ways[best],
        round(float(means[best]), 1),
        round(fmean(free), 2),
        round(float(np.std(free)), 2),
        round(fmean(guarded), 2),
        round(float(np.std(guarded)), 2),
        round(100 * fmean(kept > 0 for _, kept, _ in chosen), 1),
    )


def folded(scores: Floats, size: int) -> Iterator[tuple[Floats, Floats]]:
    """Each fold of so many queries, drawn once, with the queries outside it; what fills no fold is never chosen by."""
    order = np.random.default_rng(SEED).permutation(len(scores))
    for first in range(0, len(scores) - size + 1, size):
        inside = order[first : first + size]
        yield scores[inside], np.delete(scores, inside, axis=0)


def _gain(rest: Floats, chosen: int) -> float:
    return 100 * float((rest[:, chosen] - rest[:, 0]).mean())


def _mean(told: Sequence[Folds]) -> Folds:
    def mean(name: str, decimals: int) -> float:
        return round(fmean(getattr(one, name) for one in told), decimals)

    return Folds(
        MEAN,
        sum(one.queries for one in told),
        sum(one.folds for one in told),
        mean("default", 1),
        "each its own",
        mean("best_ndcg", 1),
        mean("gain", 2),
        mean("deviation", 2),
        mean("guarded_gain", 2),
        mean("guarded_deviation", 2),
        mean("changed", 1),
    )
