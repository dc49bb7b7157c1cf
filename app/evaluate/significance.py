"""How sure a mean is, and a difference: bootstrap over items, paired randomisation.  Equal data give equal figures.

A figure is a formula over the means of columns, one row an item: the plain mean of one column, or F1 of two.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import product

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Formula = Callable[[Floats], Floats]  # (draws, columns) means -> (draws,)

RESAMPLES = 2_000
DRAWS = 10_000
EXACT_BELOW = 12  # items: all 2^11 signs are fewer than the draws
CELLS = 4_000_000  # numbers held at once
CLOSE = 1e-12  # a draw that ties with what was observed is not below it for the order of a sum


def first_column(means: Floats) -> Floats:
    """The plain mean."""
    return means[:, 0]


def mean_interval(values: Sequence[float], level: float = 0.95, seed: int = 0) -> tuple[float, float, float]:
    """The mean of items, and between what it lies in so many of a hundred samples of as many items.

    >>> mean_interval([0.5, 0.5])
    (0.5, 0.5, 0.5)
    """
    return interval(np.asarray(values, dtype=float)[:, None], level=level, seed=seed)


def interval(
    columns: Floats, formula: Formula = first_column, level: float = 0.95, seed: int = 0
) -> tuple[float, float, float]:
    """A formula over means of columns, (items, columns), with its percentile interval."""
    value = float(formula(_some(columns).mean(axis=0)[None])[0])
    return value, *between(formula(resampled_means(columns, seed)), level)


def between(drawn: Floats, level: float = 0.95) -> tuple[float, float]:
    """What so many of a hundred draws lie between."""
    low, high = np.quantile(drawn, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


def resampled_means(columns: Floats, seed: int = 0) -> Floats:
    """The means of RESAMPLES samples of the items, drawn with replacement.  (items, columns) -> (RESAMPLES, columns)"""
    items, rng = len(_some(columns)), np.random.default_rng(seed)
    sums = []
    for size in _blocks(RESAMPLES, items):
        drawn = rng.integers(items, size=(size, items)) + np.arange(size)[:, None] * items
        counts = np.bincount(drawn.ravel(), minlength=size * items).reshape(size, items)
        sums.append(counts @ columns)
    return np.concatenate(sums) / items


def difference_interval(
    a: Floats, b: Floats, formula: Formula = first_column, level: float = 0.95, seed: int = 0
) -> tuple[float, float, float]:
    """By how much b's figure is above a's on the same items, with its interval."""
    width = a.shape[1]
    return interval(np.hstack([a, b]), lambda m: formula(m[:, width:]) - formula(m[:, :width]), level, seed)


def paired_p(a: Sequence[float], b: Sequence[float], seed: int = 0) -> float:
    """How often chance alone, changing which of a pair is whose, makes the means differ as much.  Two-sided.

    >>> paired_p([0, 0, 0], [1, 1, 1])
    0.25
    """
    return paired_p_of(np.asarray(a, dtype=float)[:, None], np.asarray(b, dtype=float)[:, None], seed=seed)


def paired_p_of(a: Floats, b: Floats, formula: Formula = first_column, seed: int = 0) -> float:
    """The same for a formula over means of columns; exact below EXACT_BELOW items."""
    if a.shape != b.shape:
        raise ValueError(f"paired figures need the same items: got {len(a)} and {len(b)}")
    items, means = len(_some(a)), (a.mean(axis=0), b.mean(axis=0))
    shift = (b - a) / items

    def apart(swapped: Floats) -> Floats:
        moved = swapped @ shift
        return np.abs(formula(means[0] + moved) - formula(means[1] - moved))

    observed = float(apart(np.zeros((1, items)))[0]) - CLOSE
    if items < EXACT_BELOW:
        return float((apart(np.array(list(product((0.0, 1.0), repeat=items)))) >= observed).mean())
    rng = np.random.default_rng(seed)
    drawn = (rng.integers(2, size=(size, items)).astype(float) for size in _blocks(DRAWS, items))
    above = sum(int((apart(swapped) >= observed).sum()) for swapped in drawn)
    return (above + 1) / (DRAWS + 1)


def _blocks(draws: int, items: int) -> Iterator[int]:
    size = max(1, CELLS // items)
    return (min(size, draws - first) for first in range(0, draws, size))


def _some(columns: Floats) -> Floats:
    if not len(columns):
        raise ValueError("no item, so no figure: give at least one")
    return columns
