"""The search for candidates by centroids: which passages are worth reading as a whole.

The similarity of each query token to each centroid is quantised to one byte; a passage's score is the weighted sum of
the best byte of its tokens per query token.  In a small index every passage is scored like this.  The larger the index,
the more passages share the centroids of a rare word, and a passage with the word itself is lost among them.  So in a
large index the tokens in the lists of the nearest centroids are compared with the query's tokens: the passages of these
tokens are scored, and some candidates are the best by these similarities alone, as XTR ranks (Lee et al. 2023).
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from propcite.retrieval.encoding.base import Floats, Ints, Mask
from propcite.retrieval.index import kernels
from propcite.retrieval.index.centroid_codes import CentroidCodes, nearest_lists
from propcite.retrieval.index.centroids import Centroids
from propcite.retrieval.index.codec import EncodedQuery, int_products
from propcite.retrieval.index.exchange import Largest, Several, Summary, Sums, among_best, best_of_all, exchanged
from propcite.retrieval.index.ranking import QueryWeights
from propcite.retrieval.index.simd import LANES
from propcite.retrieval.index.xtr import (
    TokenMatches,
    XtrScorer,
    floors_of,
    from_floors,
    nearest_of,
    tokens_in_lists,
)

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


@dataclass(frozen=True)
class CentroidSearch:
    """The candidates in the segments of one part of an index that have codes, each with the mask of a search.

    `table` is None where the part has no centroids.  `weights` are those of the query tokens that look for candidates.
    """

    table: CentroidTable | None
    weights: QueryWeights
    segments: Sequence[tuple[CentroidCodes, Mask]]

    @classmethod
    def of(
        cls,
        centroids: Centroids | None,
        query: EncodedQuery,
        weights: QueryWeights,
        segments: Sequence[tuple[CentroidCodes, Mask]],
    ) -> CentroidSearch:
        table = CentroidTable.of(centroids, query, weights) if centroids and segments else None
        return cls(table, weights.only(_columns(weights)), segments)

    def by_centroids(self, passages: Sequence[Ints], number: int) -> tuple[list[Floats], Largest]:
        """Return the scores of these passages of each segment, and the best `number` of each row."""
        scores = []
        if self.table:
            scores = [self.table.scores(codes, some) for (codes, _), some in zip(self.segments, passages, strict=True)]
        return scores, best_of_all(scores, len(self.weights.units), number)

    def list_sizes(self, *, whole: bool) -> Ints:
        """Return the number of allowed tokens per centroid, or of all tokens if `whole`; a single 0 without codes."""
        sizes = [codes.list_sizes if whole else codes.sizes(mask) for codes, mask in self.segments]
        return np.sum(sizes, axis=0) if sizes else np.zeros(1, np.int64)

    def listed(self, sizes: Ints, number: int) -> list[TokenMatches]:
        """Return for each segment the tokens in the lists nearest to each query token."""
        if not self.table:
            return []
        lists = nearest_lists(self.table.products, sizes, number)
        return [tokens_in_lists(codes, mask, lists, self.table.query) for codes, mask in self.segments]


def find_candidates(
    search: CentroidSearch, number: int, num_tokens: int, *, few_left_out: bool, lists_from: int = LISTS_FROM
) -> Generator[Summary, Summary, list[Ints]]:
    """Return for each segment the passages that are among the best `number` of some row, in order.

    `num_tokens` are the allowed tokens of all parts.  If `few_left_out`, the sizes of whole lists are used: they change
    next to no choice, and counting would read all codes.
    """
    if num_tokens <= lists_from:
        passages = [np.flatnonzero(mask) for _, mask in search.segments]
        scores, own = search.by_centroids(passages, number)
        return among_best(scores, passages, (yield from exchanged(own)))
    sizes = (yield from exchanged(Sums({"sizes": search.list_sizes(whole=few_left_out)})))["sizes"]
    listed = search.listed(sizes, LISTED)
    passages = [matches.unique_passages(len(mask)) for matches, (_, mask) in zip(listed, search.segments, strict=True)]
    num_xtr = -(-number // XTR_FRACTION)
    scores, own = search.by_centroids(passages, number - num_xtr)
    nearest = nearest_of(listed, search.weights.units.shape[1], RETRIEVED)
    best, nearest = (yield from exchanged(Several((own, nearest)))).each
    others, floors = among_best(scores, passages, best), floors_of(nearest)
    scorers = [
        XtrScorer(codes.segment, matches, floors)
        for (codes, _), matches in zip(search.segments, from_floors(listed, floors), strict=True)
    ]
    by_xtr = yield from xtr_candidates(scorers, search.weights, num_xtr)
    return [np.union1d(*both) for both in zip(by_xtr, others, strict=True)]


def xtr_candidates(
    scorers: Sequence[XtrScorer], weights: QueryWeights, number: int
) -> Generator[Summary, Summary, list[Ints]]:
    """Return the passages of each segment that are among XTR's best `number` for some row."""
    scores = [scorer.candidate_scores(weights) for scorer in scorers]
    best = yield from exchanged(best_of_all(scores, len(weights.units), number))
    return among_best(scores, [scorer.passages for scorer in scorers], best)


def _columns(weights: QueryWeights) -> Ints:
    """Return the query tokens that have weight in the choice of candidates; all if none has."""
    columns: Ints = np.flatnonzero(weights.for_candidates.any(axis=0))
    return columns if len(columns) else np.arange(weights.for_candidates.shape[1])
