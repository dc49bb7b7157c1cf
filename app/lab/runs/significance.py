"""Bootstrap intervals and paired permutation tests; the same data always give the same figures.

A figure is a formula over the means of columns, with one row per item: the mean of one column, or F1 of two.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Places = NDArray[np.intp]
Formula = Callable[[Floats], Floats]  # (draws, columns) means -> (draws,)

RESAMPLES = 2_000
PERMUTATIONS = 10_000
EXACT_BELOW = 12  # items: with fewer, all swaps (2^11 at most) can be tried
MAX_CELLS = 4_000_000  # numbers held at once
TOLERANCE = 1e-12  # a draw that ties with the observed value may differ by the order of a sum


def first_column(means: Floats) -> Floats:
    """Return the mean of the only column."""
    return means[:, 0]


def bootstrap_interval(
    columns: Floats, formula: Formula = first_column, level: float = 0.95, seed: int = 0
) -> tuple[float, float, float]:
    """Return a figure of (items, columns) with the low and high of its bootstrap interval.

    >>> bootstrap_interval(np.array([[0.5], [0.5]]))
    (0.5, 0.5, 0.5)
    """
    value = float(formula(_not_empty(columns).mean(axis=0)[None])[0])
    return value, *percentile_interval(formula(bootstrap_means(columns, seed)), level)


def percentile_interval(draws: Floats, level: float = 0.95) -> tuple[float, float]:
    """Return the bounds of the middle `level` of the draws."""
    low, high = np.quantile(draws, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


def bootstrap_means(columns: Floats, seed: int = 0) -> Floats:
    """Return the means of RESAMPLES samples of the items with replacement.  (items, columns) -> (RESAMPLES, columns)"""
    items = len(_not_empty(columns))
    return np.concatenate([counts @ columns for counts in bootstrap_counts(items, seed)]) / items


def bootstrap_counts(items: int, seed: int = 0) -> Iterator[NDArray[np.int64]]:
    """Yield how often each item is in each of RESAMPLES samples, in blocks that fit into memory."""
    rng = np.random.default_rng(seed)
    for size in _block_sizes(RESAMPLES, items):
        drawn = rng.integers(items, size=(size, items)) + np.arange(size)[:, None] * items
        yield np.bincount(drawn.ravel(), minlength=size * items).reshape(size, items)


def bootstrap_means_by_source(columns: Floats, places: Places) -> Floats:
    """Return bootstrap means drawn within each source, so that every sample has all sources.

    `places` are the items' source numbers.  (items, columns) -> (RESAMPLES, sources * columns)
    """
    return np.hstack([bootstrap_means(columns[places == at], seed=at) for at in range(places.max() + 1)])


def columns_by_source(columns: Floats, places: Places) -> Floats:
    """Return columns for each source whose means over all items are the means within the source.

    (items, columns) -> (items, sources * columns)

    >>> columns_by_source(np.array([[1.0], [0.0], [0.5]]), np.array([0, 0, 1])).mean(axis=0).round(3).tolist()
    [0.5, 0.5]
    """
    items, counts = len(columns), np.bincount(places)
    spread = np.zeros((items, len(counts), columns.shape[1]))
    spread[np.arange(items), places] = columns * (items / counts[places])[:, None]
    return spread.reshape(items, -1)


def mean_over(formula: Formula, num_columns: int) -> Formula:
    """Return the unweighted mean over sources of a formula of `num_columns` columns per source.

    >>> mean_over(first_column, 1)(np.array([[0.25, 0.75]])).tolist()
    [0.5]
    """

    def mean(means: Floats) -> Floats:
        by_source = means.reshape(len(means), -1, num_columns)
        figures: Floats = np.mean([formula(by_source[:, source]) for source in range(by_source.shape[1])], axis=0)
        return figures

    return mean


def difference(formula: Formula) -> Formula:
    """Return a formula for the second side's figure minus the first's; columns are those of both, side by side."""

    def subtract(means: Floats) -> Floats:
        width = means.shape[1] // 2
        return formula(means[:, width:]) - formula(means[:, :width])

    return subtract


def permutation_means(a: Floats, b: Floats, seed: int = 0) -> Floats:
    """Return the means of both sides as observed, then after each random swap of pairs between the sides.

    (items, columns) twice -> (1 + draws, 2 columns)
    """
    if a.shape != b.shape:
        raise ValueError(f"paired figures need the same items: got {len(a)} and {len(b)}")
    items, shift = len(_not_empty(a)), (b - a) / len(a)
    moved = np.concatenate([swapped @ shift for swapped in _swaps(items, seed)])
    moved = np.vstack([np.zeros(a.shape[1]), moved])
    return np.hstack([a.mean(axis=0) + moved, b.mean(axis=0) - moved])


def two_sided_p(permuted: Floats, items: int, formula: Formula = first_column) -> float:
    """Return how often chance alone makes the figures of both sides differ as much, in either direction.

    `permuted` are `permutation_means`: the first row is observed, the others are all possible draws or PERMUTATIONS.

    >>> two_sided_p(permutation_means(np.zeros((3, 1)), np.ones((3, 1))), 3)
    0.25
    """
    return _share_at_least_observed(np.abs(difference(formula)(permuted)), items)


def one_sided_p(permuted: Floats, items: int, formula: Formula = first_column) -> float:
    """Return how often chance alone puts the second side's figure as far above the first's.

    >>> one_sided_p(permutation_means(np.zeros((3, 1)), np.ones((3, 1))), 3)
    0.125
    """
    return _share_at_least_observed(difference(formula)(permuted), items)


def _share_at_least_observed(differences: Floats, items: int) -> float:
    observed, drawn = np.split(differences, [1])
    above = int((drawn >= observed - TOLERANCE).sum())
    return above / len(drawn) if items < EXACT_BELOW else (above + 1) / (len(drawn) + 1)


def _swaps(items: int, seed: int) -> Iterator[Floats]:
    """Yield which pairs change sides, one row per draw: every possible way, or PERMUTATIONS random ones."""
    if items < EXACT_BELOW:
        yield np.array(list(product((0.0, 1.0), repeat=items)))
        return
    rng = np.random.default_rng(seed)
    for size in _block_sizes(PERMUTATIONS, items):
        yield rng.integers(2, size=(size, items), dtype=np.int8).astype(float)


def _block_sizes(draws: int, items: int) -> Iterator[int]:
    size = max(1, MAX_CELLS // items)
    return (min(size, draws - first) for first in range(0, draws, size))


def _not_empty(columns: Floats) -> Floats:
    if not len(columns):
        raise ValueError("no items, so no figure: give at least one")
    return columns
