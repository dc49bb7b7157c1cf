"""A stopped run continues where it was; other settings are refused, each with its difference."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from propcite.app.errors import AppError
from propcite.app.lab.runs.provenance import revision, run_provenance
from propcite.app.lab.runs.runner import Pending, RunOptions, differences, measure, open_run, timed
from propcite.app.library.store import RunInfo, RunItem, Runs
from propcite.app.settings import load_settings

SETTINGS = {"sha256": "ab", "context": 5, "methods": ("propcite", "postcite"), "thresholds": {"judge": 0.5}}
WAYS = ("propcite", "postcite")


def open_asqa_run(runs: Runs, messages: list[str], new: bool = False, judge: str = "j", **changed: object) -> RunInfo:
    settings = {name: value for name, value in {**SETTINGS, **changed}.items() if value is not None}
    options = RunOptions(new=new, report=messages.append)
    return open_run(runs, "asqa", "x.json", settings, {"models": {}}, judge, options)


def length_of(done: list[tuple[str, str]], todo: Sequence[Pending[str]]) -> Iterator[RunItem]:
    for one in todo:
        for way in one.ways:
            done.append((way, one.key))
            yield RunItem(one.key, way, {"length": len(one.row)})


def test_an_unfinished_run_continues_and_a_finished_one_does_not(runs: Runs) -> None:
    messages: list[str] = []
    first = open_asqa_run(runs, messages)
    runs.add(first.id, [RunItem("q1", "propcite", {})])
    assert open_asqa_run(runs, messages).id == first.id
    assert messages[-1] == f"continuing run {first.id}: 1 items are done"
    runs.finish(first.id)
    assert open_asqa_run(runs, messages).id != first.id


def test_other_settings_are_refused_with_each_difference_and_both_options(runs: Runs) -> None:
    messages: list[str] = []
    run = open_asqa_run(runs, messages)
    with pytest.raises(AppError) as error:
        open_asqa_run(runs, messages, judge="other", context=10, thresholds={"judge": 0.35}, methods=None, limit=20)
    message = str(error.value)
    assert message == (
        f"run {run.id} over x.json is unfinished and had other settings (context 5 -> 10;"
        ' methods ["propcite", "postcite"] -> not given; thresholds.judge 0.5 -> 0.35; judge j -> other;'
        " limit not given -> 20): give those to continue it, or --new to start another"
    )
    assert len(runs.list()) == 1


def test_new_starts_another_run_and_each_continues_with_its_settings(runs: Runs) -> None:
    messages: list[str] = []
    five, ten = open_asqa_run(runs, messages), open_asqa_run(runs, messages, new=True, context=10)
    assert open_asqa_run(runs, messages).id == five.id
    assert open_asqa_run(runs, messages, context=10).id == ten.id
    again = open_asqa_run(runs, messages, new=True)
    assert again.id not in (five.id, ten.id)


def test_a_run_that_continues_with_another_model_says_so(runs: Runs) -> None:
    messages: list[str] = []
    for sha256 in ("aa", "bb"):
        about = {"models": {"judge": {"name": "cross", "sha256": sha256}}, "version": "0.1.0"}
        open_run(runs, "asqa", "x.json", SETTINGS, about, options=RunOptions(report=messages.append))
    assert messages[-1].endswith("(it began with other parts: models.judge.sha256 aa -> bb)")


def test_stored_items_are_not_measured_again(runs: Runs) -> None:
    run, done = open_asqa_run(runs, []), list[tuple[str, str]]()
    runs.add(run.id, [RunItem("b", "propcite", {"length": 99})])
    ended = measure(runs, run, ["a", "b", "c"], str, WAYS, lambda todo: length_of(done, todo), batch_size=2)
    assert done == [("propcite", "a"), ("postcite", "a"), ("postcite", "b"), ("propcite", "c"), ("postcite", "c")]
    assert (ended.state, ended.num_items) == ("done", 6)


def test_items_before_a_failure_are_stored(runs: Runs) -> None:
    run = open_asqa_run(runs, [])

    def failing(todo: Sequence[Pending[str]]) -> Iterator[RunItem]:
        yield from length_of([], todo)
        if todo[0].key == "b":
            raise RuntimeError("the machine is on fire")

    with pytest.raises(RuntimeError, match="on fire"):
        measure(runs, run, ["a", "b", "c"], str, WAYS, failing)
    assert {key for _, key in runs.item_keys(run.id)} == {"a", "b"}
    assert runs.run(run.id).state == "unfinished"


def test_duplicate_ids_are_refused_before_anything_is_measured(runs: Runs) -> None:
    run, done = open_asqa_run(runs, []), list[tuple[str, str]]()
    with pytest.raises(AppError, match="two items have the id 'a': give each item"):
        measure(runs, run, ["a", "b", "a"], str, WAYS, lambda todo: length_of(done, todo))
    assert done == []


MEASURING = """
import os, sys, time
from propcite.app.lab.runs.runner import RunOptions, measure, open_run
from propcite.app.library.store import Library, RunItem, Runs

library = Library(sys.argv[1])
runs = Runs(library)
options = RunOptions(report=lambda line: print(line, file=sys.stderr))
run = open_run(runs, "asqa", "x.json", {"context": 5}, {}, options=options)

def work(todo):
    for way in todo[0].ways:
        print(way, todo[0].key, flush=True)
        if (way, todo[0].key) == ("postcite", sys.argv[2]):
            time.sleep(1000)
        yield RunItem(todo[0].key, way, {"length": 1.0})

print(measure(runs, run, [str(n) for n in range(20)], str, ("propcite", "postcite"), work).state)
"""


def measuring(url: str, until: str) -> subprocess.Popen[str]:
    environment = dict(os.environ)
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    return subprocess.Popen([sys.executable, "-c", MEASURING, url, until], env=environment, text=True, **pipes)


def test_a_run_continues_after_kill_9_without_repeating_items(database_url: str) -> None:
    killed = measuring(database_url, until="7")
    assert killed.stdout is not None
    first = [killed.stdout.readline().split() for _ in range(16)]
    assert first[-1] == ["postcite", "7"]  # where it sleeps
    killed.send_signal(signal.SIGKILL)
    killed.communicate(timeout=100)
    out, err = measuring(database_url, until="never").communicate(timeout=100)
    assert re.fullmatch(r"continuing run [0-9a-f]{12}: 15 items are done\n", err)
    second = [line.split() for line in out.splitlines()]
    assert second.pop() == ["done"]
    assert second[0] == ["postcite", "7"]
    done = [(way, key) for way, key in first[:-1] + second]
    assert sorted(done) == sorted((way, str(n)) for n in range(20) for way in WAYS)


json_values = st.none() | st.booleans() | st.integers(-5, 5) | st.text(max_size=3)
nested = st.dictionaries(
    st.text("abc", min_size=1, max_size=2), json_values | st.dictionaries(st.text("de"), json_values)
)


@given(nested)
def test_equal_settings_have_no_differences(settings: dict[str, object]) -> None:
    assert differences(settings, settings) == []


@given(nested, nested)
def test_differences_are_symmetric(then: dict[str, object], now: dict[str, object]) -> None:
    there, back = differences(then, now), differences(now, then)
    assert len(there) == len(back)
    assert bool(there) == (then != now)


def test_a_long_value_is_shortened() -> None:
    (line,) = differences({"prompt": "a" * 500}, {"prompt": ""})
    assert line == f'prompt {"a" * 59}… -> ""'


def test_the_cost_is_known_after_the_work() -> None:
    with timed() as cost:
        sum(range(200_000))
        assert cost == {}
    assert cost["seconds"] > 0
    assert cost["cpu_seconds"] > 0


def test_provenance_has_models_code_and_machine() -> None:
    about = run_provenance(load_settings(), "encoder", "splitter", "judge", index_version=7)
    models = about["models"]
    assert models["encoder"]["name"] == "propcite-minilm"
    assert models["judge"]["name"] == "reader"
    assert all(re.fullmatch("[0-9a-f]{64}", models[part]["sha256"]) for part in ("encoder", "splitter", "judge"))
    assert run_provenance(load_settings(judge="embedded"), "judge")["models"]["judge"] == {"name": "embedded"}
    assert about["index_version"] == 7
    assert about["torch_threads"] >= 1
    assert about["processors"] >= 1
    assert about["version"]


def test_provenance_of_a_folder_is_the_hash_of_its_weights(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "model.safetensors").write_bytes(b"weights")
    settings = load_settings(encoder=str(tmp_path / "mine"), judge="nli", judge_model="nobody/unknown-model")
    models = run_provenance(settings, "encoder", "judge")["models"]
    assert models["encoder"]["name"] == "mine"
    before = models["encoder"]["sha256"]
    assert models["judge"] == {"name": "nobody/unknown-model", "kind": "nli"}
    (tmp_path / "mine" / "model.safetensors").write_bytes(b"others")
    assert run_provenance(settings, "encoder")["models"]["encoder"]["sha256"] != before


def test_the_revision_is_a_commit_or_nothing() -> None:
    assert re.fullmatch(r"([0-9a-f]{12}\+?)?", revision())
