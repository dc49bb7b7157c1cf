"""Figures of a run from the measures of its items, with their intervals.

MEASURES says how a measure is shown and whether a judge computed it.  A measure that is not in it is a plain mean,
shown as it is.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from propcite.app.lab.runs.significance import (
    Floats,
    Formula,
    bootstrap_means_by_source,
    columns_by_source,
    first_column,
    mean_over,
    percentile_interval,
)
from propcite.app.library.store.runs import RunItem

Measures = Mapping[str, float | None]

ANSWER_WAY = "written"  # way of the items that hold answers before they are cited
JUDGE_TEST = "judge's own test: "  # prefix of the ways of items that test the judge
ALL_ANSWERS = "all answers"  # key of the item for measures that no single answer has
MIN_SOURCES = 2  # for a mean over sources


def is_way(way: str) -> bool:
    """Return whether items of this way are results and not a step towards them."""
    return not way.startswith((ANSWER_WAY, JUDGE_TEST))


def source_of(item: RunItem) -> str:
    """Return the source that an item's row comes from; empty if it has none."""
    return str(item.output.get("source") or "")


def f_measure(means: Floats) -> Floats:
    """Return F1 of mean precision and mean recall, in either order.  (draws, 2) -> (draws,)

    >>> f_measure(np.array([[0.5, 1.0], [0.0, 0.0]])).round(3).tolist()
    [0.667, 0.0]
    """
    total = means.sum(axis=1)
    f1: Floats = np.divide(2 * means.prod(axis=1), total, out=np.zeros_like(total), where=total > 0)
    return f1


def ratio(means: Floats) -> Floats:
    """Return the first mean divided by the second.  (draws, 2) -> (draws,)

    >>> ratio(np.array([[3.0, 2.0], [0.0, 0.0]])).tolist()
    [1.5, 0.0]
    """
    quotient: Floats = np.divide(means[:, 0], means[:, 1], out=np.zeros(len(means)), where=means[:, 1] > 0)
    return quotient


@dataclass(frozen=True, slots=True)
class Measure:
    """A figure of a run: by default the mean of the items' measure of this name.

    `inputs` names the items' measures if the figure is a `formula` of their means.
    """

    name: str
    title: str = ""
    percent: bool = True
    judged: bool = False
    inputs: tuple[str, ...] = ()
    formula: Formula = first_column
    goal: int = 1  # 1: more is better, -1: less is better, 0: neither

    @property
    def columns(self) -> tuple[str, ...]:
        return self.inputs or (self.name,)

    @property
    def heading(self) -> str:
        return self.title or self.name.replace("_", " ")

    def show(self, value: float) -> str:
        """
        >>> Measure("recall").show(0.5), Measure("length", percent=False).show(61)
        ('50.0', '61.00')
        """
        decimals, number = (1, 100 * value) if self.percent else (2, value)
        return f"{round(number, decimals) + 0.0:.{decimals}f}"  # -0.0 + 0.0 is 0.0

    def applies_to(self, measures: Measures) -> bool:
        """Return whether an item has everything that this figure is computed from."""
        return all(measures.get(column) is not None for column in self.columns)

    def of_item(self, measures: Measures) -> float:
        """Return the figure of one item alone."""
        return float(self.formula(matrix([measures], self.columns))[0])


judged = partial(Measure, judged=True)
count = partial(Measure, percent=False, goal=0)

MEASURES: dict[str, Measure] = {
    measure.name: measure
    for measure in (
        judged("citation_recall"),
        judged("citation_precision"),
        judged("citation_f1", "citation F1", inputs=("citation_precision", "citation_recall"), formula=f_measure),
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
        Measure("gold", "gold tokens", goal=0),
        Measure("lexical", "lexical matches", goal=0),
        Measure("precision"),
        Measure("recall"),
        Measure("f1", "F1", inputs=("precision", "recall"), formula=f_measure),
        Measure("exact_precision"),
        Measure("exact_recall"),
        Measure("exact_f1", "exact F1", inputs=("exact_precision", "exact_recall"), formula=f_measure),
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
        count("citations_a_sentence", inputs=("citations", "sentences"), formula=ratio),
    )
}


def measure_of(name: str) -> Measure:
    """Return the measure of a name; a cutoff as in nDCG@10 changes only its name and heading."""
    base, at, cutoff = name.partition("@")
    listed = MEASURES.get(name) or MEASURES.get(base)
    if listed is None:
        return Measure(name, percent=False)
    return (
        Measure(name, listed.heading + at + cutoff, listed.percent, listed.judged, goal=listed.goal) if at else listed
    )


def measures_in(names: Iterable[str]) -> list[Measure]:
    """Return the measures that items with these names allow, in the order of MEASURES, then those not in it."""
    present = {name: measure_of(name) for name in names}
    derived = [
        m for m in MEASURES.values() if m.inputs and m.name not in present and all(name in present for name in m.inputs)
    ]
    order = list(MEASURES)

    def place(measure: Measure) -> int:
        name = measure.name if measure.name in MEASURES else measure.name.partition("@")[0]
        return order.index(name) if name in MEASURES else len(order)

    return sorted([*present.values(), *derived], key=place)


def matrix(rows: Sequence[Measures], columns: Sequence[str]) -> Floats:
    """Return the items' measures with NaN for missing ones.  -> (items, columns)"""
    figures = [[np.nan if (value := row.get(c)) is None else value for c in columns] for row in rows]
    return np.array(figures, dtype=float).reshape(len(rows), len(columns))


@dataclass(frozen=True, slots=True)
class Aggregate:
    """A figure of one way with its interval; `sources` are set if it is a mean over sources."""

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
        """Return whether the figure has no interval because there is one item: a figure of all answers together."""
        return self.items == 1


def aggregates(items: Iterable[RunItem]) -> list[Aggregate]:
    """Return every figure of every way over its items."""
    return [figure for way, rows in _by_way(items).items() for figure in _figures(way, rows, [""] * len(rows))]


def mean_over_sources(items: Iterable[RunItem], at_least: int = MIN_SOURCES) -> list[Aggregate]:
    """Return every figure of every way as the unweighted mean over its sources; empty with too few sources.

    All sources count alike, however many items each has.
    """
    by_way = _by_way(item for item in items if source_of(item))
    return [
        figure for way, rows in by_way.items() for figure in _figures(way, rows, list(map(source_of, rows)), at_least)
    ]


def _by_way(items: Iterable[RunItem]) -> dict[str, list[RunItem]]:
    by_way: dict[str, list[RunItem]] = defaultdict(list)
    for item in items:
        if is_way(item.way):
            by_way[item.way].append(item)
    return by_way


def _figures(way: str, items: Sequence[RunItem], sources: Sequence[str], at_least: int = 1) -> Iterator[Aggregate]:
    """Yield each figure that enough sources allow; measures of the same items share their bootstrap samples."""
    measures = measures_in(name for item in items for name in item.measures)
    names = sorted({column for measure in measures for column in measure.columns})
    figures, labels = matrix([item.measures for item in items], names), np.array(sources)
    samples: dict[bytes, Floats] = {}
    for measure in measures:
        columns = [names.index(column) for column in measure.columns]
        mask = ~np.isnan(figures[:, columns]).any(axis=1)
        present, places = np.unique(labels[mask], return_inverse=True)
        if len(present) < at_least:
            continue
        if mask.tobytes() not in samples:
            drawn = bootstrap_means_by_source(figures[mask], places)
            samples[mask.tobytes()] = drawn.reshape(len(drawn), len(present), len(names))
        drawn = samples[mask.tobytes()][:, :, columns]
        formula = mean_over(measure.formula, len(columns))
        value = float(formula(columns_by_source(figures[mask][:, columns], places).mean(axis=0)[None])[0])
        low, high = percentile_interval(formula(drawn.reshape(len(drawn), -1)))
        yield Aggregate(way, measure, int(mask.sum()), value, low, high, tuple(filter(None, present.tolist())))


def comparable_groups(figures: Sequence[Aggregate]) -> list[list[Aggregate]]:
    """Return the figures in groups of ways that share a measure, one table each: rankings apart from citations."""
    groups: list[list[Aggregate]] = []
    for way in dict.fromkeys(figure.way for figure in figures):
        own = [figure for figure in figures if figure.way == way]
        sharing = [group for group in groups if _goals(group) & _goals(own)]
        if sharing:
            sharing[0].extend([figure for group in sharing[1:] for figure in group] + own)
            groups = [group for group in groups if group not in sharing[1:]]
        else:
            groups.append(own)
    return groups


def _goals(figures: Sequence[Aggregate]) -> set[str]:
    """Return the measures by which a way can be better than another; all if there are none."""
    names = {figure.measure.name for figure in figures if figure.measure.goal}
    return names or {figure.measure.name for figure in figures}


def costs(items: Iterable[RunItem]) -> dict[str, dict[str, float]]:
    """Return the total costs of each way; `items` counts those that have a cost."""
    totals: dict[str, dict[str, float]] = defaultdict(lambda: defaultdict(float))
    for item in items:
        if item.cost:
            totals[item.way]["items"] += 1
        for name, value in item.cost.items():
            totals[item.way][name] += value
    return {way: dict(cost) for way, cost in totals.items()}


def total_cost(by_way: Mapping[str, Mapping[str, float]]) -> dict[str, float]:
    """Return the costs of all ways together."""
    names = dict.fromkeys(name for cost in by_way.values() for name in cost)
    return {name: sum(cost.get(name, 0.0) for cost in by_way.values()) for name in names}
