"""fast-plaid: PLAID in Rust over torch's C++ library, four bits a dimension."""

from __future__ import annotations

from importlib.metadata import version
from pathlib import Path

import numpy as np
from tests.benchmarks.index.engines import Point
from tests.benchmarks.index.measuring import bytes_in
from tests.benchmarks.index.store import Array, Corpus

BITS = 4
SETTINGS = ((1, 256), (4, 512), (8, 1024), (8, 4096), (16, 4096))


class Plaid:
    """Runs under a python of its own, since it needs one release of torch exactly."""

    def __init__(self, corpus: Corpus, folder: Path) -> None:
        self._corpus, self._folder = corpus, folder
        self.points = [
            Point(f"probe {probe}, full {full}", {"n_ivf_probe": probe, "n_full_scores": full})
            for probe, full in SETTINGS
        ]

    def version(self) -> str:
        import fast_plaid  # noqa: F401

        return f"fast-plaid {version('fast-plaid')}"

    def build(self) -> None:
        import torch
        from fast_plaid import search

        vectors = torch.from_numpy(np.array(self._corpus.vectors))
        passages = [vectors[a:b] for a, b in zip(self._corpus.starts[:-1], self._corpus.starts[1:], strict=True)]
        search.FastPlaid(index=str(self._folder), device="cpu").create(documents_embeddings=passages, nbits=BITS)

    def open(self) -> None:
        from fast_plaid import search

        self._index = search.FastPlaid(index=str(self._folder), device="cpu")

    def search(self, query: Array, k: int, point: Point) -> list[int]:
        import torch

        asked = torch.from_numpy(query)[None]
        found = self._index.search(queries_embeddings=asked, top_k=k, show_progress=False, **point.options)[0]
        return [int(number) for number, _ in found]

    def bytes(self) -> int:
        return bytes_in(self._folder)
