"""Why a text was found: which of its words met which words of a source, and how much each pair counted.

A score is a sum over pairs of tokens, sim(Q, D) = 1/Z sum S * A (see `retrieval.alignment`).  Here it is told pair by
pair, with the pieces of a word joined: all that is told adds up to the score that a search gives.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from propcite.retrieval.alignment import NEAREST, Alignment
from propcite.retrieval.encoding.base import Ints, TextEncoder, TokenVectors
from propcite.retrieval.errors import RetrievalError
from propcite.retrieval.retriever import PASSAGE_SHARE
from propcite.retrieval.text import Granularity, Passage, Span

if TYPE_CHECKING:
    from propcite.retrieval.retriever import Retriever
    from propcite.retrieval.text import Hit

Doubles = npt.NDArray[np.float64]

_UNSPACED = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]")
_STOPS = " \t\r\n.,;:!?…\"'“”‘’«»()[]{}*_"


@dataclass(frozen=True, slots=True)
class Word:
    """A word and its place; without one it stands for tokens that are no characters of the text: marks, a title.

    `weight` is its share of the salience of all words here, None where the model tells none.
    """

    text: str
    span: Span | None = None
    weight: float | None = None

    @property
    def speaks(self) -> bool:
        """Whether it is more than stops."""
        return any(c not in _STOPS for c in self.text)


@dataclass(frozen=True, slots=True)
class Match:
    """A word of the source, by its number, that counted for a word of the query: for which share of what that did."""

    source: int
    share: float
    similarity: float


@dataclass(frozen=True, slots=True, eq=False)
class Explanation:
    """A unit's score, pair by pair of words.

    contributions (q, t) add up to `unit_score`; similarities (q, t) are those of the nearest pieces, whether they
    count or not; nearness (q,) is what a word reached: the mean similarity of its pairs that count.  `score` joins the
    unit's with its passage's, which counts for `share`.
    """

    query: tuple[Word, ...]
    source: tuple[Word, ...]
    contributions: Doubles
    similarities: Doubles
    nearness: Doubles
    alignment: Alignment = NEAREST
    granularity: Granularity = Granularity.PASSAGE
    passage_score: float = 0.0
    share: float = 0.0

    @property
    def unit_score(self) -> float:
        return float(self.contributions.sum())

    @property
    def score(self) -> float:
        return (1.0 - self.share) * self.unit_score + self.share * self.passage_score

    def matches(self, word: int) -> list[Match]:
        """The source's words that counted for this word of the query, what counted most first."""
        row = np.abs(self.contributions[word])
        counted = sorted(np.flatnonzero(row > 0).tolist(), key=lambda i: -row[i])
        return [Match(i, float(row[i] / row.sum()), float(self.similarities[word, i])) for i in counted]


@dataclass(frozen=True, slots=True)
class Reading:
    """A text and those of its tokens that are compared."""

    text: str
    tokens: TokenVectors

    @classmethod
    def of(cls, text: str, tokens: TokenVectors, spans: Sequence[Span]) -> Reading:
        """The tokens of these spans alone, read in the whole text."""
        return cls(text, tokens.only(tokens.within(spans)))


def compare(query: Reading, source: Reading, alignment: Alignment = NEAREST) -> Explanation:
    """What each pair of words counts: weight_i * A_ij * u_j * S_ij / Z, summed over the pieces of both words."""
    if not len(query.tokens) or not len(source.tokens):
        raise ValueError(f"wanted two texts with words, got {len(query.tokens)} and {len(source.tokens)} tokens")
    similarities = query.tokens.vectors @ source.tokens.vectors.T
    counts = _counts(query.tokens, source.tokens, similarities, alignment)
    asked, given = _Words.of(query), _Words.of(source)
    contributions = asked.summed(given.summed((counts * similarities).T).T)
    counted = asked.summed(counts).sum(axis=1)
    return Explanation(
        asked.weighed(query.text, query.tokens.weights()),
        given.weighed(source.text, None if source.tokens.salience is None else source.tokens.weights()),
        contributions,
        asked.nearest(given.nearest(similarities.T).T),
        np.divide(contributions.sum(axis=1), counted, out=np.zeros_like(counted), where=counted > 0),
        alignment,
    )


def _counts(query: TokenVectors, source: TokenVectors, similarities: npt.NDArray[np.float32], by: Alignment) -> Doubles:
    """weight_i * A_ij * u_j / Z of each pair of tokens.  -> (q, t)"""
    import torch

    weights = query.weights().astype(np.float64)
    asking = np.flatnonzero(weights)  # what has no weight is no first token either
    same = torch.from_numpy(_same(query, source, by)[asking]) if by.needs_words else None
    there = torch.ones(len(source), dtype=torch.bool)
    counts = np.zeros(similarities.shape)
    counts[asking] = by.pairs(torch.from_numpy(similarities[asking]), there, same).numpy()
    counts *= weights[:, None]
    if by.salient:
        counts *= _told(source.salience, by)
    total = float(weights.sum() if by.of_all else counts.sum())
    return counts / total if total > 0 else counts


def _same(query: TokenVectors, source: TokenVectors, by: Alignment) -> npt.NDArray[np.bool_]:
    """Which tokens are the same word.  -> (q, t)"""
    same: npt.NDArray[np.bool_] = _told(query.ids, by)[:, None] == _told(source.ids, by)[None, :]
    return same


def _told(values: npt.NDArray[Any] | None, by: Alignment) -> npt.NDArray[Any]:
    if values is None:
        raise RetrievalError(f"the alignment {by} asks what this encoder does not tell of tokens: take another")
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
    share: float = PASSAGE_SHARE,
    alignment: Alignment = NEAREST,
) -> list[Explanation]:
    """Why units of a passage score what they do for a text, or for some spans of it read in their context.

    Each unit is one or more spans.  Of a whole passage there is one explanation, and its title is compared too.
    `tokens` are the passage's where they are known.
    """

    def asking(level: Granularity) -> Reading:
        read = encoder.encode_queries([text], level)[0]
        return Reading(text, read) if spans is None else Reading.of(text, read, spans)

    tokens = encoder.encode_passages([passage])[0] if tokens is None else tokens
    query, whole = asking(granularity), Reading(passage.text, tokens)
    if granularity == Granularity.PASSAGE:
        found = compare(query, whole, alignment)
        return [replace(found, passage_score=found.unit_score)]
    own = encoder.knows(granularity) and share  # then passages are asked for with another marker
    score = compare(asking(Granularity.PASSAGE) if own else query, whole, alignment).unit_score
    compared = (compare(query, Reading.of(passage.text, tokens, unit), alignment) for unit in units)
    return [replace(one, granularity=granularity, passage_score=score, share=share) for one in compared]


def explain_hit(retriever: Retriever, text: str, hit: Hit) -> Explanation:
    """Why a search for this text found this unit, from the very vectors that it compared."""
    (found,) = explain(
        retriever.encoder,
        text,
        hit.passage,
        [hit.spans],
        granularity=hit.granularity,
        tokens=retriever.index.vectors(hit.passage.id),
        share=retriever.passage_share,
        alignment=retriever.alignment,
    )
    return found


@dataclass(frozen=True, slots=True)
class _Words:
    """The words of a reading, None for what stands for no character, and which of them each token belongs to."""

    spans: list[Span | None]
    owners: Ints

    @classmethod
    def of(cls, reading: Reading) -> _Words:
        spans: list[Span | None] = []
        owners = []
        for start, end in reading.tokens.offsets.tolist():
            last = spans[-1] if spans else None
            if start < 0:
                spans += [] if None in spans else [None]
                owners.append(spans.index(None))
            elif last is not None and _goes_on(reading.text, last, start):
                spans[-1] = Span(last.start, max(last.end, end))
                owners.append(len(spans) - 1)
            else:
                spans.append(Span(start, end))
                owners.append(len(spans) - 1)
        return cls(spans, np.asarray(owners, dtype=np.int64))

    def summed(self, values: Doubles) -> Doubles:
        """Sums over the pieces of each word.  (n, m) -> (words, m)"""
        sums = np.zeros((len(self.spans), values.shape[1]))
        np.add.at(sums, self.owners, values)
        return sums

    def nearest(self, values: npt.NDArray[np.floating]) -> Doubles:
        """The largest among the pieces of each word.  (n, m) -> (words, m)"""
        largest = np.full((len(self.spans), values.shape[1]), -np.inf)
        np.maximum.at(largest, self.owners, values)
        return largest

    def weighed(self, text: str, weights: npt.NDArray[np.float32] | None) -> tuple[Word, ...]:
        shares = None if weights is None else self.summed(weights[:, None].astype(np.float64))[:, 0]
        return tuple(
            _word(text, span, None if shares is None else float(shares[number]))
            for number, span in enumerate(self.spans)
        )


def _goes_on(text: str, last: Span, start: int) -> bool:
    """Whether a token that starts here belongs to the word before it; some scripts have no space between words."""
    return last.start <= start <= last.end and not any(_UNSPACED.match(text, i) for i in (start - 1, start) if i >= 0)


def _word(text: str, span: Span | None, weight: float | None) -> Word:
    """The word without the stops around it, unless it is nothing else."""
    if span is None:
        return Word("", None, weight)
    said = span.of(text)
    if bare := said.strip(_STOPS):
        start = span.start + said.index(bare)
        span = Span(start, start + len(bare))
    return Word(span.of(text), span, weight)
