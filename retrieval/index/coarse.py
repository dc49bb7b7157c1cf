"""Candidates by centroids: which passages are worth reading whole.

Each query token's similarity to each centroid becomes one byte; a passage's score is the best byte of its tokens, a
token, by weight.  In a small index every passage is scored so.  The larger the index, the more passages share the
centroids of a rare word, and the one that has the word itself is lost among them.  There the tokens in the lists of
the nearest centroids are compared with the query's themselves; the passages that hold some are the ones that are
scored, and some candidates are the best by these similarities alone, as XTR ranks (Lee et al. 2023).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from propcite.retrieval.encoding.base import Floats, Ints
from propcite.retrieval.index import kernels
from propcite.retrieval.index.centroids import Centroids
from propcite.retrieval.index.coarse_codes import Coded, best_of_parts, nearest_lists
from propcite.retrieval.index.codec import Asked, int_products
from propcite.retrieval.index.hits import Imputed, cut, listed_tokens, xtr_candidates
from propcite.retrieval.index.lanes import LANES
from propcite.retrieval.index.ranking import Mask, Wanted

LISTS_FROM = 2_000_000  # tokens from which lists name the passages to score
LISTED = 1_000  # tokens compared with each query token
RETRIEVED = 250  # the nearest of them, by which passages are ranked
BY_TOKENS = 4  # one of so many candidates comes from that ranking
SAMPLE = 512  # centroids whose mean similarity is the table's zero


@dataclass(frozen=True)
class CentroidTable:
    """A query's deciding tokens against all centroids: products (q, c), and as bytes (planes, c, LANES) that are worth
    a step each."""

    products: npt.NDArray[np.int32]
    table: npt.NDArray[np.uint8]
    step: Floats
    asked: Asked
    wanted: Wanted

    @classmethod
    def of(cls, centroids: Centroids, asked: Asked, wanted: Wanted) -> CentroidTable:
        columns = _columns(wanted)
        asked = asked.only(columns)
        products = int_products(asked.rows, centroids.rows)
        low = products[:, :: max(1, len(centroids) // SAMPLE)].mean(axis=1).astype(np.float32)
        step = np.maximum((products.max(axis=1) - low) / 255, 1e-6).astype(np.float32)
        table = np.zeros((-(-len(columns) // LANES), len(centroids), LANES), np.uint8)
        kernels.fill_table(products, low, step, table)
        # Centroids share one scale, which ranks nothing.
        return cls(products, table, step * asked.scales, asked, wanted.only(columns))

    def scores(self, coded: Coded, passages: Ints) -> Floats:
        """Each row's score of each passage; they compare within one table only.  (p,) -> (n, p)"""
        segment, wanted = coded.segment, self.wanted
        scores = np.zeros((len(wanted.units), len(passages)), np.float32)
        if wanted.share is None:
            starts = coded.passage_starts
            kernels.coarse_passages(self.table, coded.codes, starts, passages, self._laid(wanted.passages), scores)
            return scores
        kernels.coarse_sentences(
            self.table,
            coded.codes,
            coded.unit_starts,
            segment.passage_units,
            segment.unit_ranked,
            passages,
            self._laid(wanted.units),
            self._laid(wanted.passages if wanted.passages.any() else wanted.units),
            wanted.share,
            scores,
        )
        return scores

    def _laid(self, weights: Floats) -> Floats:
        """Weights as the table's columns lie, each times what its byte is worth.  (n, q) -> (n, planes, LANES)"""
        laid = np.zeros((len(weights), self.table.shape[0] * LANES), np.float32)
        laid[:, : weights.shape[1]] = weights * self.step
        return laid.reshape(len(weights), self.table.shape[0], LANES)


def candidates(
    table: CentroidTable, parts: list[tuple[Coded, Mask]], number: int, lists_from: int = LISTS_FROM
) -> list[Ints]:
    """For each part the passages that are among the best `number` of some row, in order."""
    places = [np.flatnonzero(mask) for _, mask in parts]
    if sum(coded.segment.tokens_within(mask) for coded, mask in parts) <= lists_from:
        return _by_centroids(table, parts, places, number)
    near = nearest_lists(table.products, parts, LISTED)
    listed = [listed_tokens(coded, mask, near, table.asked) for coded, mask in parts]
    found, floors = cut(listed, len(near), RETRIEVED)
    by_tokens = -(-number // BY_TOKENS)
    best = xtr_candidates(
        [Imputed(coded.segment, hits, floors) for (coded, _), hits in zip(parts, found, strict=True)],
        table.wanted,
        by_tokens,
    )
    places = [hits.marked(len(mask)) for hits, (_, mask) in zip(listed, parts, strict=True)]
    rest = _by_centroids(table, parts, places, number - by_tokens)
    return [np.union1d(some, others) for some, others in zip(best, rest, strict=True)]


def _by_centroids(table: CentroidTable, parts: list[tuple[Coded, Mask]], places: list[Ints], number: int) -> list[Ints]:
    scores = [table.scores(coded, some) for (coded, _), some in zip(parts, places, strict=True)]
    return best_of_parts(scores, places, number)


def _columns(wanted: Wanted) -> Ints:
    """The query's tokens that decide: those that ask for units, unless passages are what is ranked."""
    used: Ints = np.flatnonzero(wanted.deciding.any(axis=0))
    return used if len(used) else np.arange(wanted.deciding.shape[1])
