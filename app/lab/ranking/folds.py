"""What adapting to a few queries gains on the others, over folds of them (ALIGNER's few-shot adaptation)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import ClassVar

import numpy as np

from propcite.app.errors import AppError
from propcite.app.lab.adaptation.choice import best_column, choose
from propcite.app.lab.runs.aggregates import source_of
from propcite.app.lab.runs.significance import Floats
from propcite.app.library.store.runs import RunItem

MEASURE = "nDCG@10"
MEAN = "mean"
SEED = 0


@dataclass(frozen=True, slots=True)
class FoldRow:
    """A folder's figures in percent.

    `default` and `best_ndcg` are nDCG@10 of the default strategy and of the best one for all queries.  `gain` is the
    mean gain of choosing by one fold for the other queries, `guarded_gain` that of choosing only if it is more than
    noise; `changed` is the share of folds in which the guard changed the default.
    """

    table: ClassVar[str] = "folds"

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


def fold_rows(items: Sequence[RunItem], size: int) -> list[FoldRow]:
    """Return one row per source, then the unweighted mean over sources if there are several."""
    ways = list(dict.fromkeys(item.way for item in items))
    by_source: dict[str, dict[str, dict[str, float]]] = defaultdict(lambda: defaultdict(dict))
    for item in items:
        by_source[source_of(item)][item.key][item.way] = item.measures.get(MEASURE) or 0.0
    rows = []
    for source, queries in by_source.items():
        if len(queries) < 2 * size:
            raise AppError(f"{source} has {len(queries)} queries: folds of {size} need {2 * size} or more")
        scores = np.array([[by_way[way] for way in ways] for by_way in queries.values()])
        rows.append(_source_row(source, ways, scores, size))
    return [*rows, _mean_row(rows)] if len(rows) > 1 else rows


def _source_row(source: str, ways: Sequence[str], scores: Floats, size: int) -> FoldRow:
    choices = [(best_column(fold), choose(fold).kept, rest) for fold, rest in draw_folds(scores, size)]
    gains = [_gain(rest, best) for best, _, rest in choices]
    guarded_gains = [_gain(rest, kept) for _, kept, rest in choices]
    best, means = best_column(scores), 100 * scores.mean(axis=0)
    return FoldRow(
        source,
        len(scores),
        len(choices),
        round(float(means[0]), 1),
        ways[best],
        round(float(means[best]), 1),
        round(fmean(gains), 2),
        round(float(np.std(gains)), 2),
        round(fmean(guarded_gains), 2),
        round(float(np.std(guarded_gains)), 2),
        round(100 * fmean(kept > 0 for _, kept, _ in choices), 1),
    )


def draw_folds(scores: Floats, size: int) -> Iterator[tuple[Floats, Floats]]:
    """Yield random folds of so many queries, each with the queries outside it; an incomplete fold is left out."""
    order = np.random.default_rng(SEED).permutation(len(scores))
    for first in range(0, len(scores) - size + 1, size):
        inside = order[first : first + size]
        yield scores[inside], np.delete(scores, inside, axis=0)


def _gain(rest: Floats, chosen: int) -> float:
    return 100 * float((rest[:, chosen] - rest[:, 0]).mean())


def _mean_row(rows: Sequence[FoldRow]) -> FoldRow:
    def mean(name: str, decimals: int) -> float:
        return round(fmean(getattr(row, name) for row in rows), decimals)

    return FoldRow(
        MEAN,
        sum(row.queries for row in rows),
        sum(row.folds for row in rows),
        mean("default", 1),
        "each its own",
        mean("best_ndcg", 1),
        mean("gain", 2),
        mean("deviation", 2),
        mean("guarded_gain", 2),
        mean("guarded_deviation", 2),
        mean("changed", 1),
    )
