"""Small passages whose scores are exact in half precision, and a reference search written as a plain loop."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from propcite.retrieval.encoding.base import Floats, TokenVectors
from propcite.retrieval.index import IndexHit
from propcite.retrieval.text import Passage, Sentence, Span

DIMENSION = 3
EIGHTHS = st.integers(-8, 8).map(lambda n: n / 8)  # products and their sums are exact in float32


@dataclass(frozen=True)
class EncodedPassage:
    """A passage with its token vectors."""

    passage: Passage
    tokens: TokenVectors


def encoded_passage(
    id: str,  # noqa: A002
    vectors: Sequence[Sequence[float]],
    places: Sequence[int],
    lengths: Sequence[int],
    heading: int = -1,
    words: Sequence[int] | None = None,
    salience: Sequence[float] | None = None,
) -> EncodedPassage:
    """Build a passage with sentences of these lengths and a one-character token at each place; -1 for no character."""
    ends = np.cumsum([0, *lengths]).tolist()
    sentences = tuple(
        Sentence(Span(start, end), number == heading) for number, (start, end) in enumerate(pairwise(ends))
    )
    offsets = np.array([(place, place + 1 if place >= 0 else -1) for place in places], np.int32).reshape(-1, 2)
    salience_array = None if salience is None else np.array(salience, np.float32)
    ids = None if words is None else np.array(words, np.int64)
    tokens = TokenVectors(np.array(vectors, np.float32).reshape(len(places), -1), offsets, salience_array, ids)
    return EncodedPassage(Passage(id, "x" * ends[-1], sentences=sentences), tokens)


@st.composite
def encoded_passages(draw: st.DrawFn, id: str = "p") -> EncodedPassage:  # noqa: A002
    """Draw a passage with up to four sentences, some empty, perhaps one heading, and at least one token."""
    lengths = draw(st.lists(st.integers(0, 3), max_size=4))
    filled = draw(st.sets(st.integers(0, max(sum(lengths) - 1, 0)), max_size=6)) if sum(lengths) else set()
    heads = draw(st.integers(0 if filled else 1, 2))
    places = [-1] * heads + sorted(filled)
    vectors = draw(arrays(np.float32, (len(places), DIMENSION), elements=EIGHTHS))
    vectors[~vectors.any(axis=1), 0] = 1  # an index rejects vectors of zeros
    words = draw(st.lists(st.integers(0, 3), min_size=len(places), max_size=len(places)))
    salience = draw(st.lists(st.sampled_from([0.0, 0.5, 1.0, 2.0]), min_size=len(places), max_size=len(places)))
    return encoded_passage(id, vectors, places, lengths, draw(st.integers(-1, 3)), words, salience)


def reference_search(
    samples: Sequence[EncodedPassage],
    query: Floats,
    weights: Floats,
    k: int,
    *,
    sentences: bool,
    share: float = 0.0,
    allow: Collection[str] | None = None,
) -> list[IndexHit]:
    """Rank all units for one row of weights."""
    hits: list[IndexHit] = []
    for one in samples:
        if allow is not None and one.passage.id not in allow:
            continue
        passage_score = _score(query, weights, one.tokens.vectors)
        if not sentences:
            hits.append(IndexHit(one.passage.id, None, passage_score, passage_score))
            continue
        for number, sentence in enumerate(one.passage.sentences):
            starts = one.tokens.offsets[:, 0]
            own = one.tokens.vectors[(starts >= sentence.span.start) & (starts < sentence.span.end)]
            if len(own) and not sentence.is_heading:
                score = (1 - share) * _score(query, weights, own) + share * passage_score
                hits.append(IndexHit(one.passage.id, number, score, passage_score))
    return sorted(hits, key=lambda hit: -hit.score)[:k]


def _score(query: Floats, weights: Floats, vectors: Floats) -> float:
    return float(
        sum(
            float(weight) * max(float(np.dot(token, vector)) for vector in vectors)
            for token, weight in zip(query, weights, strict=True)
        )
    )


def random_passage(id: str, seed: int, num_tokens: int = 5) -> EncodedPassage:  # noqa: A002
    """Build a passage of two sentences with random unit vectors and random words."""
    random = np.random.default_rng(seed)
    vectors = random.standard_normal((num_tokens, 8)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    half = num_tokens // 2
    words = random.integers(0, 20, num_tokens).tolist()
    return encoded_passage(id, vectors, [-1, *range(num_tokens - 1)], [half, num_tokens - 1 - half], words=words)
