"""What a large collection costs on one machine, beside an earlier version: reloads after a save, filters, comparisons.

    python -m tests.benchmarks.walls --passages 300000 [--before CHECKOUT/src] [--folder FOLDER]

Builds a library of that many made-up passages, four to a document and four tokens of 16 numbers to a passage, then
measures it in one process per version, one after the other: CPU seconds, the least of several.  `--before` is the
folder `src` of a checkout of the earlier version; each version has its own copy, which it migrates.  `--filters`
measures the filters of so many passages alone, without a database and without vectors.
"""

from __future__ import annotations

import argparse
import inspect
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

TOKENS, DIMENSION, PER_DOCUMENT, BATCH = 4, 16, 4, 20_000
FILTERS = ("year>=2008", "kind=pdf and year=2003", "not tags=budget or year<2002", "source~/d/1")


def build(data_dir: Path, number: int) -> None:
    """Write a library and its index, by the version that runs."""
    import hashlib

    import numpy as np
    from sqlalchemy import insert

    from propcite.app.library.store import Library
    from propcite.app.library.store.tables import DocumentRow, PassageRow
    from propcite.retrieval.encoding.base import TokenVectors
    from propcite.retrieval.index.token_index import TokenIndex
    from propcite.retrieval.text import Passage

    library = Library(f"sqlite:///{data_dir / 'propcite.db'}")
    collection = library.create_collection("large")
    index = TokenIndex(DIMENSION, "made-up", regime="exact")
    random = np.random.default_rng(0)
    offsets = np.array([[n, n + 1] for n in range(TOKENS)], np.int32)
    vectors = TokenVectors(random.standard_normal((TOKENS, DIMENSION)).astype(np.float32), offsets, None, None)
    for first in range(0, number // PER_DOCUMENT, BATCH // PER_DOCUMENT):
        numbers = range(first, min(number // PER_DOCUMENT, first + BATCH // PER_DOCUMENT))
        ids = [hashlib.sha256(str(n).encode()).hexdigest()[:12] for n in numbers]
        with library.session() as session:
            session.execute(
                insert(DocumentRow), [_document(n, i, collection.id) for n, i in zip(numbers, ids, strict=True)]
            )
            rows = [
                {"id": f"{i}:{n}", "document_id": i, "title": "", "start": n, "text": "x", "sentences": [], "pages": []}
                for i in ids
                for n in range(PER_DOCUMENT)
            ]
            session.execute(insert(PassageRow), rows)
        index.add([Passage(row["id"], "Some.") for row in rows], [vectors] * len(rows))
    index.save(data_dir / "indexes" / str(collection.id))


def _document(number: int, id_: str, collection: int) -> dict[str, Any]:
    details = {"kind": ("pdf", "html", "text")[number % 3], "year": 2000 + number % 16, "author": f"A {number % 999}"}
    details["tags"] = ["budget", "draft"] if number % 5 == 0 else ["minutes"]
    return {
        "id": id_,
        "collection_id": collection,
        "source": f"/d/{number}.txt",
        "title": f"Document {number}",
        "sha256": id_,
        "headings": [],
        "pages": [],
        "details": details,
        "described": {},
    }


def measure(data_dir: Path) -> dict[str, float]:
    """Return figures of the version that runs."""
    from propcite.app.library.selection import selected_passages
    from propcite.app.library.store import Library
    from propcite.app.library.workspace import Workspace
    from propcite.retrieval.index.token_index import TokenIndex

    library = Library(f"sqlite:///{data_dir / 'propcite.db'}")
    collection = library.collection("large")
    workspace = Workspace(data_dir, library, collection, regime="exact")
    figures: dict[str, float] = {}
    before = _resident()
    index, figures["open, CPU s"] = _timed(lambda: TokenIndex.load(workspace.folder))
    figures["open, B a passage"] = (_resident() - before) / len(index)
    figures["version of the contents, CPU s"] = _timed(lambda index=index: index.version)[1]
    shares = "earlier" in inspect.signature(TokenIndex.load).parameters
    reloads, saves = [], []
    for number in range(5):
        subprocess.run(
            [sys.executable, "-m", "tests.benchmarks.walls", "--add", str(number), str(data_dir)], check=True
        )
        more: dict[str, Any] = {"earlier": index} if shares else {}
        index, seconds = _timed(lambda more=more: TokenIndex.load(workspace.folder, **more))
        reloads.append(seconds)
        saves.append(_timed(lambda index=index: index.version)[1])
    figures["reload after a save of one passage, CPU s"] = min(reloads)
    figures["version of the contents after it, CPU s"] = min(saves)
    index.delete([f"added {n}" for n in range(5)])
    index.save(workspace.folder)
    figures["comparing index and library, first, CPU s"] = _timed(workspace.differs_from_library)[1]
    figures["comparing index and library, CPU s"] = _timed(workspace.differs_from_library)[1]
    assert not workspace.differs_from_library()
    for text in FILTERS:

        def masks(text: str = text) -> int:
            chosen = selected_passages(library, collection, (), [text])
            return sum(int(mask.sum()) for mask in index._contents.masks(chosen).values())

        _, figures[f"{text}, first, CPU s"] = _timed(masks)
        passages, figures[f"{text}, CPU s"] = min((_timed(masks) for _ in range(3)), key=lambda one: one[1])
        figures[f"{text}, passages"] = passages
    figures["largest memory, MB"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return figures


def measure_filters(number: int) -> None:
    """Print what conditions take, from the condition to a mask of passages, once the fields are in memory."""
    from types import SimpleNamespace
    from typing import cast

    from propcite.app.library.conditions import parse_condition
    from propcite.app.library.conditions.columns import DocumentColumns
    from propcite.app.library.selection import SelectedPassages
    from propcite.retrieval.index.passage_ids import PassageIds
    from propcite.retrieval.index.segment import Segment

    columns = DocumentColumns()
    rows = [_document(n, f"{n:012x}", 1) for n in range(number // PER_DOCUMENT)]

    def fill() -> None:
        for row in rows:
            columns.put(row["id"], row["details"] | {name: row[name] for name in ("id", "source", "title")})

    print(f"{'fields into memory, CPU s':48}{_timed(fill)[1]:12.4f}")
    ids = PassageIds.of(f"{row['id']}:{n}" for row in rows for n in range(PER_DOCUMENT))
    segment = cast(Segment, SimpleNamespace(ids=ids))  # a mask needs nothing else of it

    def masked(text: str) -> int:
        chosen = columns.holds(parse_condition(text)) & columns.alive
        return int(SelectedPassages(columns, chosen).mask(segment).sum())

    print(f"{'documents of the segment, once, CPU s':48}{_timed(lambda: masked('id is set'))[1]:12.4f}")
    for text in FILTERS:
        first = _timed(lambda text=text: masked(text))[1]
        again = min(_timed(lambda text=text: masked(text))[1] for _ in range(5))
        print(f"{text:48}{again:12.4f}  first {first:.4f}, {masked(text)} passages")


def add(number: int, data_dir: Path) -> None:
    """Save one passage more, as another process does."""
    import numpy as np

    from propcite.retrieval.encoding.base import TokenVectors
    from propcite.retrieval.index.token_index import TokenIndex
    from propcite.retrieval.text import Passage

    (folder,) = (data_dir / "indexes").iterdir()
    index = TokenIndex.load(folder)
    vectors = TokenVectors(np.ones((1, DIMENSION), np.float32), np.array([[0, 4]], np.int32), None, None)
    index.add([Passage(f"added {number}", "Some.")], [vectors])
    index.save(folder)


def _timed(work: Callable[[], Any]) -> tuple[Any, float]:
    start = time.process_time()
    return work(), time.process_time() - start


def _resident() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()


def _run(src: str, *arguments: str) -> str:
    env = os.environ | {"PYTHONPATH": src, "OMP_NUM_THREADS": "1"}
    run = [sys.executable, "-m", "tests.benchmarks.walls", *arguments]
    return subprocess.run(run, env=env, check=True, capture_output=True, text=True).stdout


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--passages", type=int, default=300_000)
    parser.add_argument("--before", default="")
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--filters", type=int)
    parser.add_argument("--build", nargs=2, help=argparse.SUPPRESS)
    parser.add_argument("--measure", help=argparse.SUPPRESS)
    parser.add_argument("--add", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.build:
        build(Path(options.build[0]), int(options.build[1]))
    elif options.measure:
        print(json.dumps(measure(Path(options.measure))))
    elif options.filters:
        measure_filters(options.filters)
    elif options.add:
        add(int(options.add[0]), Path(options.add[1]))
    else:
        with tempfile.TemporaryDirectory(dir=options.folder) as folder:
            _compare(Path(folder), options.passages, options.before)


def _compare(folder: Path, number: int, before: str) -> None:
    ours = str(Path(__file__).parents[2] / "src")
    versions = {"before": before, "now": ours} if before else {"now": ours}
    (folder / "now").mkdir()
    _run(before or ours, "--build", str(folder / "now"), str(number))
    if before:
        shutil.copytree(folder / "now", folder / "before")
    figures = {name: json.loads(_run(src, "--measure", str(folder / name))) for name, src in versions.items()}
    print(f"{number} passages")
    for name, now in figures["now"].items():
        earlier = figures["before"][name] if before else None
        ratio = f"{earlier:12.4f}{earlier / now:10.1f}x" if earlier is not None and now else ""
        print(f"{name:48}{now:12.4f}{ratio}", flush=True)


if __name__ == "__main__":
    main()
