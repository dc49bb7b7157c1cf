"""Ingest many real files with a command that is killed repeatedly; check the result, and measure time and memory.

    python -m tests.benchmarks.ingest FOLDER [--files 2000] [--most-kb 16] [--kills 3]

It takes that many files of FOLDER up to the given size, in the order of their hashes, and ingests copies of them with
`propcite ingest`, which is killed (kill -9) after a share of them and run again.  Then every file must be one document
or have failed with a reason, and the index must contain each passage once.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import random
import shutil
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Thread
from typing import Any

from propcite.app.ingest.readers.kinds import ARCHIVES, is_supported
from propcite.app.parts import Parts
from propcite.app.settings import load_settings


def sample(folder: Path, number: int, max_bytes: int) -> list[Path]:
    files = [
        path
        for path in folder.rglob("*")
        if path.is_file() and not path.is_symlink() and is_supported(path.name) and path.suffix not in ARCHIVES
    ]
    files = [path for path in files if 0 < path.stat().st_size <= max_bytes]
    return sorted(files, key=lambda path: hashlib.sha256(str(path).encode()).digest())[:number]


def copy_files(files: list[Path], to: Path) -> None:
    for number, path in enumerate(files):
        target = to / f"{number // 100:03}" / f"{number:05}-{path.name}"
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, target)


class Command:
    """Runs `propcite ingest FOLDER` in a process."""

    def __init__(self, folder: Path, data: Path) -> None:
        command = [sys.executable, "-m", "propcite", "ingest", str(folder), "--json", "--timings"]
        environment = {**os.environ, "PROPCITE_DATA_DIR": str(data)}
        self.process = subprocess.Popen(
            command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        self.peak_mb = 0.0
        self.log: list[str] = []
        Thread(target=self._measure_memory, daemon=True).start()
        Thread(target=self._read_log, daemon=True).start()

    def _measure_memory(self) -> None:
        while self.process.poll() is None:
            try:
                status = Path(f"/proc/{self.process.pid}/status").read_text()
                self.peak_mb = max(self.peak_mb, int(status.split("VmHWM:")[1].split()[0]) / 1024)
            except (OSError, IndexError, ValueError):
                pass
            time.sleep(0.5)

    def _read_log(self) -> None:
        assert self.process.stderr
        self.log += self.process.stderr

    def outcomes(self) -> Iterator[dict[str, Any]]:
        assert self.process.stdout
        for line in self.process.stdout:
            if line.endswith("\n"):
                yield json.loads(line)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--files", type=int, default=2000)
    parser.add_argument("--most-kb", type=int, default=16)
    parser.add_argument("--kills", type=int, default=3)
    options = parser.parse_args()
    with TemporaryDirectory(prefix="propcite-ingest-") as temporary:
        folder, data = Path(temporary) / "files", Path(temporary) / "data"
        files = sample(options.folder, options.files, options.most_kb * 1024)
        copy_files(files, folder)
        size = sum(path.stat().st_size for path in files) / 2**20
        print(f"{len(files)} files, {size:.1f} MB: {dict(Counter(path.suffix for path in files).most_common())}")
        kill(folder, data, len(files), options.kills)
        states, log, seconds, peak = finish(folder, data)
        print(f"the last run, {seconds:.0f} s, peak {peak:.0f} MB: {dict(states)}")
        check(folder, data, states)
        show_timings(log)


def kill(folder: Path, data: Path, number: int, kills: int) -> None:
    """Kill the command after shares of the files, at random moments."""
    chance = random.Random(0)
    for times in range(1, kills + 1):
        command, start = Command(folder, data), time.monotonic()
        until, new, passages = number * times // (kills + 1), 0, 0
        for done, outcome in enumerate(command.outcomes(), start=1):
            new += outcome["state"] == "added"
            passages += outcome["num_passages"] if outcome["state"] == "added" else 0
            if done >= until:
                time.sleep(chance.random())
                break
        command.process.kill()
        command.process.wait()
        seconds = time.monotonic() - start
        print(
            f"killed after {seconds:.0f} s, {new} new files, {passages} passages ({passages / seconds:.1f} per second, "
            f"start-up included), peak {command.peak_mb:.0f} MB",
            flush=True,
        )


def finish(folder: Path, data: Path) -> tuple[Counter[str], list[str], float, float]:
    command, start = Command(folder, data), time.monotonic()
    states: Counter[str] = Counter()
    for outcome in command.outcomes():
        states[outcome["state"]] += 1
        if outcome["state"] == "failed":
            print("  ", outcome["reason"][:150])
    command.process.wait()
    return states, command.log, time.monotonic() - start, command.peak_mb


def check(folder: Path, data: Path, states: Counter[str]) -> None:
    parts = Parts(load_settings(data_dir=data))
    collection = parts.library.collection("default")
    documents = parts.library.documents(collection)
    files = {str(path.resolve()) for path in folder.rglob("*") if path.is_file()}
    lost = len(files) - len(documents) - states["failed"] - states["duplicate"]
    duplicated = len(documents) - len({document.source for document in documents})
    index = parts.workspace(collection).index(parts.encoder)
    wrong = index.ids() ^ set(parts.library.passage_ids(collection))
    faults = parts.workspace(collection).faults()
    print(
        f"{len(documents)} documents, {sum(d.num_passages for d in documents)} passages; lost {lost}, "
        f"duplicated {duplicated}, passages that differ between index and library {len(wrong)}, faults {len(faults)}"
    )


def show_timings(log: list[str]) -> None:
    """Print where the time of the last run went, in its own threads and in its readers."""
    steps = {words[0]: float(words[-2]) for line in log if line.endswith(" s\n") and (words := line.split())}
    parallel = {"parse", "split"}  # in reader processes, while the rest goes on
    total = sum(seconds for step, seconds in steps.items() if step not in parallel)
    for step, seconds in sorted(steps.items(), key=lambda item: -item[1]):
        share = "in the readers, in parallel" if step in parallel else f"{seconds / total:5.1%}" if total else ""
        print(f"{step:<10} {seconds:8.1f} s  {share}")


if __name__ == "__main__":
    main()
