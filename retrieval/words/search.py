"""The part of words in one search: candidates, phrases, and scores beside those of vectors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from propcite.retrieval.encoding.base import Floats, Ints, Mask
from propcite.retrieval.granularity import combine_scores
from propcite.retrieval.index.ranking import BlockScores, block_scores, gathered_blocks
from propcite.retrieval.words.query import WordQuery
from propcite.retrieval.words.scoring import WordScorer, passages_with, runs_of

if TYPE_CHECKING:
    from propcite.retrieval.index.live_segment import LiveSegment


def with_phrases(query: WordQuery, masks: Mapping[LiveSegment, Mask]) -> dict[LiveSegment, Mask]:
    """Return masks of the passages that have the pieces of every phrase."""
    limited = dict(masks)
    for phrase in query.phrases:
        for live, mask in limited.items():
            some = np.zeros(len(mask), bool)
            if live.postings:
                some[passages_with(live.postings, phrase)] = True
            limited[live] = mask & some
    return limited


def passages_with_terms(query: WordQuery, segments: Sequence[LiveSegment]) -> Ints:
    """Return the number of passages with each term.  (t,)"""
    num_with = np.zeros(len(query.keys), np.int64)
    for live in segments:
        if live.postings:
            first, last = live.postings.places(query.keys)
            num_with += last - first
    return num_with


@dataclass(frozen=True)
class WordSearch:
    """A query's words over the segments of an index.  `passage_share` is None where passages are ranked."""

    scorer: WordScorer
    passage_share: float | None

    @property
    def query(self) -> WordQuery:
        return self.scorer.query

    @property
    def alone(self) -> bool:
        return self.query.alone

    def candidates(self, segments: Sequence[tuple[LiveSegment, Mask]]) -> tuple[list[Ints], list[Floats]]:
        """Return for each segment the passages that share the rarest words with some row, and their scores.

        -> (p,), (n, p) per segment
        """
        none = np.zeros(0, np.int64), np.zeros((len(self.query.rows), 0), np.float32)
        pairs = [self.scorer.candidates(live.postings, mask) if live.postings else none for live, mask in segments]
        return [passages for passages, _ in pairs], [scores for _, scores in pairs]

    def blocks(self, segments: Sequence[tuple[LiveSegment, Mask]], candidates: Sequence[Ints]) -> list[BlockScores]:
        """Return blocks of the candidates of each segment, without scores of vectors."""
        blocks = []
        for (live, mask), passages in zip(segments, candidates, strict=True):
            for block in gathered_blocks(live.segment, passages):
                num_rows = len(self.query.rows)
                zeros = np.zeros((len(block.passages), num_rows), np.float32)
                units = np.zeros((len(block.unit_starts) - 1, num_rows), np.float32)
                blocks.append(block_scores(block, zeros, units, self.passage_share, mask))
        return blocks

    def added(
        self, blocks: Sequence[BlockScores], extra: Sequence[dict[str, Floats]]
    ) -> tuple[list[BlockScores], list[dict[str, Floats]]]:
        """Return the blocks with what words add to their scores, and this part of the scores beside them."""
        new, more = [], []
        for number, scored in enumerate(blocks):
            shares, own, matches = self._of(scored)
            words = shares if self.alone else self.query.share * shares
            scores = scored.scores + words
            scores[~matches] = -np.inf
            if self.alone:
                scores[own <= 0] = -np.inf
            new.append(replace(scored, scores=scores))
            more.append({**(extra[number] if extra else {}), "words": words})
        return new, more

    def _of(self, scored: BlockScores) -> tuple[Floats, Floats, Mask]:
        """Return the share of the query's words that a block's units have, and whether these have all phrases.

        -> with their passage's part and without (u, n) each, (u,)
        """
        block = scored.block
        of_units, of_passages = self.scorer.scores(block)
        runs = [runs_of(block, phrase) for phrase in self.query.phrases]
        if self.passage_share is None:
            runs = [np.logical_or.reduceat(run, block.passage_units[:-1]) for run in runs]
            words = of_units = of_passages
        else:
            words = combine_scores(of_units, of_passages[scored.owners], self.passage_share)
        return words, of_units, np.logical_and.reduce(runs, axis=0) if runs else np.ones(len(words), bool)
