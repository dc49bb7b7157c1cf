"""Rank a passage's tokens by how much of the passage they cover together.

A token's own weight says nothing about its neighbours: the most salient tokens of a passage may be one word many times
over.  Here tokens are chosen greedily, each time the one that brings all tokens of the passage, by weight, nearest to a
chosen one (facility location).  The token nearest to a query token among the chosen ones is then almost as near as the
nearest among all.
"""

from __future__ import annotations

from typing import Any

import numba as nb
import numpy as np
import numpy.typing as npt

from propcite.retrieval.encoding.base import Floats

Array = npt.NDArray[Any]


def coverage(vectors: Floats, weights: Floats | None = None) -> Floats:
    """Return each token's gain when it is chosen, scaled to mean 1: larger gains were chosen earlier.  (t, d) -> (t,)

    >>> coverage(np.array([[1, 0], [1, 0], [0, 1]], dtype=np.float32)).tolist()
    [2.0, 0.0, 1.0]
    """
    weights = np.ones(len(vectors), np.float32) if weights is None else weights.astype(np.float32)
    if not (weights > 0).any():
        weights = np.ones(len(vectors), np.float32)
    similarities = np.ascontiguousarray(vectors @ vectors.T, np.float32)
    gains = np.zeros(len(vectors), np.float32)
    _choose(similarities, weights, gains)
    mean: Any = gains.mean() if len(gains) else 1.0
    return gains / np.float32(mean)


@nb.njit(nogil=True, cache=True)
def _choose(similarities: Array, weights: Array, gains: Array) -> None:
    """Fill `gains` (t,) from similarities (t, t) and weights (t,) by the lazy greedy algorithm.

    A gain never grows, so a token that still leads with its updated gain is the best: the others need no update.
    """
    number = len(similarities)
    covered = np.zeros(number, np.float32)
    chosen = np.zeros(number, np.bool_)
    bounds = np.empty(number, np.float32)  # upper bounds of the gains
    for token in range(number):
        bounds[token] = _gain(similarities[token], covered, weights)
    for _ in range(number):
        best = _largest(bounds, chosen)
        while True:
            bounds[best] = _gain(similarities[best], covered, weights)
            again = _largest(bounds, chosen)
            if again == best or bounds[again] <= bounds[best]:
                break
            best = again
        chosen[best] = True
        gains[best] = bounds[best]
        for token in range(number):
            covered[token] = max(covered[token], similarities[best, token])


@nb.njit(nogil=True, inline="always")
def _gain(similarities: Array, covered: Array, weights: Array) -> Any:
    gain = np.float32(0)
    for token in range(len(covered)):
        more = similarities[token] - covered[token]
        if more > 0:
            gain += weights[token] * more
    return gain


@nb.njit(nogil=True, inline="always")
def _largest(values: Array, excluded: Array) -> int:
    best = -1
    for place in range(len(values)):
        if not excluded[place] and (best < 0 or values[place] > values[best]):
            best = place
    return best
