"""Figures of a judge on samples of the claims, drawn with replacement: what their intervals are made of."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from propcite.app.lab.runs.aggregates import ratio
from propcite.app.lab.runs.significance import Floats, resampled_counts, resampled_means

Truth = NDArray[np.bool_]


def auc_drawn(truth: Truth, scores: Floats, seed: int = 0) -> Floats:
    """NaN for a sample with one kind of claims alone.

    >>> float(np.nanmin(auc_drawn(np.array([True, True, False, False]), np.array([0.9, 0.8, 0.2, 0.1]))))
    1.0
    """
    order = np.argsort(scores, kind="stable")
    starts = np.flatnonzero(np.diff(scores[order], prepend=np.nan) != 0)  # equal scores stand together
    found = []
    for counts in resampled_counts(len(scores), seed):
        drawn = counts[:, order].astype(float)
        right, wrong = (np.add.reduceat(drawn * kind, starts, axis=1) for kind in (truth[order], ~truth[order]))
        pairs = right.sum(axis=1) * wrong.sum(axis=1)
        below = np.cumsum(wrong, axis=1) - wrong / 2
        both = (right * below).sum(axis=1)
        found.append(np.divide(both, pairs, out=np.full(len(drawn), np.nan), where=pairs > 0))
    return np.concatenate(found)


def balanced_accuracy_drawn(truth: Truth, accepted: Truth, seed: int = 0) -> Floats:
    """The mean of both kinds' shares that are told right."""
    kinds = [(truth & accepted, truth), (~truth & ~accepted, ~truth)]
    shares = [ratio(resampled_means(np.column_stack(kind).astype(float), seed)) for kind in kinds]
    mean: Floats = np.mean(shares, axis=0)
    return mean


def calibration_error_drawn(truth: Truth, scores: Floats, bins: NDArray[np.int64], seed: int = 0) -> Floats:
    """How far, on average, a probability is from the share that turned out true; of a sample always farther."""
    inside = bins[:, None] == np.unique(bins)
    gaps = resampled_means(inside * (truth - scores)[:, None], seed)
    error: Floats = np.abs(gaps).sum(axis=1)
    return error


def cut_drawn(truth: Truth, scores: Floats, precision: float, seed: int = 0) -> Floats:
    """The lowest score from which so much is right; 1 where nothing reaches it."""
    order = np.argsort(-scores, kind="stable")
    last = np.append(np.flatnonzero(np.diff(scores[order])), len(scores) - 1)
    cuts, found = scores[order][last], []
    for counts in resampled_counts(len(scores), seed):
        drawn = counts[:, order]
        taken, right = (np.cumsum(weights, axis=1)[:, last] for weights in (drawn, drawn * truth[order]))
        reaching = (taken > 0) & (right >= precision * taken)
        lowest = len(cuts) - 1 - np.argmax(reaching[:, ::-1], axis=1)
        found.append(np.where(reaching.any(axis=1), cuts[lowest], 1.0))
    return np.concatenate(found)
