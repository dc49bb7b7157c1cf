"""Exact MaxSim over every token with torch, the vectors held in memory in one number format."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from tests.benchmarks.index.engines import Point
from tests.benchmarks.index.store import Array, Corpus

BLOCK_TOKENS = 4096


class Brute:
    """The plainest engine: no index, all products."""

    def __init__(self, corpus: Corpus, folder: Path, kind: str) -> None:
        self._corpus, self._folder = corpus, folder
        self.kind = kind
        self.points = [Point("every token")]
        self._blocks: list[tuple[Any, Array]] = []

    def version(self) -> str:
        import torch

        return f"torch {torch.__version__}"

    def build(self) -> None:
        """Nothing to build."""

    def open(self) -> None:
        import torch

        for first, last in self._corpus.blocks(BLOCK_TOKENS):
            tokens = self._corpus.tokens_of(first, last)
            vectors = torch.from_numpy(np.array(self._corpus.vectors[tokens])).to(getattr(torch, self.kind))
            self._blocks.append((vectors, self._corpus.starts[first:last] - tokens.start))

    def search(self, query: Array, k: int, point: Point) -> list[int]:  # noqa: ARG002
        import torch

        asked = torch.from_numpy(query).to(getattr(torch, self.kind))
        scores = np.concatenate(
            [
                np.maximum.reduceat((asked @ vectors.T).float().numpy(), starts, axis=1).sum(axis=0)
                for vectors, starts in self._blocks
            ]
        )
        best = np.argpartition(-scores, min(k, len(scores) - 1))[:k]
        return best[np.argsort(-scores[best], kind="stable")].tolist()

    def bytes(self) -> int:
        return self._corpus.vectors.nbytes
