"""`--batch FILE --out FILE`: the lines of a file answered into another, in several processes, resumed at any time."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from attacking import small_library
from commanded import Propcite, commanded
from hypothesis import given
from hypothesis import strategies as st
from word_encoder import WordEncoder

from propcite.app import parts as bootstrap
from propcite.app.bulk import running
from propcite.app.bulk.part_file import PartFile
from propcite.app.bulk.running import Finished, answer_file
from propcite.app.bulk.tasks import Task
from propcite.app.errors import AppError
from propcite.app.parts import Parts

NUM = 20
QUICK = {"splitter": "rules", "judge": "none", "encoder": ""}


def line(number: int) -> str:
    text = f"Gate {number} weighs {number + 300} tonnes."
    return json.dumps({"answer": text, "passages": [{"id": "p", "text": f"{text} It is red."}]})


@pytest.fixture
def lines(tmp_path: Path) -> Path:
    path = tmp_path / "in.jsonl"
    path.write_text("\n".join([*map(line, range(NUM)), "", "no json", ""]))
    return path


@pytest.fixture
def parts(tmp_path: Path) -> Iterator[Parts]:
    built = small_library(tmp_path / "data", {"gate.txt": "Gate 3 weighs 303 tonnes."})
    yield built
    built.library.close()


@pytest.fixture
def task(parts: Parts) -> Task:
    return Task.of("cite", parts.settings)


def answers(path: Path) -> list[Any]:
    return [json.loads(text) for text in path.read_text("utf-8").splitlines()]


def check(path: Path) -> None:
    found = answers(path)
    assert [answer["text"] for answer in found[:NUM]] == [f"Gate {n} weighs {n + 300} tonnes." for n in range(NUM)]
    assert all(answer["sentences"][0]["citations"] for answer in found[:NUM])
    assert list(found[NUM]) == ["error"]
    assert len(found) == NUM + 1
    assert not path.with_name(f"{path.name}.part").exists()


@pytest.mark.parametrize("workers", [1, 2])
def test_all_lines_are_answered_in_order(task: Task, lines: Path, tmp_path: Path, workers: int) -> None:
    seen: list[tuple[int, int]] = []
    done = answer_file(task, lines, tmp_path / "out.jsonl", workers, progress=lambda *at: seen.append(at))
    assert done == Finished(NUM + 1, 0, 1)
    assert seen == sorted(seen)
    assert (seen[0], seen[-1]) == ((0, NUM + 1), (NUM + 1, NUM + 1))
    check(tmp_path / "out.jsonl")


def test_an_interrupted_run_is_resumed(
    task: Task, lines: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out, part = tmp_path / "out.jsonl", tmp_path / "out.jsonl.part"

    def interrupt(done: int, _total: int) -> None:
        if done >= 8:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        answer_file(task, lines, out, progress=interrupt)
    assert not out.exists()
    with part.open("ab") as file:
        file.write(b'{"text": "half a li')  # a process that was killed while it wrote
    again: list[int] = []
    whole, real = [], running.answered_chunks
    monkeypatch.setattr(
        running, "answered_chunks", lambda t, chunks, *rest: real(t, [whole.append(c) or c for c in chunks], *rest)
    )
    done = answer_file(task, lines, out, progress=lambda at, _: again.append(at))
    assert done == Finished(NUM + 1, 8, 1)
    assert again[0] == 8
    assert sum(map(len, whole)) == NUM + 1 - 8  # nothing is answered twice
    check(out)


def test_other_lines_or_settings_do_not_go_on(parts: Parts, task: Task, lines: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.jsonl"
    PartFile(out, task.name(lines.read_bytes())).close()
    other = Task.of("cite", parts.settings.model_copy(update={"min_score": 0.9}))
    for changed in (other, Task.of("repair", parts.settings), Task.of("cite", parts.settings, "harbour")):
        with pytest.raises(AppError, match=r"out.jsonl.part was begun with other lines, settings or options"):
            answer_file(changed, lines, out)
    elsewhere = Task.of(
        "cite", parts.settings.model_copy(update={"serve_threads": 7, "page_address": "http://x.example"})
    )
    assert elsewhere.name(b"") == task.name(b"")
    assert answer_file(task, lines, out).earlier == 0
    with pytest.raises(AppError, match=r"out.jsonl exists already: give another --out"):
        answer_file(task, lines, out)


def test_bad_files_are_one_line(task: Task, tmp_path: Path) -> None:
    (tmp_path / "empty").write_text("\n\n")
    for file, reason in (("nowhere", "cannot be read"), ("empty", "contains no line"), (".", "cannot be read")):
        with pytest.raises(AppError, match=reason) as error:
            answer_file(task, tmp_path / file, tmp_path / "out")
        assert "\n" not in str(error.value)
    assert not (tmp_path / "out.part").exists()


@given(cut=st.integers(0, 400))
def test_a_file_that_was_cut_anywhere_is_resumed_at_a_whole_line(
    tmp_path_factory: pytest.TempPathFactory, cut: int
) -> None:
    out = tmp_path_factory.mktemp("cut") / "out"
    part = PartFile(out, "task")
    part.write([f'{{"n": {n}, "é": "☂"}}' for n in range(12)])
    part.close()
    part.path.write_bytes(part.path.read_bytes()[:cut])
    again = PartFile(out, "task")
    again.write([f'{{"n": {n}, "é": "☂"}}' for n in range(again.done, 12)])
    assert again.finish() == 0
    assert [answer["n"] for answer in answers(out)] == list(range(12))


def test_a_killed_command_goes_on(
    propcite: Propcite, lines: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Killed as soon as it has written, with its worker processes; then run again, in this process alone."""
    for name, value in {**QUICK, "data_dir": str(tmp_path / "own")}.items():
        monkeypatch.setenv(f"PROPCITE_{name.upper()}", value)
    lines.write_text("\n".join([*map(line, range(NUM))] * 8))
    out, part = tmp_path / "out.jsonl", tmp_path / "out.jsonl.part"
    words = ("cite", str(lines), "--batch", "--out", str(out))
    command = [sys.executable, "-m", "propcite", *words, "--workers", "2"]
    process = subprocess.Popen(command, stderr=subprocess.PIPE)
    until = time.monotonic() + 120
    while (not part.exists() or part.stat().st_size < 2_000) and time.monotonic() < until and process.poll() is None:
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    said = process.communicate(timeout=60)[1].decode()
    assert process.returncode == 130, said
    assert part.exists()
    again = propcite(*words)
    assert again.code == 0, again.err
    assert " of them before" in again.err
    assert len(answers(out)) == 8 * NUM


def test_the_commands_take_out_and_workers(
    parts: Parts, lines: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, value in {**QUICK, "data_dir": str(parts.settings.data_dir)}.items():
        monkeypatch.setenv(f"PROPCITE_{name.upper()}", value)
    monkeypatch.setattr(bootstrap, "build_encoder", lambda _: WordEncoder())
    propcite: Propcite = commanded(monkeypatch, capsys)
    said = propcite("cite", str(lines), "--batch", "--out", "cited.jsonl")
    assert (said.code, said.out) == (1, "")
    assert f"{NUM + 1} lines answered in cited.jsonl, 1 of them errors" in said.err
    check(Path("cited.jsonl"))
    assert propcite("repair", str(lines), "--batch", "--out", "repaired.jsonl").code == 1
    assert len(answers(Path("repaired.jsonl"))) == NUM + 1
    Path("questions.jsonl").write_text('{"question": "How much does gate 3 weigh?"}\n')
    assert propcite("ask", "--batch", "questions.jsonl", "-c", "harbour", "--out", "asked.jsonl").code == 0
    assert answers(Path("asked.jsonl"))[0]["question"] == "How much does gate 3 weigh?"
    for words, reason in (
        (("cite", str(lines), "--workers", "2"), "--workers goes with --batch and --out FILE"),
        (("cite", str(lines), "--batch", "--workers", "2"), "--workers goes with --batch and --out FILE"),
        (("repair", str(lines), "--out", "x"), "--out goes with --batch"),
        (("cite", str(lines), "--batch", "--out", "cited.jsonl"), "exists already"),
        (("cite", "-", "--batch", "--out", "x.jsonl"), "--out goes with a file of JSON lines"),
        (("ask", "--batch", "questions.jsonl", "-c", "harbour", "--out", "nowhere/x"), "a folder that exists"),
    ):
        refused = propcite(*words)
        assert (refused.code, reason in refused.err) == (2, True), refused.err
