"""The ids of a segment's passages as bytes, found by their hashes: as strings they take hundreds of bytes each."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import Any, overload

import numpy as np
import numpy.typing as npt

from propcite.retrieval.encoding.base import Ints

Bytes = npt.NDArray[np.uint8]
Hashes = npt.NDArray[np.uint64]

QUOTE, BACKSLASH, COLON = map(ord, '"\\:')
WORD = 8  # bytes hashed at once
FEW = 256  # ids that are compared one by one: sorting them takes longer
FACTORS = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xD6E8FEB86659FD93)


class PassageIds(Sequence[str]):
    """Ids in order: `text` holds them in UTF-8, each from one of `starts` to one of `ends`.

    >>> ids = PassageIds.of(["a:0", "a:1", "b:0"])
    >>> ids[1], ids.numbers_of(["b:0", "c"]).tolist()
    ('a:1', [2, -1])
    >>> ids.documents[0], ids.documents[1].tolist()
    (['a', 'b'], [0, 0, 1])
    """

    def __init__(self, text: Bytes, starts: npt.NDArray[Any], ends: npt.NDArray[Any]) -> None:
        self._text, self._starts, self._ends = text, starts, ends

    @classmethod
    def of(cls, ids: Iterable[str]) -> PassageIds:
        encoded = [i.encode("utf-8", "surrogatepass") for i in ids]
        ends = np.cumsum([len(i) for i in encoded], dtype=np.int64)
        starts = ends - np.array([len(i) for i in encoded], np.int64)
        return cls(np.frombuffer(b"".join(encoded), np.uint8), starts, ends)

    @classmethod
    def from_json(cls, content: Bytes) -> PassageIds:
        """Read a JSON list of strings, without a string in memory for each where none has an escape."""
        content = np.asarray(content).view(np.ndarray)
        if not (content == BACKSLASH).any():
            quotes = np.flatnonzero(content == QUOTE)
            quotes = quotes.astype(np.min_scalar_type(len(content)))
            return cls(content, quotes[::2] + 1, quotes[1::2])
        return cls.of(json.loads(content.tobytes()))

    def __len__(self) -> int:
        return len(self._starts)

    @overload
    def __getitem__(self, number: int) -> str: ...

    @overload
    def __getitem__(self, number: slice) -> tuple[str, ...]: ...

    def __getitem__(self, number: int | slice) -> str | tuple[str, ...]:
        if isinstance(number, slice):
            return tuple(self[one] for one in range(*number.indices(len(self))))
        return self._text[self._starts[number] : self._ends[number]].tobytes().decode("utf-8", "surrogatepass")

    def __iter__(self) -> Iterator[str]:
        text = self._text.data
        for start, end in zip(self._starts.tolist(), self._ends.tolist(), strict=True):
            yield str(text[start:end], "utf-8", "surrogatepass")

    @cached_property
    def hashes(self) -> Hashes:
        """Return a hash of each id.  (p,)"""
        return _hashes(self._text, self._starts.astype(np.int64), self._ends.astype(np.int64))

    @cached_property
    def total(self) -> int:
        """Return the sum of all hashes, modulo 2 ** 64: it names the set of ids."""
        return int(self.hashes.sum())

    @cached_property
    def _order(self) -> npt.NDArray[np.uint32]:
        return np.argsort(self.hashes, kind="stable").astype(np.uint32)

    @cached_property
    def _sorted_hashes(self) -> Hashes:
        return self.hashes[self._order]

    @cached_property
    def documents(self) -> tuple[list[str], npt.NDArray[np.int32]]:
        """Return the documents of ids `DOCUMENT:NUMBER`, and the place of each passage's among them.  (d,), (p,)

        An id without a colon is a document of its own.  One whose passages are apart is listed several times.
        """
        starts, ends = self._starts.astype(np.int64), self._ends.astype(np.int64)
        colons = np.append(-1, np.flatnonzero(self._text == COLON))
        last = colons[np.searchsorted(colons, ends) - 1]
        ends = np.where(last >= starts, last, ends)
        names = _hashes(self._text, starts, ends)
        new = np.ones(len(self), bool)
        new[1:] = names[1:] != names[:-1]
        first = np.flatnonzero(new)
        text = self._text.data
        documents = [
            str(text[a:b], "utf-8", "surrogatepass")
            for a, b in zip(starts[first].tolist(), ends[first].tolist(), strict=True)
        ]
        return documents, (np.cumsum(new) - 1).astype(np.int32)

    @cached_property
    def document_hashes(self) -> Hashes:
        """Return a hash of the id of each of `documents`.  (d,)"""
        return PassageIds.of(self.documents[0]).hashes

    def numbers_of(self, ids: Sequence[str]) -> Ints:
        """Return the number of each of these ids, which must differ, -1 where it is not among them.  (i,)"""
        wanted = ids if isinstance(ids, PassageIds) else PassageIds.of(ids)
        numbers = np.full(len(wanted), -1, np.int64)
        if len(self) <= FEW:
            for number, one in enumerate(self):
                if (place := wanted._places.get(one)) is not None:
                    numbers[place] = number
            return numbers
        first = np.searchsorted(self._sorted_hashes, wanted.hashes, side="left")
        last = np.searchsorted(self._sorted_hashes, wanted.hashes, side="right")
        for place in np.flatnonzero(first < last).tolist():
            for number in self._order[first[place] : last[place]].tolist():
                if self[number] == wanted[place]:
                    numbers[place] = number
        return numbers

    @cached_property
    def _places(self) -> dict[str, int]:
        return {one: place for place, one in enumerate(self)}


def _hashes(text: Bytes, starts: Ints, ends: Ints) -> Hashes:
    """Return a hash of each run of bytes, eight bytes of all runs at a time."""
    lengths = ends - starts
    hashes = lengths.astype(np.uint64) * FACTORS[0]
    words = np.lib.stride_tricks.sliding_window_view(np.append(text, np.zeros(WORD, np.uint8)), WORD)
    active = np.flatnonzero(lengths > 0)
    at = 0
    while len(active):
        word = np.ascontiguousarray(words[starts[active] + at]).view("<u8")[:, 0]
        missing = np.clip(WORD - (lengths[active] - at), 0, WORD - 1).astype(np.uint64)
        word &= np.uint64(0xFFFFFFFFFFFFFFFF) >> (np.uint64(8) * missing)
        mixed = (hashes[active] ^ word) * FACTORS[0]
        hashes[active] = mixed ^ (mixed >> np.uint64(32))
        at += WORD
        active = active[lengths[active] > at]
    hashes = (hashes ^ (hashes >> np.uint64(29))) * FACTORS[1]
    return hashes ^ (hashes >> np.uint64(32))
