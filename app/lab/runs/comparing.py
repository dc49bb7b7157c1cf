"""Two ways of measuring beside each other on the items that both have: difference, interval, p, and what moved."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches

import numpy as np

from propcite.app.errors import AppError, NotFoundError
from propcite.app.lab.runs.aggregates import Measure, is_way, matrix, measures_in
from propcite.app.lab.runs.significance import (
    Floats,
    Formula,
    between,
    difference,
    p_among,
    resampled_means,
    swapped_means,
)
from propcite.app.lab.runs.sources import SEVERAL, apart, over_sources, resampled_within, source_of
from propcite.app.library.store.runs import RunInfo, RunItem, Runs

MOVED = 1e-9  # what is nearer than this did not change


@dataclass(frozen=True, slots=True)
class Side:
    """One way of one run, its items by their ids."""

    run: RunInfo
    way: str
    items: Mapping[str, RunItem]

    @property
    def name(self) -> str:
        return f"{self.run.id}:{self.way}"


@dataclass(frozen=True, slots=True)
class Compared:
    """A figure on both sides; `difference` is by how much the second is above the first."""

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
    """Two sides with the figures that can be compared; `left_out` are those that other judges gave.

    `over_sources` are the same figures as plain mean over `sources`, where there are several.
    """

    a: Side
    b: Side
    shared: Sequence[str]
    figures: Sequence[Compared]
    left_out: Sequence[Measure]
    sources: Sequence[str] = ()
    over_sources: Sequence[Compared] = ()


@dataclass(frozen=True, slots=True)
class Moved:
    """An item that has another figure on the second side."""

    a: RunItem
    b: RunItem
    before: float
    after: float

    @property
    def by(self) -> float:
        return self.after - self.before


def compare(runs: Runs, first: str, second: str) -> list[Comparison]:
    """RUN or RUN:way beside another; two whole runs are compared way by way."""
    left, right = _named(runs, first), _named(runs, second)
    pairs = list(_pairs(left, right))
    if any(left[a].name == right[b].name for a, b in pairs):
        raise AppError(f"{first} and {second} are the same: name two runs, or two ways as RUN:way RUN:way2")
    return [_compared(left[a], right[b]) for a, b in pairs]


def moved(found: Comparison, measure: Measure) -> list[Moved]:
    """The items whose figure changed, most first."""
    pairs = [(found.a.items[key], found.b.items[key]) for key in found.shared]
    known = [(a, b) for a, b in pairs if measure.known(a.measures) and measure.known(b.measures)]
    told = [Moved(a, b, measure.of_item(a.measures), measure.of_item(b.measures)) for a, b in known]
    return sorted((one for one in told if abs(one.by) > MOVED), key=lambda one: (-abs(one.by), one.a.key))


def _named(runs: Runs, name: str) -> dict[str, Side]:
    """The sides that RUN or RUN:way names, by their ways."""
    id_, colon, way = name.partition(":")
    run = runs.run(id_)
    items: dict[str, dict[str, RunItem]] = {}
    for item in runs.items(run.id, way):
        if not way and not is_way(item.way):
            continue
        items.setdefault(item.way, {})[item.key] = item
    if items:
        return {way: Side(run, way, found) for way, found in items.items()}
    ways = sorted({known for known, _ in runs.known(run.id) if is_way(known)})
    if not ways:
        raise AppError(f"run {run.id} has no items: give the command that began it again, and it goes on")
    near = get_close_matches(way, ways, n=1, cutoff=0.3) or ways[:1]
    asked = f"run {run.id} has no way {way[:60]!r}" if colon else f"run {run.id} has no items"
    raise NotFoundError(f"{asked}, it has {', '.join(ways)}: give {run.id}:{near[0]}, for one")


def _pairs(left: Mapping[str, Side], right: Mapping[str, Side]) -> Iterator[tuple[str, str]]:
    if len(left) == len(right) == 1:
        yield from zip(left, right, strict=True)
        return
    both = [way for way in left if way in right]
    if not both:
        told = (f"{side.run.id}:{way}" for sides in (left, right) for way, side in sides.items())
        raise AppError(f"the runs have no way in common: name one of each, there are {', '.join(told)}")
    yield from ((way, way) for way in both)


def _compared(a: Side, b: Side) -> Comparison:
    shared = [key for key in a.items if key in b.items]
    if not shared:
        raise AppError(f"{a.name} and {b.name} share no item: compare runs over the same file, or the same part of it")
    measures = measures_in(name for side in (a, b) for key in shared for name in side.items[key].measures)
    other_judge = a.run.judge != b.run.judge
    left_out = [measure for measure in measures if measure.judged and other_judge]
    compared = [measure for measure in measures if measure not in left_out]
    told = [key for key in shared if source_of(a.items[key])]
    sources = sorted({source_of(a.items[key]) for key in told})
    means = _over_sources(compared, a, b, told) if len(sources) >= SEVERAL else []
    return Comparison(a, b, shared, _figures(compared, a, b, shared), left_out, sources, means)


def _figures(measures: Sequence[Measure], a: Side, b: Side, shared: Sequence[str]) -> list[Compared]:
    """Measures that the same items allow share their draws."""
    names = list(dict.fromkeys(column for measure in measures for column in measure.columns))
    left, right = (matrix([side.items[key].measures for key in shared], names) for side in (a, b))
    drawn: dict[bytes, tuple[Floats, Floats]] = {}
    found = []
    for measure in measures:
        columns = [names.index(column) for column in measure.columns]
        known = ~np.isnan(left[:, columns] + right[:, columns]).any(axis=1)
        if not known.any():
            continue
        if known.tobytes() not in drawn:
            both = left[known], right[known]
            drawn[known.tobytes()] = resampled_means(np.hstack(both)), swapped_means(*both)
        resampled, swapped = drawn[known.tobytes()]
        both_columns = [*columns, *(len(names) + column for column in columns)]
        by = measure.formula(right[known][:, columns]) - measure.formula(left[known][:, columns])
        draws = resampled[:, both_columns], swapped[:, both_columns]
        found.append(_compared_in(measure, measure.formula, *draws, by))
    return found


def _over_sources(measures: Sequence[Measure], a: Side, b: Side, shared: Sequence[str]) -> list[Compared]:
    """Each figure as plain mean over the sources, drawn and swapped within them."""
    found = []
    for measure in measures:
        keys = [key for key in shared if all(measure.known(side.items[key].measures) for side in (a, b))]
        sources, places = np.unique([source_of(a.items[key]) for key in keys], return_inverse=True)
        if len(sources) < SEVERAL:
            continue
        left, right = (matrix([side.items[key].measures for key in keys], measure.columns) for side in (a, b))
        formula = over_sources(measure.formula, len(measure.columns))
        drawn = resampled_within(np.hstack([left, right]), places).reshape(-1, len(sources), 2, len(measure.columns))
        resampled = drawn.transpose(0, 2, 1, 3).reshape(len(drawn), -1)
        swapped = swapped_means(apart(left, places), apart(right, places))
        found.append(_compared_in(measure, formula, resampled, swapped, measure.formula(right) - measure.formula(left)))
    return found


def _compared_in(measure: Measure, formula: Formula, resampled: Floats, swapped: Floats, by: Floats) -> Compared:
    """One figure from its draws, and by how much each item's own moved."""
    items, width = len(by), swapped.shape[1] // 2
    before, after = (float(formula(side)[0]) for side in (swapped[:1, :width], swapped[:1, width:]))
    between_ = between(difference(formula)(resampled))
    p = p_among(swapped, items, formula) if items > 1 else None
    up, down = int(np.sum(by > MOVED)), int(np.sum(by < -MOVED))
    return Compared(measure, items, before, after, after - before, *between_, p, up, down)
