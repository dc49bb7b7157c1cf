"""Which documents say nearly the same, by few numbers a document: the least hashes of its runs of words."""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from propcite.app.ingest.outcomes import Alike

RUN = 5  # words
NUMBERS = 128  # of a signature: a share is told within about .04
FEWEST = 20  # words of a document that is compared at all
NEARLY = 0.8
MOST = 3  # that are told of one document

_PRIME = np.uint64((1 << 31) - 1)  # products stay within 64 bits
_WORDS = re.compile(r"\w+")
Numbers = np.ndarray[Any, np.dtype[np.uint32]]


def signature(text: str) -> bytes:
    """Empty for a text of few words.  Two signatures agree in as many places as the texts share runs of words."""
    words = _WORDS.findall(text.casefold())
    if len(words) < FEWEST:
        return b""
    runs = {zlib.crc32(" ".join(run).encode()) for run in _runs(words)}
    hashes = np.fromiter(runs, np.uint64, len(runs)) % _PRIME
    factors, offsets = np.random.default_rng(0).integers(1, int(_PRIME), (2, NUMBERS, 1), np.uint64)
    least = np.full(NUMBERS, np.iinfo(np.uint32).max, np.uint32)
    for first in range(0, len(hashes), 4096):
        some = (factors * hashes[first : first + 4096] + offsets) % _PRIME
        least = np.minimum(least, some.min(axis=1).astype(np.uint32))
    return least.astype("<u4").tobytes()


def _runs(words: Sequence[str]) -> Iterator[Sequence[str]]:
    return (words[i : i + RUN] for i in range(len(words) - RUN + 1))


class Likenesses:
    """The signatures of a collection's documents, by their sources."""

    def __init__(self) -> None:
        self._places: dict[str, int] = {}
        self._rows: Numbers = np.zeros((16, NUMBERS), np.uint32)

    def put(self, source: str, told: bytes) -> None:
        """In place of what this source said before; an empty signature is like nothing."""
        row = self._places.setdefault(source, len(self._places))
        if row == len(self._rows):
            self._rows = np.concatenate([self._rows, np.zeros_like(self._rows)])
        self._rows[row] = _read(told) if told else 0

    def move(self, source: str, to: str) -> None:
        if source in self._places:
            self._places[to] = self._places.pop(source)

    def like(self, source: str, told: bytes) -> tuple[Alike, ...]:
        """Those of other sources that say nearly the same, the nearest first."""
        if not told or not self._places:
            return ()
        shares = (self._rows == _read(told)).mean(axis=1)
        named = {row: name for name, row in self._places.items() if shares[row] >= NEARLY and name != source}
        nearest = sorted(named, key=lambda row: (-shares[row], named[row]))[:MOST]
        return tuple(Alike(named[row], round(float(shares[row]), 2)) for row in nearest)


def _read(told: bytes) -> Numbers:
    return np.frombuffer(told, "<u4")
