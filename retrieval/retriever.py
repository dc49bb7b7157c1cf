"""Retriever = encoder + index + passages: from a text to the passages, sentences and propositions nearest to it."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from propcite.retrieval.alignment import NEAREST, Alignment
from propcite.retrieval.encoding.base import Floats, Ints, TextEncoder, TokenVectors, joined_if_all
from propcite.retrieval.granularity import joined, score_units, span_weights
from propcite.retrieval.index import Index, IndexHit
from propcite.retrieval.index.token_index import TokenIndex
from propcite.retrieval.text import Granularity, Hit, Passage, Span

Units = Sequence[tuple[Span, ...]]  # pieces of one text, each one or more spans of it
Split = Callable[[Sequence[str]], Sequence[Units]]  # the propositions of sentences
PASSAGE_SHARE = 0.3  # how much of a sentence's score is its passage's
SPLIT_AT_ONCE = 8  # sentences split together while looking for propositions


def whole_sentences(sentences: Sequence[str]) -> Sequence[Units]:
    """The splitter of those who have none: every sentence is one proposition."""
    return [[(Span(0, len(sentence)),)] for sentence in sentences]


@dataclass(frozen=True, slots=True)
class _Rows:
    """One row of token weights for each thing that is ranked alone: against units, and against their passages."""

    units: Floats
    passages: Floats


@dataclass(frozen=True, slots=True)
class _Query:
    """A text's tokens as they ask for units and, where the model tells the two apart, as they ask for passages."""

    for_units: TokenVectors
    for_passages: TokenVectors | None = None

    @property
    def vectors(self) -> Floats:
        """Both in one matrix, so that one pass over an index serves both.  (q, d)"""
        if self.for_passages is None:
            return self.for_units.vectors
        return np.concatenate([self.for_units.vectors, self.for_passages.vectors])

    @property
    def words(self) -> Ints | None:
        """What these tokens are in the vocabulary.  (q,)"""
        return joined_if_all([tokens.ids for tokens in (self.for_units, self.for_passages) if tokens])

    @property
    def whole(self) -> _Rows:
        """The whole text."""
        return self._rows(lambda tokens: tokens.weights()[None, :])

    def of(self, pieces: Units) -> _Rows:
        """Each piece of the text by its own tokens."""
        return self._rows(lambda tokens: span_weights(tokens, pieces))

    def _rows(self, weights: Callable[[TokenVectors], Floats]) -> _Rows:
        units = weights(self.for_units)
        if self.for_passages is None:
            return _Rows(units, units)
        passages = weights(self.for_passages)
        nothing = np.zeros_like(units), np.zeros_like(passages)
        return _Rows(np.hstack([units, nothing[1]]), np.hstack([nothing[0], passages]))


@dataclass(frozen=True, slots=True)
class Retriever:
    """Searches one collection.  `find` gives the passages of some ids; `split` names sentences' propositions.

    `alignment` says which tokens of a query and of a text count together; `asking` is the share of a query's tokens,
    the most salient, that look for candidates.
    """

    encoder: TextEncoder
    index: Index
    find: Callable[[Sequence[str]], Mapping[str, Passage]]
    split: Split = whole_sentences
    passage_share: float = PASSAGE_SHARE
    alignment: Alignment = NEAREST
    asking: float = 1.0
    allow: frozenset[str] | None = None

    @classmethod
    def over(
        cls,
        encoder: TextEncoder,
        passages: Sequence[Passage],
        split: Split = whole_sentences,
        alignment: Alignment = NEAREST,
    ) -> Retriever:
        """A retriever over these passages alone, in memory."""
        by_id = {p.id: p for p in passages}
        if len(by_id) < len(passages):
            (twice, _), *_ = Counter(p.id for p in passages).most_common(1)
            raise ValueError(f"two passages have the same id {twice[:60]!r}: give each its own")
        index = TokenIndex(encoder.dimension, encoder.name, bits=16)
        index.add(passages, encoder.encode_passages(passages))
        return cls(encoder, index, lambda ids: {i: by_id[i] for i in ids if i in by_id}, split, alignment=alignment)

    def only(self, ids: Iterable[str]) -> Retriever:
        """The same retriever over the passages of these ids alone; they are left out before ranking, not after."""
        wanted = frozenset(ids)
        return replace(self, allow=wanted if self.allow is None else wanted & self.allow)

    def search(
        self,
        text: str,
        granularity: Granularity = Granularity.PASSAGE,
        k: int = 10,
        timings: dict[str, float] | None = None,
    ) -> list[Hit]:
        """The k units nearest to the whole text, best first.  `timings` receives milliseconds a stage."""
        if not text.strip() or k < 1:
            return []
        start = time.perf_counter()
        query = self._read([text], granularity)[0]
        if timings is not None:
            timings["encode"] = 1000 * (time.perf_counter() - start)
        if granularity == Granularity.PROPOSITION:
            return self._propositions(query, query.whole, k, timings)
        return self._units(query, query.whole, granularity, k, timings)[0]

    def search_spans(
        self,
        texts: Sequence[str],
        spans: Sequence[Units],
        k: int,
        granularity: Granularity = Granularity.SENTENCE,
    ) -> list[list[list[Hit]]]:
        """For each piece of each text the k nearest units, ranked by the piece's own tokens only.

        A text is encoded once and whole, so a piece is read in its context.  -> texts x pieces x hits
        """
        read = zip(self._read(texts, granularity), spans, strict=True)
        if granularity == Granularity.PROPOSITION:
            return [[self._propositions(query, query.of([piece]), k) for piece in pieces] for query, pieces in read]
        return [self._units(query, query.of(pieces), granularity, k) for query, pieces in read]

    def passages(self) -> list[Passage]:
        """All passages that a search may return, in the order of their ids."""
        found = self.find(sorted(self.index.ids() if self.allow is None else self.allow))
        return [found[i] for i in sorted(found)]

    def _read(self, texts: Sequence[str], granularity: Granularity) -> list[_Query]:
        """Each text as a query for units of this granularity, and for the passages that hold them."""
        units = self.encoder.encode_queries(texts, granularity)
        if granularity == Granularity.PASSAGE or not self.encoder.knows(granularity) or not self.passage_share:
            return [_Query(query) for query in units]
        return [_Query(*both) for both in zip(units, self.encoder.encode_queries(texts), strict=True)]

    def _units(
        self, query: _Query, rows: _Rows, granularity: Granularity, k: int, timings: dict[str, float] | None = None
    ) -> list[list[Hit]]:
        """The best under the retriever's alignment."""
        if not len(rows.units):
            return []
        allow = self.allow
        while True:
            found = self.index.search(
                query.vectors,
                rows.units,
                k=k,
                granularity=granularity,
                passage_share=self.passage_share,
                passage_weights=rows.passages,
                allow=allow,
                asking=self.asking,
                worths=self._worths(query) if self.asking < 1 else None,
                alignment=self.alignment,
                words=query.words,
                timings=timings,
            )
            ids = {hit.passage_id for row in found for hit in row}
            passages = self.find(list(ids))
            if len(passages) == len(ids):
                return [[_hit(hit, passages[hit.passage_id]) for hit in row] for row in found]
            # A document is being replaced or removed: its passages must not take the places of others.
            allow = frozenset(self.index.ids() if allow is None else allow) - (ids - passages.keys())

    def _worths(self, query: _Query) -> Floats | None:
        """Of both readings of the query in one row, as their vectors lie in one matrix.  (q,)"""
        parts = [tokens for tokens in (query.for_units, query.for_passages) if tokens]
        return joined_if_all([self.encoder.worths(tokens) for tokens in parts])

    def _propositions(self, query: _Query, asked: _Rows, k: int, timings: dict[str, float] | None = None) -> list[Hit]:
        """The best for one row of weights.

        Exact where tokens are aligned with their nearest, though few sentences are split: there a proposition never
        beats its own sentence, so once k of them beat the next sentence nothing better can follow.
        """
        best: list[Hit] = []
        seen, wanted = 0, 4 * k
        while True:
            sentences = self._units(query, asked, Granularity.SENTENCE, wanted, timings)[0]
            for first in range(seen, len(sentences), SPLIT_AT_ONCE):
                if len(best) >= k and best[k - 1].score >= sentences[first].score:
                    return best[:k]
                found = self._within(sentences[first : first + SPLIT_AT_ONCE], query, asked)
                best = sorted([*best, *found], key=lambda hit: -hit.score)
            if len(sentences) < wanted:
                return best[:k]
            seen, wanted = len(sentences), 4 * wanted

    def _within(self, sentences: Sequence[Hit], query: _Query, asked: _Rows) -> list[Hit]:
        """The propositions of these sentences, each with its own score."""
        places = [(hit.passage, hit.spans[0]) for hit in sentences]
        hits = []
        for hit, pieces in zip(sentences, self.split([p.of(passage.text) for passage, p in places]), strict=True):
            passage, place = hit.passage, hit.spans[0]
            units = [tuple(s.shifted(place.start) for s in spans) for spans in pieces]
            tokens, weights = self.index.vectors(passage.id), asked.units[0]
            alone = score_units(query.vectors, weights, tokens, units, self.alignment, query.words)
            scores = joined(alone, np.full_like(alone, hit.passage_score), self.passage_share)
            hits += [
                Hit(passage, Granularity.PROPOSITION, unit, float(score), hit.passage_score)
                for unit, score in zip(units, scores, strict=True)
                if np.isfinite(score)
            ]
        return hits


def _hit(hit: IndexHit, passage: Passage) -> Hit:
    if hit.sentence is None:
        span = Span(0, len(passage.text))
        return Hit(passage, Granularity.PASSAGE, (span.trimmed(passage.text),), hit.score, hit.passage_score)
    span = passage.sentences[hit.sentence].span.trimmed(passage.text)
    return Hit(passage, Granularity.SENTENCE, (span,), hit.score, hit.passage_score)
