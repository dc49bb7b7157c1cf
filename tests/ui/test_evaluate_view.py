"""The view of runs as a person uses it, by key, over real runs in a real store and real processes."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from page_caches import clear_page
from streamlit.testing.v1 import AppTest

import propcite.ui
from propcite.app.library.store import RunItem, Runs
from propcite.app.parts import Parts
from propcite.app.settings import load_settings

MAIN = Path(propcite.ui.__file__).parent / "main.py"
HOSTILE = "<script>alert(1)</script> [x](javascript:alert(2))"
JUDGE = "embedded/minilm"
WAYS = ("propcite+judge", "sentence")
SPLIT = [
    {"sentence": f"The mill has {n} stones and it grinds rye.", "propositions": ["It grinds rye."]} for n in range(6)
]


def item(number: int, way: str, recall: float) -> RunItem:
    judged = [{"text": "It is 6 metres high.", "docs": [1, 2], "holds": recall > 0.5}]
    told = {
        "question": f"How high is barrier {number}? {HOSTILE}",
        "text": "It is 6 metres high [1][2].",
        "judgements": judged,
    }
    source = {"source": ["wiki", "news"][number % 2]}
    measures = {"citation_recall": recall, "citation_precision": 1.0, "length": float(number)}
    return RunItem(f"q{number}", way, measures, {**told, **source}, {"seconds": 0.5, "prompt_tokens": 40})


def keep(runs: Runs, judge: str = JUDGE, better: float = 0.0, *, done: bool = True, **about: object) -> str:
    run = runs.start("asqa", f"asqa {HOSTILE}.json", {"context": 5, "better": better}, about, judge)
    items = [item(n, way, min(1.0, n / 10 + better)) for n in range(8) for way in WAYS]
    runs.add(run.id, items)
    if done:
        runs.set_notes(run.id, ["2 of 8 answers abstain"])
        runs.finish(run.id)
    else:
        runs.set_num_expected(run.id, 40)
    return run.id


@pytest.fixture
def parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Parts]:
    monkeypatch.setenv("PROPCITE_DATA_DIR", str(tmp_path))
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    parts = Parts(load_settings(data_dir=tmp_path))
    yield parts
    clear_page()
    parts.library.close()


def opened(**query: str) -> AppTest:
    test = AppTest.from_file(str(MAIN), default_timeout=60)
    test.run()
    test.switch_page("views/evaluate.py")
    test.query_params.update(query)
    return healthy(test.run())


def healthy(test: AppTest) -> AppTest:
    assert not test.exception
    return test


def texts(test: AppTest) -> str:
    kinds = (test.title, test.markdown, test.caption, test.text, test.info, test.warning, test.error, test.success)
    return "\n".join(element.value for kind in kinds for element in kind).replace("\\", "")


def drawn(test: AppTest) -> str:
    """All that the page's own elements were given."""
    return "\n".join(json.loads(element.proto.json)["html"] for element in test.get("bidi_component"))


def button(test: AppTest, beginning: str) -> Any:
    return next(one for one in test.button if str(one.key).startswith(beginning))


def press(test: AppTest, beginning: str) -> AppTest:
    return healthy(button(test, beginning).click().run())


@pytest.mark.usefixtures("parts")
def test_without_a_run_the_page_says_what_to_do() -> None:
    test = opened()
    assert "Nothing was measured yet" in texts(test)
    assert test.button(key="measure")
    test = press(test, "measure")
    assert "give a file to measure" in texts(test)
    assert not [one for one in test.text_input if one.key == "measure-path"]


@pytest.mark.usefixtures("parts")
def test_only_files_below_the_named_folders_are_measured(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PROPCITE_PAGE_FOLDERS", str(tmp_path))
    for name in (f"{tmp_path}/nowhere.json", "/etc/passwd", f"{tmp_path}/../../etc/passwd"):
        test = opened()
        test = press(test.text_input(key="measure-path").set_value(name).run(), "measure")
        assert "PROPCITE_PAGE_FOLDERS have no file" in texts(test).replace("\\", "")


def test_runs_are_listed_found_and_told_apart(parts: Parts) -> None:
    finished, left = keep(parts.runs), keep(parts.runs, "nli/x", done=False)
    split = parts.runs.start("split", "facts.jsonl", {}, {})
    test = opened()
    assert [one.key for one in test.button if one.key.startswith("run-")] == [
        f"run-{id_}" for id_ in (split.id, left, finished)
    ]
    assert "finished, 16 items · judged by embedded/minilm" in texts(test)
    assert "interrupted at 16 of 40 items · judged by nli/x" in texts(test)
    with parts.runs.lock(left):
        assert "being measured, 16 of 40 items" in texts(test.run())
        assert f"stop-{left}" in [one.key for one in test.button]
    test = healthy(test.text_input(key="runs-text").set_value("NLI/x asqa").run())
    assert [one.key for one in test.button if one.key.startswith("run-")] == [f"run-{left}"]
    assert "No run has these words" in texts(test.text_input(key="runs-text").set_value("absent").run())


def test_a_run_shows_its_figures_plots_settings_and_items_and_is_taken_along(parts: Parts) -> None:
    run = keep(parts.runs)
    test = press(opened(), f"run-{run}")
    assert test.query_params["run"] in (run, [run])
    assert "judged by embedded/minilm" in texts(test)
    shown = drawn(test)
    for said in (
        "citation recall, %",
        'class="interval"',
        "Plain mean over 2 sources",
        "prompt tokens",
        "2 of 8 answers",
    ):
        assert said in shown
    assert 'class="plot"' in shown  # of the report, none of the page's own
    assert "<dd>5</dd>" in shown  # a setting
    assert "<script>" not in shown
    assert [one.key for one in test.get("download_button")] == [
        f"download-{n}" for n in ("csv", "json", "latex", "html")
    ]
    first = button(test, "item-")
    assert first.label.startswith("0\\.0 · How high is barrier 0")
    test = healthy(test.text_input(key=f"find-{run}").set_value("barrier 7").run())
    test = press(test, "item-q7")
    assert "How high is barrier 7?" in texts(test)
    assert all(way in drawn(test) for way in WAYS)
    assert "supported by [1][2] together" in drawn(test)
    assert "It is 6 metres high <b>[1]</b><b>[2]</b>." in drawn(test)
    assert "asqa on asqa" in texts(press(test, "back"))


def test_two_runs_are_compared_and_the_items_that_moved_are_opened(parts: Parts) -> None:
    worse, better = keep(parts.runs), keep(parts.runs, better=0.2)
    test = press(opened(run=worse), "compare")
    shown = drawn(test)
    assert "+20.0" in shown
    assert "to +" in shown
    assert "Settings that differ" in " ".join(one.label for one in test.expander)
    assert "8 items moved" in texts(test)
    assert re.match(r"↑ [024]0\\.0 to [246]0\\.0 · How high is barrier", button(test, "moved-").label)
    test = press(test, "moved-")
    assert f"run {worse}" in drawn(test)
    assert f"run {better}" in drawn(test)
    test = press(press(test, "back"), "back")
    assert test.title[0].value.startswith("asqa on")


def test_figures_of_two_judges_stand_in_no_table_together(parts: Parts) -> None:
    one, other = keep(parts.runs), keep(parts.runs, "nli/x")
    test = opened(run=f"{one}:{WAYS[0]}", beside=f"{other}:{WAYS[0]}")
    assert "figures of different judges (embedded/minilm and nli/x) cannot be compared" in texts(test)
    assert "citation recall" not in drawn(test)
    assert "words" in drawn(test)  # which no judge counts
    same = opened(run=f"{one}:{WAYS[0]}", beside=f"{one}:{WAYS[0]}")
    assert "are the same: name two runs" in texts(same)


@pytest.mark.parametrize("place", [{"run": "absent"}, {"run": "absent", "beside": "x"}, {"run": "absent", "item": "q"}])
def test_an_address_of_what_is_gone_says_so(parts: Parts, place: dict[str, str]) -> None:
    keep(parts.runs)
    assert "no run 'absent'" in texts(opened(**place))


def test_a_run_that_was_left_is_gone_on_with_or_says_how(parts: Parts) -> None:
    run = keep(parts.runs, done=False, command="propcite eval asqa x.json --out /etc")
    test = opened(run=run)
    assert "interrupted at 16 of 40 items; what was done is kept" in texts(test)
    assert test.code[0].value == "propcite eval asqa x.json --out /etc"
    assert not any(one.key.startswith("go-on") for one in test.button)


def test_a_run_whose_answers_are_not_scored_yet_is_shown_and_not_compared(parts: Parts) -> None:
    scored, run = keep(parts.runs), parts.runs.start("asqa", "x.json", {}, {}, JUDGE).id
    parts.runs.add(run, [item(1, "propcite", 0.5), RunItem("q1", "sentence", {}, {"question": "Q", "text": "T"})])
    test = opened(run=run)
    assert not any(one.key == f"way-{run}" for one in test.selectbox)
    assert button(test, "item-").label.startswith("66\\.7")  # F1
    assert "No figure is in both yet" in texts(opened(run=f"{scored}:sentence", beside=f"{run}:sentence"))


def until(test: AppTest, there: str) -> AppTest:
    """The page as soon as it says so; it looks by itself every two seconds, a test asks it to."""
    for _ in range(600):
        if there in texts(healthy(test.run())):
            return test
        time.sleep(0.2)
    raise TimeoutError(texts(test))


def test_a_measurement_is_started_watched_stopped_and_gone_on_with(
    parts: Parts, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PROPCITE_PAGE_FOLDERS", str(tmp_path))
    file = tmp_path / "mills.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in SPLIT), "utf-8")
    test = opened()
    test.selectbox(key="measure-kind").set_value("split")
    test.text_input(key="measure-path").set_value(str(file))
    test.number_input(key="measure-limit").set_value(4)
    test = until(press(test, "measure"), "split on mills.jsonl is measured")
    (run,) = parts.runs.list()
    assert (run.state, run.settings["limit"], run.num_items) == ("done", 4, run.num_expected)
    test = press(test, "open-")
    assert "split on mills.jsonl" in test.title[0].value.replace("\\", "")

    left = parts.runs.start(run.kind, run.name, run.settings, run.about, run.judge)  # as if its process had gone
    parts.runs.add(left.id, [next(parts.runs.items(run.id))])
    test = press(opened(run=left.id), "go-on")
    until(test, "is measured")
    assert parts.runs.run(left.id).state == "done"
    assert parts.runs.run(left.id).num_items == run.num_items


@pytest.mark.usefixtures("parts")
def test_an_upload_that_cannot_be_measured_has_the_commands_line() -> None:
    test = opened()
    test.selectbox(key="measure-kind").set_value("split")
    test.file_uploader(key="measure-file").set_value([("bad.jsonl", b'{"sentence": 5}\n', "application/json")])
    test = until(press(test, "measure"), "bad.jsonl, line 1: sentence")
    assert test.error[0].value.startswith("split on bad")
    assert not press(test, "dismiss-").error
