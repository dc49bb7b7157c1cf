"""Explain a score: which words of a query matched which words of a source, and how much each pair contributed.

A score is a sum over pairs of tokens, sim(Q, D) = 1/Z sum S * A (see `retrieval.alignment`).  Here the tokens of each
word are added up, so the contributions of all pairs of words add up to the score that a search returns.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from propcite.retrieval.alignment import NEAREST, Alignment
from propcite.retrieval.encoding.base import Floats, Ints, Mask, TextEncoder, TokenVectors
from propcite.retrieval.errors import RetrievalError
from propcite.retrieval.retriever import PASSAGE_SHARE, Retriever
from propcite.retrieval.text import Granularity, Hit, Passage, Span

Doubles = npt.NDArray[np.float64]

# Scripts without spaces between words: each token is a word.
_UNSPACED = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]")
_PUNCTUATION = " \t\r\n.,;:!?…\"'“”‘’«»()[]{}*_"


@dataclass(frozen=True, slots=True)
class Word:
    """A word and its place; a word without a span stands for all tokens outside the text: markers and the title's.

    `weight` is its share of the salience of all words of its text, None if the model gives none.
    """

    text: str
    span: Span | None = None
    weight: float | None = None

    @property
    def has_content(self) -> bool:
        """Return whether it is more than punctuation."""
        return any(c not in _PUNCTUATION for c in self.text)


@dataclass(frozen=True, slots=True)
class Match:
    """A source word, by number, that matched a query word, with its share of all contributions to that word."""

    source: int
    share: float
    similarity: float


@dataclass(frozen=True, slots=True, eq=False)
class Explanation:
    """A unit's score by pairs of words.

    contributions (q, t) add up to `unit_score`; similarities (q, t) are those of the most similar tokens of both words,
    whether they count or not; nearness (q,) is the mean similarity of the pairs that count for a word.  `score`
    combines the unit's score with its passage's, which counts for `passage_share`.
    """

    query: tuple[Word, ...]
    source: tuple[Word, ...]
    contributions: Doubles
    similarities: Doubles
    nearness: Doubles
    alignment: Alignment = NEAREST
    granularity: Granularity = Granularity.PASSAGE
    passage_score: float = 0.0
    passage_share: float = 0.0

    @property
    def unit_score(self) -> float:
        return float(self.contributions.sum())

    @property
    def score(self) -> float:
        return (1.0 - self.passage_share) * self.unit_score + self.passage_share * self.passage_score

    def matches(self, word: int) -> list[Match]:
        """Return the source words that contributed to this query word, the largest contribution first."""
        row = np.abs(self.contributions[word])
        numbers = sorted(np.flatnonzero(row > 0).tolist(), key=lambda i: -row[i])
        return [Match(i, float(row[i] / row.sum()), float(self.similarities[word, i])) for i in numbers]


@dataclass(frozen=True, slots=True)
class EncodedText:
    """A text with those of its token vectors that are compared."""

    text: str
    tokens: TokenVectors

    @classmethod
    def within(cls, text: str, tokens: TokenVectors, spans: Sequence[Span]) -> EncodedText:
        """Keep only the tokens in these spans; they were encoded with the whole text around them."""
        return cls(text, tokens.only(tokens.within(spans)))


def compare(query: EncodedText, source: EncodedText, alignment: Alignment = NEAREST) -> Explanation:
    """Explain the score of two texts by weight_i * A_ij * u_j * S_ij / Z, summed over the tokens of each word."""
    if not len(query.tokens) or not len(source.tokens):
        raise ValueError(f"both texts need words to compare, got {len(query.tokens)} and {len(source.tokens)} tokens")
    similarities = query.tokens.vectors @ source.tokens.vectors.T
    counts = _pair_weights(query.tokens, source.tokens, similarities, alignment)
    query_words, source_words = _Words.of(query), _Words.of(source)
    contributions = query_words.sums(source_words.sums((counts * similarities).T).T)
    totals = query_words.sums(counts).sum(axis=1)
    return Explanation(
        query_words.weighted(query.text, query.tokens.weights()),
        source_words.weighted(source.text, None if source.tokens.salience is None else source.tokens.weights()),
        contributions,
        query_words.largest(source_words.largest(similarities.T).T),
        np.divide(contributions.sum(axis=1), totals, out=np.zeros_like(totals), where=totals > 0),
        alignment,
    )


def _pair_weights(query: TokenVectors, source: TokenVectors, similarities: Floats, alignment: Alignment) -> Doubles:
    """Return weight_i * A_ij * u_j / Z for each pair of tokens.  -> (q, t)"""
    import torch

    weights = query.weights().astype(np.float64)
    weighted = np.flatnonzero(weights)  # "first" means the first token with weight, so the others are left out
    same = torch.from_numpy(_same_words(query, source, alignment)[weighted]) if alignment.needs_words else None
    present = torch.ones(len(source), dtype=torch.bool)
    counts = np.zeros(similarities.shape)
    counts[weighted] = alignment.pairs(torch.from_numpy(similarities[weighted]), present, same).numpy()
    counts *= weights[:, None]
    if alignment.salient:
        counts *= _required(source.salience, alignment)
    total = float(weights.sum() if alignment.counts_unmatched else counts.sum())
    return counts / total if total > 0 else counts


def _same_words(query: TokenVectors, source: TokenVectors, alignment: Alignment) -> Mask:
    """Return which tokens are the same word.  -> (q, t)"""
    same: Mask = _required(query.ids, alignment)[:, None] == _required(source.ids, alignment)[None, :]
    return same


def _required(values: npt.NDArray[Any] | None, alignment: Alignment) -> npt.NDArray[Any]:
    if values is None:
        raise RetrievalError(f"the alignment {alignment} needs token data that this encoder lacks: choose another one")
    return values


def explain(
    encoder: TextEncoder,
    text: str,
    passage: Passage,
    units: Sequence[Sequence[Span]],
    *,
    spans: Sequence[Span] | None = None,
    granularity: Granularity = Granularity.SENTENCE,
    tokens: TokenVectors | None = None,
    passage_share: float = PASSAGE_SHARE,
    alignment: Alignment = NEAREST,
) -> list[Explanation]:
    """Explain the scores of a passage's units for a text, or for some spans of the text encoded in their context.

    Each unit has one or more spans.  A whole passage has one explanation, in which its title is compared too.  `tokens`
    are the passage's vectors if they are already known.
    """

    def query_for(level: Granularity) -> EncodedText:
        query = encoder.encode_queries([text], level)[0]
        return EncodedText(text, query) if spans is None else EncodedText.within(text, query, spans)

    tokens = encoder.encode_passages([passage])[0] if tokens is None else tokens
    query, whole = query_for(granularity), EncodedText(passage.text, tokens)
    if granularity == Granularity.PASSAGE:
        explanation = compare(query, whole, alignment)
        return [replace(explanation, passage_score=explanation.unit_score)]
    has_passage_marker = encoder.knows(granularity) and passage_share
    score = compare(query_for(Granularity.PASSAGE) if has_passage_marker else query, whole, alignment).unit_score
    explanations = (compare(query, EncodedText.within(passage.text, tokens, unit), alignment) for unit in units)
    return [
        replace(one, granularity=granularity, passage_score=score, passage_share=passage_share) for one in explanations
    ]


def explain_hit(retriever: Retriever, text: str, hit: Hit) -> Explanation:
    """Explain why a search for this text returned this hit, from the vectors in the index."""
    (explanation,) = explain(
        retriever.encoder,
        text,
        hit.passage,
        [hit.spans],
        granularity=hit.granularity,
        tokens=retriever.vectors_of([hit.passage.id])[hit.passage.id],
        passage_share=retriever.passage_share,
        alignment=retriever.alignment,
    )
    return explanation


@dataclass(frozen=True, slots=True)
class _Words:
    """The words of an encoded text, and for each token the number of its word.

    One word is None: it owns the tokens that cover no character.
    """

    spans: list[Span | None]
    owners: Ints

    @classmethod
    def of(cls, encoded: EncodedText) -> _Words:
        spans: list[Span | None] = []
        owners = []
        for start, end in encoded.tokens.offsets.tolist():
            last = spans[-1] if spans else None
            if start < 0:
                spans += [] if None in spans else [None]
                owners.append(spans.index(None))
            elif last is not None and _continues(encoded.text, last, start):
                spans[-1] = Span(last.start, max(last.end, end))
                owners.append(len(spans) - 1)
            else:
                spans.append(Span(start, end))
                owners.append(len(spans) - 1)
        return cls(spans, np.asarray(owners, dtype=np.int64))

    def sums(self, values: Doubles) -> Doubles:
        """Return sums over the tokens of each word.  (n, m) -> (words, m)"""
        sums = np.zeros((len(self.spans), values.shape[1]))
        np.add.at(sums, self.owners, values)
        return sums

    def largest(self, values: npt.NDArray[np.floating]) -> Doubles:
        """Return the largest value among the tokens of each word.  (n, m) -> (words, m)"""
        largest = np.full((len(self.spans), values.shape[1]), -np.inf)
        np.maximum.at(largest, self.owners, values)
        return largest

    def weighted(self, text: str, weights: Floats | None) -> tuple[Word, ...]:
        shares = None if weights is None else self.sums(weights[:, None].astype(np.float64))[:, 0]
        return tuple(
            _word(text, span, None if shares is None else float(shares[number]))
            for number, span in enumerate(self.spans)
        )


def _continues(text: str, last: Span, start: int) -> bool:
    """Return whether a token that starts here belongs to the word before it."""
    return last.start <= start <= last.end and not any(_UNSPACED.match(text, i) for i in (start - 1, start) if i >= 0)


def _word(text: str, span: Span | None, weight: float | None) -> Word:
    """Build a word without surrounding punctuation, unless it is nothing else."""
    if span is None:
        return Word("", None, weight)
    whole = span.of(text)
    if bare := whole.strip(_PUNCTUATION):
        start = span.start + whole.index(bare)
        span = Span(start, start + len(bare))
    return Word(span.of(text), span, weight)
