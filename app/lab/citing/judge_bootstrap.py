"""Figures of a judge on bootstrap samples of the claims, for intervals."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from propcite.app.lab.runs.aggregates import ratio
from propcite.app.lab.runs.significance import Floats, bootstrap_counts, bootstrap_means

Truth = NDArray[np.bool_]


def bootstrap_auc(truth: Truth, scores: Floats, seed: int = 0) -> Floats:
    """Return the AUC of each sample; NaN for one with only one kind of claims.

    >>> float(np.nanmin(bootstrap_auc(np.array([True, True, False, False]), np.array([0.9, 0.8, 0.2, 0.1]))))
    1.0
    """
    order = np.argsort(scores, kind="stable")
    starts = np.flatnonzero(np.diff(scores[order], prepend=np.nan) != 0)  # of groups of equal scores
    aucs = []
    for counts in bootstrap_counts(len(scores), seed):
        drawn = counts[:, order].astype(float)
        right, wrong = (np.add.reduceat(drawn * kind, starts, axis=1) for kind in (truth[order], ~truth[order]))
        pairs = right.sum(axis=1) * wrong.sum(axis=1)
        below = np.cumsum(wrong, axis=1) - wrong / 2
        ordered = (right * below).sum(axis=1)
        aucs.append(np.divide(ordered, pairs, out=np.full(len(drawn), np.nan), where=pairs > 0))
    return np.concatenate(aucs)


def bootstrap_balanced_accuracy(truth: Truth, accepted: Truth, seed: int = 0) -> Floats:
    """Return the mean of both kinds' recall for each sample."""
    kinds = [(truth & accepted, truth), (~truth & ~accepted, ~truth)]
    recalls = [ratio(bootstrap_means(np.column_stack(kind).astype(float), seed)) for kind in kinds]
    mean: Floats = np.mean(recalls, axis=0)
    return mean


def bootstrap_calibration_error(truth: Truth, scores: Floats, bins: NDArray[np.int64], seed: int = 0) -> Floats:
    """Return each sample's mean distance between probability and share of true claims; always biased upwards."""
    inside = bins[:, None] == np.unique(bins)
    gaps = bootstrap_means(inside * (truth - scores)[:, None], seed)
    error: Floats = np.abs(gaps).sum(axis=1)
    return error


def bootstrap_threshold(truth: Truth, scores: Floats, precision: float, seed: int = 0) -> Floats:
    """Return each sample's lowest threshold that reaches a precision; 1 if none does."""
    order = np.argsort(-scores, kind="stable")
    last = np.append(np.flatnonzero(np.diff(scores[order])), len(scores) - 1)
    candidates, thresholds = scores[order][last], []
    for counts in bootstrap_counts(len(scores), seed):
        drawn = counts[:, order]
        accepted, right = (np.cumsum(weights, axis=1)[:, last] for weights in (drawn, drawn * truth[order]))
        reaching = (accepted > 0) & (right >= precision * accepted)
        lowest = len(candidates) - 1 - np.argmax(reaching[:, ::-1], axis=1)
        thresholds.append(np.where(reaching.any(axis=1), candidates[lowest], 1.0))
    return np.concatenate(thresholds)
