"""PropCite's own token index: every regime, asked for passages and, from the same vectors, for sentences."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from tests.benchmarks.index.engines import Point
from tests.benchmarks.index.measuring import bytes_in
from tests.benchmarks.index.store import SENTENCES, Array, Corpus
from tests.benchmarks.index.texts import read_passages

from propcite.retrieval.encoding.base import TokenVectors
from propcite.retrieval.text import Granularity

BATCH_TOKENS = 200_000
ENCODER = "benchmark"
CHOSEN = ("ours-8bit", "auto")  # what others are compared with
AUTO = Point("auto", {"regime": "auto"})
EXACT = Point("exact", {"regime": "exact"})


def _refined(regime: str, *sizes: int) -> list[Point]:
    return [Point(f"{regime}, refine {size}", {"regime": regime, "refine": size}) for size in sizes]


POINTS = {  # by bits and by the regime that the index is built for
    (8, "tokens"): [AUTO, EXACT, *_refined("tokens", 100, 200, 300, 400, 800, 1600)],
    (8, "faiss"): _refined("faiss", 200, 400, 600),
    (4, "tokens"): _refined("tokens", 800),
    (2, "tokens"): _refined("tokens", 800),
}


class Ours:
    """`TokenIndex` with so many bits a dimension, with the files that one regime needs."""

    def __init__(self, corpus: Corpus, folder: Path, bits: int, regime: Any) -> None:
        self._corpus, self._folder, self._bits, self._regime = corpus, folder, bits, regime
        self.points = [replace(point, sentences=asked) for point in POINTS[bits, regime] for asked in (False, True)]

    def version(self) -> str:
        from importlib.metadata import version

        from propcite.retrieval.index.token_index import TokenIndex  # noqa: F401

        return f"propcite {version('propcite')}"

    def build(self) -> None:
        from propcite.retrieval.index.token_index import TokenIndex

        corpus = self._corpus
        assert corpus.texts is not None
        texts = list(read_passages(corpus.texts, 0, int(corpus.sources.max()) + 1))
        index = TokenIndex(corpus.dimension, ENCODER, bits=self._bits, regime=self._regime)
        for first, last in corpus.blocks(BATCH_TOKENS):
            passages = [replace(texts[corpus.sources[i]], id=str(i)) for i in range(first, last)]
            tokens = [corpus.tokens_of(i, i + 1) for i in range(first, last)]
            vectors = [TokenVectors(corpus.vectors[t].astype(np.float32), np.array(corpus.offsets[t])) for t in tokens]
            index.add(passages, vectors)
            index.stage(self._folder)
        index.save(self._folder)

    def open(self) -> None:
        from propcite.retrieval.index.token_index import TokenIndex

        # `auto` is what an index does that was not told its regime, so it is another object over the same files.
        self._indexes = {r: TokenIndex.load(self._folder, ENCODER, regime=r) for r in (self._regime, "auto")}
        found = self._indexes[self._regime].stats().regime
        if found != self._regime:
            raise RuntimeError(f"built for {self._regime}, answers by {found}")

    def search(self, query: Array, k: int, point: Point) -> list[int]:
        index = self._indexes["auto" if point.options["regime"] == "auto" else self._regime]
        weights = np.full((1, len(query)), 1 / len(query), np.float32)
        unit = Granularity.SENTENCE if point.sentences else Granularity.PASSAGE
        hits = index.search(query, weights, k=k, granularity=unit, passage_share=0.0, **point.options)[0]
        if point.sentences:
            return [int(hit.passage_id) * SENTENCES + int(hit.sentence or 0) for hit in hits]
        return [int(hit.passage_id) for hit in hits]

    def bytes(self) -> int:
        return bytes_in(self._folder)
