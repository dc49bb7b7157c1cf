"""Unweighted means over sources: by hand, drawn within each source, compared in pairs, and shown."""

from __future__ import annotations

import csv
import doctest
import io
import json
from collections.abc import Sequence

import numpy as np
import pytest
from commanded import Propcite, commanded
from sample_runs import run_info

from propcite.app.lab.runs import significance
from propcite.app.lab.runs.aggregates import aggregates, f_measure, mean_over_sources
from propcite.app.lab.runs.comparison import compare
from propcite.app.lab.runs.exports import to_csv, to_json
from propcite.app.lab.runs.significance import bootstrap_means_by_source, columns_by_source, mean_over
from propcite.app.library.store import RunItem, Runs

NEWS, WIKI = [0.0, 0.5, 1.0, 0.5], [1.0, 1.0, 0.75, 0.75, 1.0, 0.9, 1.0, 1.0]


def items(news: Sequence[float] = NEWS, wiki: Sequence[float] = WIKI, way: str = "w") -> list[RunItem]:
    return [
        RunItem(f"{source}{n}", way, {"precision": value, "recall": value / 2}, {"source": source})
        for source, values in (("news", news), ("wiki", wiki))
        for n, value in enumerate(values)
    ]


def stored_run(runs: Runs, rows: Sequence[RunItem]) -> str:
    run = runs.start("cite", "x.jsonl", {}, {})
    runs.add(run.id, rows)
    return runs.finish(run.id).id


def test_doctests() -> None:
    assert doctest.testmod(significance).failed == 0


def test_sources_count_alike_whatever_their_size() -> None:
    figures = {figure.measure.name: figure for figure in mean_over_sources(items())}
    precision = (np.mean(NEWS) + np.mean(WIKI)) / 2
    assert figures["precision"].value == pytest.approx(precision)
    both = [2 * p * (p / 2) / (p + p / 2) for p in (np.mean(NEWS), np.mean(WIKI))]
    assert figures["f1"].value == pytest.approx(np.mean(both))  # of F1 of each source, as that is the source's figure
    assert (figures["f1"].items, figures["f1"].sources) == (12, ("news", "wiki"))
    assert figures["precision"].low < precision < figures["precision"].high
    assert aggregates(items())[0].value > precision  # the larger source is the better one


def test_samples_are_drawn_within_each_source() -> None:
    (steady,) = [f for f in mean_over_sources(items([0.0] * 3, [1.0] * 7)) if f.measure.name == "precision"]
    assert (steady.low, steady.value, steady.high) == (0.5, 0.5, 0.5)
    drawn = bootstrap_means_by_source(np.array([[0.0], [1.0], [1.0]]), np.array([0, 1, 1]))
    assert drawn.shape == (2000, 2)
    assert (drawn == [0.0, 1.0]).all()


def test_fewer_than_two_sources_have_no_mean() -> None:
    assert mean_over_sources([RunItem("a", "w", {"recall": 1.0}, {})]) == []
    assert mean_over_sources(items(wiki=[])) == []
    without = [*items(), RunItem("x", "w", {"recall": 1.0}, {})]
    assert mean_over_sources(without) == mean_over_sources(items())
    some = [*items(wiki=[]), RunItem("x", "w", {"recall": None, "P@1": 1.0}, {"source": "wiki"})]
    assert mean_over_sources(some) == []  # each measure is of one source alone


def test_columns_by_source_have_the_means_of_each_source() -> None:
    rng = np.random.default_rng(0)
    columns, places = rng.random((9, 2)), np.array([0, 1, 1, 2, 0, 2, 2, 2, 1])
    means = columns_by_source(columns, places).mean(axis=0).reshape(3, 2)
    assert means == pytest.approx(np.array([columns[places == at].mean(axis=0) for at in range(3)]))
    formula = mean_over(f_measure, 2)
    assert formula(means.reshape(1, -1)) == pytest.approx(np.mean([f_measure(m[None]) for m in means]))


def test_two_runs_are_compared_within_sources(runs: Runs) -> None:
    a, b = stored_run(runs, items()), stored_run(runs, items([value + 0.25 for value in NEWS]))
    (comparison,) = compare(runs, a, b)
    figures = {figure.measure.name: figure for figure in comparison.over_sources}
    assert comparison.sources == ["news", "wiki"]
    one = figures["precision"]
    assert (one.difference, one.items, one.up, one.down) == (pytest.approx(0.125), 12, 4, 0)
    assert (one.low, one.high) == (pytest.approx(0.125), pytest.approx(0.125))  # every item of news by as much
    assert one.p == pytest.approx(2 / 2**4, abs=0.02)  # all four to one side, by chance: either sign
    assert one.a == pytest.approx((np.mean(NEWS) + np.mean(WIKI)) / 2)
    (same,) = compare(runs, a, stored_run(runs, items()))
    assert {figure.p for figure in same.over_sources} == {1.0}


def test_the_mean_is_shown_with_all_figures(
    runs: Runs, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    propcite: Propcite = commanded(monkeypatch, capsys)
    a, b = stored_run(runs, items()), stored_run(runs, items(NEWS[::-1]))
    words = "plain mean over 2 sources (news, wiki), items drawn within each"
    assert f"{words}\n" in propcite("runs", "show", a).out
    means = propcite("runs", "show", a, "--json").json["over_sources"]
    assert means[0]["sources"] == ["news", "wiki"]
    assert f"{words}\n" in propcite("runs", "compare", a, b).out
    assert len(propcite("runs", "compare", a, b, "--json").json[0]["over_sources"]) == 3
    exported = json.loads(to_json(run_info(), items()))
    assert [one["value"] for one in exported["over_sources"]] == [one["value"] for one in means]
    rows = list(csv.DictReader(io.StringIO(to_csv(run_info(), items()).removeprefix("\ufeff"))))
    assert {row["source"] for row in rows} == {"news", "wiki"}
