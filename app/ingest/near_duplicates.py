"""Find documents with nearly the same text by MinHash signatures of their shingles (runs of words)."""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from propcite.app.ingest.outcomes import Alike

SHINGLE_WORDS = 5
NUM_HASHES = 128  # per signature: estimates a share with a standard error of about .04
MIN_WORDS = 20  # shorter documents are not compared
PIECE = 2**18  # characters of a long text whose words are in memory at once
MIN_SHARE = 0.8
MAX_REPORTED = 3  # near duplicates per document

_PRIME = np.uint64((1 << 31) - 1)  # products stay within 64 bits
_WORDS = re.compile(r"\w+")
_SPACE = re.compile(r"\s")
Hashes = np.ndarray[Any, np.dtype[np.uint32]]


def signature(text: str) -> bytes:
    """Return the text's MinHash signature; empty for a text of few words.

    The share of equal places in two signatures estimates the share of shingles that the texts have in common.
    """
    whole = GrowingSignature()
    whole.add(text)
    return whole.value


class GrowingSignature:
    """The signature of a text that comes in parts, each of whole words."""

    def __init__(self) -> None:
        self._factors, self._offsets = np.random.default_rng(0).integers(1, int(_PRIME), (2, NUM_HASHES, 1), np.uint64)
        self._minima: Hashes = np.full(NUM_HASHES, np.iinfo(np.uint32).max, np.uint32)
        self._num_words = 0
        self._last: list[str] = []

    @property
    def value(self) -> bytes:
        """The signature of all that was added; empty for few words."""
        return self._minima.astype("<u4").tobytes() if self._num_words >= MIN_WORDS else b""

    def add(self, text: str) -> None:
        for piece in _pieces(text):
            words = _WORDS.findall(piece.casefold())
            self._num_words += len(words)
            words = self._last + words
            self._last = words[1 - SHINGLE_WORDS :]
            shingles = {zlib.crc32(" ".join(shingle).encode()) for shingle in _shingles(words)}
            hashes = np.fromiter(shingles, np.uint64, len(shingles)) % _PRIME
            for first in range(0, len(hashes), 4096):
                permuted = (self._factors * hashes[first : first + 4096] + self._offsets) % _PRIME
                self._minima = np.minimum(self._minima, permuted.min(axis=1).astype(np.uint32))


def _pieces(text: str) -> Iterator[str]:
    """Yield the text in pieces of whole words, so that the words of a long text are not in memory at once."""
    start = 0
    while start < len(text):
        space = _SPACE.search(text, start + PIECE)
        end = space.start() if space else len(text)
        yield text[start:end]
        start = end


def _shingles(words: Sequence[str]) -> Iterator[Sequence[str]]:
    return (words[i : i + SHINGLE_WORDS] for i in range(len(words) - SHINGLE_WORDS + 1))


class SignatureIndex:
    """The signatures of a collection's documents by location."""

    def __init__(self) -> None:
        self._row_of: dict[str, int] = {}
        self._rows: Hashes = np.zeros((16, NUM_HASHES), np.uint32)

    def put(self, location: str, signature: bytes) -> None:
        """Add or replace a document's signature; an empty one is similar to none."""
        row = self._row_of.setdefault(location, len(self._row_of))
        if row == len(self._rows):
            self._rows = np.concatenate([self._rows, np.zeros_like(self._rows)])
        self._rows[row] = _hashes(signature) if signature else 0

    def move(self, location: str, to: str) -> None:
        if location in self._row_of:
            self._row_of[to] = self._row_of.pop(location)

    def similar(self, location: str, signature: bytes) -> tuple[Alike, ...]:
        """Return the near duplicates among the documents at other locations, most similar first."""
        if not signature or not self._row_of:
            return ()
        shares = (self._rows == _hashes(signature)).mean(axis=1)
        names = {row: name for name, row in self._row_of.items() if shares[row] >= MIN_SHARE and name != location}
        nearest = sorted(names, key=lambda row: (-shares[row], names[row]))[:MAX_REPORTED]
        return tuple(Alike(names[row], round(float(shares[row]), 2)) for row in nearest)


def _hashes(signature: bytes) -> Hashes:
    return np.frombuffer(signature, "<u4")
