"""A segment's tokens by their centroids, and the choice of the best of several segments."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from retrieval.encoder import Floats
from retrieval.granularity import Ints
from retrieval.index.centroids import Codes
from retrieval.index.ranking import Mask
from retrieval.index.segment import Segment

FEW_LEFT_OUT = 0.5  # the share of a segment's passages in a search above which all count


@dataclass(frozen=True)
class Coded:
    """A segment's tokens by their centroids."""

    segment: Segment
    codes: Codes
    num_centroids: int

    @cached_property
    def passage_lists(self) -> tuple[npt.NDArray[np.int32], Ints]:
        """The passages of each centroid's tokens, one after the other, and where each centroid's begin."""
        starts = np.searchsorted(self.codes[self.order], np.arange(self.num_centroids + 1))
        owners = np.repeat(np.arange(len(self.segment), dtype=np.int32), np.diff(self.segment.passage_starts))
        return owners[self.order], starts

    @cached_property
    def order(self) -> npt.NDArray[np.int64]:
        """Tokens by centroid."""
        return np.argsort(self.codes, kind="stable")

    def sizes(self, mask: Mask) -> Ints:
        """How many tokens of the mask's passages each centroid has.  (p,) -> (c,)"""
        if mask.mean() > FEW_LEFT_OUT:  # what few deletions take away changes no choice, and counting reads all codes
            return np.diff(self.passage_lists[1])
        tokens = np.repeat(mask, np.diff(self.segment.passage_starts))
        return np.bincount(self.codes[tokens], minlength=self.num_centroids)


def best_of_parts(scores: list[Floats], places: list[Ints], number: int) -> list[Ints]:
    """The places that are among the best `number` of all parts for some row.  Each part: scores (n, p), places (p,)"""
    chosen = [np.zeros(len(p), bool) for p in places]
    for row in range(len(scores[0]) if scores else 0):
        rows = np.concatenate([s[row] for s in scores])
        finite = int(np.isfinite(rows).sum())
        least: Any = -np.inf
        if finite > number:
            least = np.partition(rows, len(rows) - number)[len(rows) - number]
        for some, own in zip(chosen, scores, strict=True):
            some |= np.isfinite(own[row]) & (own[row] >= least)
    return [p[some] for p, some in zip(places, chosen, strict=True)]


def nearest_lists(products: npt.NDArray[np.int32], sizes: Ints, number: int) -> Ints:
    """The nearest centroids, from the best down, that together have `number` tokens.  (c,), (c,)"""
    most = min(len(products), 16 + 4 * number * len(products) // max(1, int(sizes.sum())))
    while True:
        near = np.argpartition(-products, most - 1)[:most]
        near = near[np.argsort(-products[near], kind="stable")]
        reached = np.cumsum(sizes[near])
        if reached[-1] >= number or most == len(products):
            return near[: 1 + int(np.searchsorted(reached, number))]
        most = min(len(products), 4 * most)
