"""A segment's tokens by their centroids, and the choice of the best of several segments."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from propcite.retrieval.encoding.base import Floats, Ints
from propcite.retrieval.index.centroids import Codes
from propcite.retrieval.index.pruning import Searched
from propcite.retrieval.index.ranking import Mask, members
from propcite.retrieval.index.segment import Segment

Places = npt.NDArray[np.integer[Any]]

SAMPLE = 1024  # centroids that say where the nearest ones begin
FEW_LEFT_OUT = 0.5  # the share of a segment's passages in a search above which all count


@dataclass(frozen=True)
class Coded:
    """A segment's tokens by their centroids; of those that are `searched` alone."""

    segment: Segment
    codes: Codes
    num_centroids: int
    searched: Searched

    @cached_property
    def order(self) -> npt.NDArray[np.int32]:
        """Tokens by centroid: each centroid's list after the other."""
        return self.searched.of(np.argsort(self.codes, kind="stable")).astype(np.int32)

    @cached_property
    def passage_starts(self) -> Ints:
        """Where each passage's codes begin, and where the last one's end.  (p + 1,)"""
        return self.searched.before(self.segment.passage_starts)

    @cached_property
    def unit_starts(self) -> Ints:
        return self.searched.before(self.segment.unit_starts)

    @cached_property
    def owners(self) -> npt.NDArray[np.int32]:
        """The passage of each token, in that order."""
        owners = np.repeat(np.arange(len(self.segment), dtype=np.int32), np.diff(self.segment.passage_starts))
        return owners[self.order]

    @cached_property
    def lengths(self) -> Ints:
        """How many tokens each list has."""
        return np.bincount(self.codes, minlength=self.num_centroids)

    @cached_property
    def starts(self) -> Ints:
        """Where each list begins in that order, and where the last one ends."""
        return np.concatenate([[0], np.cumsum(self.lengths)])

    @cached_property
    def scales(self) -> npt.NDArray[Any]:
        """Each token's scale, in that order."""
        return np.asarray(self.segment.scales)[self.order]

    def listed(self, near: list[Ints], mask: Mask) -> tuple[Ints, Ints]:
        """Where the mask's tokens in each column's lists stand in that order, and their columns.  (h,), (h,)"""
        lists = np.concatenate([*near, np.zeros(0, np.int64)])
        places = members(self.starts, lists)
        columns = np.repeat(np.arange(len(near)), [len(of_column) for of_column in near])
        columns = np.repeat(columns, self.lengths[lists])
        allowed = mask[self.owners[places]]
        return places[allowed], columns[allowed]

    def sizes(self, mask: Mask) -> Ints:
        """How many tokens of the mask's passages each centroid has.  (p,) -> (c,)"""
        if mask.mean() > FEW_LEFT_OUT:  # what few deletions take away changes no choice, and counting reads all codes
            return self.lengths
        tokens = np.repeat(mask, np.diff(self.passage_starts))
        return np.bincount(self.codes[tokens], minlength=self.num_centroids)


def best_of_parts(scores: list[Floats], places: list[Ints], number: int) -> list[Ints]:
    """The places that are among the best `number` of all parts for some row.  Each part: scores (n, p), places (p,)"""
    chosen = [np.zeros(len(p), bool) for p in places]
    for row in range(len(scores[0]) if scores and number else 0):
        rows = np.concatenate([s[row] for s in scores])
        finite = int(np.isfinite(rows).sum())
        least: Any = -np.inf
        if finite > number:
            least = np.partition(rows, len(rows) - number)[len(rows) - number]
        for some, own in zip(chosen, scores, strict=True):
            some |= np.isfinite(own[row]) & (own[row] >= least)
    return [p[some] for p, some in zip(places, chosen, strict=True)]


def nearest_lists(products: npt.NDArray[np.int32], parts: list[tuple[Coded, Mask]], number: int) -> list[Ints]:
    """For each column the nearest centroids, from the best down, whose lists have `number` tokens.  (q, c)"""
    sizes = np.sum([coded.sizes(mask) for coded, mask in parts], axis=0)
    return [_nearest(column, sizes, number) for column in products]


def _nearest(products: npt.NDArray[np.int32], sizes: Ints, number: int) -> Ints:
    """A sample of the products says above which one enough of them lie; all are compared with that, few are sorted."""
    sample = np.sort(products[:: max(1, len(products) // SAMPLE)])
    most = 4 * number * len(sample) // max(1, int(sizes.sum()))
    while True:
        most = min(2 * most + 2, len(sample))
        near = np.flatnonzero(products >= sample[-most]) if most < len(sample) else np.arange(len(products))
        near = near[np.argsort(-products[near], kind="stable")]
        reached = np.cumsum(sizes[near])
        if reached[-1] >= number or len(near) == len(products):
            return near[: 1 + int(np.searchsorted(reached, number))]
