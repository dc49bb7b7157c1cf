"""`propcite runs join`: parts of one measurement become one run; other runs are refused."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from commanded import Propcite, Said, commanded

from propcite.app.lab.runs.aggregates import ALL_ANSWERS, aggregates
from propcite.app.library.store import RunInfo, RunItem, Runs

Shard = Callable[..., RunInfo]
SETTINGS = {"sha256": "ab" * 32, "ways": ["w"], "context": [5]}


@pytest.fixture
def propcite(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Propcite:
    return commanded(monkeypatch, capsys)


@pytest.fixture
def shard(runs: Runs) -> Shard:
    def start(
        offset: int,
        limit: int,
        items: Sequence[RunItem] = (),
        judge: str = "j",
        about: dict[str, Any] | None = None,
        done: bool = True,
        **settings: Any,
    ) -> RunInfo:
        about_run = {"models": {"judge": {"name": judge, "sha256": "cd"}}, **(about or {})}
        run = runs.start("asqa", "x.json", {**SETTINGS, "offset": offset, "limit": limit, **settings}, about_run, judge)
        runs.add(run.id, items or [item(n) for n in range(offset, offset + limit)])
        return runs.finish(run.id) if done else runs.run(run.id)

    return start


def item(number: int, way: str = "w", **measures: float) -> RunItem:
    values = measures or {"str_em": number / 10, "citation_recall": (number % 3) / 2}
    return RunItem(f"q{number}", way, values, {"text": f"answer {number}"}, {"seconds": 1.0, "prompt_tokens": 7})


def error_line(result: Said) -> str:
    assert (result.code, result.out) == (2, ""), result
    assert result.err.count("\n") == 1, result.err
    return result.err


def test_joined_parts_are_one_run_of_all_items(propcite: Propcite, runs: Runs, shard: Shard) -> None:
    b, a, c = shard(3, 3), shard(0, 3), shard(6, 4)
    whole = shard(0, 10)
    result = propcite("runs", "join", b.id, a.id[:9], c.id)
    assert result.code == 0, result.err
    joined = runs.run(result.err.split()[1])
    assert f"run {joined.id} joins them, 10 items: propcite runs show {joined.id}" in result.err
    assert (joined.kind, joined.name, joined.judge, joined.state) == ("asqa", "x.json", "j", "done")
    assert joined.settings == whole.settings  # of a run over all of them at once
    assert list(joined.about["joined"]) == [a.id, b.id, c.id]
    assert joined.about["models"] == a.about["models"]
    assert list(runs.items(joined.id)) == list(runs.items(whole.id))
    assert aggregates(list(runs.items(joined.id))) == aggregates(list(runs.items(whole.id)))
    (compared,) = propcite("runs", "compare", joined.id, whole.id, "--json").json
    assert compared["items"] == 10
    assert {figure["p"] for figure in compared["figures"]} == {1.0}
    assert "answer 9" in propcite("runs", "export", joined.id, "-f", "csv").out
    assert [run.id for run in runs.list()].count(a.id) == 1  # the parts stay


def test_the_same_parts_have_the_same_id(propcite: Propcite, shard: Shard) -> None:
    a, b = shard(0, 3), shard(3, 3)
    joined = propcite("runs", "join", a.id, b.id, "--json").json
    assert joined["settings"]["limit"] == 6
    assert f"run {joined['id']} exists already" in error_line(propcite("runs", "join", b.id, a.id))


def test_parts_may_overlap_if_their_items_are_equal(propcite: Propcite, shard: Shard) -> None:
    joined = propcite("runs", "join", shard(0, 4).id, shard(2, 4).id, "--json").json
    assert (joined["num_items"], joined["settings"]["offset"], joined["settings"]["limit"]) == (6, 0, 6)
    other = [item(5), RunItem("q6", "w", {"str_em": 0.6}, {"text": "another"})]
    message = error_line(propcite("runs", "join", shard(5, 2).id, shard(5, 2, other).id))
    assert "1 items differ between two of the runs (q6 by w)" in message


@pytest.mark.parametrize(
    ("changed", "line"),
    [
        ({"context": [10]}, "context [5] -> [10]"),
        ({"sha256": "x"}, "sha256 " + "ab" * 30),
        ({"judge": "k"}, "judge j -> k; models.judge.name j -> k"),
        ({"about": {"models": {"judge": {"name": "j", "sha256": "ef"}}}}, "models.judge.sha256 cd -> ef"),
        ({"done": False}, "is unfinished: continue it with the command"),
    ],
)
def test_different_runs_are_refused_with_the_differences(
    propcite: Propcite, shard: Shard, changed: dict[str, Any], line: str
) -> None:
    a, b = shard(0, 3), shard(3, 3, **changed)
    assert line[:60] in error_line(propcite("runs", "join", a.id, b.id))


def test_runs_that_are_not_parts_are_an_error(propcite: Propcite, runs: Runs, shard: Shard) -> None:
    a = shard(0, 3)
    assert "name two or more" in error_line(propcite("runs", "join", a.id, a.id))
    assert "no run 'nothing'" in error_line(propcite("runs", "join", a.id, "nothing"))
    whole = runs.finish(runs.start("asqa", "x.json", SETTINGS, {}, "j").id)
    assert "cannot be a part" in error_line(propcite("runs", "join", a.id, whole.id))
    other = runs.finish(runs.start("eli5", "y.json", a.settings, a.about, "j").id)
    assert "kind asqa -> eli5; of x.json -> y.json" in error_line(propcite("runs", "join", a.id, other.id))


def test_notes_of_the_parts_are_joined(propcite: Propcite, shard: Shard) -> None:
    both = "by the judge that scores cite: w"
    a = shard(0, 2, about={"notes": [both, "1 of 2 answers abstain"], "revision": "aaa"})
    mauve = RunItem(ALL_ANSWERS, "w", {"mauve": 0.5})
    b = shard(5, 2, [item(5), item(6), item(6, "generate"), mauve], about={"notes": [both], "revision": "bbb"})
    joined = propcite("runs", "join", a.id, b.id, "--json").json
    assert joined["settings"]["parts"] == ["0 to 1", "5 to 6"]
    assert "limit" not in joined["settings"]
    assert joined["num_items"] == 5
    assert joined["about"]["notes"] == [
        both,
        f"run {a.id}: 1 of 2 answers abstain",
        "measured by propcite aaa and bbb",
        "left out, since it is not a mean of parts: measures of all answers together",
        f"generate is not in {a.id}",
    ]


def test_joined_parts_of_a_command_equal_the_whole_run(propcite: Propcite, runs: Runs, tmp_path: Path) -> None:
    rows = [
        f'{{"query": "word{n}", "sentences": ["Word{n}.", "Two."], "positive_sentence_ids": [0]}}' for n in range(5)
    ]
    (tmp_path / "rows.jsonl").write_text("\n".join(rows))
    command = ["eval", "sentences", str(tmp_path / "rows.jsonl"), "--way", "bm25"]
    for share in (["--limit", "2"], ["--offset", "2"], []):
        assert propcite(*command, *share).code == 0
    whole, second, first = runs.list()
    joined = propcite("runs", "join", second.id, first.id, "--json").json
    assert joined["settings"] == whole.settings
    assert joined["num_items"] == whole.num_items == 5
