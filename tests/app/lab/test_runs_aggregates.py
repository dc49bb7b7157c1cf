"""Figures of a run from the measures of its items."""

from __future__ import annotations

import doctest

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from propcite.app.lab.runs import aggregates as module
from propcite.app.lab.runs import runner, significance
from propcite.app.lab.runs.aggregates import aggregates, comparable_groups, costs, f_measure, measure_of, measures_in
from propcite.app.library.store import RunItem


def test_doctests() -> None:
    assert [doctest.testmod(tested).failed for tested in (module, significance, runner)] == [0, 0, 0]


def test_f1_is_of_the_two_means_and_not_a_mean_of_f1() -> None:
    rows = [(1.0, 0.2), (0.5, 1.0), (0.0, 0.0)]
    items = [
        RunItem(str(n), "propcite", {"citation_precision": p, "citation_recall": r}) for n, (p, r) in enumerate(rows)
    ]
    figures = {a.measure.name: a for a in aggregates(items)}
    assert figures["citation_precision"].value == pytest.approx(0.5)
    assert figures["citation_recall"].value == pytest.approx(0.4)
    assert figures["citation_f1"].value == pytest.approx(2 * 0.5 * 0.4 / 0.9)
    assert figures["citation_f1"].value != pytest.approx(
        np.mean([2 * p * r / (p + r) if p + r else 0 for p, r in rows])
    )


def test_an_item_without_a_measure_is_left_out_of_that_measure_only() -> None:
    items = [
        RunItem("a", "x", {"str_em": 1.0, "length": 10}),
        RunItem("b", "x", {"str_em": None, "length": 20}),
        RunItem("c", "x", {"length": 60}),
        RunItem("d", "y", {"str_em": None}),
    ]
    figures = {(a.way, a.measure.name): (a.items, a.value) for a in aggregates(items)}
    assert figures == {("x", "str_em"): (1, 1.0), ("x", "length"): (3, 30.0)}


@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=1, max_size=20))
def test_intervals_are_valid_and_f1_lies_between_precision_and_recall(rows: list[tuple[float, float]]) -> None:
    items = [RunItem(str(n), "w", {"precision": p, "recall": r}) for n, (p, r) in enumerate(rows)]
    figures = {a.measure.name: a for a in aggregates(items)}
    assert list(figures) == ["precision", "recall", "f1"]
    for a in figures.values():
        assert a.low - 1e-9 <= a.high
        assert -1e-9 <= a.low <= 1 + 1e-9
    low, high = sorted((figures["precision"].value, figures["recall"].value))
    assert low - 1e-9 <= figures["f1"].value <= high + 1e-9


@given(st.floats(0, 1), st.floats(0, 1))
def test_f1_is_symmetric(a: float, b: float) -> None:
    assert f_measure(np.array([[a, b]])) == f_measure(np.array([[b, a]]))


def test_measures_are_in_order_and_unknown_ones_last() -> None:
    names = ["own", "length", "R@5", "nDCG@10", "citation_recall", "R@100"]
    assert [m.name for m in measures_in(names)] == ["citation_recall", "nDCG@10", "R@5", "R@100", "length", "own"]
    assert (measure_of("RR@10").heading, measure_of("RR@10").show(0.25)) == ("MRR@10", "25.0")
    assert (measure_of("own").heading, measure_of("own").show(0.25), measure_of("own").judged) == ("own", "0.25", False)
    assert [m.name for m in measures_in(["citation_recall", "citation_precision"])][-1] == "citation_f1"


def test_costs_are_summed_by_way() -> None:
    items = [
        RunItem("a", "x", {}, {}, {"seconds": 1.5, "prompt_tokens": 10}),
        RunItem("b", "x", {}, {}, {"seconds": 0.5}),
        RunItem("c", "x", {}),
        RunItem("a", "y", {}),
    ]
    assert costs(items) == {"x": {"items": 2, "seconds": 2.0, "prompt_tokens": 10}}


def test_ways_that_share_a_measure_are_one_group() -> None:
    measures = {
        "ranked": {"P@1": 0.5},
        "cited": {"precision": 0.5, "recall": 0.5, "citations": 2.0},
        "cited too": {"recall": 0.5, "citations": 1.0},
        "counted": {"citations": 3.0},
    }
    items = [RunItem("q", way, values) for way, values in measures.items()]
    groups = [list(dict.fromkeys(f.way for f in group)) for group in comparable_groups(aggregates(items))]
    assert groups == [["ranked"], ["cited", "cited too"], ["counted"]]


def test_a_way_that_shares_with_two_groups_merges_them() -> None:
    measures = {"a": {"P@1": 0.5}, "b": {"str_em": 0.5}, "c": {"R@5": 0.1}, "d": {"str_em": 0.5, "P@1": 0.5}}
    items = [RunItem("q", way, values) for way, values in measures.items()]
    groups = [sorted({f.way for f in group}) for group in comparable_groups(aggregates(items))]
    assert groups == [["a", "b", "d"], ["c"]]


def test_coverage_of_splitters_and_of_answers_have_different_names() -> None:
    assert measure_of("coverage").heading == "coverage"
    assert measure_of("supported_facts").heading == "facts with support"


def test_small_shares_of_a_cost_are_not_rounded_away() -> None:
    each = runner.split_cost({"seconds": 0.00005, "prompt_tokens": 7.0}, 10)
    assert each == {"seconds": 0.000005, "prompt_tokens": 0.7}
    assert runner.add_costs(each, {"cpu_seconds": 1.0}) == {**each, "cpu_seconds": 1.0}
