"""One process changes an index all the time while four read it: they see complete versions only, never an older one.

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
from small_passages import EncodedPassage, random_passage

from propcite.retrieval.index.integrity import check_index
from propcite.retrieval.index.manifest import MANIFEST_FILE
from propcite.retrieval.index.token_index import TokenIndex

OPTIONS = {"bits": 8, "exact_up_to": 200}  # less than its largest size, so that centroids are trained and retrained
READERS = 4
MARKED = 6  # passages that are updated in every version
LATEST = 30  # passages that stay for so many versions
MEAN = np.full((1, 5), 0.2, np.float32)


def expected_contents(version: int) -> dict[str, EncodedPassage]:
    """Return the passages of a version, whose ids or vectors identify the version."""
    marked = {f"m{n}": random_passage(f"m{n}", 1_000_000 + version * MARKED + n) for n in range(MARKED)}
    latest = {f"v{n}": random_passage(f"v{n}", n) for n in range(max(0, version - LATEST + 1), version + 1)}
    return marked | latest


def write(folder: Path, stop: Path) -> int:
    """Write versions until `stop` exists, and return their number."""
    index, random, version = TokenIndex.load(folder, **OPTIONS), Random(2), 0
    while not stop.exists():
        version += 1
        before, after = expected_contents(version - 1), expected_contents(version)
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
    """Read versions until `stop` exists, and return the number seen."""
    seen, last, status_seen, earlier = 0, -1, None, None
    while not stop.exists():
        status = os.stat(folder / MANIFEST_FILE)
        if status_seen == (status.st_ino, status.st_mtime_ns):
            time.sleep(0.001)
            continue
        status_seen = status.st_ino, status.st_mtime_ns
        shared = (
            earlier[0] if earlier and seen % 2 else None
        )  # half of the versions share what the earlier one has open
        index = TokenIndex.load(folder, "made-up", earlier=shared, **OPTIONS)
        version = max(int(i[1:]) for i in index.ids() if i[0] == "v")
        check_version(index, version)
        assert version >= last, f"version {version} after {last}"
        if earlier and version % 3 == 0:
            check_version(*earlier)  # its files have been removed by now
        if not earlier or version % 7 == 0:
            earlier = index, version
        seen, last = seen + (version > last), version
    return seen


def check_version(index: TokenIndex, version: int) -> None:
    """Assert that the index holds exactly this version: ids, counts, vectors and hits."""
    expected = expected_contents(version)
    assert index.ids() == set(expected)
    stats = index.stats()
    assert stats.passages == len(expected) == len(index)
    assert stats.tokens >= 5 * len(expected)
    for i, one in expected.items():
        assert np.abs(index.vectors(i).vectors - one.tokens.vectors).max() < 0.02, f"{i} of version {version}"
    for i in (f"m{version % MARKED}", f"v{version}"):
        hits = index.search(expected[i].tokens.vectors, MEAN, k=1)[0]
        assert (hits[0].passage_id, round(hits[0].score, 1)) == (i, 1.0)


def fork(work: Callable[[], int], report: Path) -> int:
    """Run work in a child process that reports its count or its traceback in a file, and return its pid."""
    child = os.fork()
    if not child:
        try:
            report.write_text(str(work()))
        except BaseException:
            report.write_text(traceback.format_exc())
        os._exit(0)
    return child


def main(folder: Path, seconds: float) -> None:
    torch.set_num_threads(1)  # a fork copies no thread
    index, stop = TokenIndex(8, "made-up", **OPTIONS), folder / "stop"
    first = expected_contents(0).values()
    index.add([one.passage for one in first], [one.tokens for one in first])
    index.save(folder / "index")
    check_version(TokenIndex.load(folder / "index"), 0)
    paths = [folder / f"report-{number}" for number in range(READERS + 1)]
    children = [fork(lambda: write(folder / "index", stop), paths[0])]
    children += [fork(lambda: read(folder / "index", stop), path) for path in paths[1:]]
    time.sleep(seconds)
    stop.touch()
    for child in children:
        os.waitpid(child, 0)
    reports = [path.read_text() for path in paths]
    failed = [text for text in reports if not text.isdigit()]
    assert not failed, "\n".join(failed)
    check_version(TokenIndex.load(folder / "index"), int(reports[0]))
    assert check_index(folder / "index") == []
    (folder / "counts.json").write_text(json.dumps({"written": int(reports[0]), "seen": [int(n) for n in reports[1:]]}))


if __name__ == "__main__":
    main(Path(sys.argv[1]), float(sys.argv[2]))
