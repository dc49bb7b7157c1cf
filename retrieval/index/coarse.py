"""Candidates by centroids: which passages are worth reading whole.

Each query token's similarity to each centroid becomes one byte; a passage's score is the best byte of its tokens, a
token, by weight.  In a small index every passage is scored so.  In a large one the lists of the nearest centroids
first name the passages that hold a retrieved token, the rest taken at the floor, as XTR does (Lee et al. 2023), and
only the best of these are scored.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from retrieval.encoder import Floats
from retrieval.granularity import Ints
from retrieval.index import kernels
from retrieval.index.centroids import Centroids
from retrieval.index.coarse_codes import Coded, best_of_parts, nearest_lists
from retrieval.index.codec import Asked, int_products
from retrieval.index.lanes import LANES
from retrieval.index.ranking import Mask, Wanted

LISTS_FROM = 2_000_000  # tokens from which lists name the passages to score
RETRIEVED = 20_000  # tokens retrieved for each query token by lists
SCORED = 6  # times as many passages are scored by their centroids as are read whole
SAMPLE = 512  # centroids whose mean similarity is the table's zero


@dataclass(frozen=True)
class CentroidTable:
    """A query against all centroids, as bytes (planes, c, LANES), and the weights that its bytes take."""

    products: npt.NDArray[np.int32]
    table: npt.NDArray[np.uint8]
    worth: Floats
    step: Floats
    wanted: Wanted
    columns: Ints

    @classmethod
    def of(cls, centroids: Centroids, asked: Asked, wanted: Wanted) -> CentroidTable:
        columns = _columns(wanted)
        products = int_products(centroids.rows, asked.rows[columns])
        low = products[:: max(1, len(products) // SAMPLE)].mean(axis=0).astype(np.float32)
        step = np.maximum((products.max(axis=0) - low) / 255, 1e-6).astype(np.float32)
        planes = -(-len(columns) // LANES)
        table = np.zeros((planes, len(centroids), LANES), np.uint8)
        kernels.fill_table(products, low, step, table)
        worth = asked.scales[columns]  # of one in a product; centroids share one scale, which ranks nothing
        return cls(products, table, worth, step * worth, wanted, columns)

    def scores(self, coded: Coded, passages: Ints) -> Floats:
        """Each row's score of each passage; they compare within one table only.  (p,) -> (n, p)"""
        segment, wanted = coded.segment, self.wanted
        scores = np.zeros((len(wanted.units), len(passages)), np.float32)
        if wanted.share is None:
            starts = segment.passage_starts
            kernels.coarse_passages(self.table, coded.codes, starts, passages, self._laid(wanted.passages), scores)
            return scores
        for_passages = wanted.passages if wanted.passages[:, self.columns].any() else wanted.units
        kernels.coarse_sentences(
            self.table,
            coded.codes,
            segment.unit_starts,
            segment.passage_units,
            segment.unit_ranked,
            passages,
            self._laid(wanted.units),
            self._laid(for_passages),
            wanted.share,
            scores,
        )
        return scores

    def nearest(self, parts: list[tuple[Coded, Mask]], retrieved: int) -> list[Ints]:
        """For each column the nearest centroids, from the best down, that have so many tokens of the masks."""
        sizes = np.sum([coded.sizes(mask) for coded, mask in parts], axis=0)
        return [nearest_lists(self.products[:, column], sizes, retrieved) for column in range(len(self.columns))]

    def listed(self, coded: Coded, mask: Mask, nearest: list[Ints]) -> tuple[Floats, Mask]:
        """Each row's score of each passage from retrieved tokens alone (n, p), and which passages hold one (p,)."""
        lists, starts = coded.passage_lists
        weights = (self.wanted.passages if self.wanted.share is None else self.wanted.units)[:, self.columns]
        scores = np.zeros((len(weights), len(mask)), np.float32)
        seen, last = np.zeros(len(mask), bool), np.zeros(len(mask), np.uint8)
        for column, near in enumerate(nearest):
            row = self.products[:, column]
            values = (row[near] - row[near[-1]]).astype(np.float32) * self.worth[column]
            of_column = np.ascontiguousarray(weights[:, column])
            kernels.gather_lists(lists, starts, near, values, of_column, mask, scores, seen, last)
        return scores, seen

    def _laid(self, weights: Floats) -> Floats:
        """Weights as the table's columns lie, each times what its byte is worth.  (n, q) -> (n, planes, LANES)"""
        laid = np.zeros((len(weights), self.table.shape[0] * LANES), np.float32)
        laid[:, : len(self.columns)] = weights[:, self.columns] * self.step
        return laid.reshape(len(weights), self.table.shape[0], LANES)


def candidates(
    table: CentroidTable, parts: list[tuple[Coded, Mask]], number: int, lists_from: int = LISTS_FROM
) -> list[Ints]:
    """For each part the passages that are among the best `number` of some row, in order."""
    total = sum(coded.segment.tokens_within(mask) for coded, mask in parts)
    places = [np.flatnonzero(mask) for _, mask in parts]
    if total > lists_from:
        nearest = table.nearest(parts, RETRIEVED)
        listed = [table.listed(coded, mask, nearest) for coded, mask in parts]
        scores = [np.where(seen, found, -np.inf) for found, seen in listed]
        places = best_of_parts(scores, [np.arange(len(mask)) for _, mask in parts], SCORED * number)
    scores = [table.scores(coded, some) for (coded, _), some in zip(parts, places, strict=True)]
    return best_of_parts(scores, places, number)


def _columns(wanted: Wanted) -> Ints:
    """The query's tokens that decide: those that ask for units, unless passages are what is ranked."""
    weights = wanted.passages if wanted.share is None else wanted.units
    used: Ints = np.flatnonzero(weights.any(axis=0))
    return used if len(used) else np.arange(weights.shape[1])
