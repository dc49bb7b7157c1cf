"""Which process measures a run: known while it lives, whoever asks, and free again however it ended."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from propcite.app.errors import InUseError
from propcite.app.lab.runs.keeping import Todo, measure
from propcite.app.library.store import Library, RunItem, Runs
from propcite.app.library.store.holding import Holding

HOLDING = """
import sys, time
from pathlib import Path
from propcite.app.library.store.holding import Holding

with Holding(Path(sys.argv[1])).held("r1"):
    print("held", flush=True)
    time.sleep(1000)
"""


@pytest.fixture
def other(tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    """Another process that measures r1."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLDING, str(tmp_path)],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "held\n"
    yield process
    process.kill()
    process.communicate()


def test_a_run_is_held_by_one_process_at_a_time(tmp_path: Path, other: subprocess.Popen[str]) -> None:
    holding = Holding(tmp_path)
    assert (holding.holder("r1"), holding.begun_by(other.pid)) == (other.pid, "r1")
    told = rf"run r1 is measured by another process \({other.pid}\): wait"
    with pytest.raises(InUseError, match=told), holding.held("r1"):
        pass
    assert holding.holder("r2") is None


def test_a_process_that_is_killed_holds_nothing(tmp_path: Path, other: subprocess.Popen[str]) -> None:
    other.send_signal(signal.SIGKILL)
    other.wait()
    holding = Holding(tmp_path)
    assert holding.holder("r1") is None
    with holding.held("r1"):
        assert holding.holder("r1") == os.getpid()
    assert holding.holder("r1") is None
    holding.forget("r1")
    assert list(tmp_path.iterdir()) == []


def test_how_many_items_there_will_be_is_known_from_the_first_one_on(tmp_path: Path) -> None:
    library = Library(f"sqlite:///{tmp_path / 'propcite.sqlite'}")
    runs = Runs(library.engine, library.url, tmp_path / "runs")
    run = runs.start("asqa", "x.json", {}, {"notes": ["n"]})
    assert run.num_expected == 0
    seen = []

    def work(todo: Sequence[Todo[str]]) -> Iterator[RunItem]:
        seen.append((runs.run(run.id).num_expected, runs.measured_by(run.id)))
        for way in todo[0].ways:
            yield RunItem(todo[0].key, way, {"length": 1.0})

    ended = measure(runs, run, ["a", "b"], str, ("x", "y"), work)
    assert seen == [(4, os.getpid())] * 2
    assert (ended.num_items, ended.num_expected, ended.about["notes"]) == (4, 4, ["n"])
    assert runs.measured_by(run.id) is None
    library.close()
