"""Stops a save after each change of its folder, and prints which version a reader then finds: old or new.

Run by test_index.py in a process of its own, because it forks: python stopped_saves.py FOLDER
"""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

from small_passages import random_passage

from propcite.retrieval.index.token_index import TokenIndex

OLD = {f"p{seed}" for seed in range(6)}
NEW = {"p4", "p5", "p6", "p7"}


def change(folder: Path) -> TokenIndex:
    """Add passages, and delete so many that a save rewrites the others."""
    index = TokenIndex.load(folder)
    for seed in (6, 7):
        index.add([random_passage(f"p{seed}", seed).passage], [random_passage(f"p{seed}", seed).tokens])
    index.delete([f"p{seed}" for seed in range(4)])
    return index


def in_a_process(work: Callable[[], None]) -> bool:
    """Run work in a child process, which may exit anywhere; return whether it reached the end."""
    child = os.fork()
    if child:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    work()
    os._exit(0)


def save_watched(folder: Path, look: Callable[[int], None]) -> None:
    """Save a change, calling `look` before each executed line of the index's code with the line's number."""
    index, line = change(folder), 0

    def trace(frame: FrameType, event: str, _: Any) -> Any:
        nonlocal line
        if "retrieval/index" not in frame.f_code.co_filename:
            return None
        if event == "line":
            look(line)
            line += 1
        return trace

    sys.settrace(trace)
    index.save(folder)
    sys.settrace(None)


def lines_after_a_change(folder: Path, report: Path) -> list[int]:
    """Return the numbers of executed lines that follow a change of the folder: other stops leave the same files."""

    def work() -> None:
        lines, before = [], state(folder)

        def look(line: int) -> None:
            nonlocal before
            now = state(folder)
            if now != before:
                lines.append(line)
            before = now

        save_watched(folder, look)
        report.write_text(json.dumps(lines))

    assert in_a_process(work)
    lines: list[int] = json.loads(report.read_text())
    return lines


def state(folder: Path) -> list[tuple[str, int, int, int]]:
    stats = [(entry.name, entry.stat()) for entry in os.scandir(folder)]
    return sorted((name, stat.st_ino, stat.st_size, stat.st_mtime_ns) for name, stat in stats)


def save_until(folder: Path, last: int) -> bool:
    """Save until an executed line, and return whether the save reached its end."""

    def stop(line: int) -> None:
        if line == last:
            os._exit(1)

    return in_a_process(lambda: save_watched(folder, stop))


def version(folder: Path) -> str:
    index = TokenIndex.load(folder)
    ids = index.ids()
    for i in ids:
        assert index.vectors(i).vectors.shape == (5, 8)
    assert ids in (OLD, NEW), ids
    return "old" if ids == OLD else "new"


def main(folder: Path) -> None:
    index = TokenIndex(8, "made-up")
    for seed in range(6):
        index.add([random_passage(f"p{seed}", seed).passage], [random_passage(f"p{seed}", seed).tokens])
    index.save(folder / "start")
    work = folder / "work"
    shutil.copytree(folder / "start", work)
    stops = lines_after_a_change(work, folder / "lines")
    for line in (0, *stops, -1):
        shutil.rmtree(work)
        shutil.copytree(folder / "start", work)
        assert save_until(work, line) == (line < 0)
        sys.stdout.write(version(work) + "\n")
        next_index = TokenIndex.load(work)  # remains of the stopped save must not prevent the next one
        next_index.save(work)
        named = {live.name for live in next_index._contents.segments}
        assert {path.name.split(".")[0] for path in work.glob("segment-*")} == named


if __name__ == "__main__":
    main(Path(sys.argv[1]))
