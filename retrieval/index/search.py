"""One search through the segments of an index: candidates according to the regime, then a common ranking."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from propcite.retrieval.encoding.base import Floats, Ints, Mask
from propcite.retrieval.errors import RetrievalError
from propcite.retrieval.index import IndexHit, Regime
from propcite.retrieval.index.centroid_codes import nearest_lists
from propcite.retrieval.index.codec import EncodedQuery, int_products
from propcite.retrieval.index.exchange import Steps, Sums, among_best, best_of_all, exchanged
from propcite.retrieval.index.live_segment import LiveSegment
from propcite.retrieval.index.plan import SearchPlan
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
    floors_of,
    from_floors,
    nearest_of,
    nearest_tokens,
    tokens_in_lists,
)
from propcite.retrieval.timing import Timer
from propcite.retrieval.words.query import WordQuery
from propcite.retrieval.words.scoring import WordScorer
from propcite.retrieval.words.search import WordSearch, passages_with_terms, with_phrases

if TYPE_CHECKING:
    from propcite.retrieval.index.centroid_candidates import CentroidSearch

FEW_TOKENS = 30_000  # if a filter leaves no more, all of them are read in any regime
DEFAULT_REFINED = 400  # candidates read as a whole, per row
REFINED_PER_HIT = 8  # or so many per requested hit, if that is more
DEFAULT_RETRIEVED = 1_000  # tokens retrieved per query token, for XTR's scores
LISTED_PER_RETRIEVED = 4  # so many times the tokens are compared, in the lists of the nearest centroids
LARGE_SHARE = 0.5  # of all tokens: if a search allows more, it needs no count of the allowed ones per centroid
FOUND_BY_WORDS = 0.25  # of the candidates; where words rank alone, all of them


@dataclass(eq=False)
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
    _of_all: Sums = field(init=False)  # the sizes of all parts of the index
    _words: WordSearch | None = field(init=False, default=None)

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

    def steps(self, k: int) -> Steps[list[list[IndexHit]]]:
        """Yield what this part of an index says of itself, and return its k best units of each row, best first."""
        self._of_all = yield from exchanged(self._sizes)
        self._words = self._word_search()
        blocks, extra = yield from self._scored_blocks(k)
        if self._words:
            with self.timer("words"):
                blocks, extra = self._words.added(blocks, extra)
        with self.timer("choose"):
            return [best_hits(blocks, row, k, extra) for row in range(len(self.weights.units))]

    @property
    def _sizes(self) -> Sums:
        sizes = dict(self.plan.sizes.values)
        sizes["allowed"] = sizes["coded"] = 0
        for live, mask in self._segments if sizes["codes"] or self._limited else ():
            allowed = live.segment.num_tokens_in(mask)
            sizes["allowed"] += allowed
            sizes["coded"] += allowed if live.centroid_codes else 0
        if self.words:
            sizes["postings"] = sum(live.postings is not None for live in self.plan.segments)
            sizes["num_with"] = passages_with_terms(self.words, self.plan.segments)
        return Sums(sizes)

    def _word_search(self) -> WordSearch | None:
        of_all, words = self._of_all, self.words
        if words is None:
            return None
        if of_all["segments"] and not of_all["postings"] and (words.alone or words.phrases):
            raise RetrievalError("the index stores no words of its tokens: run propcite reindex")
        # Passages are counted with deleted ones, as in the postings.
        scorer = WordScorer.of(words, of_all["num_with"], of_all["passages"], of_all["tokens"])
        return WordSearch(scorer, self.weights.passage_share)

    @property
    def _limited(self) -> bool:
        return self.filtered or bool(self.words and self.words.phrases)

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
    def _segments(self) -> list[tuple[LiveSegment, Mask]]:
        masks = with_phrases(self.words, self.masks) if self.words else self.masks
        return [(live, mask) for live, mask in masks.items() if mask.any()]

    def _scored_blocks(self, k: int) -> Steps[tuple[list[BlockScores], list[dict[str, Floats]]]]:
        """Return scored blocks, and further scores of their units by names of IndexHit's fields."""
        number = max(DEFAULT_REFINED, REFINED_PER_HIT * k) if self.refine is None else self.refine
        if self.weights.alignment.kind == "xtr":
            number = 0
        if self._words and self._words.alone:
            candidates = yield from self._word_candidates(self._words, number or DEFAULT_REFINED)
            return self._words.blocks(self._segments, candidates), []
        if number and (self._regime == "exact" or self._few_allowed):
            return self._score_all(), []
        if number and self._regime == "tokens":
            with self.timer("candidates"):
                candidates = yield from self._joined((yield from self._centroid_candidates(number)), number)
            return self._refine(candidates), []
        return (yield from self._search_by_xtr(number))

    @cached_property
    def _regime(self) -> Regime:
        return self.plan.regime(self._of_all)

    @cached_property
    def _few_allowed(self) -> bool:
        """Return whether a filter leaves so few tokens that reading all is cheaper than looking for candidates."""
        return self._limited and self._of_all["allowed"] <= FEW_TOKENS

    def _score_all(self) -> list[BlockScores]:
        with self.timer("rank"):
            return [
                score_block(block, self._encoded, self.weights, mask)
                for live, mask in self._segments
                for block in blocks_of(live.segment, mask)
            ]

    @cached_property
    def _centroid_search(self) -> CentroidSearch:
        from propcite.retrieval.index.centroid_candidates import CentroidSearch

        coded = [(live.centroid_codes, mask) for live, mask in self._segments if live.centroid_codes]
        return CentroidSearch.of(self.plan.centroids, *self._candidate_query, coded)

    @property
    def _few_left_out(self) -> bool:
        return not self._limited or self._of_all["allowed"] > LARGE_SHARE * self._of_all["tokens"]

    def _centroid_candidates(self, number: int) -> Steps[list[Ints]]:
        """Return the candidates of each segment: all passages if it has no codes."""
        from propcite.retrieval.index.centroid_candidates import find_candidates

        found = yield from find_candidates(
            self._centroid_search, number, self._of_all["coded"], few_left_out=self._few_left_out
        )
        candidates = iter(found)
        return [next(candidates) if live.centroid_codes else np.flatnonzero(mask) for live, mask in self._segments]

    def _joined(self, candidates: Sequence[Ints], number: int) -> Steps[list[Ints]]:
        """Return these candidates of each segment with those that words find."""
        if not self._words:
            return list(candidates)
        by_words = yield from self._word_candidates(self._words, round(FOUND_BY_WORDS * number))
        return [np.union1d(*both) for both in zip(candidates, by_words, strict=True)]

    def _word_candidates(self, words: WordSearch, number: int) -> Steps[list[Ints]]:
        """Return the passages of each segment that share the rarest words, about the best `number` of each row."""
        passages, scores = words.candidates(self._segments)
        best = yield from exchanged(best_of_all(scores, len(self.weights.units), number))
        return among_best(scores, passages, best)

    def _refine(self, candidates: Sequence[Ints]) -> list[BlockScores]:
        """Score the candidates of each segment from all their tokens."""
        with self.timer("rank"):
            return [
                score_block(block, self._encoded, self.weights, mask, compiled=True)
                for (live, mask), passages in zip(self._segments, candidates, strict=True)
                for block in gathered_blocks(live.segment, passages)
            ]

    def _search_by_xtr(self, number: int) -> Steps[tuple[list[BlockScores], list[dict[str, Floats]]]]:
        query, weights = self._candidate_query
        with self.timer("retrieve"):
            retrieved = yield from self._retrieved()
            nearest = nearest_of(retrieved, len(query.rows), self._num_retrieved)
            floors = floors_of((yield from exchanged(nearest)))
            matches = from_floors(retrieved, floors)
            scorers = [XtrScorer(live.segment, m, floors) for (live, _), m in zip(self._segments, matches, strict=True)]
            bounding = scorers
            if self.missing_similarity is not None:
                scorers = [scorer.with_floor(self.missing_similarity) for scorer in scorers]
        with self.timer("candidates"):
            candidates = [scorer.passages for scorer in scorers]
            if number:
                from propcite.retrieval.index.centroid_candidates import xtr_candidates

                found = yield from xtr_candidates(scorers, weights, number)
                candidates = yield from self._joined(found, number)
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

    def _retrieved(self) -> Steps[list[TokenMatches]]:
        """Return the nearest tokens of each query token in each segment."""
        query, number = self._candidate_query[0], self._num_retrieved
        lists: list[Ints] = []
        if self._regime == "tokens" and not self._few_allowed:
            sizes = yield from exchanged(Sums({"sizes": self._centroid_search.list_sizes(whole=self._few_left_out)}))
            if self.plan.centroids:
                products = int_products(query.rows, self.plan.centroids.rows)
                lists = nearest_lists(products, sizes["sizes"], LISTED_PER_RETRIEVED * number)
        return [self._nearest(live, mask, query, lists) for live, mask in self._segments]

    def _nearest(self, live: LiveSegment, mask: Mask, query: EncodedQuery, lists: list[Ints]) -> TokenMatches:
        if self._regime == "faiss" and live.faiss_tokens and not self._few_allowed:
            return live.faiss_tokens.nearest(query.vectors, mask, self._num_retrieved)
        if lists and live.centroid_codes:
            return tokens_in_lists(live.centroid_codes, mask, lists, query)
        return nearest_tokens(live.segment, mask, query, self._num_retrieved)


def _regrouped(blocks: Sequence[BlockScores], lengths: Sequence[int]) -> list[Floats]:
    """Return the scores of all blocks, split into runs of these lengths."""
    scores = np.concatenate([block.scores for block in blocks]) if blocks else np.zeros((0, 1), np.float32)
    return np.split(scores, np.cumsum(lengths)[:-1]) if lengths else []
