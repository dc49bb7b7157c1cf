"""What an object store adds to saves and to the first search of a machine that starts empty.

    python -m tests.benchmarks.storage [--passages 40000]

Builds one index of made-up passages (60 tokens of 128 numbers, in 8 bits), publishes it to an S3 server on this machine
and to a folder, and fetches it on another disk folder, beside plain copies of the same files.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from tests.benchmarks.shards import Maker

from propcite.retrieval.index.token_index import TokenIndex
from propcite.retrieval.remote.objects import ObjectStore
from propcite.retrieval.remote.published_index import PublishedIndex
from propcite.retrieval.sharding.folder import open_index

sys.path.append(str(Path(__file__).parents[1] / "support"))
MORE = 64  # passages of one save while documents are read


def seconds(do: Callable[[], object]) -> float:
    begun = time.perf_counter()
    do()
    return time.perf_counter() - begun


def measure(maker: Maker, objects: ObjectStore, index: Path, work: Path) -> dict[str, float]:
    """Publish and fetch; seconds, but for what ends with `ms`."""
    folder = work / "one"
    shutil.copytree(index, folder)
    here, there = PublishedIndex(objects, folder), PublishedIndex(objects, work / "two")
    size = sum(path.stat().st_size for path in index.iterdir())
    row: dict[str, float] = {"mb": size / 2**20, "copy": seconds(lambda: shutil.copytree(index, work / "copy"))}
    row["publish"] = seconds(here.publish)
    row["fetch"] = seconds(there.fetch)
    row["look_ms"] = 1000 * seconds(there.fetch)
    grown = TokenIndex.load(folder)
    maker.add(grown, MORE, len(grown))
    row["save_ms"] = 1000 * seconds(lambda: grown.save(folder))
    row["publish_more_ms"] = 1000 * seconds(here.publish)
    row["fetch_more_ms"] = 1000 * seconds(there.fetch)
    assert open_index(work / "two").ids() == grown.ids()
    return {name: round(value, 3) for name, value in row.items()}


def main() -> None:
    from object_server import BUCKET, s3_server

    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--passages", type=int, default=40_000)
    given = parser.parse_args()
    with s3_server(), tempfile.TemporaryDirectory() as folder:
        maker, work = Maker(), Path(folder)
        maker.build(work / "index", given.passages)
        for name, objects in (
            ("s3", ObjectStore(f"{BUCKET}/index")),
            ("folder", ObjectStore(f"file://{work}/objects")),
        ):
            (work / name).mkdir()
            print(json.dumps({"storage": name} | measure(maker, objects, work / "index", work / name)))


if __name__ == "__main__":
    main()
