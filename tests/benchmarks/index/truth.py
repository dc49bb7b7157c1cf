"""Exact float32 MaxSim: each query's best passages and best sentences, against which every engine is measured."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
from tests.benchmarks.index.store import HEAD, SENTENCES, Corpus, Queries

DEPTH = 100
BLOCK_TOKENS = 4096  # with 200 queries of 20 tokens a block of similarities takes 64 MB

Best = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Truth:
    """The numbers of the best passages and sentences, best first.  (q, DEPTH) each"""

    passages: Best
    sentences: Best

    @staticmethod
    def load(path: Path) -> Truth:
        with np.load(path) as kept:
            return Truth(kept["passages"], kept["sentences"])


class _Top:
    """The best units so far."""

    def __init__(self, queries: int) -> None:
        self.scores = np.empty((queries, 0), np.float32)
        self.units = np.empty((queries, 0), np.int64)

    def take(self, scores: npt.NDArray[np.float32], units: Best) -> None:
        """More units, (q, u) scores and (u,) numbers."""
        self.scores = np.concatenate([self.scores, scores], axis=1)
        self.units = np.concatenate([self.units, np.broadcast_to(units, scores.shape)], axis=1)
        order = np.argsort(-self.scores, axis=1, kind="stable")[:, :DEPTH]
        self.scores = np.take_along_axis(self.scores, order, axis=1)
        self.units = np.take_along_axis(self.units, order, axis=1)


def find_truth(corpus: Corpus, queries: Queries, path: Path, progress: object = None) -> Truth:
    """Read from `path`, or computed and kept there; `progress(tokens)` is told how far it came."""
    if path.exists():
        return Truth.load(path)

    import torch

    asked = torch.from_numpy(queries.vectors)
    passages, sentences = _Top(len(queries)), _Top(len(queries))
    for first, last in corpus.blocks(BLOCK_TOKENS):
        tokens = corpus.tokens_of(first, last)
        block = torch.from_numpy(np.array(corpus.vectors[tokens])).float()
        similarities = (asked @ block.T).numpy()
        owners = np.array(corpus.owners[tokens], np.int64)
        numbers = np.repeat(np.arange(first, last), np.diff(corpus.starts[first : last + 1]))
        new = np.flatnonzero(np.diff(numbers * SENTENCES + owners, prepend=-2))
        best = np.maximum.reduceat(similarities, new, axis=1)  # of each sentence and each head
        scores = np.add.reduceat(best, queries.starts[:-1], axis=0)
        ranked = owners[new] != HEAD
        sentences.take(scores[:, ranked], (numbers * SENTENCES + owners)[new][ranked])
        of_passages = np.maximum.reduceat(best, np.searchsorted(numbers[new], np.arange(first, last)), axis=1)
        passages.take(np.add.reduceat(of_passages, queries.starts[:-1], axis=0), np.arange(first, last))
        if callable(progress):
            progress(tokens.stop)
    found = Truth(passages.units, sentences.units)
    path.parent.mkdir(parents=True, exist_ok=True)
    waiting = path.with_suffix(".new.npz")
    np.savez(waiting, passages=found.passages, sentences=found.sentences)
    waiting.replace(path)
    return found
