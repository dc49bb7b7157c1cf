"""One search through the segments of an index: candidates according to the regime, then a common ranking."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Any, Literal, get_args

import numpy as np

from propcite.retrieval.encoding.base import Floats, Ints, Mask
from propcite.retrieval.index import IndexHit
from propcite.retrieval.index.centroid_codes import CentroidCodes, nearest_lists
from propcite.retrieval.index.centroids import Centroids
from propcite.retrieval.index.codec import Codec, EncodedQuery, int_products
from propcite.retrieval.index.live_segment import LiveSegment
from propcite.retrieval.index.ranking import (
    Block,
    BlockScores,
    QueryWeights,
    best_hits,
    blocks_of,
    gathered_blocks,
    score_block,
)
from propcite.retrieval.index.xtr import (
    TokenMatches,
    XtrScorer,
    keep_nearest,
    nearest_tokens,
    tokens_in_lists,
    xtr_candidates,
)
from propcite.retrieval.timing import Timer
from propcite.retrieval.words.query import WordQuery
from propcite.retrieval.words.search import WordSearch

Regime = Literal["auto", "exact", "tokens", "faiss"]

REGIMES: tuple[Regime, ...] = get_args(Regime)
EXACT_UP_TO = 100_000  # tokens; in a smaller index a search for candidates costs more than it saves
FEW_TOKENS = 30_000  # if a filter leaves no more, all of them are read in any regime
DEFAULT_REFINED = 400  # candidates read as a whole, per row
REFINED_PER_HIT = 8  # or so many per requested hit, if that is more
DEFAULT_RETRIEVED = 1_000  # tokens retrieved per query token, for XTR's scores
LISTED_PER_RETRIEVED = 4  # so many times the tokens are compared, in the lists of the nearest centroids
FOUND_BY_WORDS = 0.25  # of the candidates; where words rank alone, all of them


def valid_regime(regime: Regime) -> Regime:
    if regime not in REGIMES:
        raise ValueError(f"regime must be one of {', '.join(REGIMES)}, got {regime!r}")
    return regime


@dataclass(frozen=True)
class SearchPlan:
    """The state of an index that a search uses, with the regime that follows from it."""

    segments: Sequence[LiveSegment]
    codec: Codec
    centroids: Centroids | None
    setting: Regime
    exact_up_to: int

    @property
    def num_tokens(self) -> int:
        return sum(live.segment.num_tokens for live in self.segments)

    @cached_property
    def regime(self) -> Regime:
        """Return the regime for the setting and the size; without the files of a regime the next simpler one."""
        if self.setting == "faiss" and any(live.faiss_tokens for live in self.segments):
            return "faiss"
        small = self.setting == "auto" and self.num_tokens <= self.exact_up_to
        if self.setting == "exact" or small or not any(live.centroid_codes for live in self.segments):
            return "exact"
        return "tokens"


@dataclass(frozen=True)
class Search:
    """One query over the passages of the masks.

    `refine` candidates per row are read as a whole; None chooses a number for k, 0 ranks by XTR's scores, as the
    alignment `xtr` does.  Then `missing_similarity` replaces similarities that were not retrieved, None stands for the
    floor.  Only the `asking_share` of the query's tokens look for candidates: the largest by `worths`, or else by
    weight.  `filtered` says that the masks leave out passages that are not deleted.  `words` are the query's words,
    None if vectors rank alone.
    """

    plan: SearchPlan
    masks: Mapping[LiveSegment, Mask]
    query: Floats
    weights: QueryWeights
    refine: int | None = None
    num_retrieved: int = DEFAULT_RETRIEVED
    missing_similarity: float | None = None
    asking_share: float = 1.0
    worths: Floats | None = None
    filtered: bool = False
    timer: Timer = field(default_factory=Timer)
    words: WordQuery | None = None

    def __post_init__(self) -> None:
        query, units, passages = self.query, self.weights.units, self.weights.passages
        if query.ndim != 2 or query.shape[1] != self.plan.codec.dimension:
            raise ValueError(f"query vectors must have {self.plan.codec.dimension} dimensions, got shape {query.shape}")
        if not np.isfinite(query).all():
            raise ValueError("query vectors must be finite numbers")
        if units.ndim != 2 or units.shape[1] != len(query):
            raise ValueError(f"weights must have a column for each of {len(query)} query vectors, got {units.shape}")
        if passages.shape != units.shape:
            raise ValueError(f"weights for passages must have the shape {units.shape}, got {passages.shape}")
        if self.refine is not None and self.refine < 0:
            raise ValueError(f"refine must be 0 or more, got {self.refine}")
        if self.worths is not None and self.worths.shape != (len(query),):
            raise ValueError(
                f"worths must have the shape ({len(query)},) of the query vectors, got {self.worths.shape}"
            )
        if not 0 < self.asking_share <= 1:
            raise ValueError(f"a share of query tokens must be above 0 and at most 1, got {self.asking_share}")
        if self.num_retrieved < 1:
            raise ValueError(f"num_retrieved must be 1 or more, got {self.num_retrieved}")

    def hits(self, k: int) -> list[list[IndexHit]]:
        """Return the k best units of each row, best first."""
        with single_thread():
            blocks, extra = self._scored_blocks(k)
            if self._words:
                with self.timer("words"):
                    blocks, extra = self._words.added(blocks, extra)
            with self.timer("choose"):
                return [best_hits(blocks, row, k, extra) for row in range(len(self.weights.units))]

    @cached_property
    def _encoded(self) -> EncodedQuery:
        return self.plan.codec.encode_query(self.query)

    @cached_property
    def _candidate_query(self) -> tuple[EncodedQuery, QueryWeights]:
        """Return the query tokens that look for candidates, and their weights."""
        if self.asking_share == 1:
            return self._encoded, self.weights
        columns = self.weights.largest(self.asking_share, self.worths)
        return self._encoded.only(columns), self.weights.only(columns)

    @property
    def _num_retrieved(self) -> int:
        return self.weights.alignment.k if self.weights.alignment.kind == "xtr" else self.num_retrieved

    @cached_property
    def _words(self) -> WordSearch | None:
        return WordSearch.of(self.words, self.plan.segments, self.weights) if self.words else None

    @cached_property
    def _segments(self) -> list[tuple[LiveSegment, Mask]]:
        masks = self._words.with_phrases(self.masks) if self._words else self.masks
        return [(live, mask) for live, mask in masks.items() if mask.any()]

    def _scored_blocks(self, k: int) -> tuple[list[BlockScores], list[dict[str, Floats]]]:
        """Return scored blocks, and further scores of their units by names of IndexHit's fields."""
        number = max(DEFAULT_REFINED, REFINED_PER_HIT * k) if self.refine is None else self.refine
        if self.weights.alignment.kind == "xtr":
            number = 0
        if self._words and self._words.alone:
            return self._words.ranked(self._segments, number or DEFAULT_REFINED), []
        regime = self.plan.regime
        if number and (regime == "exact" or self._few_allowed):
            return self._score_all(), []
        if number and regime == "tokens":
            with self.timer("candidates"):
                candidates = self._joined(self._centroid_candidates(number), number)
            return self._refine(candidates), []
        return self._search_by_xtr(number)

    @cached_property
    def _few_allowed(self) -> bool:
        """Return whether a filter leaves so few tokens that reading all is cheaper than looking for candidates."""
        limited = self.filtered or bool(self.words and self.words.phrases)
        return limited and sum(live.segment.num_tokens_in(mask) for live, mask in self._segments) <= FEW_TOKENS

    def _score_all(self) -> list[BlockScores]:
        with self.timer("rank"):
            return [
                score_block(block, self._encoded, self.weights, mask)
                for live, mask in self._segments
                for block in blocks_of(live.segment, mask)
            ]

    def _centroid_candidates(self, number: int) -> list[Ints]:
        """Return the candidates of each segment: all passages if it has no codes."""
        from propcite.retrieval.index.centroid_candidates import CentroidTable, find_candidates

        assert self.plan.centroids is not None
        table = CentroidTable.of(self.plan.centroids, *self._candidate_query)
        candidates = iter(find_candidates(table, self._coded_segments, number))
        return [next(candidates) if live.centroid_codes else np.flatnonzero(mask) for live, mask in self._segments]

    def _joined(self, candidates: Sequence[Ints], number: int) -> list[Ints]:
        """Return these candidates of each segment with those that words find."""
        if not self._words:
            return list(candidates)
        by_words = self._words.candidates(self._segments, round(FOUND_BY_WORDS * number))
        return [np.union1d(*both) for both in zip(candidates, by_words, strict=True)]

    @property
    def _coded_segments(self) -> list[tuple[CentroidCodes, Mask]]:
        return [(live.centroid_codes, mask) for live, mask in self._segments if live.centroid_codes]

    def _refine(self, candidates: Sequence[Ints]) -> list[BlockScores]:
        """Score the candidates of each segment from all their tokens."""
        with self.timer("rank"):
            return [
                score_block(block, self._encoded, self.weights, mask, compiled=True)
                for (live, mask), passages in zip(self._segments, candidates, strict=True)
                for block in gathered_blocks(live.segment, passages)
            ]

    def _search_by_xtr(self, number: int) -> tuple[list[BlockScores], list[dict[str, Floats]]]:
        query, weights = self._candidate_query
        with self.timer("retrieve"):
            matches = [self._retrieve(live, mask) for live, mask in self._segments]
            matches, floors = keep_nearest(matches, len(query.rows), self._num_retrieved)
            scorers = [XtrScorer(live.segment, m, floors) for (live, _), m in zip(self._segments, matches, strict=True)]
            bounding = scorers
            if self.missing_similarity is not None:
                scorers = [scorer.with_floor(self.missing_similarity) for scorer in scorers]
        with self.timer("candidates"):
            candidates = [scorer.passages for scorer in scorers]
            if number:
                candidates = self._joined(xtr_candidates(scorers, weights, number), number)
        refined = self._refine(candidates) if number else None
        with self.timer("impute"):
            by_xtr = self._xtr_scores(scorers, candidates)
            bounds = by_xtr if bounding is scorers else self._xtr_scores(bounding, candidates)
            lengths = [len(block.scores) for block in refined or by_xtr]
            other_tokens = self.weights.max_scores() - weights.max_scores()  # the most that the other tokens can add
            extra = [
                {"xtr": x, "bound": b + other_tokens}
                for x, b in zip(*(_regrouped(blocks, lengths) for blocks in (by_xtr, bounds)), strict=True)
            ]
        return refined or by_xtr, extra

    def _xtr_scores(self, scorers: Sequence[XtrScorer], candidates: Sequence[Ints]) -> list[BlockScores]:
        """Return XTR's scores of the candidates, one block per segment, without reading vectors."""
        return [
            scorer.score_block(Block(scorer.segment, passages, adjacent=False), self._candidate_query[1], mask)
            for scorer, passages, (_, mask) in zip(scorers, candidates, self._segments, strict=True)
            if len(passages)
        ]

    def _retrieve(self, live: LiveSegment, mask: Mask) -> TokenMatches:
        query, number = self._candidate_query[0], self._num_retrieved
        if self._few_allowed:
            return nearest_tokens(live.segment, mask, query, number)
        if self.plan.regime == "faiss" and live.faiss_tokens:
            return live.faiss_tokens.nearest(query.vectors, mask, number)
        if self.plan.regime == "tokens" and live.centroid_codes and self.plan.centroids:
            return tokens_in_lists(live.centroid_codes, mask, self._nearest_lists, query)
        return nearest_tokens(live.segment, mask, query, number)

    @cached_property
    def _nearest_lists(self) -> list[Ints]:
        """Return for each query token the centroids whose lists are searched for its nearest tokens."""
        assert self.plan.centroids is not None
        products = int_products(self._candidate_query[0].rows, self.plan.centroids.rows)
        return nearest_lists(products, self._coded_segments, LISTED_PER_RETRIEVED * self._num_retrieved)


def _regrouped(blocks: Sequence[BlockScores], lengths: Sequence[int]) -> list[Floats]:
    """Return the scores of all blocks, split into runs of these lengths."""
    scores = np.concatenate([block.scores for block in blocks]) if blocks else np.zeros((0, 1), np.float32)
    return np.split(scores, np.cumsum(lengths)[:-1]) if lengths else []


def single_thread() -> AbstractContextManager[Any]:
    """Limit libraries to one thread: queries run in parallel, and a query's own threads would only wait."""
    limited: AbstractContextManager[Any] = _openmp().limit(limits=1)
    return limited


@lru_cache(maxsize=1)
def _openmp() -> Any:
    import torch  # noqa: F401 - its libraries must be loaded to be found
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController().select(user_api="openmp")
