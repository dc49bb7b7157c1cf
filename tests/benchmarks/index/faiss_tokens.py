"""Plain FAISS: the nearest tokens by IVF and four-bit product quantisation, XTR's imputation, float16 re-scoring."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
from tests.benchmarks.index.engines import Point
from tests.benchmarks.index.measuring import bytes_in
from tests.benchmarks.index.store import Array, Corpus

INDEX = "tokens.faiss"
MOST_LISTS = 8192  # more make the clustering of ten million tokens take hours on one core
SAMPLE = 40  # training tokens a list
ADDED = 100_000  # tokens at a time
TOGETHER = 16  # passages re-scored in one product
SETTINGS = ((100, 8, 200), (200, 16, 300), (500, 16, 400), (1000, 32, 500), (2000, 64, 800))


class FaissTokens:
    """What a careful user of FAISS builds in a hundred lines."""

    def __init__(self, corpus: Corpus, folder: Path) -> None:
        self._corpus, self._folder = corpus, folder
        self.points = [
            Point(f"{near} tokens, probe {probe}, re-score {best}", {"near": near, "probe": probe, "best": best})
            for near, probe, best in SETTINGS
        ]

    def version(self) -> str:
        import faiss

        return f"faiss {faiss.__version__}"

    def build(self) -> None:
        import faiss

        faiss.omp_set_num_threads(1)
        corpus = self._corpus
        lists = min(MOST_LISTS, 2 ** round(np.log2(4 * corpus.tokens**0.5)))
        kind = f"IVF{lists},PQ{corpus.dimension // 2}x4fs"
        index = faiss.index_factory(corpus.dimension, kind, faiss.METRIC_INNER_PRODUCT)
        index.cp.niter, index.cp.max_points_per_centroid = 4, SAMPLE
        sample = np.random.default_rng(0).choice(corpus.tokens, min(corpus.tokens, SAMPLE * lists), replace=False)
        index.train(corpus.vectors[np.sort(sample)].astype(np.float32))
        for first in range(0, corpus.tokens, ADDED):
            index.add(corpus.vectors[first : first + ADDED].astype(np.float32))
        faiss.write_index(index, str(self._folder / INDEX))

    def open(self) -> None:
        import faiss
        import torch

        faiss.omp_set_num_threads(1)
        self._index = faiss.read_index(str(self._folder / INDEX))
        self._passages = self._corpus.passage_of_each()
        with warnings.catch_warnings(action="ignore"):  # torch would rather have memory that it may write
            self._vectors = torch.from_numpy(self._corpus.vectors)
        self._held = torch.empty(0, self._corpus.dimension)

    def search(self, query: Array, k: int, point: Point) -> list[int]:
        self._index.nprobe = point.options["probe"]
        similarities, tokens = self._index.search(query, point.options["near"])
        passages, scores = self._imputed(similarities, tokens)
        if len(passages) > point.options["best"]:
            passages = passages[np.argpartition(-scores, point.options["best"])[: point.options["best"]]]
        return self._rescored(query, np.sort(passages), k)

    def _imputed(self, similarities: Array, tokens: Array) -> tuple[Array, Array]:
        """Passages of the tokens found; a query token that found none of a passage gives it its lowest similarity."""
        rows, columns = np.nonzero(tokens >= 0)
        similarities, found = similarities[rows, columns], self._passages[tokens[rows, columns]]
        seen = np.zeros(len(self._corpus), bool)
        seen[found] = True
        passages = np.flatnonzero(seen)
        place = np.empty(len(self._corpus), np.int64)
        place[passages] = np.arange(len(passages))
        lowest = np.full(len(tokens), np.inf, np.float32)
        np.minimum.at(lowest, rows, similarities)
        lowest[np.isinf(lowest)] = 0
        table = np.tile(lowest, (len(passages), 1))
        np.maximum.at(table.reshape(-1), place[found] * len(tokens) + rows, similarities)
        return passages, table.sum(axis=1)

    def _rescored(self, query: Array, passages: Array, k: int) -> list[int]:
        """The best k of these passages by exact MaxSim over their float16 vectors."""
        import torch

        asked, scores = torch.from_numpy(query), []
        for first in range(0, len(passages), TOGETHER):
            some = passages[first : first + TOGETHER]
            begins, ends = self._corpus.starts[some], self._corpus.starts[some + 1]
            edges = np.cumsum([0, *(ends - begins)])
            if edges[-1] > len(self._held):  # held from query to query: fresh memory costs more than the products
                self._held = torch.empty(edges[-1], self._corpus.dimension)
            for begin, end, edge in zip(begins.tolist(), ends.tolist(), edges.tolist(), strict=False):
                self._held[edge : edge + end - begin].copy_(self._vectors[begin:end])
            similarities = (asked @ self._held[: edges[-1]].T).numpy()
            scores.append(np.maximum.reduceat(similarities, edges[:-1], axis=1).sum(axis=0))
        return passages[np.argsort(-np.concatenate(scores), kind="stable")[:k]].tolist()

    def bytes(self) -> int:
        return bytes_in(self._folder) + self._corpus.vectors.nbytes
