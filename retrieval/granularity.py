"""Score any unit of a passage from one encoding of it: the token similarities of a passage serve every granularity.

Mask with -inf, never by multiplication: a padded 0 beats a negative score.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from propcite.retrieval.alignment import NEAREST, Alignment
from propcite.retrieval.encoding.base import Floats, Ints, TokenVectors
from propcite.retrieval.errors import RetrievalError
from propcite.retrieval.text import Span


def best_matches(similarities: Floats, starts: Ints) -> Floats:
    """Return each query token's best similarity in each run of tokens.  (n, q), (u,) -> (u, q)

    Runs are contiguous, non-empty and in order: run i holds tokens starts[i] to starts[i + 1].

    >>> best_matches(np.array([[0.1], [0.9], [0.4]], dtype=np.float32), np.array([0, 2]))[:, 0].tolist()
    [0.8999999761581421, 0.4000000059604645]
    """
    return np.maximum.reduceat(similarities, starts, axis=0) if len(starts) else similarities[:0]


def weighted_sums(values: Floats, weights: Floats) -> Floats:
    """Return the sum of each row of values for each row of weights.  (u, q), (n, q) -> (u, n)

    A row's sums have the same digits whatever rows are beside it, so equal texts score equally in any part of an index;
    a matrix product adds up in an order that depends on the number of rows.
    """
    sums: Floats = np.einsum("uq,nq->un", values, weights)
    return sums


def span_weights(tokens: TokenVectors, propositions: Sequence[Sequence[Span]]) -> Floats:
    """Return one row of weights per group of spans, with weight on the group's own tokens only.  -> (p, q)"""
    rows = [tokens.weights(tokens.within(spans)) for spans in propositions]
    return np.stack(rows) if rows else np.zeros((0, len(tokens)), dtype=np.float32)


def score_units(
    query: Floats,
    weights: Floats,
    passage: TokenVectors,
    units: Sequence[Sequence[Span]],
    alignment: Alignment = NEAREST,
    words: Ints | None = None,
) -> Floats:
    """Score each unit by its own tokens; a unit without a token scores -inf.  (q, d), (q,) -> (u,)

    `words` (q,) are the vocabulary ids of the query's tokens, for alignments that need them.
    """
    similarities = query @ passage.vectors.T
    scores = np.full(len(units), -np.inf, dtype=np.float32)
    for number, spans in enumerate(units):
        mask = passage.within(spans)
        if mask.any() and alignment == NEAREST:
            scores[number] = float(weights @ similarities[:, mask].max(axis=1))
        elif mask.any():
            scores[number] = _aligned_score(similarities[:, mask], weights, passage.only(mask), alignment, words)
    return scores


def _aligned_score(
    similarities: Floats, weights: Floats, tokens: TokenVectors, alignment: Alignment, words: Ints | None
) -> float:
    """Score one text under any alignment.  (q, t), (q,)"""
    from propcite.retrieval.alignment.scoring import TextTokens, score_runs

    same = salience = None
    if alignment.needs_words:
        if words is None or tokens.ids is None:
            raise RetrievalError(f"the alignment {alignment} needs vocabulary ids, which this encoder does not provide")
        same = tokens.ids[:, None] == words
    if alignment.salient:
        if tokens.salience is None:
            raise RetrievalError(
                f"the alignment {alignment} needs the salience of tokens, which this encoder does not provide"
            )
        salience = tokens.salience
    runs = np.array([0, len(tokens)])
    scores = score_runs(similarities.T, runs, weights[None], alignment, TextTokens(same, salience))
    return float(scores[0, 0])


def combine_scores(unit: Floats, passage: Floats, share: float) -> Floats:
    """Combine a unit's score with its passage's, which counts for `share` of the sum.

    >>> combine_scores(np.array([0.8], dtype=np.float32), np.array([0.6], dtype=np.float32), 0.5).round(2).tolist()
    [0.699999988079071]
    """
    if share in (0.0, 1.0):  # the score that does not count may be missing (-inf)
        return passage if share else unit
    return ((1.0 - share) * unit + share * passage).astype(np.float32)
