"""Token vectors as few bytes: eight, four, two or one bit a number after a fixed rotation, or float16 as they are.

A rotation spreads each vector's length evenly over its numbers, so that one scale a token and one table of levels
serve every encoder.  Similarities are products of eight-bit integers, whatever the payload's bits.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from propcite.retrieval.encoding.base import Floats, Ints

BITS = (16, 8, 4, 2, 1)
AT_ONCE = 1 << 14  # tokens encoded at once
TOGETHER = 16  # columns of an integer product: other numbers of them take longer
Payload = npt.NDArray[Any]  # (n, columns): float16, int8, or packed uint8
Rows = npt.NDArray[np.int8]  # (n, d) integers; times a token's scale they are its rotated vector

# The best levels for normally distributed numbers (Max 1960), positive halves.
LEVELS = {
    1: (0.7979,),
    2: (0.4528, 1.5104),
    4: (0.1284, 0.3881, 0.6568, 0.9424, 1.2562, 1.6181, 2.0690, 2.7326),
}


@dataclass(frozen=True, slots=True)
class Asked:
    """A query as a codec's products take it: as it came (q, d), and as rotated integers (q, w) with scales (q,)."""

    vectors: Floats
    rows: Rows
    scales: Floats

    def only(self, columns: Ints) -> Asked:
        """Some tokens of the query."""
        return Asked(self.vectors[columns], self.rows[columns], self.scales[columns])


@dataclass(frozen=True)
class Codec:
    """How the vectors of one segment are kept."""

    dimension: int
    bits: int

    def __post_init__(self) -> None:
        if self.bits not in BITS:
            raise ValueError(f"a token's number may have {', '.join(map(str, BITS))} bits, not {self.bits}")

    @property
    def width(self) -> int:
        """Numbers of an integer row: the dimension, filled up so that any bits make whole bytes."""
        return -(-self.dimension // 8) * 8

    @property
    def columns(self) -> int:
        return self.dimension if self.bits == 16 else self.width // self._packed

    @property
    def dtype(self) -> np.dtype[Any]:
        return np.dtype({16: np.float16, 8: np.int8}.get(self.bits, np.uint8))

    def encode(self, vectors: Floats) -> tuple[Payload, Floats]:
        """A bounded number of tokens at a time.  -> payload (n, columns), scales (n,)"""
        payload = np.empty((len(vectors), self.columns), self.dtype)
        scales = np.empty(len(vectors), np.float32)
        for first in range(0, len(vectors), AT_ONCE):
            some = slice(first, first + AT_ONCE)
            payload[some], scales[some] = self._encode(vectors[some])
        return payload, scales

    def _encode(self, vectors: Floats) -> tuple[Payload, Floats]:
        if self.bits == 16:
            return vectors.astype(np.float16), np.ones(len(vectors), np.float32)
        rotated = self._rotated(vectors)
        if self.bits == 8:
            return _to_int8(rotated)
        return self._packed_levels(rotated)

    def decode(self, payload: Payload, scales: Floats) -> Floats:
        """The vectors, as nearly as the bits tell.  -> (n, d)"""
        if self.bits == 16:
            return payload.astype(np.float32)
        rotated = self.rows(payload)[:, : self.dimension] * scales[:, None].astype(np.float32)
        return (rotated @ _rotation(self.dimension).T).astype(np.float32)

    def rows(self, payload: Payload) -> Rows:
        """The payload as integers, (n, w).  Not for 16 bits."""
        if self.bits == 8:
            return payload
        return np.take(self.unpacking, payload).view(np.int8).reshape(len(payload), self.width)

    def integers(self, payload: Payload) -> Rows:
        """The same for any bits, each row under some scale of its own."""
        return _to_int8(self._rotated(payload.astype(np.float32)))[0] if self.bits == 16 else self.rows(payload)

    def ask(self, query: Floats) -> Asked:
        query = np.ascontiguousarray(query, dtype=np.float32)
        rows, scales = _to_int8(self._rotated(query))
        return Asked(query, rows, scales)

    def similarities(self, payload: Payload, scales: Floats, asked: Asked) -> Floats:
        """Of every token to every query token.  -> (n, q)"""
        import torch  # many times faster than numpy at float16 and at integers

        if self.bits == 16:
            block = torch.from_numpy(np.array(payload)).float()
            product: Floats = (block @ torch.from_numpy(asked.vectors).T).numpy()
            return product
        found = torch.from_numpy(int_products(self.rows(payload), asked.rows)).float()
        found *= torch.from_numpy(np.array(scales, np.float32))[:, None]
        found *= torch.from_numpy(asked.scales)[None, :]
        return cast("Floats", found.numpy())

    @property
    def _packed(self) -> int:
        """Numbers in one element of the payload."""
        return max(1, 8 // self.bits)

    def _rotated(self, vectors: Floats) -> Floats:
        import torch  # its products stay in the threads that they are given

        wide = torch.zeros(len(vectors), self.width)
        given = torch.from_numpy(np.ascontiguousarray(vectors, np.float32))
        torch.mm(given, torch.from_numpy(_rotation(self.dimension)), out=wide[:, : self.dimension])
        return cast("Floats", wide.numpy())

    @cached_property
    def _levels(self) -> Floats:
        half = np.asarray(LEVELS[self.bits], np.float32)
        return np.concatenate([-half[::-1], half])

    @cached_property
    def _integers(self) -> Rows:
        """The levels as integers, the farthest 127."""
        integers: Rows = np.rint(self._levels * (127 / self._levels[-1])).astype(np.int8)
        return integers

    @cached_property
    def unpacking(self) -> npt.NDArray[Any]:
        """For each byte its numbers, seen as one wide element so that one look-up gives them all.  (256,)"""
        numbers = np.arange(256)[:, None] >> (self.bits * np.arange(self._packed)) & (2**self.bits - 1)
        unpacked: npt.NDArray[Any] = self._integers[numbers].view(f"u{self._packed}").reshape(256)
        return unpacked

    def _packed_levels(self, rotated: Floats) -> tuple[Payload, Floats]:
        lengths = np.linalg.norm(rotated, axis=1, keepdims=True)
        normal = rotated / lengths * np.float32(self.dimension**0.5)
        edges = (self._levels[1:] + self._levels[:-1]) / 2
        numbers = np.searchsorted(edges, normal).astype(np.uint8)
        kept = self._integers[numbers].astype(np.float32)
        kept[:, self.dimension :] = 0
        # The length that gives a vector its true product with itself, so that scores are not drawn towards zero.
        scales = (rotated * rotated).sum(1) / (rotated * kept).sum(1)
        parts = numbers.reshape(len(numbers), self.columns, self._packed) << (
            self.bits * np.arange(self._packed, dtype=np.uint8)
        )
        return np.bitwise_or.reduce(parts, axis=2).astype(np.uint8), scales.astype(np.float32)


def int_products(rows: Rows, others: Rows) -> npt.NDArray[np.int32]:
    """Products of integer rows, exactly.  (n, w), (m, w) -> (n, m)

    >>> int_products(np.array([[1, 2]], np.int8), np.array([[3, 4], [-1, 0]], np.int8)).tolist()
    [[11, -1]]
    """
    import torch

    left, right = _ready(rows), _ready(others)
    if len(others) % TOGETHER:
        right = np.zeros((-(-len(others) // TOGETHER) * TOGETHER, others.shape[1]), np.int8)
        right[: len(others)] = others
    product: npt.NDArray[np.int32] = _int_mm(torch.from_numpy(left), torch.from_numpy(right)).numpy()
    return product[:, : len(others)]


def _ready(rows: Rows) -> Rows:
    """As torch takes them."""
    return rows if rows.flags.writeable and rows.flags.c_contiguous else np.array(rows, order="C")


def _int_mm(left: Any, right: Any) -> Any:
    import torch

    fast = getattr(torch, "_int_mm", None)  # not promised by torch: the slow way gives the same numbers
    if fast is not None:
        return fast(left, right.T)
    return (left.float() @ right.float().T).int()  # exact: 127 * 127 * 1,024 stays below 2**24


def _to_int8(vectors: Floats) -> tuple[Rows, Floats]:
    """Each vector by a scale of its own: its largest number becomes 127."""
    import torch

    given = torch.from_numpy(vectors)
    scales = given.abs().amax(dim=1) / 127 if given.numel() else torch.zeros(len(given))
    scales[scales == 0] = 1.0
    return (given / scales[:, None]).round_().to(torch.int8).numpy(), scales.numpy()


@lru_cache(maxsize=4)
def _rotation(dimension: int) -> Floats:
    """A fixed orthogonal matrix that mixes all numbers: cosines with signs, twice.  The same on every machine."""
    places = np.arange(dimension)
    cosines = np.cos(np.pi / dimension * (places[:, None] + 0.5) * places) * np.sqrt(2 / dimension)
    cosines[:, 0] /= np.sqrt(2)
    digits = hashlib.shake_256(b"propcite rotation").digest(2 * dimension)
    signs = 1 - 2 * (np.frombuffer(digits, np.uint8) & 1).astype(np.int8).reshape(2, dimension)
    mixed: Floats = ((cosines * signs[0]) @ cosines.T * signs[1]).astype(np.float32)
    return mixed
