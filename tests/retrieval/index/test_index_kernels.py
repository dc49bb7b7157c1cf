"""Compiled loops give what plain ones give, integer products are exact, and bits lose no more than they must."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from propcite.retrieval.encoding.base import Floats
from propcite.retrieval.index import kernels
from propcite.retrieval.index.codec import BITS, Codec, int_products
from propcite.retrieval.index.lanes import LANES

SEEDS = st.integers(0, 10_000)


def runs(random: np.random.Generator, number: int, longest: int = 6) -> np.ndarray:
    """Where so many runs begin, and where the last one ends; some are empty."""
    return np.concatenate([[0], np.cumsum(random.integers(0, longest, number))]).astype(np.int64)


def laid(table: np.ndarray) -> np.ndarray:
    """Planes of lanes as columns.  (planes, n, LANES) -> (n, planes * LANES)"""
    return np.concatenate(list(table), axis=1)


def best(table: np.ndarray, codes: np.ndarray) -> Floats:
    """The largest byte of each column over the rows that these codes name; of none, zero."""
    return laid(table)[codes].max(axis=0, initial=0).astype(np.float32)


def a_table(random: np.random.Generator, planes: int, tokens: int) -> tuple[np.ndarray, np.ndarray]:
    centroids = int(random.integers(1, 300))
    table = random.integers(0, 256, (planes, centroids, LANES)).astype(np.uint8)
    return table, random.integers(0, centroids, tokens).astype(np.uint16)


# Loops


@given(SEEDS, st.integers(1, 3 * LANES), st.integers(1, 40))
def test_a_table_holds_each_product_as_a_byte(seed: int, columns: int, centroids: int) -> None:
    random = np.random.default_rng(seed)
    products = random.integers(-50_000, 50_000, (columns, centroids)).astype(np.int32)
    low = random.uniform(-20_000, 10_000, columns).astype(np.float32)
    step = random.uniform(10, 300, columns).astype(np.float32)
    table = np.zeros((-(-columns // LANES), centroids, LANES), np.uint8)
    kernels.fill_table(products, low, step, table)
    bytes_ = laid(table)[:, :columns].astype(int)
    exact = np.clip((products.T - low.astype(np.float64)) / step, 0, 255)
    assert np.abs(bytes_ - exact).max() <= 0.51  # rounded, a hair off where it is halfway
    assert not laid(table)[:, columns:].any()


@given(SEEDS, st.integers(1, 3), st.integers(1, 3), st.integers(0, 12))
def test_passages_are_scored_as_by_a_plain_loop(seed: int, planes: int, rows: int, number: int) -> None:
    random = np.random.default_rng(seed)
    starts = runs(random, 12)
    table, codes = a_table(random, planes, int(starts[-1]))
    passages = np.sort(random.choice(12, number, replace=False)).astype(np.int64)
    weights = random.random((rows, planes, LANES)).astype(np.float32)
    scores = np.zeros((rows, number), np.float32)
    kernels.coarse_passages(table, codes, starts, passages, weights, scores)
    plain = [[w.ravel() @ best(table, codes[starts[p] : starts[p + 1]]) for p in passages] for w in weights]
    assert scores == pytest.approx(np.array(plain, np.float32).reshape(rows, number), rel=1e-4)


@given(SEEDS, st.integers(1, 3), st.integers(1, 3), st.sampled_from([0.0, 0.3, 1.0]))
def test_sentences_are_scored_as_by_a_plain_loop(seed: int, planes: int, rows: int, share: float) -> None:
    """A passage counts as its best sentence that may be returned, and itself; without one it is out."""
    random = np.random.default_rng(seed)
    units = runs(random, 10, 4)
    starts, ranked = runs(random, int(units[-1])), random.random(int(units[-1])) < 0.7
    table, codes = a_table(random, planes, int(starts[-1]))
    passages = np.sort(random.choice(10, 6, replace=False)).astype(np.int64)
    of_units, of_passages = random.random((2, rows, planes, LANES)).astype(np.float32)
    scores = np.zeros((rows, 6), np.float32)
    kernels.coarse_sentences(table, codes, starts, units, ranked, passages, of_units, of_passages, share, scores)
    for row in range(rows):
        for place, p in enumerate(passages):
            whole = best(table, codes[starts[units[p]] : starts[units[p + 1]]])
            allowed = [
                best(table, codes[starts[u] : starts[u + 1]]) for u in range(units[p], units[p + 1]) if ranked[u]
            ]
            largest = max((float(of_units[row].ravel() @ one) for one in allowed), default=-np.inf)
            plain = (1 - share) * largest + share * float(of_passages[row].ravel() @ whole) if allowed else -np.inf
            if allowed or share < 1:
                assert scores[row, place] == pytest.approx(plain, rel=1e-4)
            else:
                assert not np.isfinite(scores[row, place])


@given(SEEDS, st.integers(0, 40), st.sampled_from([1, 8, 64, 100, 384]))
def test_products_of_pairs_are_exact(seed: int, pairs: int, width: int) -> None:
    random = np.random.default_rng(seed)
    rows, asked = (random.integers(-127, 128, (n, width)).astype(np.int8) for n in (30, 5))
    tokens, columns = random.integers(0, 30, pairs).astype(np.int32), random.integers(0, 5, pairs)
    products = np.zeros(pairs, np.int32)
    kernels.pair_products(rows, tokens, columns, asked, products)
    assert np.array_equal(products, (rows[tokens].astype(int) * asked[columns]).sum(axis=1))


@given(SEEDS, st.integers(1, 5))
def test_the_best_similarities_of_units_are_those_of_a_plain_loop(seed: int, columns: int) -> None:
    random = np.random.default_rng(seed)
    starts = runs(random, 9)
    products = random.integers(-2_000_000, 2_000_000, (int(starts[-1]), columns)).astype(np.int32)
    scales, of_query = random.random(len(products)).astype(np.float32), random.random(columns).astype(np.float32)
    found = np.empty((9, columns), np.float32)
    kernels.unit_best(products, scales, of_query, starts, found)
    floats = products.astype(np.float32) * scales[:, None]
    plain = [floats[start:end].max(axis=0, initial=-np.inf) * of_query for start, end in pairwise(starts)]
    assert np.array_equal(found, np.array(plain, np.float32))


# Integers and bits


@given(SEEDS, st.integers(0, 70), st.integers(0, 40), st.sampled_from([8, 24, 384, 1024]), st.booleans())
def test_integer_products_are_exact(seed: int, rows: int, others: int, width: int, extreme: bool) -> None:
    random = np.random.default_rng(seed)
    left, right = (
        (random.choice([-127, 127], (n, width)) if extreme else random.integers(-127, 128, (n, width))).astype(np.int8)
        for n in (rows, others)
    )
    assert np.array_equal(int_products(left, right), left.astype(np.int64) @ right.astype(np.int64).T)


def unit_vectors(dimension: int, number: int = 2_000) -> Floats:
    vectors = np.random.default_rng(dimension).standard_normal((number, dimension)).astype(np.float32)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


LOST = {16: 0.001, 8: 0.012, 4: 0.13, 2: 0.42, 1: 0.85}  # of a vector's length, on the average


@pytest.mark.parametrize("bits", BITS)
@pytest.mark.parametrize("dimension", [30, 32, 128, 384])
def test_a_vector_comes_back_as_nearly_as_its_bits_allow(dimension: int, bits: int) -> None:
    codec, vectors = Codec(dimension, bits), unit_vectors(dimension)
    payload, scales = codec.encode(vectors)
    assert payload.nbytes <= len(vectors) * -(-dimension // 8) * bits
    back = codec.decode(payload, scales)
    assert np.linalg.norm(back - vectors, axis=1).mean() < LOST[bits]
    assert (back * vectors).sum(axis=1) == pytest.approx(np.ones(len(vectors)), abs=0.02)  # drawn towards nothing
    again: Any = codec.decode(*codec.encode(back))
    assert np.linalg.norm(again - back, axis=1).mean() < LOST[bits]


@pytest.mark.parametrize("bits", BITS)
@pytest.mark.parametrize("factor", [1e-4, 1.0, 300.0])
def test_similarities_are_products_of_the_vectors_that_come_back(bits: int, factor: float) -> None:
    codec, vectors = Codec(48, bits), unit_vectors(48) * np.float32(factor)
    asked = codec.ask(vectors[:7])
    payload, scales = codec.encode(vectors)
    plain = codec.decode(payload, scales) @ vectors[:7].T
    assert codec.similarities(payload, scales, asked) == pytest.approx(plain, abs=0.02 * factor**2)
