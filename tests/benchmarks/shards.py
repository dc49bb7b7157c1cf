"""What dividing an index costs a search, and what searching its shards in parallel gains.

    python -m tests.benchmarks.shards [--passages 40000] [--shards 2 4 8] [--folder FOLDER]

Builds one index of made-up passages (60 tokens of 128 numbers, in 8 bits), divides copies of it, and searches all of
them with the same queries in turns, so that a busy machine slows each alike.  Milliseconds are medians; `equal` counts
the queries whose lists have the same digits.  `adding_ms` is the time until 64 more passages count.  `holding` is the
mean share of all centroids of which a shard has a token: where it is near 1, no shard could be left out by the
centroids of a query.
"""

from __future__ import annotations

import argparse
import json
import shutil
import statistics
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from propcite.retrieval.encoding.base import Floats, TokenVectors
from propcite.retrieval.index.token_index import TokenIndex
from propcite.retrieval.sharding.folder import OpenIndex, open_index
from propcite.retrieval.sharding.resharding import reshard
from propcite.retrieval.sharding.sharded_index import ShardedIndex
from propcite.retrieval.text import Granularity, Passage, Sentence, Span
from propcite.retrieval.words.query import WordQuery

TOKENS, DIMENSION, PER_DOCUMENT, BATCH, CENTRES, QUERIES, LENGTH = 60, 128, 10, 4_000, 4_000, 40, 16
SENTENCES = tuple(Sentence(Span(start, start + 20)) for start in range(0, TOKENS, 20))
PIECES = 20_000
ADDED, ADDITIONS = 64, 15


class Maker:
    """Makes passages whose tokens lie near common centres, with word pieces as frequent as words are."""

    def __init__(self) -> None:
        self.random = np.random.default_rng(0)
        self.centres = self._units(self.random.standard_normal((CENTRES, DIMENSION)))
        self.offsets = np.stack([np.arange(TOKENS), np.arange(TOKENS) + 1], axis=1).astype(np.int32)

    def _units(self, vectors: Any) -> Floats:
        units: Floats = (vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)).astype(np.float32)
        return units

    def near(self, *shape: int) -> Floats:
        centres = self.centres[self.random.integers(CENTRES, size=shape)]
        return self._units(centres + 0.05 * self.random.standard_normal((*shape, DIMENSION)).astype(np.float32))

    def pieces(self, *shape: int) -> Any:
        return self.random.zipf(1.2, size=shape) % PIECES

    def build(self, folder: Path, number: int) -> None:
        index = TokenIndex(DIMENSION, "made-up", regime="tokens")
        for first in range(0, number, BATCH):
            self.add(index, min(BATCH, number - first), first)
            index.stage(folder)
        index.save(folder)
        index.compact(folder)

    def add(self, index: TokenIndex, number: int, first: int) -> None:
        """Add so many passages, which are numbered from `first`."""
        index.add(*self.make(number, first))

    def make(self, number: int, first: int) -> tuple[list[Passage], list[TokenVectors]]:
        ids = [f"d{n // PER_DOCUMENT}:{n % PER_DOCUMENT}" for n in range(first, first + number)]
        passages = [Passage(i, "x" * TOKENS, sentences=SENTENCES) for i in ids]
        vectors, pieces = self.near(number, TOKENS), self.pieces(number, TOKENS)
        return passages, [TokenVectors(*one) for one in zip(vectors, [self.offsets] * number, pieces, strict=True)]

    def query(self) -> tuple[Floats, WordQuery | None]:
        vectors = self.near(LENGTH)
        tokens = TokenVectors(vectors, self.offsets[:LENGTH], self.pieces(LENGTH))
        return vectors, WordQuery.of("x" * LENGTH, tokens, np.ones((1, LENGTH), np.float32), 0.1)


def measure(indexes: dict[str, OpenIndex], maker: Maker, regime: str) -> list[dict[str, Any]]:
    """Return one row of figures per index."""
    queries = [maker.query() for _ in range(QUERIES)]
    wall: dict[str, list[float]] = {name: [] for name in indexes}
    cpu: dict[str, list[float]] = {name: [] for name in indexes}
    equal = dict.fromkeys(indexes, 0)
    for number, (vectors, words) in enumerate([queries[0], *queries]):  # the first opens files
        lists = {}
        for name, index in indexes.items():
            started, used = time.perf_counter(), time.process_time()
            lists[name] = index.search(
                vectors,
                np.ones((1, LENGTH), np.float32),
                k=20,
                granularity=Granularity.SENTENCE,
                passage_share=0.3,
                word_query=words,
                regime=regime,  # type: ignore[arg-type]
            )
            if number:
                wall[name].append(1000 * (time.perf_counter() - started))
                cpu[name].append(1000 * (time.process_time() - used))
                equal[name] += lists[name] == lists["whole"]
    return [
        {
            "index": name,
            "regime": regime,
            "ms": round(statistics.median(wall[name]), 1),
            "cpu_ms": round(statistics.median(cpu[name]), 1),
            "beside_whole": round(statistics.median(wall[name]) / statistics.median(wall["whole"]), 2),
            "equal": f"{equal[name]} of {QUERIES}",
        }
        for name in indexes
    ]


def adding(
    indexes: dict[str, OpenIndex], folders: dict[str, Path], maker: Maker, first: int
) -> Iterator[dict[str, Any]]:
    """Yield the time until passages that are encoded count, in each index in turns."""
    wall: dict[str, list[float]] = {name: [] for name in indexes}
    for number in range(ADDITIONS):
        made = maker.make(ADDED, first + number * ADDED)
        for name, index in indexes.items():
            started = time.perf_counter()
            index.add(*made)
            index.save(folders[name])
            wall[name].append(1000 * (time.perf_counter() - started))
    for name, ms in wall.items():
        yield {"index": name, "adding_ms": round(statistics.median(ms), 1)}


def holding(index: OpenIndex) -> float:
    """Return the mean share of the centroids of which a shard has a token."""
    shares = []
    for shard in index.shards if isinstance(index, ShardedIndex) else [index]:
        codes = [live.centroid_codes for live in shard.segments if live.centroid_codes]
        sizes = np.sum([one.list_sizes for one in codes], axis=0)
        shares.append(float(np.mean(sizes > 0)))
    return round(statistics.mean(shares), 4)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--passages", type=int, default=40_000)
    parser.add_argument("--shards", type=int, nargs="+", default=[2, 4, 8])
    parser.add_argument("--folder", type=Path, help="where the indexes are written, by default a temporary folder")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=options.folder) as temporary:
        folder, maker = Path(temporary), Maker()
        maker.build(folder / "whole", options.passages)
        indexes, folders = {"whole": open_index(folder / "whole")}, {"whole": folder / "whole"}
        for number in options.shards:
            shutil.copytree(folder / "whole", folder / str(number))
            started = time.perf_counter()
            reshard(folder / str(number), number)
            print(json.dumps({"divided_into": number, "seconds": round(time.perf_counter() - started, 1)}))
            folders[f"{number} shards"] = folder / str(number)
            indexes[f"{number} shards"] = open_index(folder / str(number))
        for regime in ("exact", "tokens"):
            for row in measure(indexes, maker, regime):
                print(json.dumps(row))
        for name, index in indexes.items():
            print(json.dumps({"index": name, "centroids": index.stats().centroids, "holding": holding(index)}))
        for row in adding(indexes, folders, maker, options.passages):
            print(json.dumps(row))


if __name__ == "__main__":
    main()
