"""LanceDB's multivector search, embedded: IVF and product quantisation over tokens by cosine, refined exactly."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from tests.benchmarks.index.engines import Point
from tests.benchmarks.index.measuring import bytes_in
from tests.benchmarks.index.store import Array, Corpus

BATCH_TOKENS = 200_000
SETTINGS = ((8, 1), (20, 1), (20, 5), (64, 5), (128, 10))


class Lance:
    """A table of passages with an index over their token vectors."""

    def __init__(self, corpus: Corpus, folder: Path) -> None:
        self._corpus, self._folder = corpus, folder
        self.points = [
            Point(f"nprobes {probes}, refine {refine}", {"probes": probes, "refine": refine})
            for probes, refine in SETTINGS
        ]

    def version(self) -> str:
        import lancedb

        return f"lancedb {lancedb.__version__}"

    def build(self) -> None:
        import lancedb
        import pyarrow as pa

        corpus, table = self._corpus, None
        kinds = {"id": pa.int64(), "vector": pa.list_(pa.list_(pa.float16(), corpus.dimension))}
        for first, last in corpus.blocks(BATCH_TOKENS):
            tokens = corpus.tokens_of(first, last)
            flat = pa.array(np.array(corpus.vectors[tokens]).reshape(-1), pa.float16())
            starts = pa.array((corpus.starts[first : last + 1] - tokens.start).astype(np.int32))
            rows = pa.ListArray.from_arrays(starts, pa.FixedSizeListArray.from_arrays(flat, corpus.dimension))
            batch = pa.table({"id": pa.array(np.arange(first, last)), "vector": rows}, schema=pa.schema(kinds))
            if table is None:
                table = lancedb.connect(self._folder).create_table("passages", batch)
            else:
                table.add(batch)
        assert table is not None
        table.create_index(
            metric="cosine",
            vector_column_name="vector",
            index_type="IVF_PQ",
            num_partitions=2 ** round(np.log2(2 * corpus.tokens**0.5)),
            num_sub_vectors=corpus.dimension // 8,
            num_bits=8,
        )

    def open(self) -> None:
        import lancedb

        self._table = lancedb.connect(self._folder).open_table("passages")

    def search(self, query: Array, k: int, point: Point) -> list[int]:
        asked = self._table.search(query).select(["id", "_distance"]).limit(k).nprobes(point.options["probes"])
        if point.options["refine"] > 1:
            asked = asked.refine_factor(point.options["refine"])
        return asked.to_arrow()["id"].to_pylist()

    def bytes(self) -> int:
        return bytes_in(self._folder)
