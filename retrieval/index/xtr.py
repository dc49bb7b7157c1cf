"""XTR's scores (Lee et al. 2023): each query token retrieves its nearest tokens of the collection.

The similarity to a passage of which a query token retrieved nothing is imputed as its last retrieved similarity, the
floor.  If the retrieved tokens are the true nearest ones, no missing similarity can exceed its floor: then the score is
also an upper bound of the passage's MaxSim.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise

import numpy as np

from propcite.retrieval.encoding.base import Floats, Ints, Mask
from propcite.retrieval.granularity import weighted_sums
from propcite.retrieval.index.centroid_codes import CentroidCodes, Numbers
from propcite.retrieval.index.codec import EncodedQuery
from propcite.retrieval.index.exchange import Largest
from propcite.retrieval.index.ranking import (
    Block,
    BlockScores,
    QueryWeights,
    as_numbers,
    blocks_of,
    scores_from_best,
    unpack_rows,
)
from propcite.retrieval.index.segment import Segment

BATCH_PAIRS = 8_192  # pairs of tokens compared at once


@dataclass(frozen=True, slots=True)
class TokenMatches:
    """Retrieved pairs in one segment: its tokens, their passages, the query's tokens, their similarity.  (h,) each"""

    tokens: Numbers
    passages: Numbers
    columns: Numbers
    similarities: Floats

    @classmethod
    def of(cls, segment: Segment, tokens: Ints, columns: Ints, similarities: Floats) -> TokenMatches:
        passages = np.searchsorted(segment.passage_starts, tokens, side="right") - 1
        return cls(tokens, passages, columns, similarities)

    def only(self, mask: Mask) -> TokenMatches:
        return TokenMatches(self.tokens[mask], self.passages[mask], self.columns[mask], self.similarities[mask])

    def unique_passages(self, num_passages: int) -> Ints:
        """Return the passages with a retrieved token, in order."""
        seen = np.zeros(num_passages, bool)
        seen[self.passages] = True
        return np.flatnonzero(seen)


def nearest_tokens(segment: Segment, mask: Mask, query: EncodedQuery, number: int) -> TokenMatches:
    """Return the nearest tokens of each query token in the mask's passages, comparing it with all of them."""
    matches: list[TokenMatches] = []
    for block in blocks_of(segment, mask):
        allowed = np.repeat(mask[block.passages], np.diff(segment.passage_starts)[block.passages])
        payload, scales = segment.payload[block.tokens], segment.scales[block.tokens]
        similarities = segment.codec.similarities(payload, scales, query)
        similarities[~allowed] = -np.inf
        matches.append(_largest_per_column(segment, similarities, as_numbers(block.tokens), number))
    floors = floors_of(nearest_of(matches, len(query.rows), number))
    return from_floors([concatenated(matches)], floors)[0]


def tokens_in_lists(codes: CentroidCodes, mask: Mask, lists: list[Ints], query: EncodedQuery) -> TokenMatches:
    """Return the tokens in the lists of each query token with their similarities to it."""
    positions, columns = codes.list_entries(lists, mask)
    tokens, similarities = codes.order[positions], np.empty(len(positions), np.float32)
    for first in range(0, len(positions), BATCH_PAIRS):
        batch = slice(first, first + BATCH_PAIRS)
        similarities[batch] = _pair_similarities(codes, positions[batch], columns[batch], query)
    return TokenMatches(tokens, codes.owners[positions], columns, similarities)


def _pair_similarities(codes: CentroidCodes, positions: Ints, columns: Ints, query: EncodedQuery) -> Floats:
    """Return the similarity of each (listed token, query token) pair.  (h,), (h,) -> (h,)"""
    from propcite.retrieval.index import kernels

    codec, payload, tokens = codes.segment.codec, np.asarray(codes.segment.payload), codes.order[positions]
    if codec.bits == 16:
        similarities: Floats = np.einsum("hd,hd->h", payload[tokens].astype(np.float32), query.vectors[columns])
        return similarities
    products = np.empty(len(tokens), np.int32)
    if codec.bits == 8:
        kernels.pair_products(payload, tokens, columns, query.rows, products)
    else:
        rows = unpack_rows(payload[tokens], codec.unpacking)
        kernels.pair_products(rows, np.arange(len(tokens), dtype=np.int32), columns, query.rows, products)
    return products * codes.scales[positions].astype(np.float32) * query.scales[columns]


def concatenated(matches: Sequence[TokenMatches]) -> TokenMatches:
    if not matches:
        none = np.zeros(0, np.int64)
        return TokenMatches(none, none, none, np.zeros(0, np.float32))
    arrays = zip(*((m.tokens, m.passages, m.columns, m.similarities) for m in matches), strict=True)
    return TokenMatches(*(np.concatenate(array) for array in arrays))


def nearest_of(matches: Sequence[TokenMatches], num_columns: int, number: int) -> Largest:
    """Return the `number` largest similarities of each query token among all segments."""
    everything = concatenated(matches)
    order = np.argsort(everything.columns.astype(np.uint16), kind="stable")  # a radix sort, since the numbers are small
    similarities = everything.similarities[order]
    bounds = np.searchsorted(everything.columns[order], np.arange(num_columns + 1))
    return Largest.of([similarities[start:end] for start, end in pairwise(bounds)], number)


def floors_of(nearest: Largest) -> Floats:
    """Return the last similarity that each query token retrieves, 0 where it retrieves nothing.  (q,)"""
    return nearest.last(0.0)


def from_floors(matches: Sequence[TokenMatches], floors: Floats) -> list[TokenMatches]:
    """Keep the matches from each query token's floor on, so ties with the last one are kept too."""
    return [some.only(some.similarities >= floors[some.columns]) for some in matches]


def _largest_per_column(segment: Segment, similarities: Floats, tokens: Ints, number: int) -> TokenMatches:
    """Return the largest similarities of each column, including ties with the last one.  (n, q), (n,)

    With the ties the result does not depend on how passages are spread over segments.
    """
    last = max(0, len(similarities) - number)
    threshold = np.partition(similarities, last, axis=0)[last]
    rows, columns = np.nonzero((similarities >= threshold) & np.isfinite(similarities))
    return TokenMatches.of(segment, tokens[rows], columns, similarities[rows, columns])


@dataclass(frozen=True)
class XtrScorer:
    """Scores passages of one segment by retrieved pairs and the floors (q,), which replace missing similarities."""

    segment: Segment
    matches: TokenMatches
    floors: Floats

    @cached_property
    def passages(self) -> Ints:
        """Return the passages with a retrieved token, in order."""
        return self.matches.unique_passages(len(self.segment))

    def with_floor(self, value: float) -> XtrScorer:
        """Return a scorer with one value for all missing similarities."""
        return replace(self, floors=np.full_like(self.floors, value))

    def score_block(self, block: Block, weights: QueryWeights, mask: Mask) -> BlockScores:
        """Return XTR's scores of a block's units."""
        units = as_numbers(block.units)
        owners = np.searchsorted(self.segment.unit_starts, self.matches.tokens, side="right") - 1
        rows = np.minimum(np.searchsorted(units, owners), len(units) - 1)
        inside = units[rows] == owners
        best = np.tile(self.floors, (len(units), 1))
        np.maximum.at(best, (rows[inside], self.matches.columns[inside]), self.matches.similarities[inside])
        return scores_from_best(block, best, weights, mask)

    def candidate_scores(self, weights: QueryWeights) -> Floats:
        """Return XTR's scores of the passages with a retrieved token, as candidates.  -> (n, p)"""
        best = np.tile(self.floors, (len(self.passages), 1))
        rows = np.searchsorted(self.passages, self.matches.passages)
        np.maximum.at(best, (rows, self.matches.columns), self.matches.similarities)
        return weighted_sums(best, weights.for_candidates).T
