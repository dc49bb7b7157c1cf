"""Score units by the words that they share with a query, and find the passages that share the rarest."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from propcite.retrieval.encoding.base import Floats, Ints, Mask
from propcite.retrieval.granularity import weighted_sums
from propcite.retrieval.index.ranking import Block, run_members
from propcite.retrieval.words.postings import Postings
from propcite.retrieval.words.query import WordQuery
from propcite.retrieval.words.terms import SHIFT, pair_keys, piece_keys, second_touches

SATURATION = 0.9  # k1 of BM25: how little a second occurrence adds
LENGTH_SHARE = 0.4  # b of BM25: how much a long passage's words count for less
READ_AT_MOST = 100_000  # passages of terms that are read to find candidates: the rarest terms first


@dataclass(frozen=True)
class WordScorer:
    """A query's words, how many passages have each term (t,), its rarity (t,), and the mean tokens of a passage."""

    query: WordQuery
    num_with: Ints
    rarity: Floats
    mean_length: float

    @classmethod
    def of(cls, query: WordQuery, num_with: Ints, num_passages: int, num_tokens: int) -> WordScorer:
        """Return a scorer from the number of passages with each term (t,), of all passages, and of their tokens."""
        query, num_with = query.known(num_with), num_with[num_with > 0]
        rarity = np.log1p((num_passages - num_with + 0.5) / (num_with + 0.5)).astype(np.float32)
        return cls(query, num_with, rarity, num_tokens / max(1, num_passages))

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
        of_units = weighted_sums(counts * (SATURATION + 1) / (counts + SATURATION), self._weights)
        in_passages = np.add.reduceat(counts, block.passage_units[:-1], axis=0) if len(counts) else counts
        lengths = (np.diff(block.unit_starts[block.passage_units]) / self.mean_length).astype(np.float32)
        damped = SATURATION * (1 - LENGTH_SHARE + LENGTH_SHARE * lengths[:, None])
        parts = (in_passages * (SATURATION + 1) / (in_passages + damped)).astype(np.float32)
        of_passages = weighted_sums(parts, self._weights)
        return of_units, of_passages

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

    @cached_property
    def _read(self) -> Ints:
        """Return the terms whose passages are read to find candidates: the rarest, and not too many passages."""
        rarest = np.argsort(self.num_with, kind="stable")
        read: Ints = np.sort(rarest[(np.cumsum(self.num_with[rarest]) <= READ_AT_MOST) | (rarest == rarest[:1])])
        return read

    def candidates(self, postings: Postings, mask: Mask) -> tuple[Ints, Floats]:
        """Return the passages of a mask that have one of the rarest terms, with their scores.  -> (p,), (n, p)"""
        terms = self._read
        first, last = (places[terms] for places in postings.places(self.query.keys))
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
