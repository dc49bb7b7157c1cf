"""Which strategy a few examples speak for, and whether they say more than chance does."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from propcite.app.lab.runs.significance import CLOSE, Floats, p_above, swapped_means

NOISE = 0.1  # a gain that chance alone would give this often is none


@dataclass(frozen=True, slots=True)
class Choice:
    """The best strategy by its column, 0 being the default; `gain` is what choosing gave on examples left out, `p`
    how often chance alone would give as much; `kept` is the best where that is seldom, the default otherwise."""

    best: int
    kept: int
    gain: float
    p: float


def choose(scores: Floats, noise: float = NOISE) -> Choice:
    """From each example's score under each strategy, (examples, strategies).

    Every example is left out once: the strategy that is best on the others is compared with the default on it.

    >>> choose(np.array([[0.4, 0.9], [0.5, 1.0], [0.2, 0.8], [0.3, 0.9]]))
    Choice(best=1, kept=1, gain=0.55, p=0.0625)
    >>> choose(np.array([[0.4, 0.9], [0.5, 0.1]])).kept
    0
    """
    best = best_of(scores)
    others = scores.sum(axis=0) - scores
    left_out = scores[np.arange(len(scores)), [best_of(row[None]) for row in others]]
    default = scores[:, :1]
    p = p_above(swapped_means(default, left_out[:, None]), len(scores))
    gain = float((left_out - default[:, 0]).mean())
    return Choice(best, best if p <= noise else 0, round(gain, 6), round(p, 6))


def best_of(scores: Floats) -> int:
    """The column with the best mean; of equals the first."""
    means = scores.mean(axis=0)
    return int(np.argmax(means >= means.max() - CLOSE))
