"""From what the judge knows of a case to a probability, on rows that training did not see."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from attribution.errors import AttributionError
from attribution.judges.weights import Scale

ROUNDS = 50
PENALTY = 1e-3  # on the square of the weight: rows that are told apart without an error have no best one
STEP = 2.0  # the most that a round changes


def fit(known: Sequence[float], labels: Sequence[float], weights: Sequence[float] | None = None) -> Scale:
    """A logistic regression on one number by Newton's steps; `labels` lie between 0 and 1.

    >>> fit([0.0, 1.0, 2.0, 3.0], [0, 0, 1, 1]).weight > 0
    True
    """
    x, wanted = np.asarray(known, float), np.asarray(labels, float)
    if not len(x) or wanted.min() == wanted.max():
        raise AttributionError("the rows that are kept out are all of one kind: nothing to calibrate with")
    share = np.ones(len(x)) if weights is None else np.asarray(weights, float)
    design, found, penalty = np.stack([np.ones(len(x)), x], 1), np.zeros(2), np.diag([0.0, PENALTY])
    for _ in range(ROUNDS):
        p = 1 / (1 + np.exp(-np.clip(design @ found, -30, 30)))
        slope = design.T @ (share * (p - wanted)) + penalty @ found
        curve = (design * (share * p * (1 - p))[:, None]).T @ design + penalty
        step = np.clip(np.linalg.solve(curve + 1e-9 * np.eye(2), slope), -STEP, STEP)
        found = found - step
        if np.abs(step).max() < 1e-8:
            break
    return Scale(float(found[0]), float(found[1]))


def even(sources: Sequence[str]) -> list[float]:
    """Weights by which every source counts as much as every other, one on average."""
    held = {source: sources.count(source) for source in set(sources)}
    return [len(sources) / (len(held) * held[source]) for source in sources]
