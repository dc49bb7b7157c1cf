"""`propcite eval alignments`: every strategy on the same candidates, and adaptation over folds."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from commanded import Propcite, Said

from propcite.app.lab.adaptation.choice import choose
from propcite.app.lab.adaptation.strategies import NAMES
from propcite.app.lab.ranking.folds import draw_folds, fold_rows
from propcite.app.library.store import RunItem
from propcite.app.parts import Parts
from propcite.app.settings import load_settings

TEXTS = {
    "gates": "The tidal barrier has fourteen steel gates. Each gate is closed in an hour.",
    "cost": "The barrier cost 410 million euros. Divers checked its gates twice.",
    "terns": "Terns breed on the gravel roof of the warehouse.",
    "ferry": "The ferry crosses the bay every twenty minutes.",
}
QUERIES = {
    "q1": ("How many steel gates?", "gates"),
    "q2": ("What did the divers check?", "cost"),
    "q3": ("Who breeds?", "terns"),
}


def beir(folder: Path, times: int = 1) -> Path:
    """Write a small folder with so many copies of each query."""
    (folder / "qrels").mkdir(parents=True)
    copies = {f"{name}-{n}": one for n in range(times) for name, one in QUERIES.items()}
    corpus = [{"_id": name, "title": "", "text": text} for name, text in TEXTS.items()]
    queries = [{"_id": name, "text": text} for name, (text, _) in copies.items()]
    for name, rows in (("corpus", corpus), ("queries", queries)):
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (folder / "qrels" / "test.tsv").write_text("".join(f"{name}\t{right}\t1\n" for name, (_, right) in copies.items()))
    return folder


def error_line(result: Said) -> str:
    assert result.code == 2, result
    assert result.err.splitlines()[-1].startswith("propcite: ")
    return result.err.splitlines()[-1]


def test_every_strategy_ranks_every_query_of_every_folder(propcite: Propcite, tmp_path: Path) -> None:
    one, two = beir(tmp_path / "one"), beir(tmp_path / "two", 2)
    result = propcite("eval", "alignments", one, two)
    assert result.code == 0, result.err
    tables = result.out.split("\n\n")
    assert [table.splitlines()[0] for table in tables[:3]] == ["nDCG@10", "R@100", "MRR@10"]
    assert ["one (n 3)" in tables[0], "two (n 6)" in tables[0], "mean (n 9)" in tables[0]] == [True] * 3
    assert {line.split("  ")[0] for line in tables[0].splitlines()[2:]} == set(NAMES)
    parts = Parts(load_settings())
    run = parts.runs.run("last")
    items = list(parts.runs.items(run.id))
    parts.library.close()
    assert (run.kind, run.name, run.state, run.num_items) == ("alignments", "one, two", "done", 9 * len(NAMES))
    assert run.settings["candidates"] == 400
    usual = {item.key: item for item in items if item.way == "top-k=1"}
    assert usual["one/q1-0"].output["ranking"][0] == "gates"
    assert usual["two/q1-1"].measures == usual["one/q1-0"].measures
    by_words = next(item for item in items if (item.way, item.key) == ("exact", "one/q1-0"))
    assert by_words.output["ranking"][0] == "gates"


def test_the_default_strategy_ranks_like_eval_beir(propcite: Propcite, tmp_path: Path) -> None:
    folder = beir(tmp_path / "one")
    values = {}
    for words in (
        ("beir", folder, "--way", "exact", "--alignment", "top-k=4", "--alignment", "max"),
        ("alignments", folder),
    ):
        result = propcite("eval", *words, "--format", "jsonl")
        rows = [row for row in result.rows if row["measure"] == "nDCG@10" and row["of"] != "mean"]
        values |= {row["way"]: row["value"] for row in rows}
    assert values["exact, top-k=1"] == values["top-k=1"]
    assert values["exact, top-k=4"] == values["top-k=4"]


def test_the_settings_alignment_names_the_ways_of_passages(
    propcite: Propcite, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PROPCITE_ALIGNMENT", "top-p=50%")
    result = propcite("eval", "beir", beir(tmp_path / "one"), "--way", "m_q", "--way", "xtr", "--way", "bm25")
    assert {line.partition("  ")[0] for line in result.out.splitlines()[1:4]} == {"bm25", "m_q, top-p=50%", "xtr"}


def test_measured_items_are_not_measured_again(propcite: Propcite, tmp_path: Path) -> None:
    folder = beir(tmp_path / "one")
    parts = Parts(load_settings())
    assert propcite("eval", "alignments", folder, "--strategy", "top-k=2").code == 0
    run = parts.runs.run("last")
    before = {(item.key, item.way): item.cost for item in parts.runs.items(run.id)}
    with parts.library.engine.begin() as connection:
        connection.exec_driver_sql("DELETE FROM run_items WHERE key = 'one/q2-0'")
        connection.exec_driver_sql("UPDATE runs SET state = 'unfinished'")
    result = propcite("eval", "alignments", folder, "--strategy", "top-k=2")
    assert f"continuing run {run.id}: 4 items are done" in result.err
    after = {(item.key, item.way): item.cost for item in parts.runs.items(run.id)}
    assert after.keys() == before.keys()
    assert {key for key in before if after[key] == before[key]} == {key for key in before if key[0] != "one/q2-0"}
    parts.library.close()


def test_folds_are_shown_below_and_as_json_lines(propcite: Propcite, tmp_path: Path) -> None:
    folder = beir(tmp_path / "one", 2)
    words = ("eval", "alignments", folder, "--strategy", "first", "--folds", "2")
    result = propcite(*words)
    assert "guarded gain" in result.out.splitlines()[-2]
    assert result.out.splitlines()[-1].split()[:3] == ["one", "6", "3"]
    row = propcite(*words, "--new", "--format", "jsonl").rows[-1]
    assert (row["table"], row["source"], row["folds"]) == ("folds", "one", 3)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["one", "--strategy", "top-k=x"], "the alignment 'top-k=x' needs a whole number"),
        (["one", "--folds", "2"], "one has 3 queries: folds of 2 need 4 or more"),
        (["one", "other/one"], "two folders are named one"),
        (["nowhere"], "nowhere has no corpus.jsonl"),
    ],
)
def test_invalid_arguments_are_errors(propcite: Propcite, tmp_path: Path, arguments: list[str], message: str) -> None:
    beir(tmp_path / "one"), beir(tmp_path / "other" / "one")
    assert message in error_line(propcite("eval", "alignments", "--strategy", "max", *arguments))


# Folds


def item(source: str, number: int, **scores: float) -> list[RunItem]:
    return [
        RunItem(f"{source}/{number}", way, {"nDCG@10": value}, {"source": source}, {}) for way, value in scores.items()
    ]


def test_each_query_is_in_at_most_one_fold_and_outside_its_rest() -> None:
    scores = np.arange(10.0)[:, None]
    folds = list(draw_folds(scores, 4))
    assert [(len(inside), len(rest)) for inside, rest in folds] == [(4, 6), (4, 6)]
    assert len({value for inside, _ in folds for value in inside[:, 0]}) == 8
    for inside, rest in folds:
        assert {*inside[:, 0], *rest[:, 0]} == set(range(10))


def test_the_gain_over_folds_by_hand() -> None:
    # The second is better by .25 on every query: each fold of four chooses it, and no chance would.
    items = [one for n in range(8) for one in item("a", n, usual=0.5, other=0.75)]
    [row] = fold_rows(items, 4)
    assert (row.default, row.best, row.best_ndcg) == (50.0, "other", 75.0)
    assert (row.folds, row.gain, row.deviation, row.guarded_gain, row.changed) == (2, 25.0, 0.0, 25.0, 100.0)


def test_the_guard_keeps_the_default_after_a_lucky_fold() -> None:
    lucky = {0: 1.0}
    rows = np.array([[0.5, lucky.get(n, 0.5)] for n in range(8)])
    items = [one for n, (usual, other) in enumerate(rows) for one in item("a", n, usual=usual, other=other)]
    items += [one for n in range(8) for one in item("b", n, usual=0.25, other=0.25)]
    a, b, mean = fold_rows(items, 4)
    assert choose(rows[:4]).best == 1
    assert (a.guarded_gain, a.changed) == (0.0, 0.0)
    assert a.gain == 0.0  # what is left of the queries ranks alike
    assert (b.default, mean.default, mean.queries) == (25.0, 37.5, 16)
