"""Tokens that stand for a passage together: as the slow way chooses them, and what must hold of what they add."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from propcite.retrieval.encoding.coverage import coverage


def drawn(seed: int, tokens: int = 9, dimension: int = 4) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(seed)
    vectors = random.standard_normal((tokens, dimension)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors, random.random(tokens).astype(np.float32)


def covered(vectors: np.ndarray, weights: np.ndarray, chosen: list[int]) -> float:
    """How near all tokens, by weight, come to the nearest chosen one."""
    nearest = (vectors @ vectors[chosen].T).max(axis=1) if chosen else np.zeros(len(vectors))
    return float(weights @ np.maximum(nearest, 0))


@given(st.integers(0, 10_000))
@settings(max_examples=60, deadline=None)
def test_each_token_is_the_one_that_adds_most(seed: int) -> None:
    vectors, weights = drawn(seed)
    gains = coverage(vectors, weights)
    chosen: list[int] = []
    for token in np.argsort(-gains, kind="stable").tolist():
        before = covered(vectors, weights, chosen)
        adds = {t: covered(vectors, weights, [*chosen, t]) - before for t in range(len(vectors)) if t not in chosen}
        assert adds[token] == pytest.approx(max(adds.values()), abs=1e-5)
        chosen.append(token)
    assert gains.mean() == pytest.approx(1.0, rel=1e-4)
    total = covered(vectors, weights, chosen)
    assert gains.sum() / len(gains) * total == pytest.approx(covered(vectors, weights, list(range(9))), rel=1e-4)


@given(st.integers(0, 10_000), st.integers(1, 4))
@settings(max_examples=30, deadline=None)
def test_it_is_near_the_best_choice_of_as_many(seed: int, number: int) -> None:
    vectors, weights = drawn(seed)
    greedy = np.argsort(-coverage(vectors, weights), kind="stable")[:number].tolist()
    best = max(covered(vectors, weights, list(some)) for some in combinations(range(len(vectors)), number))
    assert covered(vectors, weights, greedy) >= (1 - 1 / np.e) * best - 1e-5


def test_a_word_twice_is_chosen_once_before_all_others() -> None:
    vectors = np.array([[1, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], np.float32)
    assert np.argsort(-coverage(vectors), kind="stable").tolist() == [0, 2, 3, 1]
    assert np.argsort(-coverage(vectors, np.array([1, 1, 1, 9], np.float32)), kind="stable").tolist()[0] == 3


def test_nothing_one_and_no_weight() -> None:
    assert coverage(np.zeros((0, 4), np.float32)).shape == (0,)
    assert coverage(np.array([[0, 1]], np.float32)).tolist() == [1.0]
    vectors, _ = drawn(1)
    np.testing.assert_allclose(coverage(vectors, np.zeros(9, np.float32)), coverage(vectors))
