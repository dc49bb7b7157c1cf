"""The loops that must be fast, compiled by numba: plain arrays in, plain arrays out, no thread of their own.

Importing this module takes a moment, and the first call of each loop on a machine some seconds; the compiled loops
are kept.  The exact regime does without.
"""

from __future__ import annotations

from typing import Any

import numba as nb
import numpy as np
import numpy.typing as npt

from propcite.retrieval.index.lanes import LANES, ask_ahead, best_run, raise_to, weighted

Array = npt.NDArray[Any]

LINE = 64  # bytes that memory gives at once
AHEAD = 12  # rows asked for before they are needed: retrieved tokens lie scattered, and waiting for each takes longest

_compiled = nb.njit(nogil=True, cache=True)
_loose = nb.njit(nogil=True, cache=True, fastmath={"contract", "reassoc", "nsz", "arcp"})


@_loose
def fill_table(products: Array, low: Array, step: Array, table: Array) -> None:
    """Integer products of centroids as bytes, LANES columns a plane.  (q, c), (q,), (q,) -> table (planes, c, LANES)"""
    for column in range(len(products)):
        plane, lane, of_column = table[column // LANES], column % LANES, products[column]
        times = np.float32(1) / step[column]
        plus = np.float32(0.5) - low[column] * times
        for centroid in range(len(of_column)):
            value = np.float32(of_column[centroid]) * times + plus
            plane[centroid, lane] = np.uint8(np.int32(min(max(value, np.float32(0)), np.float32(255))))


@_compiled
def coarse_passages(
    table: Array, codes: Array, passage_starts: Array, passages: Array, weights: Array, scores: Array
) -> None:
    """Passages by their centroids.  passages (p,) numbers, weights (n, planes, LANES) -> scores (n, p)"""
    best = np.empty(LANES, np.uint8)
    plane_size, row_size = table.shape[1] * LANES, table.shape[0] * LANES * 4
    at_best, at_weights = best.ctypes.data, weights.ctypes.data
    for place in range(len(passages)):
        first, last = passage_starts[passages[place]], passage_starts[passages[place] + 1]
        for plane in range(table.shape[0]):
            best_run(table.ctypes.data + plane * plane_size, codes.ctypes.data, first, last, at_best)
            for row in range(len(weights)):
                scores[row, place] += weighted(at_weights + row * row_size + plane * LANES * 4, at_best)


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
    """Passages by their best sentence and themselves, by their centroids; -inf where none may be returned."""
    planes, num_rows = table.shape[0], len(weights)
    best = np.empty((planes, LANES), np.uint8)
    whole = np.empty((planes, LANES), np.uint8)
    largest = np.empty(num_rows, np.float32)
    plane_size, row_size = table.shape[1] * LANES, planes * LANES * 4
    at_best, at_whole = best.ctypes.data, whole.ctypes.data
    for place in range(len(passages)):
        whole[:] = 0
        largest[:] = -np.inf
        for unit in range(passage_units[passages[place]], passage_units[passages[place] + 1]):
            first, last = unit_starts[unit], unit_starts[unit + 1]
            for plane in range(planes):
                at_plane = at_best + plane * LANES
                best_run(table.ctypes.data + plane * plane_size, codes.ctypes.data, first, last, at_plane)
                raise_to(at_whole + plane * LANES, at_plane)
            if ranked[unit]:
                for row in range(num_rows):
                    largest[row] = max(largest[row], _sum(weights.ctypes.data + row * row_size, at_best, planes))
        for row in range(num_rows):
            score = _sum(passage_weights.ctypes.data + row * row_size, at_whole, planes)
            scores[row, place] = np.float32(1 - share) * largest[row] + np.float32(share) * score


@nb.njit(nogil=True, inline="always")
def _sum(at_weights: int, at_bytes: int, planes: int) -> Any:
    total = np.float32(0)
    for plane in range(planes):
        total += weighted(at_weights + plane * LANES * 4, at_bytes + plane * LANES)
    return total


@_compiled
def pair_products(rows: Array, tokens: Array, columns: Array, asked: Array, products: Array) -> None:
    """Products of pairs of integer rows.  rows (n, w), tokens (h,), columns (h,), asked (q, w) -> products (h,)"""
    number, width = len(tokens), rows.shape[1]
    for pair in range(number):
        later = rows.ctypes.data + np.int64(tokens[min(pair + AHEAD, number - 1)]) * width
        for line in range(0, width, LINE):
            ask_ahead(later + line)
        row, query = rows[tokens[pair]], asked[columns[pair]]
        product = np.int32(0)
        for place in range(width):
            product += np.int32(row[place]) * np.int32(query[place])
        products[pair] = product


@_compiled
def unit_best(products: Array, token_scales: Array, query_scales: Array, unit_starts: Array, best: Array) -> None:
    """Each unit's best similarity to each query token.  (n, q) int32, (n,), (q,), (u + 1,) -> best (u, q)"""
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
    """Each byte's numbers, as one wide element.  (n, c), (256,) -> wide (n, c)"""
    for token in range(packed.shape[0]):
        for column in range(packed.shape[1]):
            wide[token, column] = unpacking[packed[token, column]]
