"""Compact token vectors: 8, 4, 2 or 1 bits per dimension after a fixed rotation, or plain float16.

The rotation spreads the length of each vector evenly over its dimensions, so one scale per token and one table of
levels suit every encoder.  Similarities are products of 8-bit integers, whatever the number of bits stored.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from propcite.retrieval.encoding.base import Floats, Ints

BITS = (16, 8, 4, 2, 1)
BATCH_TOKENS = 1 << 14  # tokens encoded at once
COLUMN_MULTIPLE = 16  # integer products are slower if the number of columns is not a multiple of this
Payload = npt.NDArray[Any]  # (n, columns): float16, int8, or packed uint8
Rows = npt.NDArray[np.int8]  # (n, d) integers; times a token's scale they are its rotated vector

# The best levels for normally distributed numbers (Max 1960), positive halves.
LEVELS = {
    1: (0.7979,),
    2: (0.4528, 1.5104),
    4: (0.1284, 0.3881, 0.6568, 0.9424, 1.2562, 1.6181, 2.0690, 2.7326),
}


@dataclass(frozen=True, slots=True)
class EncodedQuery:
    """A query's token vectors: the originals (q, d), and rotated integer rows (q, w) with their scales (q,)."""

    vectors: Floats
    rows: Rows
    scales: Floats

    def only(self, columns: Ints) -> EncodedQuery:
        """Return some of the query's tokens."""
        return EncodedQuery(self.vectors[columns], self.rows[columns], self.scales[columns])


@dataclass(frozen=True)
class Codec:
    """Encodes and decodes the vectors of one segment."""

    dimension: int
    bits: int

    def __post_init__(self) -> None:
        if self.bits not in BITS:
            raise ValueError(f"bits must be one of {', '.join(map(str, BITS))}, got {self.bits}")

    @property
    def width(self) -> int:
        """Return the length of an integer row: the dimension, rounded up so that any bits fill whole bytes."""
        return -(-self.dimension // 8) * 8

    @property
    def columns(self) -> int:
        """Return the number of elements per token in the payload."""
        return self.dimension if self.bits == 16 else self.width // self._per_element

    @property
    def dtype(self) -> np.dtype[Any]:
        return np.dtype({16: np.float16, 8: np.int8}.get(self.bits, np.uint8))

    def encode(self, vectors: Floats) -> tuple[Payload, Floats]:
        """Encode vectors in batches, which bounds the memory.  (n, d) -> payload (n, columns), scales (n,)"""
        payload = np.empty((len(vectors), self.columns), self.dtype)
        scales = np.empty(len(vectors), np.float32)
        for first in range(0, len(vectors), BATCH_TOKENS):
            batch = slice(first, first + BATCH_TOKENS)
            payload[batch], scales[batch] = self._encode(vectors[batch])
        return payload, scales

    def _encode(self, vectors: Floats) -> tuple[Payload, Floats]:
        if self.bits == 16:
            return vectors.astype(np.float16), np.ones(len(vectors), np.float32)
        rotated = self._rotate(vectors)
        if self.bits == 8:
            return _to_int8(rotated)
        return self._pack(rotated)

    def decode(self, payload: Payload, scales: Floats) -> Floats:
        """Return the vectors, with the loss of the encoding.  -> (n, d)"""
        if self.bits == 16:
            return payload.astype(np.float32)
        rotated = self.rows(payload)[:, : self.dimension] * scales[:, None].astype(np.float32)
        return (rotated @ _rotation(self.dimension).T).astype(np.float32)

    def rows(self, payload: Payload) -> Rows:
        """Return the payload as integer rows (n, w); not for 16 bits."""
        if self.bits == 8:
            return payload
        return np.take(self.unpacking, payload).view(np.int8).reshape(len(payload), self.width)

    def integers(self, payload: Payload) -> Rows:
        """Return integer rows for any bits, each row with an unknown scale of its own."""
        return _to_int8(self._rotate(payload.astype(np.float32)))[0] if self.bits == 16 else self.rows(payload)

    def encode_query(self, query: Floats) -> EncodedQuery:
        query = np.ascontiguousarray(query, dtype=np.float32)
        rows, scales = _to_int8(self._rotate(query))
        return EncodedQuery(query, rows, scales)

    def similarities(self, payload: Payload, scales: Floats, query: EncodedQuery) -> Floats:
        """Return the similarity of each token to each query token.  -> (n, q)"""
        import torch  # many times faster than numpy at float16 and at integers

        if self.bits == 16:
            block = torch.from_numpy(np.array(payload)).float()
            product: Floats = (block @ torch.from_numpy(query.vectors).T).numpy()
            return product
        products = torch.from_numpy(int_products(self.rows(payload), query.rows)).float()
        products *= torch.from_numpy(np.array(scales, np.float32))[:, None]
        products *= torch.from_numpy(query.scales)[None, :]
        return cast("Floats", products.numpy())

    @property
    def _per_element(self) -> int:
        """Return how many dimensions one element of the payload holds."""
        return max(1, 8 // self.bits)

    def _rotate(self, vectors: Floats) -> Floats:
        import torch  # its products respect the thread limit of a search

        wide = torch.zeros(len(vectors), self.width)
        narrow = torch.from_numpy(np.ascontiguousarray(vectors, np.float32))
        torch.mm(narrow, torch.from_numpy(_rotation(self.dimension)), out=wide[:, : self.dimension])
        return cast("Floats", wide.numpy())

    @cached_property
    def _levels(self) -> Floats:
        half = np.asarray(LEVELS[self.bits], np.float32)
        return np.concatenate([-half[::-1], half])

    @cached_property
    def _integer_levels(self) -> Rows:
        """Return the levels as integers, the largest being 127."""
        integers: Rows = np.rint(self._levels * (127 / self._levels[-1])).astype(np.int8)
        return integers

    @cached_property
    def unpacking(self) -> npt.NDArray[Any]:
        """Return the integers of each byte as one wide element, so that one look-up unpacks a byte.  (256,)"""
        numbers = np.arange(256)[:, None] >> (self.bits * np.arange(self._per_element)) & (2**self.bits - 1)
        unpacking: npt.NDArray[Any] = self._integer_levels[numbers].view(f"u{self._per_element}").reshape(256)
        return unpacking

    def _pack(self, rotated: Floats) -> tuple[Payload, Floats]:
        lengths = np.linalg.norm(rotated, axis=1, keepdims=True)
        normal = rotated / lengths * np.float32(self.dimension**0.5)
        edges = (self._levels[1:] + self._levels[:-1]) / 2
        numbers = np.searchsorted(edges, normal).astype(np.uint8)
        decoded = self._integer_levels[numbers].astype(np.float32)
        decoded[:, self.dimension :] = 0
        # The scale that preserves a vector's product with itself, so that scores are not biased towards zero.
        scales = (rotated * rotated).sum(1) / (rotated * decoded).sum(1)
        shifted = numbers.reshape(len(numbers), self.columns, self._per_element) << (
            self.bits * np.arange(self._per_element, dtype=np.uint8)
        )
        return np.bitwise_or.reduce(shifted, axis=2).astype(np.uint8), scales.astype(np.float32)


def int_products(rows: Rows, others: Rows) -> npt.NDArray[np.int32]:
    """Return the exact products of integer rows.  (n, w), (m, w) -> (n, m)

    >>> int_products(np.array([[1, 2]], np.int8), np.array([[3, 4], [-1, 0]], np.int8)).tolist()
    [[11, -1]]
    """
    import torch

    left, right = _for_torch(rows), _for_torch(others)
    if len(others) % COLUMN_MULTIPLE:
        right = np.zeros((-(-len(others) // COLUMN_MULTIPLE) * COLUMN_MULTIPLE, others.shape[1]), np.int8)
        right[: len(others)] = others
    product: npt.NDArray[np.int32] = _int_mm(torch.from_numpy(left), torch.from_numpy(right)).numpy()
    return product[:, : len(others)]


def _for_torch(rows: Rows) -> Rows:
    """Copy rows that are read-only or not contiguous, which torch does not take."""
    return rows if rows.flags.writeable and rows.flags.c_contiguous else np.array(rows, order="C")


def _int_mm(left: Any, right: Any) -> Any:
    import torch

    if _int_mm_is_exact():
        return torch._int_mm(left, right.T)
    return (left.float() @ right.float().T).int()  # exact: 127 * 127 * 1,024 stays below 2**24


def _to_int8(vectors: Floats) -> tuple[Rows, Floats]:
    """Scale each vector so that its largest number becomes 127."""
    import torch

    floats = torch.from_numpy(vectors)
    scales = floats.abs().amax(dim=1) / 127 if floats.numel() else torch.zeros(len(floats))
    scales[scales == 0] = 1.0
    return (floats / scales[:, None]).round_().to(torch.int8).numpy(), scales.numpy()


@lru_cache(maxsize=4)
def _rotation(dimension: int) -> Floats:
    """Return an orthogonal matrix that mixes all dimensions: cosines with signs, twice.  The same on every machine."""
    columns = np.arange(dimension)
    cosines = np.cos(np.pi / dimension * (columns[:, None] + 0.5) * columns) * np.sqrt(2 / dimension)
    cosines[:, 0] /= np.sqrt(2)
    digits = hashlib.shake_256(b"propcite rotation").digest(2 * dimension)
    signs = 1 - 2 * (np.frombuffer(digits, np.uint8) & 1).astype(np.int8).reshape(2, dimension)
    rotation: Floats = ((cosines * signs[0]) @ cosines.T * signs[1]).astype(np.float32)
    return rotation


@cache
def _int_mm_is_exact() -> bool:
    """Return whether torch has integer products, which is not public, and they are right on this processor.

    Those without VNNI add two products in 16 bits, where large ones saturate.
    """
    import torch

    if not hasattr(torch, "_int_mm"):
        return False
    rows = torch.full((4 * COLUMN_MULTIPLE, 128), 127, dtype=torch.int8)
    others = torch.full((COLUMN_MULTIPLE, 128), -127, dtype=torch.int8)
    return bool((torch._int_mm(rows, others.T) == -127 * 127 * 128).all())
