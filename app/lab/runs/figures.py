"""Figures of a run for the terminal and as JSON lines: over all items, or by source with the mean over sources."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace

from propcite.app.lab.runs.aggregates import Aggregate, aggregates, costs, mean_over_sources, measure_of, source_of
from propcite.app.lab.runs.tables import costs_table, figures_table
from propcite.app.library.store.runs import RunItem

SOURCE_MEAN = "mean"  # in place of a source


@dataclass(frozen=True, slots=True)
class Figure:
    """A way's figure with its 95% interval; `of` is the source, empty for all items."""

    way: str
    measure: str
    of: str
    items: int
    value: float
    low: float
    high: float


def figures_by_source(items: Sequence[RunItem], measures: Sequence[str]) -> list[Figure]:
    """Return each figure of each way on each source, then the unweighted means over sources of these measures."""
    by_source: dict[str, list[RunItem]] = defaultdict(list)
    for item in items:
        by_source[source_of(item)].append(item)
    figures = [_figure(one, source) for source, rows in sorted(by_source.items()) for one in aggregates(rows)]
    means = mean_over_sources(items, at_least=1)
    return figures + [_figure(one, SOURCE_MEAN) for one in means if one.measure.name in measures]


def _figure(one: Aggregate, of: str = "") -> Figure:
    return Figure(one.way, one.measure.name, of, one.items, one.value, one.low, one.high)


def as_lines(items: Sequence[RunItem], figures: Sequence[Figure] = ()) -> Iterator[str]:
    """Yield one JSON line per figure; over all items if no figures are passed."""
    for figure in figures or [_figure(one) for one in aggregates(items)]:
        fields = {name: round(v, 6) if isinstance(v, float) else v for name, v in asdict(figure).items()}
        yield json.dumps(fields, ensure_ascii=False)


def as_text(items: Sequence[RunItem]) -> str:
    """Return the figures over all items, then their costs."""
    return f"{figures_table(aggregates(items))}\n\n{costs_table(costs(items))}"


def source_tables(items: Sequence[RunItem], figures: Sequence[Figure]) -> str:
    """Return one table per measure with one column per source, then the costs."""
    tables = []
    for name in dict.fromkeys(figure.measure for figure in figures):
        measure = measure_of(name)
        columns = [
            Aggregate(f.way, replace(measure, title=f.of), f.items, f.value, f.low, f.high)
            for f in figures
            if f.measure == name
        ]
        tables.append(f"{measure.heading}\n{figures_table(columns)}")
    return "\n\n".join([*tables, costs_table(costs(items))])
