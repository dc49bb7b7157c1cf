"""Ranking of blocks of passages: every unit's score from one product of the block with the query's tokens.

A block is some passages of one segment, next to each other or picked out; passages and sentences fall out of the same
similarities, so no granularity costs a second pass over the vectors.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from propcite.retrieval.alignment import NEAREST, Alignment
from propcite.retrieval.encoding.base import Floats, Ints
from propcite.retrieval.granularity import best_matches, joined
from propcite.retrieval.index import IndexHit
from propcite.retrieval.index.codec import Asked, Payload, Rows, int_products
from propcite.retrieval.index.segment import HEAD, Segment

BLOCK_TOKENS = 16_384  # of passages next to each other: large enough for the product, small in memory
PICKED_TOKENS = 6_144  # of passages picked out: what is gathered stays in the second cache
Mask = npt.NDArray[np.bool_]
Numbers = slice | Ints


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is ranked: rows of token weights (n, q) for units and for passages, and the passage's share of a
    sentence's score, None where passages themselves are ranked; how tokens are aligned, and the query's words by
    their ids in the vocabulary (q,) where that asks for them."""

    units: Floats
    passages: Floats
    share: float | None
    alignment: Alignment = NEAREST
    words: Ints | None = None

    @property
    def deciding(self) -> Floats:
        """The weights of those tokens that say which passages are candidates."""
        return self.passages if self.share is None else self.units

    def foremost(self, share: float, worths: Floats | None) -> Ints:
        """The columns that are among the share of some row's deciding tokens with most worth (q,), or weight."""
        chosen = np.zeros(self.deciding.shape[1], bool)
        for row in self.deciding:
            number = max(1, int(np.ceil(share * np.count_nonzero(row) - 1e-9)))
            worth = row if worths is None else np.where(row > 0, worths, -np.inf)
            chosen[np.argsort(-worth, kind="stable")[:number]] = True
        return np.flatnonzero(chosen)

    def most(self) -> Floats:
        """The most that each row can score: every similarity is 1.  (n,)"""
        passages: Floats = self.passages.sum(axis=1)
        return passages if self.share is None else joined(self.units.sum(axis=1), passages, self.share)

    def only(self, columns: Ints) -> Wanted:
        words = None if self.words is None else self.words[columns]
        return replace(self, units=self.units[:, columns], passages=self.passages[:, columns], words=words)


@dataclass(frozen=True)
class Block:
    """Some passages of a segment by number, in order."""

    segment: Segment
    passages: Ints
    together: bool  # whether they lie next to each other

    @cached_property
    def units(self) -> Numbers:
        """Their units' numbers."""
        return _members(self.segment.passage_units, self.passages, self.together)

    @cached_property
    def tokens(self) -> Numbers:
        return _members(self.segment.passage_starts, self.passages, self.together)

    @cached_property
    def unit_starts(self) -> Ints:
        """Where each unit's tokens begin within the block, and where the last one's end.  (u + 1,)"""
        return _starts(self.segment.unit_starts, self.units)

    @cached_property
    def passage_units(self) -> Ints:
        """Where each passage's units begin within the block, and where the last one's end.  (p + 1,)"""
        return _starts(self.segment.passage_units, self.passages)

    @cached_property
    def owners(self) -> Ints:
        """Each unit's passage within the block.  (u,)"""
        return np.repeat(np.arange(len(self.passages)), np.diff(self.passage_units))


def blocks_of(segment: Segment, mask: Mask) -> Iterator[Block]:
    """All passages of the mask, in order: in runs where they are dense, picked out where they are few."""
    starts = segment.passage_starts
    if mask.sum() * 4 > len(mask):
        first = 0
        while first < len(segment):
            reach = np.searchsorted(starts, starts[first] + BLOCK_TOKENS, side="right")
            last = max(first + 1, min(int(reach) - 1, len(segment)))
            if mask[first:last].any():
                yield Block(segment, np.arange(first, last), together=True)
            first = last
    else:
        yield from blocks_picked(segment, np.flatnonzero(mask))


def blocks_picked(segment: Segment, passages: Ints) -> Iterator[Block]:
    lengths = segment.passage_starts[passages + 1] - segment.passage_starts[passages]
    parts = np.cumsum(lengths) // PICKED_TOKENS
    for run in np.split(passages, np.flatnonzero(np.diff(parts)) + 1):
        if len(run):
            yield Block(segment, run, together=False)


@dataclass(frozen=True, slots=True)
class Ranked:
    """Scores of a block's units: scores (u, n), the passage of each (u,) and its scores (p, n), sentences (u,)."""

    block: Block
    scores: Floats
    owners: Ints
    passage_scores: Floats
    sentences: npt.NDArray[np.int32]


def rank(block: Block, asked: Asked, wanted: Wanted, mask: Mask, *, compiled: bool = False) -> Ranked:
    """All units of a block in one pass over its vectors; what the segment's mask leaves out scores -inf."""
    if wanted.alignment != NEAREST:
        return _aligned(block, asked, wanted, mask)
    best = (_best_compiled if compiled and block.segment.codec.bits < 16 else _best_plainly)(block, asked)
    return score_block(block, best, wanted, mask)


def score_block(block: Block, unit_best: Floats, wanted: Wanted, mask: Mask) -> Ranked:
    """Scores from each unit's best similarities.  unit_best (u, q)"""
    passage_scores = best_matches(unit_best, block.passage_units[:-1]) @ wanted.passages.T
    unit_scores = None if wanted.share is None else unit_best @ wanted.units.T
    return _ranked(block, passage_scores, unit_scores, wanted.share, mask)


def _aligned(block: Block, asked: Asked, wanted: Wanted, mask: Mask) -> Ranked:
    """Scores under any alignment, from the similarities of all tokens."""
    from propcite.retrieval.alignment.scoring import Texts, scores_of_runs

    segment, alignment = block.segment, wanted.alignment
    similarities = segment.codec.similarities(segment.payload[block.tokens], segment.scales[block.tokens], asked)
    same = segment.words(block.tokens)[:, None] == _words(wanted) if alignment.needs_words else None
    texts = Texts(same, segment.salience(block.tokens) if alignment.salient else None)
    of_passages = block.unit_starts[block.passage_units]
    passage_scores = scores_of_runs(similarities, of_passages, wanted.passages, alignment, texts)
    unit_scores = None
    if wanted.share is not None:
        unit_scores = scores_of_runs(similarities, block.unit_starts, wanted.units, alignment, texts)
    return _ranked(block, passage_scores, unit_scores, wanted.share, mask)


def _words(wanted: Wanted) -> Ints:
    if wanted.words is None:
        raise ValueError(f"the alignment {wanted.alignment} asks for the query's words: give their ids")
    return wanted.words


def _ranked(
    block: Block, passage_scores: Floats, unit_scores: Floats | None, share: float | None, mask: Mask
) -> Ranked:
    allowed = mask[block.passages]
    if unit_scores is None or share is None:
        passage_scores[~allowed] = -np.inf
        everyone = np.arange(len(block.passages))
        return Ranked(block, passage_scores, everyone, passage_scores, np.full(len(everyone), HEAD, np.int32))
    owners, segment = block.owners, block.segment
    scores = joined(unit_scores, passage_scores[owners], share)
    scores[~(segment.unit_ranked[block.units] & allowed[owners])] = -np.inf
    return Ranked(block, scores, owners, passage_scores, segment.unit_sentences[block.units])


def _best_plainly(block: Block, asked: Asked) -> Floats:
    segment = block.segment
    similarities = segment.codec.similarities(segment.payload[block.tokens], segment.scales[block.tokens], asked)
    return best_matches(similarities, block.unit_starts[:-1])


def _best_compiled(block: Block, asked: Asked) -> Floats:
    """The same from integers, without similarities ever being written as floats."""
    from propcite.retrieval.index import kernels

    segment = block.segment
    tokens = block.tokens
    payload = segment.payload[tokens] if isinstance(tokens, slice) else np.take(segment.payload, tokens, axis=0)
    rows = payload if segment.codec.bits == 8 else unpacked(payload, segment.codec.unpacking)
    products = int_products(rows, asked.rows)
    best = np.empty((len(block.unit_starts) - 1, len(asked.rows)), np.float32)
    scales = segment.scales[block.tokens].astype(np.float32)
    kernels.unit_best(products, scales, asked.scales, block.unit_starts, best)
    return best


def unpacked(payload: Payload, unpacking: npt.NDArray[Any]) -> Rows:
    """The payload as integers, sooner than by looking up whole arrays."""
    from propcite.retrieval.index import kernels

    wide = np.empty(payload.shape, unpacking.dtype)
    kernels.unpack(payload, unpacking, wide)
    rows: Rows = wide.view(np.int8)
    return rows


def best_hits(ranked: Sequence[Ranked], row: int, k: int, extra: Sequence[dict[str, Floats]] = ()) -> list[IndexHit]:
    """The k best units of all blocks for one row, best first, ties in index order.

    `extra` holds, for each block, further scores of its units by the names that a hit has for them.
    """
    if not ranked or k < 1:
        return []
    scores = np.concatenate([r.scores[:, row] for r in ranked])
    bounds = np.cumsum([0] + [len(r.scores) for r in ranked])
    hits = []
    for place in _largest(scores, k):
        number = int(np.searchsorted(bounds, place, side="right")) - 1
        part, unit = ranked[number], int(place - bounds[number])
        owner = int(part.owners[unit])
        hits.append(
            IndexHit(
                passage_id=part.block.segment.ids[part.block.passages[owner]],
                sentence=None if part.sentences[unit] == HEAD else int(part.sentences[unit]),
                score=float(scores[place]),
                passage_score=float(part.passage_scores[owner, row]),
                **({name: float(values[unit, row]) for name, values in extra[number].items()} if extra else {}),
            )
        )
    return hits


def _largest(scores: Floats, k: int) -> Ints:
    """Places of the k largest that are numbers, largest first, ties in order.

    >>> _largest(np.array([0.1, -np.inf, 0.5, 0.5], np.float32), 3).tolist()
    [2, 3, 0]
    """
    places = np.flatnonzero(np.isfinite(scores))
    if len(places) > k:
        least = np.partition(scores[places], len(places) - k)[len(places) - k]
        places = places[scores[places] >= least]
    order: Ints = places[np.argsort(-scores[places], kind="stable")][:k]
    return order


def places(numbers: Numbers) -> Ints:
    """The numbers one by one."""
    return np.arange(numbers.start, numbers.stop) if isinstance(numbers, slice) else numbers


def _members(starts: Ints, chosen: Ints, together: bool) -> Numbers:
    if together:
        return slice(int(starts[chosen[0]]), int(starts[chosen[-1] + 1]))
    return members(starts, chosen)


def members(starts: Ints, chosen: Ints) -> Ints:
    """The members of the chosen runs; run i holds starts[i] to starts[i + 1].

    >>> members(np.array([0, 2, 5, 6]), np.array([2, 0])).tolist()
    [5, 0, 1]
    """
    first, lengths = starts[chosen], starts[chosen + 1] - starts[chosen]
    before = np.cumsum(lengths) - lengths
    spread: Ints = np.repeat(first - before, lengths) + np.arange(int(lengths.sum()))
    return spread


def _starts(starts: Ints, chosen: Numbers) -> Ints:
    """Where the chosen runs begin when they are laid next to each other, and where the last one ends."""
    if isinstance(chosen, slice):
        return starts[chosen.start : chosen.stop + 1] - starts[chosen.start]
    ends: Any = np.cumsum(starts[chosen + 1] - starts[chosen])
    return np.concatenate([[0], ends])
