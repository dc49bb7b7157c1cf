"""Centroids of token vectors, trained on a sample: they represent their tokens in the search for candidates."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path

import numpy as np
import numpy.typing as npt

from propcite.retrieval.encoding.base import Floats, Ints
from propcite.retrieval.index import ignore_progress, report_share
from propcite.retrieval.index.codec import Rows, int_products
from propcite.retrieval.index.container import Container, write_arrays
from propcite.retrieval.index.pruning import SearchedTokens
from propcite.retrieval.index.segment import Segment

Codes = npt.NDArray[np.uint16]

MAX_CENTROIDS = 1 << 15  # codes have two bytes, and more centroids cost each query more than they save
TOKENS_PER_CENTROID = 24  # in the training sample
ROUNDS = 4
GROUPED_FROM = 1024  # with so many centroids a token is compared with those of the nearest groups only
PROBED_GROUPS = 8
BATCH_TOKENS = 1 << 14  # tokens compared at once


@dataclass(frozen=True)
class Centroids:
    """Unit vectors as rotated integer rows (c, w) with one common scale, trained when there were `num_tokens`."""

    name: str
    rows: Rows
    scale: float
    num_tokens: int

    def __len__(self) -> int:
        return len(self.rows)

    def codes(self, segment: Segment, searched: SearchedTokens, progress: Callable[[int], None]) -> Codes:
        """Return the nearest centroid of each searched token; report progress in tokens of the segment.  -> (n,)"""
        codes = np.empty(len(searched), np.uint16)
        for positions, tokens in searched.batches(BATCH_TOKENS):
            codes[positions] = self.nearest(segment.codec.integers(segment.payload[tokens]))
            progress(segment.num_tokens * positions.stop // len(codes))
        return codes

    def nearest(self, rows: Rows) -> Ints:
        """Return the nearest centroid of each of a batch of integer rows, whatever their scales.  (n, w) -> (n,)"""
        if len(self) < GROUPED_FROM:
            nearest: Ints = int_products(rows, self.rows).argmax(axis=1)
            return nearest
        heads, members = self._groups
        near = np.argpartition(-int_products(rows, heads), PROBED_GROUPS, axis=1)[:, :PROBED_GROUPS]
        tokens, groups = np.repeat(np.arange(len(rows)), PROBED_GROUPS), near.ravel()
        order = np.argsort(groups, kind="stable")
        bounds = np.searchsorted(groups[order], np.arange(len(heads) + 1))
        best, codes = np.full(len(rows), -(2**31), np.int32), np.zeros(len(rows), np.int64)
        for group, centroids in enumerate(members):
            probing = tokens[order[bounds[group] : bounds[group + 1]]]
            if not len(probing) or not len(centroids):
                continue
            products = int_products(rows[probing], self.rows[centroids])
            columns = products.argmax(axis=1)
            values = products[np.arange(len(probing)), columns]
            better = values > best[probing]
            best[probing[better]], codes[probing[better]] = values[better], centroids[columns[better]]
        return codes

    @cached_property
    def _groups(self) -> tuple[Rows, list[Ints]]:
        """Return centroids of the centroids, and the members of each of these groups."""
        number = 1 << round(np.log2(len(self)) / 2)
        heads = _train(self.rows, number, 3, partial(ignore_progress, "grouping centroids"))
        nearest = int_products(self.rows, heads).argmax(axis=1)
        return heads, [np.flatnonzero(nearest == group) for group in range(number)]

    def save(self, path: Path) -> None:
        about = np.array([self.scale, self.num_tokens], np.float64)
        write_arrays(path, {"rows": self.rows, "about": about})

    @classmethod
    def load(cls, path: Path, name: str) -> Centroids:
        file = Container(path)
        scale, num_tokens = file.read("about").tolist()
        return cls(name, file.read("rows"), scale, int(num_tokens))


def num_centroids(num_tokens: int) -> int:
    """Return the number of centroids for an index: a power of two near eight times the square root of its tokens."""
    return int(min(MAX_CENTROIDS, 1 << max(4, round(np.log2(8 * np.sqrt(num_tokens))))))


def train_centroids(rows: Rows, name: str, num_tokens: int, progress: Callable[[float], None]) -> Centroids:
    """Train centroids by spherical k-means on a sample of an index of `num_tokens`.  (n, w)"""
    trained = _train(rows, min(num_centroids(num_tokens), len(rows)), ROUNDS, progress)
    scale = 1 / np.linalg.norm(trained.astype(np.float32), axis=1).mean()
    return Centroids(name, trained, float(scale), num_tokens)


def _train(rows: Rows, number: int, rounds: int, progress: Callable[[float], None]) -> Rows:
    random = np.random.default_rng(0)
    trained = _to_integers(_units(rows[np.sort(random.choice(len(rows), number, replace=False))]))
    for round_ in range(rounds):
        centroids = Centroids("", trained, 1.0, 0)
        sums = _sums(centroids, rows, partial(report_share, progress, rounds * len(rows), round_ * len(rows)))
        empty = np.linalg.norm(sums, axis=1) < 1e-6
        sums[empty] = _units(rows[random.choice(len(rows), int(empty.sum()))])
        trained = _to_integers(_units(sums))
    return trained


def _sums(centroids: Centroids, rows: Rows, progress: Callable[[int], None]) -> Floats:
    """Return the sum of each centroid's tokens as unit vectors, converting one batch at a time to floats.  (c, w)"""
    import torch

    sums = torch.zeros(centroids.rows.shape)
    for first in range(0, len(rows), BATCH_TOKENS):
        batch = rows[first : first + BATCH_TOKENS]
        sums.index_add_(0, torch.from_numpy(centroids.nearest(batch)), torch.from_numpy(_units(batch)))
        progress(first + len(batch))
    array: Floats = sums.numpy()
    return array


def _units(vectors: Rows | Floats) -> Floats:
    floats: Floats = vectors.astype(np.float32)
    floats /= np.maximum(np.linalg.norm(floats, axis=1, keepdims=True), 1e-12)
    return floats


def _to_integers(units: Floats) -> Rows:
    """Round with one common scale, so that products of different centroids are comparable; outliers are clipped."""
    integers: Rows = np.clip(np.rint(units * (127 / _clip_limit(units.shape[1]))), -127, 127).astype(np.int8)
    return integers


def _clip_limit(width: int) -> float:
    """Return a limit that one in tens of thousands of the numbers of rotated unit vectors exceeds."""
    return float(min(1.0, 4.5 / np.sqrt(width)))
