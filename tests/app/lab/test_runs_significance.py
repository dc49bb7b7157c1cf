"""Intervals and p-values: by hand, against scipy, and their properties."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from propcite.app.lab.runs.significance import (
    Floats,
    Formula,
    bootstrap_interval,
    bootstrap_means,
    difference,
    first_column,
    permutation_means,
    two_sided_p,
)

figures = st.lists(st.floats(0, 1), min_size=1, max_size=30)


def column(values: Sequence[float]) -> Floats:
    return np.asarray(values, dtype=float)[:, None]


def mean_interval(values: Sequence[float], level: float = 0.95) -> tuple[float, float, float]:
    return bootstrap_interval(column(values), level=level)


def paired_p(a: Sequence[float], b: Sequence[float]) -> float:
    return p_of(column(a), column(b), first_column)


def p_of(a: Floats, b: Floats, formula: Formula) -> float:
    return two_sided_p(permutation_means(a, b), len(a), formula)


def f1(means: Floats) -> Floats:
    precision, recall = means.T
    return 2 * precision * recall / (precision + recall)


def test_an_interval_equals_scipy_s() -> None:
    values = np.random.default_rng(3).beta(2, 1, size=200)
    mean, low, high = mean_interval(values)
    theirs = stats.bootstrap((values,), np.mean, method="percentile", rng=np.random.default_rng(1)).confidence_interval
    assert mean == pytest.approx(values.mean())
    assert (low, high) == pytest.approx((theirs.low, theirs.high), abs=0.005)


def test_an_interval_is_reproducible_and_wider_at_a_higher_level() -> None:
    values = list(np.random.default_rng(0).random(50))
    assert mean_interval(values) == mean_interval(values)
    _, low, high = mean_interval(values)
    _, lower, higher = mean_interval(values, level=0.99)
    assert lower < low < high < higher


def test_blocks_draw_each_sample_completely() -> None:
    """A sample's counts sum to the number of items in every block."""
    many = np.ones((5_000, 2))
    assert np.allclose(bootstrap_means(many), 1.0)
    assert bootstrap_means(many).shape == (2_000, 2)


@given(figures)
def test_intervals_lie_within_the_figures(values: list[float]) -> None:
    mean, low, high = mean_interval(values)
    assert min(values) - 1e-9 <= low <= high <= max(values) + 1e-9
    assert mean == pytest.approx(np.mean(values))


def test_a_p_value_by_hand() -> None:
    assert paired_p([0, 0, 0], [1, 1, 2]) == pytest.approx(2 / 8)  # of all signs of (1, 1, 2) two sum to 4 in size
    assert paired_p([0, 0, 1], [2, 1, 0]) == pytest.approx(6 / 8)  # of (2, 1, -1) two sum to 4, four to 2, two to 0
    assert paired_p([0.3], [0.9]) == 1.0


def test_a_p_value_of_few_items_is_exact_and_equals_scipy_s() -> None:
    rng = np.random.default_rng(7)
    a, b = rng.random(9), rng.random(9) + 0.2
    theirs = stats.permutation_test((a, b), lambda x, y: np.mean(x - y), permutation_type="samples", n_resamples=np.inf)
    assert paired_p(a, b) == pytest.approx(theirs.pvalue)


def test_a_p_value_of_many_items_is_near_that_of_scipy() -> None:
    rng = np.random.default_rng(11)
    a = rng.random(150)
    b = a + rng.normal(0.03, 0.2, 150)
    theirs = stats.permutation_test(
        (a, b), lambda x, y: np.mean(x - y), permutation_type="samples", n_resamples=20_000, rng=rng
    )
    assert paired_p(a, b) == pytest.approx(theirs.pvalue, abs=0.02)
    assert paired_p(a, b) == paired_p(a, b)


def test_p_is_never_zero() -> None:
    assert paired_p([0.0] * 60, [1.0] * 60) == pytest.approx(1 / 10_001)


@given(figures)
def test_equal_figures_have_p_of_one(values: list[float]) -> None:
    assert paired_p(values, values) == 1.0


@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=1, max_size=20))
def test_p_is_symmetric(pairs: list[tuple[float, float]]) -> None:
    a, b = zip(*pairs, strict=True)
    assert paired_p(a, b) == pytest.approx(paired_p(b, a), abs=0.02 if len(pairs) > 11 else 1e-12)


def test_a_formula_of_two_means_has_an_interval_and_a_p_value_of_its_own() -> None:
    rng = np.random.default_rng(5)
    a = rng.beta(4, 2, size=(80, 2))
    b = np.clip(a + 0.1, 0, 1)
    figure, low, high = bootstrap_interval(a, f1)
    assert figure == pytest.approx(float(f1(a.mean(axis=0)[None])[0]))
    assert low < figure < high
    apart, least, most = bootstrap_interval(np.hstack([a, b]), difference(f1))
    assert apart == pytest.approx(bootstrap_interval(b, f1)[0] - figure)
    assert 0 < least < apart < most
    assert p_of(a, b, f1) < 0.001
    assert p_of(a, a, f1) == 1.0


def test_no_items_are_an_error() -> None:
    with pytest.raises(ValueError, match="at least one"):
        mean_interval([])
    with pytest.raises(ValueError, match="the same items: got 1 and 2"):
        paired_p([1.0], [1.0, 2.0])
