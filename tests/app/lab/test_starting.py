"""What a page may start: the words of the command, a real process with its last line, and its end."""

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
from propcite.app.lab import starting
from propcite.app.lab.starting import Measurements, command, file_at, going_on, kept_file, ways_of
from propcite.app.library.store import Library, RunInfo, Runs

HOLDING = """
import sys, time
from pathlib import Path
from propcite.app.library.store.holding import Holding

with Holding(Path(sys.argv[1])).held(sys.argv[2]):
    print("held", flush=True)
    time.sleep(1000)
"""


def kept(words: str, kind: str = "asqa") -> RunInfo:
    return replace(run_info(command=words), kind=kind)


@pytest.mark.parametrize(
    ("words", "kind", "again"),
    [
        ("propcite eval asqa 'a b.json' --limit 5", "asqa", ["eval", "asqa", "a b.json", "--limit", "5"]),
        ("propcite eval cite a.json --method=paper --new", "cite", ["eval", "cite", "a.json", "--method=paper"]),
        ("propcite eval beir folder", "beir", []),  # the page starts none of these
        ("propcite eval asqa a.json --out /etc", "asqa", []),
        ("propcite eval asqa a.json --qa-model=x", "asqa", []),
        ("propcite eval cite a.json", "asqa", []),
        ("propcite remove --all", "asqa", []),
        ("rm -r /", "asqa", []),
        ("propcite eval asqa 'a", "asqa", []),
        ("propcite", "asqa", []),
        ("", "asqa", []),
    ],
)
def test_only_what_the_page_may_give_is_given_again(words: str, kind: str, again: list[str]) -> None:
    assert going_on(kept(words, kind)) == again


def test_the_examples_are_true() -> None:
    assert doctest.testmod(starting).failed == 0


@given(st.sampled_from(starting.KINDS), st.text(), st.integers(0, 99), st.booleans())
def test_what_was_begun_is_gone_on_with_in_the_same_words(kind: str, name: str, limit: int, new: bool) -> None:
    path = Path("/data") / (name.replace("\0", "").replace("/", "") or "x")
    words = command(kind, path, limit=limit, ways=ways_of(kind)[:2], new=new)
    assert going_on(kept(shlex.join(["propcite", *words]), kind)) == [word for word in words if word != "--new"]


def test_a_named_file_is_one_that_is_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.json").write_text("{}")
    assert file_at(" a.json ") == tmp_path / "a.json"
    for name in ("", " ", "absent.json", "."):
        with pytest.raises(AppError, match="upload one, or give the path"):
            file_at(name)


@pytest.mark.parametrize("name", ["a.json", "../../a.json", "C:\\x\\a.json", "/etc/a.json"])
def test_an_upload_stays_in_its_folder_under_its_own_name(tmp_path: Path, name: str) -> None:
    path = kept_file(tmp_path, name, b"{}")
    assert (path.name, path.read_bytes()) == ("a.json", b"{}")
    assert path.is_relative_to(tmp_path / "files")


def test_what_could_not_run_has_the_commands_line(tmp_path: Path) -> None:
    started = Measurements(tmp_path / "runs")
    one = started.start(command("split", tmp_path / "absent.jsonl"))
    assert one.process.wait(120) == 2
    assert (one.what, one.code) == ("split on absent.jsonl", 2)
    assert "absent.jsonl cannot be read" in one.line
    assert list(started) == [one]
    started.forget(one.id)
    assert list(started) == []
    assert list((tmp_path / "runs").iterdir()) == []


def test_the_process_that_measures_a_run_is_stopped_whoever_began_it(tmp_path: Path) -> None:
    library = Library(f"sqlite:///{tmp_path / 'propcite.sqlite'}")
    runs = Runs(library.engine, library.url, tmp_path / "runs")
    run = runs.start("asqa", "x.json", {}, {})
    words = [sys.executable, "-c", HOLDING, str(tmp_path / "runs"), run.id]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "held\n"
    starting.stop(runs, run.id)
    process.communicate(timeout=60)
    assert process.returncode == -signal.SIGTERM
    with runs.measuring(run.id):
        starting.stop(runs, run.id)  # this process stops not itself
    library.close()
