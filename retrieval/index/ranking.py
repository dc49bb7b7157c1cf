"""Scores and ranking of blocks of passages: one product of a block with the query's tokens scores every unit.

A block is some passages of one segment, adjacent or gathered; passages and sentences are scored from the same
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
from propcite.retrieval.encoding.base import Floats, Ints, Mask
from propcite.retrieval.granularity import best_matches, combine_scores, weighted_sums
from propcite.retrieval.index import IndexHit
from propcite.retrieval.index.codec import EncodedQuery, Payload, Rows, int_products
from propcite.retrieval.index.segment import HEAD, Segment

BLOCK_TOKENS = 16_384  # of adjacent passages: enough for a fast product, small in memory
GATHERED_TOKENS = 6_144  # of gathered passages: the copy stays in the second-level cache
Selection = slice | Ints


@dataclass(frozen=True, slots=True)
class QueryWeights:
    """The weights of a query's tokens and how they rank: one row (n, q) per ranking, for units and for passages.

    `passage_share` is the passage's share of a sentence's score, None if passages are ranked.  `words` (q,) are the
    vocabulary ids of the query's tokens, for alignments that need them.
    """

    units: Floats
    passages: Floats
    passage_share: float | None
    alignment: Alignment = NEAREST
    words: Ints | None = None

    @property
    def for_candidates(self) -> Floats:
        """Return the weights that decide which passages become candidates.  (n, q)"""
        return self.passages if self.passage_share is None else self.units

    def largest(self, share: float, worths: Floats | None) -> Ints:
        """Return the query tokens in the largest share of some row, by `worths` (q,) or else by weight."""
        chosen = np.zeros(self.for_candidates.shape[1], bool)
        for row in self.for_candidates:
            number = max(1, int(np.ceil(share * np.count_nonzero(row) - 1e-9)))
            values = row if worths is None else np.where(row > 0, worths, -np.inf)
            chosen[np.argsort(-values, kind="stable")[:number]] = True
        return np.flatnonzero(chosen)

    def max_scores(self) -> Floats:
        """Return the largest possible score of each row, with all similarities 1.  (n,)"""
        passages: Floats = self.passages.sum(axis=1)
        if self.passage_share is None:
            return passages
        return combine_scores(self.units.sum(axis=1), passages, self.passage_share)

    def only(self, columns: Ints) -> QueryWeights:
        """Return the weights of some of the query's tokens."""
        words = None if self.words is None else self.words[columns]
        return replace(self, units=self.units[:, columns], passages=self.passages[:, columns], words=words)


@dataclass(frozen=True)
class Block:
    """Some passages of a segment by number, in order; `adjacent` if no passage is left out between them."""

    segment: Segment
    passages: Ints
    adjacent: bool

    @cached_property
    def units(self) -> Selection:
        """Return the numbers of the block's units in the segment."""
        return self._members(self.segment.passage_units)

    @cached_property
    def tokens(self) -> Selection:
        """Return the numbers of the block's tokens in the segment."""
        return self._members(self.segment.passage_starts)

    def _members(self, starts: Ints) -> Selection:
        if self.adjacent:
            return slice(int(starts[self.passages[0]]), int(starts[self.passages[-1] + 1]))
        return run_members(starts, self.passages)

    @cached_property
    def unit_starts(self) -> Ints:
        """Return where the tokens of each unit begin in the block, and where the last one's end.  (u + 1,)"""
        return _run_starts(self.segment.unit_starts, self.units)

    @cached_property
    def passage_units(self) -> Ints:
        """Return where the units of each passage begin in the block, and where the last one's end.  (p + 1,)"""
        return _run_starts(self.segment.passage_units, self.passages)

    @cached_property
    def owners(self) -> Ints:
        """Return the passage of each unit, as its number in the block.  (u,)"""
        return np.repeat(np.arange(len(self.passages)), np.diff(self.passage_units))


def blocks_of(segment: Segment, mask: Mask) -> Iterator[Block]:
    """Yield all passages of a mask, in order: as adjacent blocks if they are dense, gathered if they are sparse."""
    starts = segment.passage_starts
    if mask.sum() * 4 > len(mask):
        first = 0
        while first < len(segment):
            end = np.searchsorted(starts, starts[first] + BLOCK_TOKENS, side="right")
            last = max(first + 1, min(int(end) - 1, len(segment)))
            if mask[first:last].any():
                yield Block(segment, np.arange(first, last), adjacent=True)
            first = last
    else:
        yield from gathered_blocks(segment, np.flatnonzero(mask))


def gathered_blocks(segment: Segment, passages: Ints) -> Iterator[Block]:
    """Yield these passages in blocks of limited size."""
    lengths = segment.passage_starts[passages + 1] - segment.passage_starts[passages]
    block_numbers = np.cumsum(lengths) // GATHERED_TOKENS
    for run in np.split(passages, np.flatnonzero(np.diff(block_numbers)) + 1):
        if len(run):
            yield Block(segment, run, adjacent=False)


@dataclass(frozen=True, slots=True)
class BlockScores:
    """Scores of a block's units (u, n), their sentences (u,) and passages (u,), and the passages' scores (p, n)."""

    block: Block
    scores: Floats
    owners: Ints
    passage_scores: Floats
    sentences: npt.NDArray[np.int32]


def score_block(
    block: Block, query: EncodedQuery, weights: QueryWeights, mask: Mask, *, compiled: bool = False
) -> BlockScores:
    """Score all units of a block in one pass over its vectors; units outside of the segment's mask score -inf."""
    if weights.alignment != NEAREST:
        return _score_aligned(block, query, weights, mask)
    unit_best = (_unit_best_compiled if compiled and block.segment.codec.bits < 16 else _unit_best)(block, query)
    return scores_from_best(block, unit_best, weights, mask)


def scores_from_best(block: Block, unit_best: Floats, weights: QueryWeights, mask: Mask) -> BlockScores:
    """Score units from their best similarity to each query token.  unit_best (u, q)"""
    passage_scores = weighted_sums(best_matches(unit_best, block.passage_units[:-1]), weights.passages)
    unit_scores = None if weights.passage_share is None else weighted_sums(unit_best, weights.units)
    return block_scores(block, passage_scores, unit_scores, weights.passage_share, mask)


def _score_aligned(block: Block, query: EncodedQuery, weights: QueryWeights, mask: Mask) -> BlockScores:
    """Score units under any alignment, from the similarities of all tokens."""
    from propcite.retrieval.alignment.scoring import TextTokens, score_runs

    segment, alignment = block.segment, weights.alignment
    similarities = segment.codec.similarities(segment.payload[block.tokens], segment.scales[block.tokens], query)
    same = None
    if alignment.needs_words:
        same = segment.vocabulary_ids(block.tokens)[:, None] == _query_words(weights)
    texts = TextTokens(same, segment.salience(block.tokens) if alignment.salient else None)
    passage_starts = block.unit_starts[block.passage_units]
    passage_scores = score_runs(similarities, passage_starts, weights.passages, alignment, texts)
    unit_scores = None
    if weights.passage_share is not None:
        unit_scores = score_runs(similarities, block.unit_starts, weights.units, alignment, texts)
    return block_scores(block, passage_scores, unit_scores, weights.passage_share, mask)


def _query_words(weights: QueryWeights) -> Ints:
    if weights.words is None:
        raise ValueError(f"the alignment {weights.alignment} needs the query's vocabulary ids: give `words`")
    return weights.words


def block_scores(
    block: Block, passage_scores: Floats, unit_scores: Floats | None, share: float | None, mask: Mask
) -> BlockScores:
    """Combine the scores of a block's passages (p, n) and units (u, n); what the mask leaves out scores -inf."""
    allowed = mask[block.passages]
    if unit_scores is None or share is None:
        passage_scores[~allowed] = -np.inf
        numbers = np.arange(len(block.passages))
        return BlockScores(block, passage_scores, numbers, passage_scores, np.full(len(numbers), HEAD, np.int32))
    owners, segment = block.owners, block.segment
    scores = combine_scores(unit_scores, passage_scores[owners], share)
    scores[~(segment.unit_ranked[block.units] & allowed[owners])] = -np.inf
    return BlockScores(block, scores, owners, passage_scores, segment.unit_sentences[block.units])


def _unit_best(block: Block, query: EncodedQuery) -> Floats:
    segment = block.segment
    similarities = segment.codec.similarities(segment.payload[block.tokens], segment.scales[block.tokens], query)
    return best_matches(similarities, block.unit_starts[:-1])


def _unit_best_compiled(block: Block, query: EncodedQuery) -> Floats:
    """Compute the same as `_unit_best` from integers, without writing the similarities as floats."""
    from propcite.retrieval.index import kernels

    segment, tokens = block.segment, block.tokens
    payload = segment.payload[tokens] if isinstance(tokens, slice) else np.take(segment.payload, tokens, axis=0)
    rows = payload if segment.codec.bits == 8 else unpack_rows(payload, segment.codec.unpacking)
    products = int_products(rows, query.rows)
    best = np.empty((len(block.unit_starts) - 1, len(query.rows)), np.float32)
    scales = segment.scales[block.tokens].astype(np.float32)
    kernels.unit_best(products, scales, query.scales, block.unit_starts, best)
    return best


def unpack_rows(payload: Payload, unpacking: npt.NDArray[Any]) -> Rows:
    """Return a packed payload as integer rows; a compiled loop is faster than numpy's look-up."""
    from propcite.retrieval.index import kernels

    wide = np.empty(payload.shape, unpacking.dtype)
    kernels.unpack(payload, unpacking, wide)
    rows: Rows = wide.view(np.int8)
    return rows


def best_hits(
    blocks: Sequence[BlockScores], row: int, k: int, extra: Sequence[dict[str, Floats]] = ()
) -> list[IndexHit]:
    """Return the k best units of all blocks for one row, best first, ties by passage id, then in its order.

    `extra` holds further scores of each block's units, by the names of an IndexHit's fields.
    """
    if not blocks or k < 1:
        return []
    scores = np.concatenate([b.scores[:, row] for b in blocks])
    bounds = np.cumsum([0] + [len(b.scores) for b in blocks])
    places = []
    for position in _largest(scores, k).tolist():
        number = int(np.searchsorted(bounds, position, side="right")) - 1
        scored, unit = blocks[number], position - int(bounds[number])
        passage_id = scored.block.segment.ids[int(scored.block.passages[scored.owners[unit]])]
        places.append((-float(scores[position]), passage_id, int(scored.sentences[unit]), number, unit))
    return [
        IndexHit(
            passage_id=passage_id,
            sentence=None if sentence == HEAD else sentence,
            score=-negative,
            passage_score=float(blocks[number].passage_scores[blocks[number].owners[unit], row]),
            **({name: float(values[unit, row]) for name, values in extra[number].items()} if extra else {}),
        )
        for negative, passage_id, sentence, number, unit in sorted(places)[:k]
    ]


def _largest(scores: Floats, k: int) -> Ints:
    """Return the positions of the k largest finite scores, and of those that equal the last of them.

    >>> _largest(np.array([0.1, -np.inf, 0.5, 0.5], np.float32), 1).tolist()
    [2, 3]
    """
    positions = np.flatnonzero(np.isfinite(scores))
    if len(positions) > k:
        threshold = np.partition(scores[positions], len(positions) - k)[len(positions) - k]
        positions = positions[scores[positions] >= threshold]
    return positions


def as_numbers(selection: Selection) -> Ints:
    return np.arange(selection.start, selection.stop) if isinstance(selection, slice) else selection


def run_members(starts: Ints, runs: Ints) -> Ints:
    """Return the members of some runs; run i holds starts[i] to starts[i + 1].

    >>> run_members(np.array([0, 2, 5, 6]), np.array([2, 0])).tolist()
    [5, 0, 1]
    """
    first, lengths = starts[runs], starts[runs + 1] - starts[runs]
    before = np.cumsum(lengths) - lengths
    members: Ints = np.repeat(first - before, lengths) + np.arange(int(lengths.sum()))
    return members


def _run_starts(starts: Ints, runs: Selection) -> Ints:
    """Return where some runs begin when they are concatenated, and where the last one ends."""
    if isinstance(runs, slice):
        return starts[runs.start : runs.stop + 1] - starts[runs.start]
    ends: Any = np.cumsum(starts[runs + 1] - starts[runs])
    return np.concatenate([[0], ends])
