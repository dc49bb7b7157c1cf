"""Score any unit from one passage encoding: the block of token similarities holds every granularity at once.

Mask with -inf, never by multiplication: a padded 0 beats a negative score.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from retrieval.encoder import Floats, TokenVectors
from retrieval.text import Span

Ints = npt.NDArray[np.int64]


def best_matches(similarities: Floats, starts: Ints) -> Floats:
    """Each query token's best similarity in each run of tokens.  (n, q), (u,) -> (u, q)

    Runs are contiguous, non-empty and in order: run i holds tokens starts[i] to starts[i + 1].

    >>> best_matches(np.array([[0.1], [0.9], [0.4]], dtype=np.float32), np.array([0, 2]))[:, 0].tolist()
    [0.8999999761581421, 0.4000000059604645]
    """
    return np.maximum.reduceat(similarities, starts, axis=0) if len(starts) else similarities[:0]


def span_weights(tokens: TokenVectors, propositions: Sequence[Sequence[Span]]) -> Floats:
    """One row of weights for each group of spans: its own tokens only, read in its context.  -> (p, q)"""
    rows = [tokens.weights(tokens.within(spans)) for spans in propositions]
    return np.stack(rows) if rows else np.zeros((0, len(tokens)), dtype=np.float32)


def score_units(query: Floats, weights: Floats, passage: TokenVectors, units: Sequence[Sequence[Span]]) -> Floats:
    """Each unit's score against one passage's tokens; a unit without a token scores -inf.  (q, d), (q,) -> (u,)"""
    similarities = query @ passage.vectors.T
    scores = np.full(len(units), -np.inf, dtype=np.float32)
    for number, spans in enumerate(units):
        mask = passage.within(spans)
        if mask.any():
            scores[number] = float(weights @ similarities[:, mask].max(axis=1))
    return scores


def joined(unit: npt.NDArray[np.float32], passage: npt.NDArray[np.float32], share: float) -> npt.NDArray[np.float32]:
    """A unit's score with its passage's: the passage counts for `share` of the whole.

    >>> joined(np.array([0.8], dtype=np.float32), np.array([0.6], dtype=np.float32), 0.5).round(2).tolist()
    [0.699999988079071]
    """
    return ((1.0 - share) * unit + share * passage).astype(np.float32)
