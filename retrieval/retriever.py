"""Retriever = encoder + index + passages: from a text to the passages, sentences and propositions nearest to it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from retrieval.encoder import Encoder, Floats, TokenVectors
from retrieval.granularity import joined, mean_weights, score_units, span_weights
from retrieval.index import Index, IndexHit
from retrieval.index.exact import ExactIndex
from retrieval.text import Granularity, Hit, Passage, Span

Units = Sequence[tuple[Span, ...]]  # pieces of one text, each one or more spans of it
Split = Callable[[Sequence[str]], Sequence[Units]]  # the propositions of sentences
PASSAGE_SHARE = 0.3  # how much of a sentence's score is its passage's
SPLIT_AT_ONCE = 8  # sentences split together while looking for propositions


def whole_sentences(sentences: Sequence[str]) -> Sequence[Units]:
    """The splitter of those who have none: every sentence is one proposition."""
    return [[(Span(0, len(sentence)),)] for sentence in sentences]


@dataclass(frozen=True, slots=True)
class Retriever:
    """Searches one collection.  `find` gives the passages of some ids; `split` names sentences' propositions."""

    encoder: Encoder
    index: Index
    find: Callable[[Sequence[str]], Mapping[str, Passage]]
    split: Split = whole_sentences
    passage_share: float = PASSAGE_SHARE
    allow: frozenset[str] | None = None

    @classmethod
    def over(cls, encoder: Encoder, passages: Sequence[Passage], split: Split = whole_sentences) -> Retriever:
        """A retriever over these passages alone, in memory."""
        by_id = {p.id: p for p in passages}
        if len(by_id) < len(passages):
            raise ValueError("two passages have the same id: give each its own")
        index = ExactIndex(encoder.dimension, encoder.name)
        index.add(passages, encoder.encode_passages(passages))
        return cls(encoder, index, lambda ids: {i: by_id[i] for i in ids if i in by_id}, split)

    def only(self, ids: Iterable[str]) -> Retriever:
        """The same retriever over the passages of these ids alone; they are left out before ranking, not after."""
        wanted = frozenset(ids)
        return replace(self, allow=wanted if self.allow is None else wanted & self.allow)

    def search(self, text: str, granularity: Granularity = Granularity.PASSAGE, k: int = 10) -> list[Hit]:
        """The k units nearest to the whole text, best first."""
        if not text.strip() or k < 1:
            return []
        query = self.encoder.encode_queries([text], granularity)[0]
        weights = mean_weights(np.ones(len(query), dtype=bool))
        if granularity == Granularity.PROPOSITION:
            return self._propositions(query, weights, k)
        return self._units(query.vectors, weights[None, :], granularity, k)[0]

    def search_spans(self, texts: Sequence[str], spans: Sequence[Units], k: int) -> list[list[list[Hit]]]:
        """For each piece of each text the k nearest sentences, ranked by the piece's own token vectors only.

        A text is encoded once and whole, so a piece is read in its context.  -> texts x pieces x hits
        """
        queries = self.encoder.encode_queries(texts, Granularity.SENTENCE)
        return [
            self._units(query.vectors, span_weights(query, pieces), Granularity.SENTENCE, k)
            for query, pieces in zip(queries, spans, strict=True)
        ]

    def _units(self, query: Floats, weights: Floats, granularity: Granularity, k: int) -> list[list[Hit]]:
        if not len(weights):
            return []
        allow = self.allow
        while True:
            rows = self.index.search(
                query, weights, k=k, granularity=granularity, passage_share=self.passage_share, allow=allow
            )
            found = {hit.passage_id for row in rows for hit in row}
            passages = self.find(list(found))
            if len(passages) == len(found):
                return [[_hit(hit, passages[hit.passage_id]) for hit in row] for row in rows]
            # A document is being replaced or removed: its passages must not take the places of others.
            allow = frozenset(self.index.ids() if allow is None else allow) - (found - passages.keys())

    def _propositions(self, query: TokenVectors, weights: Floats, k: int) -> list[Hit]:
        """Exact, though few sentences are split: a proposition never beats its own sentence, so once k of them
        beat the next sentence nothing better can follow."""
        best: list[Hit] = []
        seen, wanted = 0, 4 * k
        while True:
            sentences = self._units(query.vectors, weights[None, :], Granularity.SENTENCE, wanted)[0]
            for first in range(seen, len(sentences), SPLIT_AT_ONCE):
                if len(best) >= k and best[k - 1].score >= sentences[first].score:
                    return best[:k]
                found = self._within(sentences[first : first + SPLIT_AT_ONCE], query, weights)
                best = sorted([*best, *found], key=lambda hit: -hit.score)
            if len(sentences) < wanted:
                return best[:k]
            seen, wanted = len(sentences), 4 * wanted

    def _within(self, sentences: Sequence[Hit], query: TokenVectors, weights: Floats) -> list[Hit]:
        """The propositions of these sentences, each with its own score."""
        places = [(hit.passage, hit.spans[0]) for hit in sentences]
        hits = []
        for hit, pieces in zip(sentences, self.split([p.of(passage.text) for passage, p in places]), strict=True):
            passage, place = hit.passage, hit.spans[0]
            units = [tuple(s.shifted(place.start) for s in spans) for spans in pieces]
            alone = score_units(query.vectors, weights, self.index.vectors(passage.id), units)
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
