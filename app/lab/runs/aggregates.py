"""What the measures of a run mean: which figure is made of the items' figures, how it is shown, who judged it.

A measure that stands here under no name is a plain mean, shown as it is.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from propcite.app.lab.runs.significance import Floats, Formula, between, first_column, resampled_means
from propcite.app.library.store.runs import RunItem

Measures = Mapping[str, float | None]

WRITTEN = "written"  # stands for the way of items that hold answers which are still to be cited
OWN_TEST = "judge's own test: "  # begins what stands for the way of items that test the judge
WHOLE = "all answers"  # stands for the id of what one answer does not have


def is_way(way: str) -> bool:
    """Whether items of it are what a run measures, and no step on the way there."""
    return not way.startswith((WRITTEN, OWN_TEST))


def f_measure(means: Floats) -> Floats:
    """F1 of two means: precision and recall, in either order.  (draws, 2) -> (draws,)

    >>> f_measure(np.array([[0.5, 1.0], [0.0, 0.0]])).round(3).tolist()
    [0.667, 0.0]
    """
    both = means.sum(axis=1)
    found: Floats = np.divide(2 * means.prod(axis=1), both, out=np.zeros_like(both), where=both > 0)
    return found


def ratio(means: Floats) -> Floats:
    """The first mean a unit of the second.  (draws, 2) -> (draws,)

    >>> ratio(np.array([[3.0, 2.0], [0.0, 0.0]])).tolist()
    [1.5, 0.0]
    """
    found: Floats = np.divide(means[:, 0], means[:, 1], out=np.zeros(len(means)), where=means[:, 1] > 0)
    return found


@dataclass(frozen=True, slots=True)
class Measure:
    """A figure of a run.  `of` names the items' measures whose means it is a formula of, where it is no plain mean."""

    name: str
    title: str = ""
    percent: bool = True
    judged: bool = False
    of: tuple[str, ...] = ()
    formula: Formula = first_column
    goal: int = 1  # 1: more is better, -1: less is better, 0: neither

    @property
    def columns(self) -> tuple[str, ...]:
        return self.of or (self.name,)

    @property
    def heading(self) -> str:
        return self.title or self.name.replace("_", " ")

    def show(self, value: float) -> str:
        """
        >>> Measure("recall").show(0.5), Measure("length", percent=False).show(61)
        ('50.0', '61.00')
        """
        decimals, told = (1, 100 * value) if self.percent else (2, value)
        return f"{round(told, decimals) + 0.0:.{decimals}f}"  # -0.0 + 0.0 is 0.0

    def known(self, measures: Measures) -> bool:
        """Whether an item has all that this figure is made of."""
        return all(measures.get(column) is not None for column in self.columns)

    def of_item(self, measures: Measures) -> float:
        """The figure of one item alone."""
        return float(self.formula(matrix([measures], self.columns))[0])


judged = partial(Measure, judged=True)
count = partial(Measure, percent=False, goal=0)

MEASURES: dict[str, Measure] = {
    measure.name: measure
    for measure in (
        judged("citation_recall"),
        judged("citation_precision"),
        judged("citation_f1", "citation F1", of=("citation_precision", "citation_recall"), formula=f_measure),
        Measure("str_em", "STR-EM"),
        Measure("str_hit", "STR-hit"),
        judged("claim_recall"),
        Measure("rouge_lsum", "ROUGE-Lsum"),
        Measure("qa_em", "QA-EM"),
        Measure("qa_f1", "QA-F1"),
        Measure("qa_hit", "QA-hit"),
        Measure("mauve", "MAUVE"),
        Measure("qampari_precision", "precision"),
        Measure("qampari_recall", "recall"),
        Measure("qampari_recall_5", "recall-5"),
        Measure("qampari_f1", "F1"),
        Measure("qampari_f1_5", "F1-5"),
        Measure("precision"),
        Measure("recall"),
        Measure("f1", "F1", of=("precision", "recall"), formula=f_measure),
        Measure("exact_precision"),
        Measure("exact_recall"),
        Measure("exact_f1", "exact F1", of=("exact_precision", "exact_recall"), formula=f_measure),
        Measure("coverage"),
        Measure("whole", "left whole"),
        Measure("right"),
        Measure("nDCG"),
        Measure("P"),
        Measure("R"),
        Measure("RR", "MRR"),
        Measure("Success"),
        Measure("AP", "MAP"),
        Measure("supported_facts", "facts with support"),
        judged("agreement", "agreement with people"),
        count("length", "words"),
        count("citations"),
        count("propositions"),
        count("sentences"),
        count("citations_a_sentence", of=("citations", "sentences"), formula=ratio),
    )
}


def measure_of(name: str) -> Measure:
    """The measure of a name; a cut as in nDCG@10 changes nothing but the name."""
    before, at, cut = name.partition("@")
    found = MEASURES.get(name) or MEASURES.get(before)
    if found is None:
        return Measure(name, percent=False)
    return Measure(name, found.heading + at + cut, found.percent, found.judged, goal=found.goal) if at else found


def measures_in(names: Iterable[str]) -> list[Measure]:
    """The measures that items with these names allow, in the order of MEASURES; then what stands under no name."""
    there = dict.fromkeys(names)
    found = {name: measure_of(name) for name in there}
    derived = [m for m in MEASURES.values() if m.of and m.name not in there and all(name in there for name in m.of)]
    order = list(MEASURES)

    def place(measure: Measure) -> int:
        name = measure.name if measure.name in MEASURES else measure.name.partition("@")[0]
        return order.index(name) if name in MEASURES else len(order)

    return sorted([*found.values(), *derived], key=place)


def matrix(rows: Sequence[Measures], columns: Sequence[str]) -> Floats:
    """Figures of items, NaN where there is none.  -> (items, columns)"""
    figures = [[np.nan if (value := row.get(c)) is None else value for c in columns] for row in rows]
    return np.array(figures, dtype=float).reshape(len(rows), len(columns))


@dataclass(frozen=True, slots=True)
class Aggregate:
    """A figure of one way over the items that allow it, with its interval; `sources` where it is a mean over these."""

    way: str
    measure: Measure
    items: int
    value: float
    low: float
    high: float
    sources: tuple[str, ...] = ()

    @property
    def half(self) -> float:
        return (self.high - self.low) / 2

    @property
    def is_single(self) -> bool:
        """A figure of all answers together has no items to draw from, and so no interval."""
        return self.items == 1


def aggregates(items: Sequence[RunItem]) -> list[Aggregate]:
    """Every figure of every way, not of the steps before; measures that the same items allow are resampled together."""
    by_way: dict[str, list[Measures]] = defaultdict(list)
    for item in filter(lambda item: is_way(item.way), items):
        by_way[item.way].append(item.measures)
    return [aggregate for way, rows in by_way.items() for aggregate in _of_way(way, rows)]


def _of_way(way: str, rows: Sequence[Measures]) -> list[Aggregate]:
    measures = measures_in(name for row in rows for name in row)
    names = sorted({column for measure in measures for column in measure.columns})
    figures = matrix(rows, names)
    at = {measure.name: [names.index(column) for column in measure.columns] for measure in measures}
    known = {measure.name: ~np.isnan(figures[:, at[measure.name]]).any(axis=1) for measure in measures}
    drawn: dict[bytes, Floats] = {}
    told = []
    for measure in measures:
        mask, columns = known[measure.name], at[measure.name]
        if not mask.any():
            continue
        if mask.tobytes() not in drawn:
            drawn[mask.tobytes()] = resampled_means(figures[mask])
        value = float(measure.formula(figures[mask][:, columns].mean(axis=0)[None])[0])
        low, high = between(measure.formula(drawn[mask.tobytes()][:, columns]))
        told.append(Aggregate(way, measure, int(mask.sum()), value, low, high))
    return told


def grouped(figures: Sequence[Aggregate]) -> list[list[Aggregate]]:
    """Ways that share a measure together, others apart: what ranks is no row in a table of what cites."""
    groups: list[list[Aggregate]] = []
    for way in dict.fromkeys(figure.way for figure in figures):
        own = [figure for figure in figures if figure.way == way]
        near = [group for group in groups if _goals(group) & _goals(own)]
        if near:
            near[0].extend([figure for group in near[1:] for figure in group] + own)
            groups = [group for group in groups if group not in near[1:]]
        else:
            groups.append(own)
    return groups


def _goals(figures: Sequence[Aggregate]) -> set[str]:
    """What tells good from bad; where nothing does, everything."""
    names = {figure.measure.name for figure in figures if figure.measure.goal}
    return names or {figure.measure.name for figure in figures}


def costs(items: Iterable[RunItem]) -> dict[str, dict[str, float]]:
    """What all items of each way cost together, by way; `items` counts those that tell a cost."""
    told: dict[str, dict[str, float]] = defaultdict(lambda: defaultdict(float))
    for item in items:
        if item.cost:
            told[item.way]["items"] += 1
        for name, value in item.cost.items():
            told[item.way][name] += value
    return {way: dict(cost) for way, cost in told.items()}


def whole_cost(spent: Mapping[str, Mapping[str, float]]) -> dict[str, float]:
    """What all ways cost together."""
    names = dict.fromkeys(name for cost in spent.values() for name in cost)
    return {name: sum(cost.get(name, 0.0) for cost in spent.values()) for name in names}
