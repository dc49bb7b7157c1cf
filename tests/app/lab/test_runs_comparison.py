"""Comparison of two runs, or of two ways of one."""

from __future__ import annotations

import doctest
import re
from collections.abc import Mapping

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sample_runs import WAYS, sample_run

from propcite.app.errors import AppError, NotFoundError
from propcite.app.lab.runs import tables
from propcite.app.lab.runs.aggregates import aggregates
from propcite.app.lab.runs.comparison import compare, item_changes
from propcite.app.lab.runs.tables import comparison_table, judge_difference
from propcite.app.library.store import Library, RunInfo, RunItem, Runs


def run_of(runs: Runs, figures: Mapping[str, Mapping[str, float | None]], way: str = "x", judge: str = "j") -> RunInfo:
    run = runs.start("asqa", "x.json", {}, {}, judge)
    runs.add(run.id, [RunItem(key, way, dict(measures)) for key, measures in figures.items()])
    return runs.finish(run.id)


def test_doctests() -> None:
    assert doctest.testmod(tables).failed == 0


def test_only_items_that_both_have_are_compared(runs: Runs) -> None:
    a = run_of(runs, {"1": {"str_em": 0.0}, "2": {"str_em": 1.0}, "3": {"str_em": None}, "4": {"str_em": 1.0}})
    b = run_of(runs, {"2": {"str_em": 0.0}, "3": {"str_em": 1.0}, "4": {"str_em": 1.0}, "9": {"str_em": 0.0}})
    (comparison,) = compare(runs, a.id, b.id)
    assert comparison.shared == ["2", "3", "4"]
    (figure,) = comparison.figures
    assert (figure.items, figure.a, figure.b, figure.difference) == (2, 1.0, 0.5, -0.5)
    assert (figure.up, figure.down, figure.changed) == (0, 1, 1)
    assert figure.p == 1.0  # with one changed item both signs are equally likely


def test_two_ways_of_one_run_are_compared(runs: Runs) -> None:
    run = sample_run(runs)
    (comparison,) = compare(runs, f"{run.id}:{WAYS[1]}", f"{run.id[:9]}:{WAYS[0]}")
    figures = {figure.measure.name: figure for figure in comparison.figures}
    recall, f1 = figures["citation_recall"], figures["citation_f1"]
    assert recall.low <= recall.difference <= recall.high
    assert recall.difference > 0
    assert recall.p < 0.05
    assert figures["str_em"].p == 1.0
    precision = figures["citation_precision"]
    assert f1.b == pytest.approx(2 * recall.b * precision.b / (recall.b + precision.b))


def test_whole_runs_are_compared_way_by_way(runs: Runs) -> None:
    a, b = sample_run(runs), sample_run(runs, better=0.1, seed=1)
    assert [(comparison.a.way, comparison.b.way) for comparison in compare(runs, a.id, b.id)] == [
        (way, way) for way in WAYS
    ]
    named = compare(runs, f"{a.id}:{WAYS[0]}", f"{b.id}:{WAYS[1]}")
    assert [(comparison.a.way, comparison.b.way) for comparison in named] == [WAYS]


def test_figures_of_different_judges_are_left_out_and_both_named(runs: Runs) -> None:
    a, b = sample_run(runs, judge="embedded/minilm"), sample_run(runs, judge="true-nli")
    comparison = compare(runs, a.id, b.id)[0]
    assert [figure.measure.name for figure in comparison.figures] == ["str_em", "length"]
    assert [m.name for m in comparison.left_out] == ["citation_recall", "citation_precision", "citation_f1"]
    assert "different judges (embedded/minilm and true-nli)" in judge_difference(comparison)


def test_the_largest_changes_come_first(runs: Runs) -> None:
    a = run_of(runs, {str(n): {"str_em": 0.5} for n in range(5)})
    b = run_of(runs, {"0": {"str_em": 0.5}, "1": {"str_em": 0.6}, "2": {"str_em": 0.0}, "3": {"str_em": None}})
    (comparison,) = compare(runs, a.id, b.id)
    changes = item_changes(comparison, comparison.figures[0].measure)
    assert [(one.a.key, one.before, one.after) for one in changes] == [("2", 0.5, 0.0), ("1", 0.5, 0.6)]


@settings(max_examples=15)  # each opens a database
@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=1, max_size=15))
def test_swapping_the_sides_swaps_the_signs(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[float, float]]
) -> None:
    library = Library(f"sqlite:///{tmp_path_factory.mktemp('runs') / 'x.sqlite'}")
    runs = Runs(library)
    a, b = (run_of(runs, {str(n): {"R@5": row[side]} for n, row in enumerate(rows)}) for side in (0, 1))
    (there,), (back,) = compare(runs, a.id, b.id)[0].figures, compare(runs, b.id, a.id)[0].figures
    library.close()
    assert there.difference == pytest.approx(-back.difference)
    assert (there.up, there.down) == (back.down, back.up)
    assert there.difference == pytest.approx(np.mean([after - before for before, after in rows]))
    assert there.p == pytest.approx(back.p, abs=0.02)


def test_a_figure_of_all_answers_has_no_interval_and_no_p(runs: Runs) -> None:
    figures = {"q1": {"str_em": 0.5}, "q2": {"str_em": 0.0}}
    a, b = (run_of(runs, {**figures, "all answers": {"mauve": value}}) for value in (0.5, 0.75))
    (comparison,) = compare(runs, a.id, b.id)
    mauve = next(figure for figure in comparison.figures if figure.measure.name == "mauve")
    assert (mauve.items, mauve.p) == (1, None)
    assert re.search(r"MAUVE +50.0 +75.0 +\+25.0 +- ", comparison_table(comparison.figures))


def test_steps_of_a_run_are_compared_only_if_named(runs: Runs) -> None:
    ids = []
    for length in (3.0, 5.0):
        run = run_of(runs, {"q1": {"citation_recall": 0.5, "length": 4.0}})
        runs.add(run.id, [RunItem("q1", "written", {"length": length})])
        runs.add(run.id, [RunItem("q1", "judge's own test: itself", {"citation_recall": 1.0})])
        ids.append(run.id)
    assert [comparison.a.way for comparison in compare(runs, *ids)] == ["x"]
    (written,) = compare(runs, f"{ids[0]}:written", f"{ids[1]}:written")
    assert written.figures[0].difference == 2.0
    assert {figure.way for figure in aggregates(list(runs.items(ids[0])))} == {"x"}


def test_a_table_has_no_negative_zero(runs: Runs) -> None:
    a, b = (run_of(runs, {key: {"str_em": value} for key in "12"}) for value in (0.5, 0.5 - 1e-7))
    table = comparison_table(compare(runs, a.id, b.id)[0].figures)
    assert "-0.0" not in table
    assert "+0.0 [+0.0, +0.0]" in table


def test_runs_that_cannot_be_compared_are_an_error_with_the_next_step(runs: Runs) -> None:
    one, other = run_of(runs, {"1": {"str_em": 1.0}}), run_of(runs, {"2": {"str_em": 1.0}})
    empty = runs.start("asqa", "x.json", {}, {})
    both = sample_run(runs)
    for first, second, words in (
        (one.id, other.id, "share no item: compare runs over the same file"),
        (one.id, empty.id, f"run {empty.id} has no items: continue it with the command that began it"),
        (one.id, one.id, "are the same: name two runs, or two ways as RUN:way RUN:way2"),
        (both.id, both.id, "are the same"),
        (both.id, f"{both.id}:{WAYS[0]}", "are the same"),
        (both.id, one.id, "no way in common: name one of each"),
    ):
        with pytest.raises(AppError, match=words):
            compare(runs, first, second)
    with pytest.raises(NotFoundError, match=rf"no way 'propcite', .*: give {both.id}:propcite\+judge, for example"):
        compare(runs, f"{both.id}:propcite", one.id)
