"""Two ways compared on the items that both have: difference, interval, p-value, and the items that changed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches

import numpy as np

from propcite.app.errors import AppError, NotFoundError
from propcite.app.lab.runs.aggregates import MIN_SOURCES, Measure, is_way, matrix, measures_in, source_of
from propcite.app.lab.runs.significance import (
    Floats,
    Formula,
    Places,
    bootstrap_means_by_source,
    columns_by_source,
    difference,
    mean_over,
    percentile_interval,
    permutation_means,
    two_sided_p,
)
from propcite.app.library.store.runs import RunInfo, RunItem, Runs

MIN_CHANGE = 1e-9  # smaller differences are rounding


@dataclass(frozen=True, slots=True)
class Side:
    """One way of one run, with its items by key."""

    run: RunInfo
    way: str
    items: Mapping[str, RunItem]

    @property
    def name(self) -> str:
        return f"{self.run.id}:{self.way}"


@dataclass(frozen=True, slots=True)
class MeasureComparison:
    """A figure on both sides; `difference` is the second minus the first."""

    measure: Measure
    items: int
    a: float
    b: float
    difference: float
    low: float
    high: float
    p: float | None  # None for a figure of all answers together
    up: int
    down: int

    @property
    def changed(self) -> int:
        return self.up + self.down


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two sides with the figures that can be compared; those of different judges are `left_out`.

    `over_sources` are the same figures as unweighted means over `sources`, if there are several.
    """

    a: Side
    b: Side
    shared: Sequence[str]
    figures: Sequence[MeasureComparison]
    left_out: Sequence[Measure]
    sources: Sequence[str] = ()
    over_sources: Sequence[MeasureComparison] = ()


@dataclass(frozen=True, slots=True)
class ItemChange:
    """An item whose figure differs between the sides."""

    a: RunItem
    b: RunItem
    before: float
    after: float

    @property
    def difference(self) -> float:
        return self.after - self.before


def compare(runs: Runs, first: str, second: str) -> list[Comparison]:
    """Compare RUN or RUN:way with another; two whole runs are compared way by way."""
    left, right = _sides(runs, first), _sides(runs, second)
    pairs = list(_pairs(left, right))
    if any(left[a].name == right[b].name for a, b in pairs):
        raise AppError(f"{first} and {second} are the same: name two runs, or two ways as RUN:way RUN:way2")
    return [_compare_sides(left[a], right[b]) for a, b in pairs]


def item_changes(comparison: Comparison, measure: Measure) -> list[ItemChange]:
    """Return the items whose figure changed, the largest change first."""
    pairs = [(comparison.a.items[key], comparison.b.items[key]) for key in comparison.shared]
    measured = [(a, b) for a, b in pairs if measure.applies_to(a.measures) and measure.applies_to(b.measures)]
    changes = [ItemChange(a, b, measure.of_item(a.measures), measure.of_item(b.measures)) for a, b in measured]
    return sorted(
        (one for one in changes if abs(one.difference) > MIN_CHANGE), key=lambda one: (-abs(one.difference), one.a.key)
    )


def _sides(runs: Runs, name: str) -> dict[str, Side]:
    """Return the sides that RUN or RUN:way names, by way."""
    id_, colon, way = name.partition(":")
    run = runs.run(id_)
    items: dict[str, dict[str, RunItem]] = {}
    for item in runs.items(run.id, way):
        if way or is_way(item.way):
            items.setdefault(item.way, {})[item.key] = item
    if items:
        return {way: Side(run, way, by_key) for way, by_key in items.items()}
    ways = sorted({known for known, _ in runs.item_keys(run.id) if is_way(known)})
    if not ways:
        raise AppError(f"run {run.id} has no items: continue it with the command that began it")
    near = get_close_matches(way, ways, n=1, cutoff=0.3) or ways[:1]
    missing = f"run {run.id} has no way {way[:60]!r}" if colon else f"run {run.id} has no items"
    raise NotFoundError(f"{missing}, it has {', '.join(ways)}: give {run.id}:{near[0]}, for example")


def _pairs(left: Mapping[str, Side], right: Mapping[str, Side]) -> Iterator[tuple[str, str]]:
    if len(left) == len(right) == 1:
        yield from zip(left, right, strict=True)
        return
    common = [way for way in left if way in right]
    if not common:
        names = (f"{side.run.id}:{way}" for sides in (left, right) for way, side in sides.items())
        raise AppError(f"the runs have no way in common: name one of each, there are {', '.join(names)}")
    yield from ((way, way) for way in common)


def _compare_sides(a: Side, b: Side) -> Comparison:
    shared = [key for key in a.items if key in b.items]
    if not shared:
        raise AppError(f"{a.name} and {b.name} share no item: compare runs over the same file, or the same part of it")
    measures = measures_in(name for side in (a, b) for key in shared for name in side.items[key].measures)
    left_out = [measure for measure in measures if measure.judged and a.run.judge != b.run.judge]
    compared = [measure for measure in measures if measure not in left_out]
    source_by_key = {key: source for key in shared if (source := source_of(a.items[key]))}
    over_sources = _compare_figures(compared, a, b, source_by_key, MIN_SOURCES)
    figures = _compare_figures(compared, a, b, dict.fromkeys(shared, ""))
    return Comparison(a, b, shared, figures, left_out, sorted(set(source_by_key.values())), over_sources)


def _compare_figures(
    measures: Sequence[Measure], a: Side, b: Side, source_by_key: Mapping[str, str], at_least: int = 1
) -> list[MeasureComparison]:
    """Compare each figure, as the mean over sources if `at_least` of them allow it.

    Measures of the same items share their draws.
    """
    names = list(dict.fromkeys(column for measure in measures for column in measure.columns))
    left, right = (matrix([side.items[key].measures for key in source_by_key], names) for side in (a, b))
    labels = np.array(list(source_by_key.values()))
    draws: dict[bytes, tuple[Floats, Floats]] = {}
    figures = []
    for measure in measures:
        columns = [names.index(column) for column in measure.columns]
        mask = ~np.isnan(left[:, columns] + right[:, columns]).any(axis=1)
        sources, places = np.unique(labels[mask], return_inverse=True)
        if len(sources) < at_least:
            continue
        if mask.tobytes() not in draws:
            draws[mask.tobytes()] = _draws(left[mask], right[mask], places)
        samples, permuted = (drawn[..., columns].reshape(len(drawn), -1) for drawn in draws[mask.tobytes()])
        formula = mean_over(measure.formula, len(columns))
        changes = measure.formula(right[mask][:, columns]) - measure.formula(left[mask][:, columns])
        figures.append(_compare_figure(measure, formula, samples, permuted, changes))
    return figures


def _draws(left: Floats, right: Floats, places: Places) -> tuple[Floats, Floats]:
    """Return bootstrap and permutation means within sources.  -> (draws, 2 sides, sources, columns) twice"""
    num_sources, num_columns = places.max() + 1, left.shape[1]
    samples = bootstrap_means_by_source(np.hstack([left, right]), places)
    permuted = permutation_means(columns_by_source(left, places), columns_by_source(right, places))
    return (
        samples.reshape(-1, num_sources, 2, num_columns).swapaxes(1, 2),
        permuted.reshape(-1, 2, num_sources, num_columns),
    )


def _compare_figure(
    measure: Measure, formula: Formula, samples: Floats, permuted: Floats, changes: Floats
) -> MeasureComparison:
    """Compare one figure by its draws; `changes` are those of the single items."""
    items, width = len(changes), permuted.shape[1] // 2
    before, after = (float(formula(side)[0]) for side in (permuted[:1, :width], permuted[:1, width:]))
    low, high = percentile_interval(difference(formula)(samples))
    p = two_sided_p(permuted, items, formula) if items > 1 else None
    up, down = int(np.sum(changes > MIN_CHANGE)), int(np.sum(changes < -MIN_CHANGE))
    return MeasureComparison(measure, items, before, after, after - before, low, high, p, up, down)
