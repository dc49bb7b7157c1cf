"""Many real files into a collection, the command killed on its way: what comes of them, how fast, in what memory.

    python -m tests.benchmarks.ingest FOLDER [--files 2000] [--most-kb 16] [--kills 3]

Takes that many files of FOLDER in the order of their hashes, none above the size, and ingests copies of them by the
command itself, which is killed (kill -9) after a share of them and begun anew.  Then every file must be one document,
or have a reason why it is none, and the index must hold each passage once.
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

from propcite.app.ingest.readers.kinds import ARCHIVES, is_known
from propcite.app.parts import Parts
from propcite.app.settings import load_settings


def chosen(folder: Path, number: int, most_bytes: int) -> list[Path]:
    files = [
        path
        for path in folder.rglob("*")
        if path.is_file() and not path.is_symlink() and is_known(path.name) and path.suffix not in ARCHIVES
    ]
    files = [path for path in files if 0 < path.stat().st_size <= most_bytes]
    return sorted(files, key=lambda path: hashlib.sha256(str(path).encode()).digest())[:number]


def copied(files: list[Path], place: Path) -> None:
    for number, path in enumerate(files):
        target = place / f"{number // 100:03}" / f"{number:05}-{path.name}"
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, target)


class Command:
    """`propcite ingest FOLDER` in a process of its own."""

    def __init__(self, folder: Path, data: Path) -> None:
        words = [sys.executable, "-m", "propcite", "ingest", str(folder), "--json", "--timings"]
        environment = {**os.environ, "PROPCITE_DATA_DIR": str(data)}
        self.process = subprocess.Popen(
            words, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        self.peak_mb = 0.0
        self.told: list[str] = []
        Thread(target=self._watch, daemon=True).start()
        Thread(target=self._hear, daemon=True).start()

    def _watch(self) -> None:
        while self.process.poll() is None:
            try:
                status = Path(f"/proc/{self.process.pid}/status").read_text()
                self.peak_mb = max(self.peak_mb, int(status.split("VmHWM:")[1].split()[0]) / 1024)
            except (OSError, IndexError, ValueError):
                pass
            time.sleep(0.5)

    def _hear(self) -> None:
        assert self.process.stderr
        self.told += self.process.stderr

    def outcomes(self) -> Iterator[dict[str, Any]]:
        assert self.process.stdout
        for line in self.process.stdout:
            if line.endswith("\n"):
                yield json.loads(line)


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("folder", type=Path)
    asked.add_argument("--files", type=int, default=2000)
    asked.add_argument("--most-kb", type=int, default=16)
    asked.add_argument("--kills", type=int, default=3)
    wanted = asked.parse_args()
    with TemporaryDirectory(prefix="propcite-ingest-") as made:
        folder, data = Path(made) / "files", Path(made) / "data"
        files = chosen(wanted.folder, wanted.files, wanted.most_kb * 1024)
        copied(files, folder)
        size = sum(path.stat().st_size for path in files) / 2**20
        print(f"{len(files)} files, {size:.1f} MB: {dict(Counter(path.suffix for path in files).most_common())}")
        kill(folder, data, len(files), wanted.kills)
        states, spent, seconds, peak = finish(folder, data)
        print(f"the last run, {seconds:.0f} s, peak {peak:.0f} MB: {dict(states)}")
        check(folder, data, states)
        show(spent)


def kill(folder: Path, data: Path, number: int, kills: int) -> None:
    """Kill the command after shares of the files, at no particular moment."""
    chance = random.Random(0)
    for times in range(1, kills + 1):
        command, start = Command(folder, data), time.monotonic()
        upto, new, passages = number * times // (kills + 1), 0, 0
        for seen, outcome in enumerate(command.outcomes(), start=1):
            new += outcome["state"] == "added"
            passages += outcome["num_passages"] if outcome["state"] == "added" else 0
            if seen >= upto:
                time.sleep(chance.random())
                break
        command.process.kill()
        command.process.wait()
        seconds = time.monotonic() - start
        print(
            f"killed after {seconds:.0f} s, {new} new files, {passages} passages ({passages / seconds:.1f} a second, "
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
    return states, command.told, time.monotonic() - start, command.peak_mb


def check(folder: Path, data: Path, states: Counter[str]) -> None:
    parts = Parts(load_settings(data_dir=data))
    collection = parts.library.collection("default")
    documents = parts.library.documents(collection)
    there = {str(path.resolve()) for path in folder.rglob("*") if path.is_file()}
    lost = len(there) - len(documents) - states["failed"] - states["duplicate"]
    doubled = len(documents) - len({document.source for document in documents})
    index = parts.workspace(collection).index(parts.encoder)
    wrong = index.ids() ^ set(parts.library.passage_ids(collection))
    faults = parts.workspace(collection).faults()
    print(
        f"{len(documents)} documents, {sum(d.num_passages for d in documents)} passages; lost {lost}, "
        f"doubled {doubled}, passages that differ between index and library {len(wrong)}, faults {len(faults)}"
    )


def show(told: list[str]) -> None:
    """Where the time of the last run went, of its own threads and of its readers."""
    steps = {words[0]: float(words[-2]) for line in told if line.endswith(" s\n") and (words := line.split())}
    beside = {"parse", "split"}  # in readers, while the rest goes on
    whole = sum(seconds for step, seconds in steps.items() if step not in beside)
    for step, seconds in sorted(steps.items(), key=lambda item: -item[1]):
        share = "in the readers, beside" if step in beside else f"{seconds / whole:5.1%}" if whole else ""
        print(f"{step:<10} {seconds:8.1f} s  {share}")


if __name__ == "__main__":
    main()
