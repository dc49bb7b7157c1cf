"""How sure a mean is, and a difference: bootstrap over items, paired randomisation.  Equal data give equal figures.

A figure is a formula over the means of columns, one row an item: the plain mean of one column, or F1 of two.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
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


def interval(
    columns: Floats, formula: Formula = first_column, level: float = 0.95, seed: int = 0
) -> tuple[float, float, float]:
    """A formula over means of columns, (items, columns), and between what it lies in so many of a hundred samples.

    >>> interval(np.array([[0.5], [0.5]]))
    (0.5, 0.5, 0.5)
    """
    value = float(formula(_some(columns).mean(axis=0)[None])[0])
    return value, *between(formula(resampled_means(columns, seed)), level)


def between(drawn: Floats, level: float = 0.95) -> tuple[float, float]:
    """What so many of a hundred draws lie between."""
    low, high = np.quantile(drawn, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


def resampled_means(columns: Floats, seed: int = 0) -> Floats:
    """The means of RESAMPLES samples of the items, drawn with replacement.  (items, columns) -> (RESAMPLES, columns)"""
    items = len(_some(columns))
    return np.concatenate([counts @ columns for counts in resampled_counts(items, seed)]) / items


def resampled_counts(items: int, seed: int = 0) -> Iterator[NDArray[np.int64]]:
    """How often each item is in each of RESAMPLES samples, so many samples at once as memory may hold."""
    rng = np.random.default_rng(seed)
    for size in _blocks(RESAMPLES, items):
        drawn = rng.integers(items, size=(size, items)) + np.arange(size)[:, None] * items
        yield np.bincount(drawn.ravel(), minlength=size * items).reshape(size, items)


def difference(formula: Formula) -> Formula:
    """By how much the second side's figure is above the first's; columns are those of both, side by side."""

    def apart(means: Floats) -> Floats:
        width = means.shape[1] // 2
        return formula(means[:, width:]) - formula(means[:, :width])

    return apart


def swapped_means(a: Floats, b: Floats, seed: int = 0) -> Floats:
    """The means of both sides as they are, then after each draw of pairs whose figures change sides.

    (items, columns) twice -> (1 + draws, 2 columns)
    """
    if a.shape != b.shape:
        raise ValueError(f"paired figures need the same items: got {len(a)} and {len(b)}")
    items, shift = len(_some(a)), (b - a) / len(a)
    moved = np.concatenate([swapped @ shift for swapped in _swaps(items, seed)])
    moved = np.vstack([np.zeros(a.shape[1]), moved])
    return np.hstack([a.mean(axis=0) + moved, b.mean(axis=0) - moved])


def p_among(swapped: Floats, items: int, formula: Formula = first_column) -> float:
    """How often chance alone, changing which of a pair is whose, makes the figures differ as much.  Two-sided.

    The first row is what was observed; the others are all draws there are, or DRAWS of them.

    >>> p_among(swapped_means(np.zeros((3, 1)), np.ones((3, 1))), 3)
    0.25
    """
    return _share_as_far(np.abs(difference(formula)(swapped)), items)


def p_above(swapped: Floats, items: int, formula: Formula = first_column) -> float:
    """How often chance alone puts the second side's figure as far above the first's.  One-sided.

    >>> p_above(swapped_means(np.zeros((3, 1)), np.ones((3, 1))), 3)
    0.125
    """
    return _share_as_far(difference(formula)(swapped), items)


def _share_as_far(apart: Floats, items: int) -> float:
    observed, drawn = np.split(apart, [1])
    above = int((drawn >= observed - CLOSE).sum())
    return above / len(drawn) if items < EXACT_BELOW else (above + 1) / (len(drawn) + 1)


def _swaps(items: int, seed: int) -> Iterator[Floats]:
    """Which pairs change sides, a row a draw: every way there is, or DRAWS at random."""
    if items < EXACT_BELOW:
        yield np.array(list(product((0.0, 1.0), repeat=items)))
        return
    rng = np.random.default_rng(seed)
    for size in _blocks(DRAWS, items):
        yield rng.integers(2, size=(size, items), dtype=np.int8).astype(float)


def _blocks(draws: int, items: int) -> Iterator[int]:
    size = max(1, CELLS // items)
    return (min(size, draws - first) for first in range(0, draws, size))


def _some(columns: Floats) -> Floats:
    if not len(columns):
        raise ValueError("no item, so no figure: give at least one")
    return columns
