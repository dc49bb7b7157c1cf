"""Sources that count alike, however many items each has: the plain mean of what each has alone.

Samples are drawn within each source, so that every one of them has all sources.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

import numpy as np

from propcite.app.lab.runs.aggregates import Aggregate, is_way, matrix, measures_in
from propcite.app.lab.runs.significance import Floats, Formula, between, resampled_means
from propcite.app.library.store.runs import RunItem

SEVERAL = 2


def source_of(item: RunItem) -> str:
    """Where an item's row comes from; empty where it does not say."""
    return str(item.output.get("source") or "")


def mean_over_sources(items: Sequence[RunItem], at_least: int = SEVERAL) -> list[Aggregate]:
    """Every figure of every way as plain mean over so many sources or more."""
    by_way: dict[str, list[RunItem]] = defaultdict(list)
    for item in items:
        if is_way(item.way) and source_of(item):
            by_way[item.way].append(item)
    return [figure for way, some in by_way.items() for figure in _of_way(way, some, at_least)]


def _of_way(way: str, items: Sequence[RunItem], at_least: int) -> Iterator[Aggregate]:
    """Measures that the same items allow share their draws."""
    measures = measures_in(name for item in items for name in item.measures)
    names = sorted({column for measure in measures for column in measure.columns})
    figures = matrix([item.measures for item in items], names)
    sources = np.array([source_of(item) for item in items])
    drawn: dict[bytes, Floats] = {}
    for measure in measures:
        columns = [names.index(column) for column in measure.columns]
        mask = ~np.isnan(figures[:, columns]).any(axis=1)
        there, places = np.unique(sources[mask], return_inverse=True)
        if len(there) < at_least:
            continue
        if mask.tobytes() not in drawn:
            drawn[mask.tobytes()] = resampled_within(figures[mask], places)
        formula = over_sources(measure.formula, len(columns))
        value = float(formula(apart(figures[mask][:, columns], places).mean(axis=0)[None])[0])
        low, high = between(formula(_columns(drawn[mask.tobytes()], len(names), columns)))
        yield Aggregate(way, measure, int(mask.sum()), value, low, high, tuple(there.tolist()))


def over_sources(formula: Formula, num_columns: int) -> Formula:
    """The plain mean of a formula over the means of each source's columns, source after source.

    >>> over_sources(lambda means: means[:, 0], 1)(np.array([[0.25, 0.75]])).tolist()
    [0.5]
    """

    def mean(means: Floats) -> Floats:
        each = means.reshape(len(means), -1, num_columns)
        told: Floats = np.mean([formula(each[:, source]) for source in range(each.shape[1])], axis=0)
        return told

    return mean


def resampled_within(columns: Floats, places: np.ndarray) -> Floats:
    """The means of samples of each source's items, source after source.  (items, columns) -> (draws, s columns)"""
    return np.hstack([resampled_means(columns[places == at], seed=at) for at in range(places.max() + 1)])


def apart(columns: Floats, places: np.ndarray) -> Floats:
    """Columns for each source, whose means over all items are those of the source.  (items, s columns)

    >>> apart(np.array([[1.0], [0.0], [0.5]]), np.array([0, 0, 1])).mean(axis=0).round(3).tolist()
    [0.5, 0.5]
    """
    items, counts = len(columns), np.bincount(places)
    found = np.zeros((items, len(counts), columns.shape[1]))
    found[np.arange(items), places] = columns * (items / counts[places])[:, None]
    return found.reshape(items, -1)


def _columns(means: Floats, width: int, chosen: Sequence[int]) -> Floats:
    """Some columns of each source."""
    return means.reshape(len(means), -1, width)[:, :, list(chosen)].reshape(len(means), -1)
