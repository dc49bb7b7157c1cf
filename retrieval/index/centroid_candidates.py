"""The search for candidates by centroids: which passages are worth reading as a whole.

The similarity of each query token to each centroid is quantised to one byte; a passage's score is the weighted sum of
the best byte of its tokens per query token.  In a small index every passage is scored like this.  The larger the index,
the more passages share the centroids of a rare word, and a passage with the word itself is lost among them.  So in a
large index the tokens in the lists of the nearest centroids are compared with the query's tokens: the passages of these
tokens are scored, and some candidates are the best by these similarities alone, as XTR ranks (Lee et al. 2023).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from propcite.retrieval.encoding.base import Floats, Ints, Mask
from propcite.retrieval.index import kernels
from propcite.retrieval.index.centroid_codes import CentroidCodes, best_of_segments, nearest_lists
from propcite.retrieval.index.centroids import Centroids
from propcite.retrieval.index.codec import EncodedQuery, int_products
from propcite.retrieval.index.ranking import QueryWeights
from propcite.retrieval.index.simd import LANES
from propcite.retrieval.index.xtr import XtrScorer, keep_nearest, tokens_in_lists, xtr_candidates

LISTS_FROM = 2_000_000  # tokens from which on only passages in lists are scored
LISTED = 1_000  # tokens compared with each query token
RETRIEVED = 250  # the nearest of them, by which passages are ranked
XTR_FRACTION = 4  # one in so many candidates comes from XTR's ranking
SAMPLE = 512  # centroids whose mean similarity is the zero of the table


@dataclass(frozen=True)
class CentroidTable:
    """The similarities of a query's tokens to all centroids.

    products (q, c); table (planes, c, LANES) the same as bytes, each worth a step (q,).
    """

    products: npt.NDArray[np.int32]
    table: npt.NDArray[np.uint8]
    step: Floats
    query: EncodedQuery
    weights: QueryWeights

    @classmethod
    def of(cls, centroids: Centroids, query: EncodedQuery, weights: QueryWeights) -> CentroidTable:
        columns = _columns(weights)
        query = query.only(columns)
        products = int_products(query.rows, centroids.rows)
        low = products[:, :: max(1, len(centroids) // SAMPLE)].mean(axis=1).astype(np.float32)
        step = np.maximum((products.max(axis=1) - low) / 255, 1e-6).astype(np.float32)
        table = np.zeros((-(-len(columns) // LANES), len(centroids), LANES), np.uint8)
        kernels.fill_table(products, low, step, table)
        # The common scale of the centroids is left out: it does not change the order.
        return cls(products, table, step * query.scales, query, weights.only(columns))

    def scores(self, codes: CentroidCodes, passages: Ints) -> Floats:
        """Score passages for each row; scores are comparable within one table only.  (p,) -> (n, p)"""
        segment, weights = codes.segment, self.weights
        scores = np.zeros((len(weights.units), len(passages)), np.float32)
        if weights.passage_share is None:
            starts = codes.passage_starts
            kernels.coarse_passages(self.table, codes.codes, starts, passages, self._by_lane(weights.passages), scores)
            return scores
        kernels.coarse_sentences(
            self.table,
            codes.codes,
            codes.unit_starts,
            segment.passage_units,
            segment.unit_ranked,
            passages,
            self._by_lane(weights.units),
            self._by_lane(weights.passages if weights.passages.any() else weights.units),
            weights.passage_share,
            scores,
        )
        return scores

    def _by_lane(self, weights: Floats) -> Floats:
        """Arrange weights like the table's columns, each times the value of a step.  (n, q) -> (n, planes, LANES)"""
        arranged = np.zeros((len(weights), self.table.shape[0] * LANES), np.float32)
        arranged[:, : weights.shape[1]] = weights * self.step
        return arranged.reshape(len(weights), self.table.shape[0], LANES)


def find_candidates(
    table: CentroidTable, segments: list[tuple[CentroidCodes, Mask]], number: int, lists_from: int = LISTS_FROM
) -> list[Ints]:
    """Return for each segment the passages that are among the best `number` of some row, in order."""
    passages = [np.flatnonzero(mask) for _, mask in segments]
    if sum(codes.segment.num_tokens_in(mask) for codes, mask in segments) <= lists_from:
        return _by_centroids(table, segments, passages, number)
    lists = nearest_lists(table.products, segments, LISTED)
    listed = [tokens_in_lists(codes, mask, lists, table.query) for codes, mask in segments]
    nearest, floors = keep_nearest(listed, len(lists), RETRIEVED)
    num_xtr = -(-number // XTR_FRACTION)
    best = xtr_candidates(
        [XtrScorer(codes.segment, matches, floors) for (codes, _), matches in zip(segments, nearest, strict=True)],
        table.weights,
        num_xtr,
    )
    passages = [matches.unique_passages(len(mask)) for matches, (_, mask) in zip(listed, segments, strict=True)]
    others = _by_centroids(table, segments, passages, number - num_xtr)
    return [np.union1d(*both) for both in zip(best, others, strict=True)]


def _by_centroids(
    table: CentroidTable, segments: list[tuple[CentroidCodes, Mask]], passages: list[Ints], number: int
) -> list[Ints]:
    scores = [table.scores(codes, some) for (codes, _), some in zip(segments, passages, strict=True)]
    return best_of_segments(scores, passages, number)


def _columns(weights: QueryWeights) -> Ints:
    """Return the query tokens that have weight in the choice of candidates; all if none has."""
    columns: Ints = np.flatnonzero(weights.for_candidates.any(axis=0))
    return columns if len(columns) else np.arange(weights.for_candidates.shape[1])
