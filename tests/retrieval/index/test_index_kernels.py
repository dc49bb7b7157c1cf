"""Compiled loops equal plain ones, integer products are exact, and the loss of each number of bits is limited."""

from __future__ import annotations

import os
import subprocess
import sys
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from propcite.retrieval.encoding.base import Floats
from propcite.retrieval.index import kernels
from propcite.retrieval.index.codec import BITS, Codec, int_products
from propcite.retrieval.index.simd import LANES

SEEDS = st.integers(0, 10_000)


def runs(random: np.random.Generator, number: int, longest: int = 6) -> np.ndarray:
    """Return the starts of random runs, some empty, and the end of the last."""
    return np.concatenate([[0], np.cumsum(random.integers(0, longest, number))]).astype(np.int64)


def columns_of(table: np.ndarray) -> np.ndarray:
    """Arrange planes as columns.  (planes, n, LANES) -> (n, planes * LANES)"""
    return np.concatenate(list(table), axis=1)


def best(table: np.ndarray, codes: np.ndarray) -> Floats:
    """Return the largest byte per column over the rows of these codes; zero without codes."""
    return columns_of(table)[codes].max(axis=0, initial=0).astype(np.float32)


def random_table(random: np.random.Generator, planes: int, tokens: int) -> tuple[np.ndarray, np.ndarray]:
    centroids = int(random.integers(1, 300))
    table = random.integers(0, 256, (planes, centroids, LANES)).astype(np.uint8)
    return table, random.integers(0, centroids, tokens).astype(np.uint16)


# Loops


@given(SEEDS, st.integers(1, 3 * LANES), st.integers(1, 40))
def test_a_table_contains_each_product_as_a_byte(seed: int, columns: int, centroids: int) -> None:
    random = np.random.default_rng(seed)
    products = random.integers(-50_000, 50_000, (columns, centroids)).astype(np.int32)
    low = random.uniform(-20_000, 10_000, columns).astype(np.float32)
    step = random.uniform(10, 300, columns).astype(np.float32)
    table = np.zeros((-(-columns // LANES), centroids, LANES), np.uint8)
    kernels.fill_table(products, low, step, table)
    bytes_ = columns_of(table)[:, :columns].astype(int)
    exact = np.clip((products.T - low.astype(np.float64)) / step, 0, 255)
    assert np.abs(bytes_ - exact).max() <= 0.51  # rounding, with a small error halfway
    assert not columns_of(table)[:, columns:].any()


@given(SEEDS, st.integers(1, 3), st.integers(1, 3), st.integers(0, 12))
def test_scores_of_passages_equal_a_plain_loop(seed: int, planes: int, rows: int, number: int) -> None:
    random = np.random.default_rng(seed)
    starts = runs(random, 12)
    table, codes = random_table(random, planes, int(starts[-1]))
    passages = np.sort(random.choice(12, number, replace=False)).astype(np.int64)
    weights = random.random((rows, planes, LANES)).astype(np.float32)
    scores = np.zeros((rows, number), np.float32)
    kernels.coarse_passages(table, codes, starts, passages, weights, scores)
    plain = [[w.ravel() @ best(table, codes[starts[p] : starts[p + 1]]) for p in passages] for w in weights]
    assert scores == pytest.approx(np.array(plain, np.float32).reshape(rows, number), rel=1e-4)


@given(SEEDS, st.integers(1, 3), st.integers(1, 3), st.sampled_from([0.0, 0.3, 1.0]))
def test_scores_of_sentences_equal_a_plain_loop(seed: int, planes: int, rows: int, share: float) -> None:
    """A passage is scored by its best ranked sentence and the whole; without a ranked sentence it is excluded."""
    random = np.random.default_rng(seed)
    units = runs(random, 10, 4)
    starts, ranked = runs(random, int(units[-1])), random.random(int(units[-1])) < 0.7
    table, codes = random_table(random, planes, int(starts[-1]))
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
    rows, query = (random.integers(-127, 128, (n, width)).astype(np.int8) for n in (30, 5))
    tokens, columns = random.integers(0, 30, pairs).astype(np.int32), random.integers(0, 5, pairs)
    products = np.zeros(pairs, np.int32)
    kernels.pair_products(rows, tokens, columns, query, products)
    assert np.array_equal(products, (rows[tokens].astype(int) * query[columns]).sum(axis=1))


@given(SEEDS, st.integers(1, 5))
def test_best_similarities_of_units_equal_a_plain_loop(seed: int, columns: int) -> None:
    random = np.random.default_rng(seed)
    starts = runs(random, 9)
    products = random.integers(-2_000_000, 2_000_000, (int(starts[-1]), columns)).astype(np.int32)
    scales, of_query = random.random(len(products)).astype(np.float32), random.random(columns).astype(np.float32)
    result = np.empty((9, columns), np.float32)
    kernels.unit_best(products, scales, of_query, starts, result)
    floats = products.astype(np.float32) * scales[:, None]
    plain = [floats[start:end].max(axis=0, initial=-np.inf) * of_query for start, end in pairwise(starts)]
    assert np.array_equal(result, np.array(plain, np.float32))


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


LOST = {16: 0.001, 8: 0.012, 4: 0.13, 2: 0.42, 1: 0.85}  # relative to the length of a vector, on average


@pytest.mark.parametrize("bits", BITS)
@pytest.mark.parametrize("dimension", [30, 32, 128, 384])
def test_the_loss_of_a_decoded_vector_is_limited_by_its_bits(dimension: int, bits: int) -> None:
    codec, vectors = Codec(dimension, bits), unit_vectors(dimension)
    payload, scales = codec.encode(vectors)
    assert payload.nbytes <= len(vectors) * -(-dimension // 8) * bits
    decoded = codec.decode(payload, scales)
    assert np.linalg.norm(decoded - vectors, axis=1).mean() < LOST[bits]
    assert (decoded * vectors).sum(axis=1) == pytest.approx(np.ones(len(vectors)), abs=0.02)  # no bias towards zero
    again: Any = codec.decode(*codec.encode(decoded))
    assert np.linalg.norm(again - decoded, axis=1).mean() < LOST[bits]


@pytest.mark.parametrize("bits", BITS)
@pytest.mark.parametrize("factor", [1e-4, 1.0, 300.0])
def test_similarities_are_products_of_the_decoded_vectors(bits: int, factor: float) -> None:
    codec, vectors = Codec(48, bits), unit_vectors(48) * np.float32(factor)
    query = codec.encode_query(vectors[:7])
    payload, scales = codec.encode(vectors)
    plain = codec.decode(payload, scales) @ vectors[:7].T
    assert codec.similarities(payload, scales, query) == pytest.approx(plain, abs=0.02 * factor**2)


@pytest.mark.parametrize("instructions", ["DEFAULT", "AVX2", "AVX512_CORE"])
def test_integer_products_are_exact_on_every_processor(instructions: str) -> None:
    script = """
import numpy as np
from propcite.retrieval.index.codec import int_products
rng = np.random.default_rng(0)
rows, others = (rng.integers(-127, 128, (n, 384)).astype(np.int8) for n in (300, 20))
assert (int_products(rows, others) == rows.astype(np.int64) @ others.astype(np.int64).T).all()
"""
    environment = {**os.environ, "ONEDNN_MAX_CPU_ISA": instructions}  # those before VNNI saturate
    assert subprocess.run([sys.executable, "-c", script], env=environment, check=False).returncode == 0
