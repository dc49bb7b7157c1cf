"""Figures of a kept run: of all its items, or a source at a time with the plain mean over sources."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace

from propcite.app.lab.runs.aggregates import Aggregate, aggregates, costs, measure_of
from propcite.app.lab.runs.sources import mean_over_sources, source_of
from propcite.app.lab.runs.tables import costs_table, figures_table
from propcite.app.library.store.runs import RunItem

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
        by_source[source_of(item)].append(item)
    told = [_figure(one, of) for of, found in sorted(by_source.items()) for one in aggregates(found)]
    means = mean_over_sources(items, at_least=1)
    return told + [_figure(one, MEAN) for one in means if one.measure.name in measures]


def _figure(one: Aggregate, of: str = "") -> Figure:
    return Figure(one.way, one.measure.name, of, one.items, one.value, one.low, one.high)


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
