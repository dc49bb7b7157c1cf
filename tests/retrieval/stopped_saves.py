"""Stops a save at every third line of the index's code, and says which version a reader then finds: old or new.

Run by test_index.py in a process of its own, because it forks: python stopped_saves.py FOLDER
"""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path
from types import FrameType
from typing import Any

from small_passages import unit_item

from retrieval.index.token_index import TokenIndex

OLD = {f"p{seed}" for seed in range(6)}
STEP = 3  # lines between two stops; 1 takes half a minute and stops everywhere
NEW = {"p4", "p5", "p6", "p7"}


def change(folder: Path) -> TokenIndex:
    """New passages, and so many deleted that saving rewrites the rest."""
    index = TokenIndex.load(folder)
    for seed in (6, 7):
        index.add([unit_item(f"p{seed}", seed).passage], [unit_item(f"p{seed}", seed).tokens])
    index.delete([f"p{seed}" for seed in range(4)])
    return index


def save_until(folder: Path, line: int) -> bool:
    """Save in a process that ends, without any cleaning up, before its line-th line.  -> whether it reached the end"""
    child = os.fork()
    if child:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    index = change(folder)
    left = line

    def trace(frame: FrameType, event: str, _: Any) -> Any:
        nonlocal left
        if "retrieval/index" not in frame.f_code.co_filename:
            return None
        left -= event == "line"
        if left < 0:
            os._exit(1)
        return trace

    sys.settrace(trace)
    index.save(folder)
    os._exit(0)


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
        index.add([unit_item(f"p{seed}", seed).passage], [unit_item(f"p{seed}", seed).tokens])
    index.save(folder / "start")
    finished, line = False, 0
    while not finished:
        work = folder / "work"
        shutil.rmtree(work, ignore_errors=True)
        shutil.copytree(folder / "start", work)
        finished = save_until(work, line)
        sys.stdout.write(version(work) + "\n")
        change_again = TokenIndex.load(work)  # whatever was left half done does not hinder the next save
        change_again.save(work)
        named = {part.name for part in change_again._held.parts}
        assert {path.name.split(".")[0] for path in work.glob("segment-*")} == named
        line += STEP


if __name__ == "__main__":
    main(Path(sys.argv[1]))
