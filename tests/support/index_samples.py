"""Many passages with random token vectors around common centres, as encoders give them, and queries near them."""

from __future__ import annotations

import numpy as np

from propcite.retrieval.encoding.base import Floats, TokenVectors
from propcite.retrieval.index import IndexHit
from propcite.retrieval.index.token_index import TokenIndex
from propcite.retrieval.text import Passage, Sentence, Span

CENTRES = 500
NOISE = 0.6  # a token's distance from its centre, which has length one


class Samples:
    """Generates passages of two sentences with the same number of tokens."""

    def __init__(self, dimension: int = 32, tokens: int = 30, seed: int = 0) -> None:
        self.dimension, self.tokens = dimension, tokens
        self.centres = _units(np.random.default_rng(7), CENTRES, dimension)
        self.random = np.random.default_rng(seed)

    def vectors(self, passages: int) -> Floats:
        """Return unit vectors.  -> (passages, tokens, d)"""
        topics = self.random.integers(CENTRES, size=(passages, 8))  # a passage has few topics
        chosen = np.take_along_axis(topics, self.random.integers(8, size=(passages, self.tokens)), axis=1)
        return self._near(self.centres[chosen], NOISE)

    def queries(self, vectors: Floats, number: int, length: int = 8) -> list[Floats]:
        """Return queries near some tokens of one passage each.  vectors (p, t, d) -> (length, d) each"""
        chosen = self.random.integers(len(vectors), size=number)
        return [self._near(vectors[p][self.random.permutation(self.tokens)[:length]], NOISE) for p in chosen]

    def add(self, index: TokenIndex, vectors: Floats, first: int = 0) -> None:
        """Add passages with the ids p0, p1, …, or beginning with another number."""
        half = self.tokens // 2
        sentences = (Sentence(Span(0, half)), Sentence(Span(half, self.tokens)))
        starts = np.arange(self.tokens, dtype=np.int32)
        offsets = np.stack([starts, starts + 1], axis=1)
        ids = range(first, first + len(vectors))
        passages = [Passage(f"p{number}", "x" * self.tokens, sentences=sentences) for number in ids]
        index.add(passages, [TokenVectors(own, offsets) for own in vectors])

    def _near(self, vectors: Floats, noise: float) -> Floats:
        moved = vectors + noise / self.dimension**0.5 * self.random.standard_normal(vectors.shape).astype(np.float32)
        near: Floats = moved / np.linalg.norm(moved, axis=-1, keepdims=True)
        return near.astype(np.float32)


def _units(random: np.random.Generator, number: int, dimension: int) -> Floats:
    vectors = random.standard_normal((number, dimension)).astype(np.float32)
    units: Floats = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    return units


def names(hits: list[IndexHit]) -> list[tuple[str, int | None]]:
    return [(hit.passage_id, hit.sentence) for hit in hits]


def recall(hits: list[list[IndexHit]], expected: list[list[IndexHit]]) -> float:
    """Return the mean share of expected units among the hits."""
    shares = [len({*names(h)} & {*names(e)}) / len(e) for h, e in zip(hits, expected, strict=True)]
    return float(np.mean(shares))
