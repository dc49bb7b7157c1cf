"""Figures of a kept run: of all its items, or a source at a time with the plain mean over sources."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace

import numpy as np

from app.evaluate.runs.aggregates import Aggregate, aggregates, costs, measure_of
from app.evaluate.runs.significance import Floats, interval
from app.evaluate.runs.tables import costs_table, figures_table
from app.store.runs import RunItem

MEAN = "mean"  # over sources


@dataclass(frozen=True, slots=True)
class Figure:
    """A way's figure, and between what it lies in 95 of 100 samples; `of` is the source, empty for all items."""

    way: str
    measure: str
    of: str
    items: int
    value: float
    low: float
    high: float


def figures_by_source(items: Sequence[RunItem], measures: Sequence[str]) -> list[Figure]:
    """Each measure of each way on each source that items name, and the plain mean over sources."""
    by_source: dict[str, list[RunItem]] = defaultdict(list)
    for item in items:
        by_source[str(item.output["source"])].append(item)
    told = [_figure(one, of) for of, found in sorted(by_source.items()) for one in aggregates(found)]
    ways = dict.fromkeys(item.way for item in items)
    return told + [_over_sources(way, name, by_source) for way in ways for name in measures]


def _figure(one: Aggregate, of: str = "") -> Figure:
    return Figure(one.way, one.measure.name, of, one.items, one.value, one.low, one.high)


def _over_sources(way: str, measure: str, by_source: dict[str, list[RunItem]]) -> Figure:
    """Sources count alike, however many items each has; samples are drawn from all items."""
    found = [
        (at, item.measures.get(measure))
        for at, told in enumerate(by_source.values())
        for item in told
        if item.way == way
    ]
    rows = [(at, value) for at, value in found if value is not None]
    columns = np.zeros((len(rows), 2 * len(by_source)))
    for number, (at, value) in enumerate(rows):
        columns[number, 2 * at : 2 * at + 2] = value, 1.0
    return Figure(way, measure, MEAN, len(rows), *interval(columns, mean_of_means))


def mean_of_means(means: Floats) -> Floats:
    """Columns in pairs, a source's values and ones where an item is of that source.  (draws, 2 s) -> (draws,)

    >>> mean_of_means(np.array([[0.2, 0.25, 0.75, 0.75]])).round(3).tolist()
    [0.9]
    """
    sums, shares = means[:, 0::2], means[:, 1::2]
    each = np.divide(sums, shares, out=np.full_like(sums, np.nan), where=shares > 0)  # a source may not be drawn
    mean: Floats = np.nanmean(each, axis=1)
    return mean


def as_lines(items: Sequence[RunItem], figures: Sequence[Figure] = ()) -> Iterator[str]:
    """A line a figure; of all items where no other figures are given."""
    for figure in figures or [_figure(one) for one in aggregates(items)]:
        told = {name: round(v, 6) if isinstance(v, float) else v for name, v in asdict(figure).items()}
        yield json.dumps(told, ensure_ascii=False)


def as_text(items: Sequence[RunItem]) -> str:
    """Every figure over all items, then what they cost."""
    return f"{figures_table(aggregates(items))}\n\n{costs_table(costs(items))}"


def source_tables(items: Sequence[RunItem], figures: Sequence[Figure]) -> str:
    """A table a measure with a column a source, then what all cost."""
    tables = []
    for name in dict.fromkeys(figure.measure for figure in figures):
        measure = measure_of(name)
        told = [
            Aggregate(f.way, replace(measure, title=f.of), f.items, f.value, f.low, f.high)
            for f in figures
            if f.measure == name
        ]
        tables.append(f"{measure.heading}\n{figures_table(told)}")
    return "\n\n".join([*tables, costs_table(costs(items))])
