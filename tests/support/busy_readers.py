"""One process changes an index without pause while four read it, each seeing whole versions only, never an older one.

Run by test_index_readers.py in a process of its own, because it forks: python busy_readers.py FOLDER SECONDS
"""

from __future__ import annotations

import json
import os
import sys
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from random import Random

import numpy as np
import torch
from small_passages import Item, unit_item

from propcite.retrieval.index.checking import check_index
from propcite.retrieval.index.manifest import FILE
from propcite.retrieval.index.token_index import TokenIndex

OPTIONS = {"bits": 8, "exact_up_to": 200}  # below what the index holds at its largest: centroids come and are outgrown
READERS = 4
MARKED = 6  # passages that every version updates
LATEST = 30  # passages that stay for as many versions
MEAN = np.full((1, 5), 0.2, np.float32)


def held(version: int) -> dict[str, Item]:
    """What the index holds in each version: every passage tells by its id or by its vectors which one it is."""
    marked = {f"m{n}": unit_item(f"m{n}", 1_000_000 + version * MARKED + n) for n in range(MARKED)}
    latest = {f"v{n}": unit_item(f"v{n}", n) for n in range(max(0, version - LATEST + 1), version + 1)}
    return marked | latest


def write(folder: Path, stop: Path) -> int:
    """-> versions written"""
    index, random, version = TokenIndex.load(folder, **OPTIONS), Random(2), 0
    while not stop.exists():
        version += 1
        before, after = held(version - 1), held(version)
        index.delete(set(before) - set(after))
        new = [after[i] for i in after if i not in before]
        index.add([one.passage for one in new], [one.tokens for one in new])
        marked = [after[f"m{n}"] for n in range(MARKED)]
        index.update([one.passage for one in marked], [one.tokens for one in marked])
        if random.random() < 0.3:
            index.stage(folder)
        (index.compact if random.random() < 0.1 else index.save)(folder)
    return version


def read(folder: Path, stop: Path) -> int:
    """-> versions seen"""
    seen, last, at, kept = 0, -1, None, None
    while not stop.exists():
        status = os.stat(folder / FILE)
        if at == (status.st_ino, status.st_mtime_ns):
            time.sleep(0.001)
            continue
        at = status.st_ino, status.st_mtime_ns
        index = TokenIndex.load(folder, "made-up", **OPTIONS)
        version = max(int(i[1:]) for i in index.ids() if i[0] == "v")
        look(index, version)
        assert version >= last, f"version {version} after {last}"
        if kept and version % 3 == 0:
            look(*kept)  # its files are gone by now
        if not kept or version % 7 == 0:
            kept = index, version
        seen, last = seen + (version > last), version
    return seen


def look(index: TokenIndex, version: int) -> None:
    """This version and nothing else: ids, counts, vectors, and what a search finds."""
    wanted = held(version)
    assert index.ids() == set(wanted)
    stats = index.stats()
    assert stats.passages == len(wanted) == len(index)
    assert stats.tokens >= 5 * len(wanted)
    for i, one in wanted.items():
        assert np.abs(index.vectors(i).vectors - one.tokens.vectors).max() < 0.02, f"{i} of version {version}"
    for i in (f"m{version % MARKED}", f"v{version}"):
        hits = index.search(wanted[i].tokens.vectors, MEAN, k=1)[0]
        assert (hits[0].passage_id, round(hits[0].score, 1)) == (i, 1.0)


def forked(work: Callable[[], int], told: Path) -> int:
    """Work in a process of its own, which tells its count or how it failed.  -> its number"""
    child = os.fork()
    if not child:
        try:
            told.write_text(str(work()))
        except BaseException:
            told.write_text(traceback.format_exc())
        os._exit(0)
    return child


def main(folder: Path, seconds: float) -> None:
    torch.set_num_threads(1)  # a fork copies no thread
    index, stop = TokenIndex(8, "made-up", **OPTIONS), folder / "stop"
    index.add([one.passage for one in held(0).values()], [one.tokens for one in held(0).values()])
    index.save(folder / "index")
    look(TokenIndex.load(folder / "index"), 0)
    paths = [folder / f"told-{number}" for number in range(READERS + 1)]
    children = [forked(lambda: write(folder / "index", stop), paths[0])]
    children += [forked(lambda: read(folder / "index", stop), path) for path in paths[1:]]
    time.sleep(seconds)
    stop.touch()
    for child in children:
        os.waitpid(child, 0)
    told = [path.read_text() for path in paths]
    failed = [text for text in told if not text.isdigit()]
    assert not failed, "\n".join(failed)
    look(TokenIndex.load(folder / "index"), int(told[0]))
    assert check_index(folder / "index") == []
    (folder / "counts.json").write_text(json.dumps({"written": int(told[0]), "seen": [int(n) for n in told[1:]]}))


if __name__ == "__main__":
    main(Path(sys.argv[1]), float(sys.argv[2]))
