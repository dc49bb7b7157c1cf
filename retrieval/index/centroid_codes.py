"""The tokens of a segment listed by their nearest centroids, and the choice of the lists nearest to a query."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from propcite.retrieval.encoding.base import Ints, Mask
from propcite.retrieval.index.centroids import Codes
from propcite.retrieval.index.pruning import SearchedTokens
from propcite.retrieval.index.ranking import run_members
from propcite.retrieval.index.segment import Segment

Numbers = npt.NDArray[np.integer[Any]]

SAMPLE = 1024  # centroids that estimate the threshold of the nearest ones


@dataclass(frozen=True)
class CentroidCodes:
    """The centroid of each searched token of a segment, with an inverted list of tokens per centroid."""

    segment: Segment
    codes: Codes
    num_centroids: int
    searched: SearchedTokens

    @cached_property
    def order(self) -> npt.NDArray[np.int32]:
        """Return the tokens sorted by centroid: the list of each centroid after the other."""
        return self.searched.tokens(np.argsort(self.codes, kind="stable")).astype(np.int32)

    @cached_property
    def passage_starts(self) -> Ints:
        """Return where the codes of each passage begin, and where the last one's end.  (p + 1,)"""
        return self.searched.num_before(self.segment.passage_starts)

    @cached_property
    def unit_starts(self) -> Ints:
        return self.searched.num_before(self.segment.unit_starts)

    @cached_property
    def owners(self) -> npt.NDArray[np.int32]:
        """Return the passage of each token, in the order of `order`."""
        owners = np.repeat(np.arange(len(self.segment), dtype=np.int32), np.diff(self.segment.passage_starts))
        return owners[self.order]

    @cached_property
    def list_sizes(self) -> Ints:
        return np.bincount(self.codes, minlength=self.num_centroids)

    @cached_property
    def list_starts(self) -> Ints:
        """Return where each list begins in `order`, and where the last one ends."""
        return np.concatenate([[0], np.cumsum(self.list_sizes)])

    @cached_property
    def scales(self) -> npt.NDArray[Any]:
        """Return the scale of each token, in the order of `order`."""
        return np.asarray(self.segment.scales)[self.order]

    def list_entries(self, lists: list[Ints], mask: Mask) -> tuple[Ints, Ints]:
        """Return the tokens of the mask's passages in the lists of each query token.

        -> positions in `order` (h,), numbers of the query tokens (h,)
        """
        all_lists = np.concatenate([*lists, np.zeros(0, np.int64)])
        positions = run_members(self.list_starts, all_lists)
        columns = np.repeat(np.arange(len(lists)), [len(of_column) for of_column in lists])
        columns = np.repeat(columns, self.list_sizes[all_lists])
        allowed = mask[self.owners[positions]]
        return positions[allowed], columns[allowed]

    def sizes(self, mask: Mask) -> Ints:
        """Return the number of tokens of the mask's passages per centroid.  (p,) -> (c,)"""
        tokens = np.repeat(mask, np.diff(self.passage_starts))
        return np.bincount(self.codes[tokens], minlength=self.num_centroids)


def nearest_lists(products: npt.NDArray[np.int32], sizes: Ints, number: int) -> list[Ints]:
    """Return for each query token the nearest centroids, best first, whose lists hold `number` tokens.

    products (q, c), sizes (c,)
    """
    return [_nearest(column, sizes, number) for column in products]


def _nearest(products: npt.NDArray[np.int32], sizes: Ints, number: int) -> Ints:
    """Return the nearest centroids of one query token.

    A sample of the products gives a threshold that enough of them reach, so that only these few are sorted.
    """
    sample = np.sort(products[:: max(1, len(products) // SAMPLE)])
    rank = 4 * number * len(sample) // max(1, int(sizes.sum()))
    while True:
        rank = min(2 * rank + 2, len(sample))
        near = np.flatnonzero(products >= sample[-rank]) if rank < len(sample) else np.arange(len(products))
        near = near[np.argsort(-products[near], kind="stable")]
        num_tokens = np.cumsum(sizes[near])
        if num_tokens[-1] >= number or len(near) == len(products):
            return near[: 1 + int(np.searchsorted(num_tokens, number))]
