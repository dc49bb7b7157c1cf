"""Centroids of token vectors: trained on a sample, they stand for their tokens when candidates are looked for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path

import numpy as np
import numpy.typing as npt

from propcite.retrieval.encoding.base import Floats, Ints
from propcite.retrieval.index import nobody, tell_share
from propcite.retrieval.index.codec import Rows, int_products
from propcite.retrieval.index.container import Container, write_arrays
from propcite.retrieval.index.pruning import Searched
from propcite.retrieval.index.segment import Segment

Codes = npt.NDArray[np.uint16]

MOST = 1 << 15  # codes are two bytes, and more centroids cost each query more than they save
SAMPLED = 24  # tokens a centroid is trained on
ROUNDS = 4
GROUPED_FROM = 1024  # centroids from which a token is compared with those of the nearest groups only
PROBED = 8  # groups
AT_ONCE = 1 << 14  # tokens compared at once


@dataclass(frozen=True)
class Centroids:
    """Unit vectors as rotated integers under one scale: rows (c, w), trained for `num_tokens`."""

    name: str
    rows: Rows
    scale: float
    num_tokens: int

    def __len__(self) -> int:
        return len(self.rows)

    def codes(self, segment: Segment, searched: Searched, told: Callable[[int], None]) -> Codes:
        """The centroid of each searched token, telling how many of all are done.  -> (n,)"""
        codes = np.empty(len(searched), np.uint16)
        for places, tokens in searched.pieces(AT_ONCE):
            codes[places] = self.nearest(segment.codec.integers(segment.payload[tokens]))
            told(segment.num_tokens * places.stop // len(codes))
        return codes

    def nearest(self, rows: Rows) -> Ints:
        """The same of a bounded number of integer rows; a row's own scale does not matter.  (n, w) -> (n,)"""
        if len(self) < GROUPED_FROM:
            nearest: Ints = int_products(rows, self.rows).argmax(axis=1)
            return nearest
        heads, members = self._groups
        near = np.argpartition(-int_products(rows, heads), PROBED, axis=1)[:, :PROBED]
        tokens, groups = np.repeat(np.arange(len(rows)), PROBED), near.ravel()
        order = np.argsort(groups, kind="stable")
        bounds = np.searchsorted(groups[order], np.arange(len(heads) + 1))
        best, codes = np.full(len(rows), -(2**31), np.int32), np.zeros(len(rows), np.int64)
        for group, of_group in enumerate(members):
            asking = tokens[order[bounds[group] : bounds[group + 1]]]
            if not len(asking) or not len(of_group):
                continue
            products = int_products(rows[asking], self.rows[of_group])
            places = products.argmax(axis=1)
            values = products[np.arange(len(asking)), places]
            better = values > best[asking]
            best[asking[better]], codes[asking[better]] = values[better], of_group[places[better]]
        return codes

    @cached_property
    def _groups(self) -> tuple[Rows, list[Ints]]:
        """Centroids of the centroids, and the centroids of each."""
        number = 1 << round(np.log2(len(self)) / 2)
        heads = _train(self.rows, number, 3, partial(nobody, "grouping centroids"))
        nearest = int_products(self.rows, heads).argmax(axis=1)
        return heads, [np.flatnonzero(nearest == group) for group in range(number)]

    def save(self, path: Path) -> None:
        about = np.array([self.scale, self.num_tokens], np.float64)
        write_arrays(path, {"rows": self.rows, "about": about})

    @classmethod
    def load(cls, path: Path, name: str) -> Centroids:
        file = Container(path)
        scale, num_tokens = file.checked("about").tolist()
        return cls(name, file.checked("rows"), scale, int(num_tokens))


def number_for(num_tokens: int) -> int:
    """Centroids for so many tokens: a power of two near eight times their square root."""
    return int(min(MOST, 1 << max(4, round(np.log2(8 * np.sqrt(num_tokens))))))


def train_centroids(rows: Rows, name: str, num_tokens: int, told: Callable[[float], None]) -> Centroids:
    """k-means by direction over a sample of an index of `num_tokens`, telling the share that is done.  (n, w)"""
    trained = _train(rows, min(number_for(num_tokens), len(rows)), ROUNDS, told)
    scale = 1 / np.linalg.norm(trained.astype(np.float32), axis=1).mean()
    return Centroids(name, trained, float(scale), num_tokens)


def _train(rows: Rows, number: int, rounds: int, told: Callable[[float], None]) -> Rows:
    random = np.random.default_rng(0)
    trained = _integers(_units(rows[np.sort(random.choice(len(rows), number, replace=False))]))
    for round_ in range(rounds):
        centroids = Centroids("", trained, 1.0, 0)
        means = _sums(centroids, rows, partial(tell_share, told, rounds * len(rows), round_ * len(rows)))
        lost = np.linalg.norm(means, axis=1) < 1e-6
        means[lost] = _units(rows[random.choice(len(rows), int(lost.sum()))])
        trained = _integers(_units(means))
    return trained


def _sums(centroids: Centroids, rows: Rows, told: Callable[[int], None]) -> Floats:
    """The sum of each centroid's tokens as unit vectors, a bounded number of them as floats at a time."""
    import torch

    sums = torch.zeros(centroids.rows.shape)
    for first in range(0, len(rows), AT_ONCE):
        some = rows[first : first + AT_ONCE]
        sums.index_add_(0, torch.from_numpy(centroids.nearest(some)), torch.from_numpy(_units(some)))
        told(first + len(some))
    found: Floats = sums.numpy()
    return found


def _units(vectors: Rows | Floats) -> Floats:
    floats: Floats = vectors.astype(np.float32)
    floats /= np.maximum(np.linalg.norm(floats, axis=1, keepdims=True), 1e-12)
    return floats


def _integers(units: Floats) -> Rows:
    """Under one scale, so that products of different centroids compare; what is farther out than most is cut off."""
    integers: Rows = np.clip(np.rint(units * (127 / _farthest(units.shape[1]))), -127, 127).astype(np.int8)
    return integers


def _farthest(width: int) -> float:
    """The largest number that a rotated unit vector has, but for one in tens of thousands."""
    return float(min(1.0, 4.5 / np.sqrt(width)))
