"""Score units by the words that they share with a query, and find the passages that share the rarest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from propcite.retrieval.encoding.base import Floats, Ints, Mask
from propcite.retrieval.index.centroid_codes import best_of_segments
from propcite.retrieval.index.ranking import Block, run_members
from propcite.retrieval.words.postings import Postings
from propcite.retrieval.words.query import WordQuery
from propcite.retrieval.words.terms import SHIFT, pair_keys, piece_keys, second_touches

SATURATION = 0.9  # k1 of BM25: how little a second occurrence adds
LENGTH_SHARE = 0.4  # b of BM25: how much a long passage's words count for less
READ_AT_MOST = 100_000  # passages of terms that are read to find candidates: the rarest terms first


@dataclass(frozen=True)
class WordScorer:
    """A query's words with the rarity of each term among some passages (t,), and their mean length in tokens."""

    query: WordQuery
    rarity: Floats
    mean_length: float

    @classmethod
    def of(cls, query: WordQuery, postings: Sequence[Postings], num_passages: int, num_tokens: int) -> WordScorer:
        num_with = np.zeros(len(query.keys), np.int64)
        for some in postings:
            first, last = some.places(query.keys)
            num_with += last - first
        query, num_with = query.known(num_with), num_with[num_with > 0]
        rarity = np.log1p((num_passages - num_with + 0.5) / (num_with + 0.5)).astype(np.float32)
        return cls(query, rarity, num_tokens / max(1, num_passages))

    @cached_property
    def _weights(self) -> Floats:
        """Return the part of each term in all words of a row.  (n, t)"""
        weights = self.query.rows * self.rarity
        totals = weights.sum(axis=1, keepdims=True)
        shares: Floats = np.divide(weights, totals, out=np.zeros_like(weights), where=totals > 0)
        return shares

    def scores(self, block: Block) -> tuple[Floats, Floats]:
        """Return the share of each row's words that the units and the passages of a block have.  -> (u, n), (p, n)"""
        counts = self._counts(block)
        weights = self._weights.T
        of_units = (counts * (SATURATION + 1) / (counts + SATURATION)) @ weights
        in_passages = np.add.reduceat(counts, block.passage_units[:-1], axis=0) if len(counts) else counts
        lengths = np.diff(block.unit_starts[block.passage_units]) / self.mean_length
        damped = SATURATION * (1 - LENGTH_SHARE + LENGTH_SHARE * lengths[:, None])
        of_passages = (in_passages * (SATURATION + 1) / (in_passages + damped)) @ weights
        return of_units.astype(np.float32), of_passages.astype(np.float32)

    def _counts(self, block: Block) -> Floats:
        """Return how often each unit of a block has each term.  (u, t)"""
        segment, keys = block.segment, self.query.keys
        num_units = len(block.unit_starts) - 1
        if segment.token_ids is None or not len(keys):
            return np.zeros((num_units, len(keys)), np.float32)
        ids = segment.token_ids[block.tokens]
        touches = second_touches(segment.token_starts[block.tokens], segment.token_lengths[block.tokens])
        firsts = np.unique(keys >> SHIFT).astype(np.int64)
        is_first = np.zeros(int(ids.max(initial=0)) + 1, bool)
        is_first[firsts[firsts < len(is_first)]] = True
        singles = np.flatnonzero(is_first[ids])
        seconds = singles[singles + 1 < len(ids)] + 1
        seconds = seconds[touches[seconds]]
        found = np.concatenate([piece_keys(ids[singles]), pair_keys(ids[seconds - 1], ids[seconds])])
        at = np.concatenate([singles, seconds])
        columns = np.minimum(np.searchsorted(keys, found), len(keys) - 1)
        known = keys[columns] == found
        units = np.searchsorted(block.unit_starts, at[known], side="right") - 1
        flat = np.bincount(units * len(keys) + columns[known], minlength=num_units * len(keys))
        return flat.reshape(num_units, len(keys)).astype(np.float32)

    def candidates(self, segments: Sequence[tuple[Postings, Mask]], number: int) -> list[Ints]:
        """Return for each segment the passages that share the rarest words, about the best `number` of each row."""
        places = [postings.places(self.query.keys) for postings, _ in segments]
        sizes = np.sum([last - first for first, last in places], axis=0) if places else np.zeros(0, np.int64)
        rarest = np.argsort(sizes, kind="stable")
        read = np.sort(rarest[(np.cumsum(sizes[rarest]) <= READ_AT_MOST) | (rarest == rarest[:1])])
        scored = [
            self._scored(postings, mask, read, first[read], last[read])
            for (postings, mask), (first, last) in zip(segments, places, strict=True)
        ]
        return best_of_segments([scores for _, scores in scored], [passages for passages, _ in scored], number)

    def _scored(self, postings: Postings, mask: Mask, terms: Ints, first: Ints, last: Ints) -> tuple[Ints, Floats]:
        """Return the passages of a mask that have one of these terms, with their scores.  -> (p,), (n, p)"""
        places = run_members(np.stack([first, last], axis=1).reshape(-1), 2 * np.arange(len(terms)))
        passages, places_in = np.unique(postings.passages[places], return_inverse=True)
        columns = np.repeat(terms, last - first)
        rows = [np.bincount(places_in, weights=row[columns], minlength=len(passages)) for row in self._weights]
        allowed = mask[passages]
        return passages[allowed].astype(np.int64), np.stack(rows)[:, allowed].astype(np.float32)


def passages_with(postings: Postings, pieces: Ints) -> Ints:
    """Return the passages that have all these pieces, in any order."""
    found: Ints | None = None
    for first, last in zip(*postings.places(np.unique(piece_keys(pieces))), strict=True):
        some = postings.passages[first:last].astype(np.int64)
        found = some if found is None else np.intersect1d(found, some, assume_unique=True)
    return np.zeros(0, np.int64) if found is None else found


def runs_of(block: Block, pieces: Ints) -> npt.NDArray[np.bool_]:
    """Return for each unit of a block whether these pieces follow each other in it.  (u,)"""
    ids = block.segment.vocabulary_ids(block.tokens)
    units = np.repeat(np.arange(len(block.unit_starts) - 1), np.diff(block.unit_starts))
    matches = np.zeros(len(ids), bool)
    if len(ids) >= len(pieces) > 0:
        last = len(ids) - len(pieces) + 1
        whole = units[:last] == units[len(pieces) - 1 :]
        for place, piece in enumerate(pieces.tolist()):
            whole &= ids[place : place + last] == piece
        matches[:last] = whole
    has = np.zeros(len(block.unit_starts) - 1, bool)
    has[units[matches]] = True
    return has
