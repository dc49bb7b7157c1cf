"""Which tokens stand for a passage together: each as salient as what it adds to those chosen before it.

A token's own weight says nothing of its neighbours: the most salient share of a passage may be one word many times
over.  Here tokens are chosen one after the other, each the one by which all tokens of the passage, by weight, come
nearest to some chosen one (the greedy way to a largest facility location).  What a query token finds nearest among the
chosen is then nearly as near as what it finds among all.
"""

from __future__ import annotations

from typing import Any

import numba as nb
import numpy as np
import numpy.typing as npt

from propcite.retrieval.encoding.base import Floats

Array = npt.NDArray[Any]


def coverage(vectors: Floats, weights: Floats | None = None) -> Floats:
    """What each token adds to the tokens before it, their mean 1; the larger, the sooner it is chosen.  (t, d) -> (t,)

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
    """Lazily: what a token would add only shrinks, so one that is the best by its present gain is the best.

    similarities (t, t), weights (t,) -> gains (t,)
    """
    number = len(similarities)
    covered = np.zeros(number, np.float32)
    chosen = np.zeros(number, np.bool_)
    most = np.empty(number, np.float32)  # what each can add at most
    for token in range(number):
        most[token] = _gain(similarities[token], covered, weights)
    for _ in range(number):
        best = _largest(most, chosen)
        while True:
            most[best] = _gain(similarities[best], covered, weights)
            again = _largest(most, chosen)
            if again == best or most[again] <= most[best]:
                break
            best = again
        chosen[best] = True
        gains[best] = most[best]
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
def _largest(values: Array, but: Array) -> int:
    best = -1
    for place in range(len(values)):
        if not but[place] and (best < 0 or values[place] > values[best]):
            best = place
    return best
