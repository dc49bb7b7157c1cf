"""Coverage: the same choice as the plain greedy algorithm, and bounds on its gains."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from propcite.retrieval.encoding.coverage import coverage


def random_tokens(seed: int, tokens: int = 9, dimension: int = 4) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(seed)
    vectors = random.standard_normal((tokens, dimension)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors, random.random(tokens).astype(np.float32)


def covered(vectors: np.ndarray, weights: np.ndarray, chosen: list[int]) -> float:
    """Return the weighted similarity of all tokens to their nearest chosen one."""
    nearest = (vectors @ vectors[chosen].T).max(axis=1) if chosen else np.zeros(len(vectors))
    return float(weights @ np.maximum(nearest, 0))


@given(st.integers(0, 10_000))
@settings(max_examples=60, deadline=None)
def test_each_choice_adds_most(seed: int) -> None:
    vectors, weights = random_tokens(seed)
    gains = coverage(vectors, weights)
    chosen: list[int] = []
    for token in np.argsort(-gains, kind="stable").tolist():
        before = covered(vectors, weights, chosen)
        gain = {t: covered(vectors, weights, [*chosen, t]) - before for t in range(len(vectors)) if t not in chosen}
        assert gain[token] == pytest.approx(max(gain.values()), abs=1e-5)
        chosen.append(token)
    assert gains.mean() == pytest.approx(1.0, rel=1e-4)
    total = covered(vectors, weights, chosen)
    assert gains.sum() / len(gains) * total == pytest.approx(covered(vectors, weights, list(range(9))), rel=1e-4)


@given(st.integers(0, 10_000), st.integers(1, 4))
@settings(max_examples=30, deadline=None)
def test_greedy_coverage_is_at_least_1_minus_1_over_e_of_the_best(seed: int, number: int) -> None:
    vectors, weights = random_tokens(seed)
    greedy = np.argsort(-coverage(vectors, weights), kind="stable")[:number].tolist()
    best = max(covered(vectors, weights, list(some)) for some in combinations(range(len(vectors)), number))
    assert covered(vectors, weights, greedy) >= (1 - 1 / np.e) * best - 1e-5


def test_a_repeated_token_is_chosen_again_only_after_all_others() -> None:
    vectors = np.array([[1, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], np.float32)
    assert np.argsort(-coverage(vectors), kind="stable").tolist() == [0, 2, 3, 1]
    assert np.argsort(-coverage(vectors, np.array([1, 1, 1, 9], np.float32)), kind="stable").tolist()[0] == 3


def test_no_token_one_token_and_zero_weights() -> None:
    assert coverage(np.zeros((0, 4), np.float32)).shape == (0,)
    assert coverage(np.array([[0, 1]], np.float32)).tolist() == [1.0]
    vectors, _ = random_tokens(1)
    np.testing.assert_allclose(coverage(vectors, np.zeros(9, np.float32)), coverage(vectors))
