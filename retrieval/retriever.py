"""Search a collection: rank its passages, sentences or propositions by a text's vectors and by its exact words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from propcite.retrieval.alignment import NEAREST, Alignment
from propcite.retrieval.copies import Dates, merge_copies, no_dates
from propcite.retrieval.encoding.base import Floats, Ints, TextEncoder, TokenVectors, joined_if_all
from propcite.retrieval.granularity import combine_scores, score_units, span_weights
from propcite.retrieval.index import Index, IndexHit
from propcite.retrieval.index.allowed import AllBut, Allowed, OnlyPassages, both
from propcite.retrieval.index.token_index import TokenIndex
from propcite.retrieval.text import Granularity, Hit, Passage, Span
from propcite.retrieval.timing import Timer
from propcite.retrieval.words.query import Way, WordQuery
from propcite.retrieval.words.shares import CLAIM_SHARES, QUESTION_SHARES, quoted_phrases

Units = Sequence[tuple[Span, ...]]  # pieces of one text, each of one or more spans
Split = Callable[[Sequence[str]], Sequence[Units]]  # returns the propositions of each sentence
PASSAGE_SHARE = 0.3  # of the passage's score in a sentence's
SPLIT_BATCH = 8  # sentences split together in a search for propositions
LOOKED_BEYOND = 8  # hits beyond those that are wanted, or half as many, are searched for copies
SEARCHED_AGAIN = 2  # times, each four times as deep, where copies fill a search


def whole_sentences(sentences: Sequence[str]) -> Sequence[Units]:
    """Return each sentence as one proposition: the default where no splitter is set."""
    return [[(Span(0, len(sentence)),)] for sentence in sentences]


@dataclass(frozen=True, slots=True)
class _Weights:
    """One row of token weights per piece of a query, for scoring units and for scoring their passages.  (n, q) each"""

    units: Floats
    passages: Floats


@dataclass(frozen=True, slots=True)
class _Query:
    """A text's tokens as a query for units and, if the model distinguishes the two, as a query for passages."""

    text: str
    for_units: TokenVectors
    for_passages: TokenVectors | None = None

    @property
    def vectors(self) -> Floats:
        """Return both in one matrix, so that one pass over an index serves both.  (q, d)"""
        if self.for_passages is None:
            return self.for_units.vectors
        return np.concatenate([self.for_units.vectors, self.for_passages.vectors])

    @property
    def words(self) -> Ints | None:
        """Return the tokens' vocabulary ids, None if unknown.  (q,)"""
        return joined_if_all([tokens.ids for tokens in (self.for_units, self.for_passages) if tokens])

    @property
    def whole(self) -> _Weights:
        """Return the weights of the whole text."""
        return self._weights(lambda tokens: tokens.weights()[None, :])

    def of(self, pieces: Units) -> _Weights:
        """Return one row per piece, with weight on the piece's own tokens only."""
        return self._weights(lambda tokens: span_weights(tokens, pieces))

    def _weights(self, weigh: Callable[[TokenVectors], Floats]) -> _Weights:
        units = weigh(self.for_units)
        if self.for_passages is None:
            return _Weights(units, units)
        passages = weigh(self.for_passages)
        return _Weights(np.hstack([units, np.zeros_like(passages)]), np.hstack([np.zeros_like(units), passages]))


@dataclass(frozen=True, slots=True)
class Retriever:
    """Searches one collection.

    `find` returns passages by id, `split` the propositions of sentences.  `alignment` is the pairs of tokens that
    count.  Only the most salient `asking_share` of a query's tokens look for candidates.  `allow` limits the search to
    some passages.  `way` ranks by vectors, by exact words, or by both.

    The same words at several places are one hit with `copies`: its own place is the one that the query or `about`, the
    question behind it, names, else the newest by `dates`.  Without `merging` each place is a hit of its own.

    `reopen` returns the index as it is now: it is searched where passages have vanished since `index` was opened.

    >>> from propcite import Encoder
    >>> passages = [Passage("a", "The bridge is 96 metres long."), Passage("b", "A ferry crosses.")]
    >>> [hit.passage.id for hit in Retriever.over(Encoder(), passages).search("How long is the bridge?", k=1)]
    ['a']
    """

    encoder: TextEncoder
    index: Index
    find: Callable[[Sequence[str]], Mapping[str, Passage]]
    split: Split = whole_sentences
    passage_share: float = PASSAGE_SHARE
    alignment: Alignment = NEAREST
    asking_share: float = 1.0
    allow: Allowed | None = None
    way: Way = "both"
    merging: bool = True
    dates: Dates = no_dates
    about: str = ""
    reopen: Callable[[], Index] | None = None

    @classmethod
    def over(
        cls,
        encoder: TextEncoder,
        passages: Sequence[Passage],
        split: Split = whole_sentences,
        alignment: Alignment = NEAREST,
        way: Way = "both",
    ) -> Retriever:
        """Build an in-memory retriever over these passages."""
        by_id = {p.id: p for p in passages}
        if len(by_id) < len(passages):
            (duplicate, _), *_ = Counter(p.id for p in passages).most_common(1)
            raise ValueError(f"two passages have the same id {duplicate[:60]!r}: give each its own")
        index = TokenIndex(encoder.dimension, encoder.name, bits=16)
        index.add(passages, encoder.encode_passages(passages))
        return cls(
            encoder, index, lambda ids: {i: by_id[i] for i in ids if i in by_id}, split, alignment=alignment, way=way
        )

    def by(self, way: Way) -> Retriever:
        """Return this retriever searching in another way."""
        return self if way == self.way else replace(self, way=way)

    def only(self, passages: Allowed | Iterable[str]) -> Retriever:
        """Return this retriever limited to these passages or ids; others are excluded before ranking, not after."""
        allowed = passages if isinstance(passages, Allowed) else OnlyPassages(frozenset(passages))
        return replace(self, allow=both(self.allow, allowed))

    def search(
        self,
        text: str,
        granularity: Granularity = Granularity.PASSAGE,
        k: int = 10,
        timer: Timer | None = None,
        *,
        phrases: bool = False,
    ) -> list[Hit]:
        """Return the k units nearest to the whole text, best first; `timer` measures the stages.

        With `phrases`, every hit has the words that the text puts in double quotes, in this order.
        """
        if not text.strip() or k < 1:
            return []
        timer = Timer() if timer is None else timer
        with timer("encode"):
            query = self._encode([text], granularity)[0]
        weights = query.whole
        words = self._words(query, weights, QUESTION_SHARES[granularity], quoted_phrases(text) if phrases else ())
        if granularity == Granularity.PROPOSITION:
            return self._propositions(query, weights, words, k, timer)
        return self._units(query, weights, words, granularity, k, timer)[0]

    def search_spans(
        self,
        texts: Sequence[str],
        spans: Sequence[Units],
        k: int,
        granularity: Granularity = Granularity.SENTENCE,
    ) -> list[list[list[Hit]]]:
        """Return the k nearest units for each piece of each text, ranked by the piece's own tokens only.

        A text is encoded whole, so a piece is read in its context.  -> texts x pieces x hits
        """
        timer = Timer()
        share = CLAIM_SHARES[granularity]
        found = []
        for query, pieces in zip(self._encode(texts, granularity), spans, strict=True):
            if granularity == Granularity.PROPOSITION:
                rows = [query.of([piece]) for piece in pieces]
                found.append([self._propositions(query, row, self._words(query, row, share), k, timer) for row in rows])
            else:
                weights = query.of(pieces)
                found.append(self._units(query, weights, self._words(query, weights, share), granularity, k, timer))
        return found

    def passages(self) -> list[Passage]:
        """Return all passages that a search may return, in the order of their ids."""
        by_id = self.find(sorted(self.index.ids(self.allow)))
        return [by_id[i] for i in sorted(by_id)]

    def vectors_of(self, ids: Collection[str]) -> dict[str, TokenVectors]:
        """Return the vectors of passages by id, also of those that a search found in the index as it is now."""
        vectors = self.index.vectors_of(ids)
        if self.reopen and len(vectors) < len(ids):
            vectors |= self.reopen().vectors_of(set(ids) - vectors.keys())
        return vectors

    def _encode(self, texts: Sequence[str], granularity: Granularity) -> list[_Query]:
        """Encode each text as a query for units of this granularity and for the passages around them."""
        units = self.encoder.encode_queries(texts, granularity)
        if granularity == Granularity.PASSAGE or not self.encoder.knows(granularity) or not self.passage_share:
            return [_Query(*both) for both in zip(texts, units, strict=True)]
        return [_Query(*all_) for all_ in zip(texts, units, self.encoder.encode_queries(texts), strict=True)]

    def _words(self, query: _Query, weights: _Weights, share: float, phrases: Sequence[Span] = ()) -> WordQuery | None:
        """Return the query's words; None where vectors rank alone."""
        if self.way == "vectors":
            if not phrases:
                return None
            share = 0.0
        tokens = query.for_units
        of_tokens = weights.units[:, : len(tokens)]
        return WordQuery.of(query.text, tokens, of_tokens, share, phrases, alone=self.way == "words")

    def _units(
        self,
        query: _Query,
        weights: _Weights,
        words: WordQuery | None,
        granularity: Granularity,
        k: int,
        timer: Timer,
    ) -> list[list[Hit]]:
        """Return the k best passages or sentences for each row of weights."""
        if not len(weights.units):
            return []
        if k < 1:
            return [[] for _ in weights.units]
        allow, again, index = self.allow, SEARCHED_AGAIN, self.index
        depth = k + max(LOOKED_BEYOND, k // 2) if self.merging else k
        while True:
            rows = index.search(
                query.vectors,
                weights.units,
                k=depth,
                granularity=granularity,
                passage_share=self.passage_share,
                passage_weights=weights.passages,
                allow=allow,
                asking_share=self.asking_share,
                worths=self._worths(query) if self.asking_share < 1 else None,
                alignment=self.alignment,
                words=query.words,
                word_query=words,
                timer=timer,
            )
            ids = {hit.passage_id for row in rows for hit in row}
            passages = self.find(list(ids))
            if len(passages) < len(ids):
                # A document is being replaced or removed: search again without its passages, so that others move up.
                allow = both(allow, AllBut(frozenset(ids - passages.keys())))
                index = self.reopen() if self.reopen else index
                continue
            hits = [[_hit(hit, passages[hit.passage_id]) for hit in row] for row in rows]
            if not self.merging:
                return hits
            merged = [merge_copies(row, f"{self.about}\n{query.text}", self.dates) for row in hits]
            full = all(len(one) >= k or len(row) < depth for one, row in zip(merged, rows, strict=True))
            if full or not again:
                return [row[:k] for row in merged]
            depth, again = 4 * depth, again - 1

    def _worths(self, query: _Query) -> Floats | None:
        """Return the encoder's `worths` of all query tokens, in the order of `query.vectors`; None if unknown.  (q,)"""
        parts = [tokens for tokens in (query.for_units, query.for_passages) if tokens]
        return joined_if_all([self.encoder.worths(tokens) for tokens in parts])

    def _propositions(
        self, query: _Query, weights: _Weights, words: WordQuery | None, k: int, timer: Timer
    ) -> list[Hit]:
        """Return the k best propositions for one row of weights, splitting only as many sentences as needed.

        Under the alignment `NEAREST` the result is exact: a proposition never scores above its own sentence, so once k
        propositions score at least as high as the next sentence nothing better can follow.
        """
        best: list[Hit] = []
        done, limit = 0, 4 * k
        while True:
            sentences = self._units(query, weights, words, Granularity.SENTENCE, limit, timer)[0]
            for first in range(done, len(sentences), SPLIT_BATCH):
                if len(best) >= k and best[k - 1].score >= sentences[first].score:
                    return best[:k]
                hits = self._propositions_of(sentences[first : first + SPLIT_BATCH], query, weights, words)
                best = sorted([*best, *hits], key=lambda hit: -hit.score)
            if len(sentences) < limit:
                return best[:k]
            done, limit = len(sentences), 4 * limit

    def _propositions_of(
        self, sentences: Sequence[Hit], query: _Query, weights: _Weights, words: WordQuery | None
    ) -> list[Hit]:
        """Split these sentences and score each proposition, which has the words of its sentence."""
        places = [(hit.passage, hit.spans[0]) for hit in sentences]
        vectors = self.vectors_of({hit.passage.id for hit in sentences})
        hits = []
        for hit, pieces in zip(sentences, self.split([p.of(passage.text) for passage, p in places]), strict=True):
            passage, place = hit.passage, hit.spans[0]
            units = [tuple(s.shifted(place.start) for s in spans) for spans in pieces]
            tokens = vectors[passage.id]
            alone = score_units(query.vectors, weights.units[0], tokens, units, self.alignment, query.words)
            scores = combine_scores(alone, np.full_like(alone, hit.passage_score), self.passage_share)
            if words and words.alone:
                scores = np.where(np.isfinite(scores), 0.0, scores)
            scores += hit.words or 0.0
            hits += [
                Hit(passage, Granularity.PROPOSITION, unit, float(score), hit.passage_score, hit.words, hit.copies)
                for unit, score in zip(units, scores, strict=True)
                if np.isfinite(score)
            ]
        return hits


def _hit(hit: IndexHit, passage: Passage) -> Hit:
    if hit.sentence is None:
        span = Span(0, len(passage.text))
        return Hit(passage, Granularity.PASSAGE, (span.trimmed(passage.text),), hit.score, hit.passage_score, hit.words)
    span = passage.sentences[hit.sentence].span.trimmed(passage.text)
    return Hit(passage, Granularity.SENTENCE, (span,), hit.score, hit.passage_score, hit.words)
