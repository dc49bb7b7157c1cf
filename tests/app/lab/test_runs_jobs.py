"""Jobs of the page: their commands, a real process with its last line, and stopping."""

from __future__ import annotations

import doctest
import shlex
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sample_runs import run_info

from propcite.app.errors import AppError
from propcite.app.lab.runs import jobs
from propcite.app.lab.runs.jobs import Jobs, eval_command, existing_file, resume_command, save_upload, ways_of
from propcite.app.library.store import Library, RunInfo, Runs

HOLDING = """
import sys, time
from pathlib import Path
from propcite.app.library.store.run_locks import RunLocks

with RunLocks(Path(sys.argv[1])).lock(sys.argv[2]):
    print("held", flush=True)
    time.sleep(1000)
"""


def stored_run(words: str, kind: str = "asqa") -> RunInfo:
    return replace(run_info(command=words), kind=kind)


@pytest.mark.parametrize(
    ("words", "kind", "again"),
    [
        ("propcite eval asqa 'a b.json' --limit 5", "asqa", ["eval", "asqa", "a b.json", "--limit", "5"]),
        ("propcite eval cite a.json --method=paper --new", "cite", ["eval", "cite", "a.json", "--method=paper"]),
        ("propcite eval beir folder", "beir", []),  # the page does not start this kind
        ("propcite eval asqa a.json --out /etc", "asqa", []),
        ("propcite eval asqa a.json --qa-model=x", "asqa", []),
        ("propcite eval cite a.json", "asqa", []),
        (
            "propcite eval verdicts a.jsonl --judge reader",
            "verdicts",
            ["eval", "verdicts", "a.jsonl", "--judge", "reader"],
        ),
        ("propcite remove --all", "asqa", []),
        ("rm -r /", "asqa", []),
        ("propcite eval asqa 'a", "asqa", []),
        ("propcite eval asqa", "asqa", []),
        ("propcite eval asqa ../a.json", "asqa", []),
        ("propcite eval asqa /etc/passwd", "asqa", []),
        ("propcite eval asqa '~/a.json'", "asqa", ["eval", "asqa", "~/a.json"]),  # a name, which no shell expands
        ("propcite", "asqa", []),
        ("", "asqa", []),
    ],
)
def test_only_safe_commands_are_resumed(words: str, kind: str, again: list[str]) -> None:
    assert resume_command(stored_run(words, kind), [Path()]) == again


def test_doctests() -> None:
    assert doctest.testmod(jobs).failed == 0


@given(st.sampled_from(jobs.KINDS), st.text(), st.integers(0, 99), st.booleans())
def test_a_job_is_resumed_with_the_same_arguments(kind: str, name: str, limit: int, new: bool) -> None:
    path = Path("/data") / (name.replace("\0", "").replace("/", "") or "x")
    words = eval_command(kind, path, limit=limit, ways=ways_of(kind)[:2], new=new)
    stored = stored_run(shlex.join(["propcite", *words]), kind)
    assert resume_command(stored, [Path("/data")]) == [word for word in words if word != "--new"]


def test_a_named_file_must_exist_below_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (inside := tmp_path / "inside").mkdir()
    for folder in (tmp_path, inside):
        (folder / "a.json").write_text("{}")
    (inside / "link.json").symlink_to(tmp_path / "a.json")
    assert existing_file(" inside/a.json ", [tmp_path / "none", inside]) == inside / "a.json"
    outside = (
        "a.json",
        "inside/../a.json",
        "inside/link.json",
        str(tmp_path / "a.json"),
        "/etc/passwd",
        "~/x",
        "~nobody",
    )
    for name in ("", " ", "absent.json", ".", "inside", "a\0b", "inside/" + "x" * 300, *outside):
        with pytest.raises(AppError, match="have no file"):
            existing_file(name, [inside])
    with pytest.raises(AppError, match="have no file"):
        existing_file("a.json", [])


@pytest.mark.parametrize("name", ["a.json", "../../a.json", "C:\\x\\a.json", "/etc/a.json"])
def test_an_upload_stays_in_its_folder_under_its_own_name(tmp_path: Path, name: str) -> None:
    path = save_upload(tmp_path, name, b"{}")
    assert (path.name, path.read_bytes()) == ("a.json", b"{}")
    assert path.is_relative_to(tmp_path / "files")


def test_a_failed_job_has_the_command_s_message(tmp_path: Path) -> None:
    started = Jobs(tmp_path / "runs")
    one = started.start(eval_command("split", tmp_path / "absent.jsonl"))
    assert one.process.wait(120) == 2
    assert (one.title, one.exit_code) == ("split on absent.jsonl", 2)
    assert "cannot read" in one.last_line
    assert list(started) == [one]
    started.forget(one.id)
    assert list(started) == []
    assert list((tmp_path / "runs").iterdir()) == []


def test_the_process_of_a_run_is_stopped_whoever_started_it(tmp_path: Path) -> None:
    library = Library(f"sqlite:///{tmp_path / 'propcite.sqlite'}")
    runs = Runs(library, tmp_path / "runs")
    run = runs.start("asqa", "x.json", {}, {})
    words = [sys.executable, "-c", HOLDING, str(tmp_path / "runs"), run.id]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "held\n"
    jobs.stop_run(runs, run.id)
    process.communicate(timeout=60)
    assert process.returncode == -signal.SIGTERM
    with runs.lock(run.id):
        jobs.stop_run(runs, run.id)  # this process does not stop itself
    library.close()
