"""The loops that must be fast, compiled by numba: they take and fill plain arrays and start no thread.

Importing this module takes a moment, and the first call of each loop on a machine some seconds; the compiled code is
cached.  The exact regime does not need this module.
"""

from __future__ import annotations

from typing import Any

import numba as nb
import numpy as np
import numpy.typing as npt

from propcite.retrieval.index.simd import LANES, max_into, max_over_codes, prefetch, weighted_sum

Array = npt.NDArray[Any]

CACHE_LINE = 64  # bytes
AHEAD = 12  # rows prefetched: retrieved tokens are scattered in memory, and waiting for them takes most of the time

_compiled = nb.njit(nogil=True, cache=True)
_loose = nb.njit(nogil=True, cache=True, fastmath={"contract", "reassoc", "nsz", "arcp"})


@_loose
def fill_table(products: Array, low: Array, step: Array, table: Array) -> None:
    """Quantise integer products to bytes, LANES query tokens per plane.

    products (q, c), low (q,), step (q,) -> table (planes, c, LANES)
    """
    for column in range(len(products)):
        plane, lane, of_column = table[column // LANES], column % LANES, products[column]
        factor = np.float32(1) / step[column]
        offset = np.float32(0.5) - low[column] * factor
        for centroid in range(len(of_column)):
            value = np.float32(of_column[centroid]) * factor + offset
            plane[centroid, lane] = np.uint8(np.int32(min(max(value, np.float32(0)), np.float32(255))))


@_compiled
def coarse_passages(
    table: Array, codes: Array, passage_starts: Array, passages: Array, weights: Array, scores: Array
) -> None:
    """Score passages by their centroids.  passages (p,) numbers, weights (n, planes, LANES) -> scores (n, p)"""
    best = np.empty(LANES, np.uint8)
    plane_size, row_size = table.shape[1] * LANES, table.shape[0] * LANES * 4
    best_address, weights_address = best.ctypes.data, weights.ctypes.data
    for index in range(len(passages)):
        first, last = passage_starts[passages[index]], passage_starts[passages[index] + 1]
        for plane in range(table.shape[0]):
            max_over_codes(table.ctypes.data + plane * plane_size, codes.ctypes.data, first, last, best_address)
            for row in range(len(weights)):
                scores[row, index] += weighted_sum(weights_address + row * row_size + plane * LANES * 4, best_address)


@_compiled
def coarse_sentences(
    table: Array,
    codes: Array,
    unit_starts: Array,
    passage_units: Array,
    ranked: Array,
    passages: Array,
    weights: Array,
    passage_weights: Array,
    share: float,
    scores: Array,
) -> None:
    """Score passages by their best sentence and the whole, by their centroids; -inf without a ranked sentence."""
    planes, num_rows = table.shape[0], len(weights)
    best = np.empty((planes, LANES), np.uint8)
    whole = np.empty((planes, LANES), np.uint8)
    largest = np.empty(num_rows, np.float32)
    plane_size, row_size = table.shape[1] * LANES, planes * LANES * 4
    best_address, whole_address = best.ctypes.data, whole.ctypes.data
    for index in range(len(passages)):
        whole[:] = 0
        largest[:] = -np.inf
        for unit in range(passage_units[passages[index]], passage_units[passages[index] + 1]):
            first, last = unit_starts[unit], unit_starts[unit + 1]
            for plane in range(planes):
                plane_address = best_address + plane * LANES
                max_over_codes(table.ctypes.data + plane * plane_size, codes.ctypes.data, first, last, plane_address)
                max_into(whole_address + plane * LANES, plane_address)
            if ranked[unit]:
                for row in range(num_rows):
                    largest[row] = max(largest[row], _sum(weights.ctypes.data + row * row_size, best_address, planes))
        for row in range(num_rows):
            score = _sum(passage_weights.ctypes.data + row * row_size, whole_address, planes)
            scores[row, index] = np.float32(1 - share) * largest[row] + np.float32(share) * score


@nb.njit(nogil=True, inline="always")
def _sum(weights_address: int, bytes_address: int, planes: int) -> Any:
    total = np.float32(0)
    for plane in range(planes):
        total += weighted_sum(weights_address + plane * LANES * 4, bytes_address + plane * LANES)
    return total


@_compiled
def pair_products(rows: Array, tokens: Array, columns: Array, query: Array, products: Array) -> None:
    """Multiply pairs of integer rows.  rows (n, w), tokens (h,), columns (h,), query (q, w) -> products (h,)"""
    number, width = len(tokens), rows.shape[1]
    for pair in range(number):
        ahead = rows.ctypes.data + np.int64(tokens[min(pair + AHEAD, number - 1)]) * width
        for line in range(0, width, CACHE_LINE):
            prefetch(ahead + line)
        row, query_row = rows[tokens[pair]], query[columns[pair]]
        product = np.int32(0)
        for dimension in range(width):
            product += np.int32(row[dimension]) * np.int32(query_row[dimension])
        products[pair] = product


@_compiled
def unit_best(products: Array, token_scales: Array, query_scales: Array, unit_starts: Array, best: Array) -> None:
    """Find the best similarity of each unit to each query token.

    products (n, q) int32, token_scales (n,), query_scales (q,), unit_starts (u + 1,) -> best (u, q)
    """
    num_columns = products.shape[1]
    for unit in range(len(unit_starts) - 1):
        for column in range(num_columns):
            best[unit, column] = -np.inf
        for token in range(unit_starts[unit], unit_starts[unit + 1]):
            scale = token_scales[token]
            for column in range(num_columns):
                best[unit, column] = max(best[unit, column], np.float32(products[token, column]) * scale)
        for column in range(num_columns):
            best[unit, column] *= query_scales[column]


@_compiled
def unpack(packed: Array, unpacking: Array, wide: Array) -> None:
    """Look up the numbers of each byte as one wide element.  packed (n, c), unpacking (256,) -> wide (n, c)"""
    for token in range(packed.shape[0]):
        for column in range(packed.shape[1]):
            wide[token, column] = unpacking[packed[token, column]]
