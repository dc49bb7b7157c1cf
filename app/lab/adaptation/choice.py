"""Choose a strategy by a few examples, and test whether its gain is more than noise."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from propcite.app.lab.runs.significance import TOLERANCE, Floats, one_sided_p, permutation_means

NOISE = 0.1  # a gain that chance gives with a higher probability is ignored


@dataclass(frozen=True, slots=True)
class Choice:
    """The chosen strategies as columns of the scores; column 0 is the default."""

    best: int
    kept: int  # the best if its gain is more than noise, otherwise the default
    gain: float  # of the choice, on examples that were left out of it
    p: float  # probability of this gain by chance


def choose(scores: Floats, noise: float = NOISE) -> Choice:
    """Choose by the scores of each example under each strategy, (examples, strategies).

    Each example is left out once: the strategy that is best on the others is compared with the default on it.

    >>> choose(np.array([[0.4, 0.9], [0.5, 1.0], [0.2, 0.8], [0.3, 0.9]]))
    Choice(best=1, kept=1, gain=0.55, p=0.0625)
    >>> choose(np.array([[0.4, 0.9], [0.5, 0.1]])).kept
    0
    """
    best = best_column(scores)
    others = scores.sum(axis=0) - scores
    left_out = scores[np.arange(len(scores)), [best_column(row[None]) for row in others]]
    default = scores[:, :1]
    p = one_sided_p(permutation_means(default, left_out[:, None]), len(scores))
    gain = float((left_out - default[:, 0]).mean())
    return Choice(best, best if p <= noise else 0, round(gain, 6), round(p, 6))


def best_column(scores: Floats) -> int:
    """Return the column with the best mean, the first of equal ones."""
    means = scores.mean(axis=0)
    return int(np.argmax(means >= means.max() - TOLERANCE))
