"""XTR's scores (Lee et al. 2023): each query token retrieves its nearest tokens, and what it did not retrieve of a
passage counts as its last retrieved similarity, the floor.

Where the retrieved tokens are the true nearest ones, no similarity that is missing can exceed its floor: the score is
then also the most that the passage's MaxSim can be.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from retrieval.encoder import Floats
from retrieval.granularity import Ints
from retrieval.index.centroids import Centroids
from retrieval.index.coarse_codes import Coded, best_of_parts, nearest_lists
from retrieval.index.codec import Asked, int_products
from retrieval.index.ranking import Block, Mask, Ranked, Wanted, blocks_of, places, score_block
from retrieval.index.segment import Segment

AT_ONCE = 8_192  # tokens compared at once


@dataclass(frozen=True, slots=True)
class Hits:
    """Retrieved pairs of one segment: its tokens, the query's tokens and their similarity.  (h,) each"""

    tokens: Ints
    columns: Ints
    similarities: Floats

    def only(self, mask: Mask) -> Hits:
        return Hits(self.tokens[mask], self.columns[mask], self.similarities[mask])


def nearest_tokens(segment: Segment, mask: Mask, asked: Asked, number: int) -> Hits:
    """Each query token's nearest tokens of the passages of the mask, by comparing all."""
    found: list[Hits] = []
    for block in blocks_of(segment, mask):
        allowed = np.repeat(mask[block.passages], np.diff(segment.passage_starts)[block.passages])
        tokens = places(block.tokens)
        payload, scales = segment.payload[block.tokens], segment.scales[block.tokens]
        similarities = segment.codec.similarities(payload, scales, asked)
        similarities[~allowed] = -np.inf
        found.append(_largest(similarities, tokens, number))
    return cut([joined(found)], len(asked.rows), number)[0][0]


def listed_tokens(coded: Coded, mask: Mask, asked: Asked, centroids: Centroids, number: int) -> Hits:
    """Each query token's nearest tokens among those of its nearest centroids."""
    products = np.ascontiguousarray(int_products(centroids.rows, asked.rows).T)
    segment, order = coded.segment, coded.order
    starts, sizes = coded.passage_lists[1], coded.sizes(mask)
    found: list[Hits] = []
    for column in range(len(products)):
        near = nearest_lists(products[column], sizes, number)
        tokens = np.sort(np.concatenate([order[starts[c] : starts[c + 1]] for c in near]))
        owners = np.searchsorted(segment.passage_starts, tokens, side="right") - 1
        tokens = tokens[mask[owners]]
        alone = Asked(asked.vectors[[column]], asked.rows[[column]], asked.scales[[column]])
        for first in range(0, len(tokens), AT_ONCE):
            some = tokens[first : first + AT_ONCE]
            values = segment.codec.similarities(segment.payload[some], segment.scales[some], alone)[:, 0]
            found.append(Hits(some, np.full(len(some), column), values))
    return cut([joined(found)], len(asked.rows), number)[0][0]


def joined(parts: Sequence[Hits]) -> Hits:
    if not parts:
        return Hits(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0, np.float32))
    columns = zip(*((p.tokens, p.columns, p.similarities) for p in parts), strict=True)
    return Hits(*(np.concatenate(column) for column in columns))


def cut(parts: Sequence[Hits], num_columns: int, number: int) -> tuple[list[Hits], Floats]:
    """The nearest `number` of all parts for each query token, and its floor: the last of them.  -> parts, (q,)"""
    everything = joined(parts)
    floors = np.zeros(num_columns, np.float32)
    for column in range(num_columns):
        values = everything.similarities[everything.columns == column]
        if len(values):
            floors[column] = np.partition(values, -min(number, len(values)))[-min(number, len(values))]
    return [p.only(p.similarities >= floors[p.columns]) for p in parts], floors


def _largest(similarities: Floats, tokens: Ints, number: int) -> Hits:
    """The largest of each column, and what equals the last of them: segments must not change it.  (n, q), (n,)"""
    last = max(0, len(similarities) - number)
    least = np.partition(similarities, last, axis=0)[last]
    rows, columns = np.nonzero((similarities >= least) & np.isfinite(similarities))
    return Hits(tokens[rows], columns, similarities[rows, columns])


@dataclass(frozen=True)
class Imputed:
    """Retrieved pairs of one segment, and what stands for a similarity that was not retrieved: the floors (q,)."""

    segment: Segment
    hits: Hits
    floors: Floats

    @cached_property
    def owners(self) -> Ints:
        """The passage of each pair."""
        found: Ints = np.searchsorted(self.segment.passage_starts, self.hits.tokens, side="right") - 1
        return found

    @cached_property
    def passages(self) -> Ints:
        """Those that hold a retrieved token, in order."""
        return np.unique(self.owners)

    def missing(self, value: float) -> Imputed:
        """The same with one value for whatever was not retrieved."""
        return replace(self, floors=np.full_like(self.floors, value))

    def scored(self, block: Block, wanted: Wanted, mask: Mask) -> Ranked:
        """XTR's scores of a block's units."""
        units = places(block.units)
        owners = np.searchsorted(self.segment.unit_starts, self.hits.tokens, side="right") - 1
        rows = np.minimum(np.searchsorted(units, owners), len(units) - 1)
        inside = units[rows] == owners
        best = np.tile(self.floors, (len(units), 1))
        np.maximum.at(best, (rows[inside], self.hits.columns[inside]), self.hits.similarities[inside])
        return score_block(block, best, wanted, mask)

    def passage_scores(self, wanted: Wanted) -> Floats:
        """XTR's scores of the passages that hold a retrieved token, as candidates for what is wanted.  -> (n, p)"""
        weights = wanted.passages if wanted.share is None else wanted.units
        best = np.tile(self.floors, (len(self.passages), 1))
        rows = np.searchsorted(self.passages, self.owners)
        np.maximum.at(best, (rows, self.hits.columns), self.hits.similarities)
        scores: Floats = weights @ best.T
        return scores


def xtr_candidates(parts: Sequence[Imputed], wanted: Wanted, number: int) -> list[Ints]:
    """For each part the passages that are among XTR's best `number` of some row."""
    return best_of_parts([part.passage_scores(wanted) for part in parts], [part.passages for part in parts], number)
