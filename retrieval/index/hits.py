"""XTR's scores (Lee et al. 2023): each query token retrieves its nearest tokens, and what it did not retrieve of a
passage counts as its last retrieved similarity, the floor.

Where the retrieved tokens are the true nearest ones, no similarity that is missing can exceed its floor: the score is
then also the most that the passage's MaxSim can be.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise

import numpy as np

from propcite.retrieval.encoding.base import Floats, Ints
from propcite.retrieval.index.coarse_codes import Coded, Places, best_of_parts
from propcite.retrieval.index.codec import Asked
from propcite.retrieval.index.ranking import Block, Mask, Ranked, Wanted, blocks_of, places, score_block, unpacked
from propcite.retrieval.index.segment import Segment

AT_ONCE = 8_192  # tokens compared at once


@dataclass(frozen=True, slots=True)
class Hits:
    """Retrieved pairs of one segment: its tokens, their passages, the query's tokens, their similarity.  (h,) each"""

    tokens: Places
    passages: Places
    columns: Places
    similarities: Floats

    @classmethod
    def of(cls, segment: Segment, tokens: Ints, columns: Ints, similarities: Floats) -> Hits:
        owners = np.searchsorted(segment.passage_starts, tokens, side="right") - 1
        return cls(tokens, owners, columns, similarities)

    def only(self, mask: Mask) -> Hits:
        return Hits(self.tokens[mask], self.passages[mask], self.columns[mask], self.similarities[mask])

    def marked(self, num_passages: int) -> Ints:
        """The passages that hold one of the tokens, in order."""
        seen = np.zeros(num_passages, bool)
        seen[self.passages] = True
        return np.flatnonzero(seen)


def nearest_tokens(segment: Segment, mask: Mask, asked: Asked, number: int) -> Hits:
    """Each query token's nearest tokens of the passages of the mask, by comparing all."""
    found: list[Hits] = []
    for block in blocks_of(segment, mask):
        allowed = np.repeat(mask[block.passages], np.diff(segment.passage_starts)[block.passages])
        tokens = places(block.tokens)
        payload, scales = segment.payload[block.tokens], segment.scales[block.tokens]
        similarities = segment.codec.similarities(payload, scales, asked)
        similarities[~allowed] = -np.inf
        found.append(_largest(segment, similarities, tokens, number))
    return cut([joined(found)], len(asked.rows), number)[0][0]


def listed_tokens(coded: Coded, mask: Mask, near: list[Ints], asked: Asked) -> Hits:
    """The tokens in each query token's lists, compared with it."""
    places, columns = coded.listed(near, mask)
    tokens, similarities = coded.order[places], np.empty(len(places), np.float32)
    for first in range(0, len(places), AT_ONCE):
        some = slice(first, first + AT_ONCE)
        similarities[some] = _similarities(coded, places[some], columns[some], asked)
    return Hits(tokens, coded.owners[places], columns, similarities)


def _similarities(coded: Coded, places: Ints, columns: Ints, asked: Asked) -> Floats:
    """Of pairs: tokens as they stand in lists, and the query's.  (h,), (h,) -> (h,)"""
    from propcite.retrieval.index import kernels

    codec, payload, tokens = coded.segment.codec, np.asarray(coded.segment.payload), coded.order[places]
    if codec.bits == 16:
        found: Floats = np.einsum("hd,hd->h", payload[tokens].astype(np.float32), asked.vectors[columns])
        return found
    products = np.empty(len(tokens), np.int32)
    if codec.bits == 8:
        kernels.pair_products(payload, tokens, columns, asked.rows, products)
    else:
        rows = unpacked(payload[tokens], codec.unpacking)
        kernels.pair_products(rows, np.arange(len(tokens), dtype=np.int32), columns, asked.rows, products)
    return products * coded.scales[places].astype(np.float32) * asked.scales[columns]


def joined(parts: Sequence[Hits]) -> Hits:
    if not parts:
        none = np.zeros(0, np.int64)
        return Hits(none, none, none, np.zeros(0, np.float32))
    columns = zip(*((p.tokens, p.passages, p.columns, p.similarities) for p in parts), strict=True)
    return Hits(*(np.concatenate(column) for column in columns))


def cut(parts: Sequence[Hits], num_columns: int, number: int) -> tuple[list[Hits], Floats]:
    """The nearest `number` of all parts for each query token, and its floor: the last of them.  -> parts, (q,)"""
    everything = joined(parts)
    order = np.argsort(everything.columns.astype(np.uint16), kind="stable")  # of small numbers, which is quick
    similarities = everything.similarities[order]
    bounds = np.searchsorted(everything.columns[order], np.arange(num_columns + 1))
    floors = np.zeros(num_columns, np.float32)
    for column, (start, end) in enumerate(pairwise(bounds)):
        if start < end:
            last = max(0, end - start - number)
            floors[column] = np.partition(similarities[start:end], last)[last]
    return [p.only(p.similarities >= floors[p.columns]) for p in parts], floors


def _largest(segment: Segment, similarities: Floats, tokens: Ints, number: int) -> Hits:
    """The largest of each column, and what equals the last of them: segments must not change it.  (n, q), (n,)"""
    last = max(0, len(similarities) - number)
    least = np.partition(similarities, last, axis=0)[last]
    rows, columns = np.nonzero((similarities >= least) & np.isfinite(similarities))
    return Hits.of(segment, tokens[rows], columns, similarities[rows, columns])


@dataclass(frozen=True)
class Imputed:
    """Retrieved pairs of one segment, and what stands for a similarity that was not retrieved: the floors (q,)."""

    segment: Segment
    hits: Hits
    floors: Floats

    @cached_property
    def passages(self) -> Ints:
        """Those that hold a retrieved token, in order."""
        return self.hits.marked(len(self.segment))

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
        best = np.tile(self.floors, (len(self.passages), 1))
        rows = np.searchsorted(self.passages, self.hits.passages)
        np.maximum.at(best, (rows, self.hits.columns), self.hits.similarities)
        scores: Floats = wanted.deciding @ best.T
        return scores


def xtr_candidates(parts: Sequence[Imputed], wanted: Wanted, number: int) -> list[Ints]:
    """For each part the passages that are among XTR's best `number` of some row."""
    return best_of_parts([part.passage_scores(wanted) for part in parts], [part.passages for part in parts], number)
