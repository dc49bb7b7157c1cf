"""Locks of runs: held by one process while it lives, and released however it ends."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from propcite.app.errors import InUseError
from propcite.app.lab.runs.runner import Pending, measure
from propcite.app.library.store import Library, RunItem, Runs
from propcite.app.library.store.run_locks import RunLocks

HOLDING = """
import sys, time
from pathlib import Path
from propcite.app.library.store.run_locks import RunLocks

with RunLocks(Path(sys.argv[1])).lock("r1"):
    print("held", flush=True)
    time.sleep(1000)
"""


@pytest.fixture
def other(tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    """Start another process that locks r1."""
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


def test_a_run_is_locked_by_one_process_at_a_time(tmp_path: Path, other: subprocess.Popen[str]) -> None:
    holding = RunLocks(tmp_path)
    assert (holding.holder("r1"), holding.last_run_of(other.pid)) == (other.pid, "r1")
    message = rf"another process \({other.pid}\) measures run r1: wait"
    with pytest.raises(InUseError, match=message), holding.lock("r1"):
        pass
    assert holding.holder("r2") is None


def test_a_killed_process_releases_its_lock(tmp_path: Path, other: subprocess.Popen[str]) -> None:
    other.send_signal(signal.SIGKILL)
    other.wait()
    holding = RunLocks(tmp_path)
    assert holding.holder("r1") is None
    with holding.lock("r1"):
        assert holding.holder("r1") == os.getpid()
    assert holding.holder("r1") is None
    holding.remove("r1")
    assert list(tmp_path.iterdir()) == []


def test_the_number_of_expected_items_is_known_from_the_start(tmp_path: Path) -> None:
    library = Library(f"sqlite:///{tmp_path / 'propcite.sqlite'}")
    runs = Runs(library, tmp_path / "runs")
    run = runs.start("asqa", "x.json", {}, {"notes": ["n"]})
    assert run.num_expected == 0
    seen = []

    def work(todo: Sequence[Pending[str]]) -> Iterator[RunItem]:
        seen.append((runs.run(run.id).num_expected, runs.measuring_process(run.id)))
        for way in todo[0].ways:
            yield RunItem(todo[0].key, way, {"length": 1.0})

    ended = measure(runs, run, ["a", "b"], str, ("x", "y"), work)
    assert seen == [(4, os.getpid())] * 2
    assert (ended.num_items, ended.num_expected, ended.about["notes"]) == (4, 4, ["n"])
    assert runs.measuring_process(run.id) is None
    library.close()
