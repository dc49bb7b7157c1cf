"""Postings: for each term of a segment the passages that have it, derived from the pieces that the segment stores."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from propcite.retrieval.encoding.base import Ints
from propcite.retrieval.errors import IndexFormatError
from propcite.retrieval.index.container import REPAIR, ChunkedArray, Container, replace_arrays
from propcite.retrieval.index.segment import Segment
from propcite.retrieval.words.terms import Keys, pair_keys, piece_keys, second_touches

PART = 1 << 23  # tokens whose terms are sorted at once
SCAN = 1 << 22  # tokens that are read at once
VERIFIED_BYTES = 1 << 24


@dataclass(frozen=True)
class Postings:
    """Terms in order, where the passages of each begin, and the passages, in order within a term.

    keys (t,), starts (t + 1,), passages (m,)
    """

    keys: Keys
    starts: npt.NDArray[Any]
    passages: npt.NDArray[Any]

    def places(self, keys: Keys) -> tuple[Ints, Ints]:
        """Return where the passages of each term begin and end; both 0 for a term that no passage has.  (n,)"""
        if not len(self.keys):
            return np.zeros(len(keys), np.int64), np.zeros(len(keys), np.int64)
        places = np.minimum(np.searchsorted(self.keys, keys), len(self.keys) - 1)
        known = self.keys[places] == keys
        first, last = self.starts[places].astype(np.int64), self.starts[places + 1].astype(np.int64)
        return np.where(known, first, 0), np.where(known, last, 0)


def build_postings(segment: Segment) -> Postings:
    """Return the postings of a segment in memory; it must store its pieces."""
    parts = list(_parts(segment))
    keys = np.concatenate([part[0] for part in parts])
    counts = np.concatenate([part[1] for part in parts])
    return Postings(keys, np.concatenate([[0], np.cumsum(counts)]), np.concatenate([part[2] for part in parts]))


def write_postings(segment: Segment, path: Path, progress: Callable[[int], None] = lambda _: None) -> None:
    """Write the postings of a segment, with a limited number of tokens in memory; report tokens as they are done."""
    keys: list[Keys] = []
    starts: list[Ints] = [np.zeros(1, np.int64)]

    def passages() -> Iterator[npt.NDArray[Any]]:
        for part_keys, counts, part in _parts(segment, progress):
            keys.append(part_keys)
            starts.append(starts[-1][-1] + np.cumsum(counts))
            yield part

    # The passages are written first, and fill the other two lists.
    arrays: dict[str, npt.NDArray[Any] | ChunkedArray] = {
        "passages": ChunkedArray(np.dtype(np.uint32), None, passages()),
        "keys": ChunkedArray(np.dtype(np.uint64), None, keys),
        "starts": ChunkedArray(np.dtype(np.int64), None, starts),
        "segment": np.array([segment.num_tokens, len(segment)]),
    }
    replace_arrays(path, arrays)


def read_postings(path: Path, segment: Segment) -> Postings:
    """Open written postings.  Small ones are read and verified, others mapped, as the vectors of a segment are."""
    file = Container(path)
    read = file.read if file.size <= VERIFIED_BYTES else file.mapped
    if file.read("segment").tolist() != [segment.num_tokens, len(segment)]:
        raise IndexFormatError(f"the index file {path} is of another segment: {REPAIR}")
    return Postings(read("keys"), read("starts"), read("passages"))


def _parts(
    segment: Segment, progress: Callable[[int], None] = lambda _: None
) -> Iterator[tuple[Keys, Ints, npt.NDArray[np.uint32]]]:
    """Yield the terms of one range of first pieces after the other: keys (t,), their counts (t,), passages (m,)."""
    ids = segment.token_ids
    assert ids is not None
    sizes = _piece_counts(ids)
    ends = np.searchsorted(np.cumsum(sizes), np.arange(PART, sizes.sum(), PART)) + 1
    first = done = 0
    for end in [*np.unique(ends).tolist(), len(sizes)]:
        yield _terms_between(segment, first, end)
        done += int(sizes[first:end].sum())
        progress(done)
        first = end


def _piece_counts(ids: npt.NDArray[Any]) -> Ints:
    """Return how many tokens have each piece; one zero for no token."""
    counts = np.zeros(1, np.int64)
    for first in range(0, len(ids), SCAN):
        more = np.bincount(ids[first : first + SCAN])
        counts = np.pad(counts, (0, max(0, len(more) - len(counts))))
        counts[: len(more)] += more
    return counts


def _terms_between(segment: Segment, low: int, high: int) -> tuple[Keys, Ints, npt.NDArray[np.uint32]]:
    """Return the terms whose first piece is in a range."""
    keys, owners = [], []
    for first in range(0, segment.num_tokens, SCAN):
        some, passages = _terms_of(segment, first, min(first + SCAN, segment.num_tokens), low, high)
        keys.append(some)
        owners.append(passages)
    all_keys, all_owners = np.concatenate([*keys, np.zeros(0, np.uint64)]), np.concatenate([*owners, np.zeros(0, int)])
    order = np.lexsort((all_owners, all_keys))
    all_keys, all_owners = all_keys[order], all_owners[order]
    new_key = np.ones(len(all_keys), bool)
    new_key[1:] = all_keys[1:] != all_keys[:-1]
    new = new_key.copy()
    new[1:] |= all_owners[1:] != all_owners[:-1]
    starts = np.flatnonzero(new_key[new])
    counts = np.diff(np.append(starts, int(new.sum())))
    return all_keys[new_key], counts, all_owners[new].astype(np.uint32)


def _terms_of(segment: Segment, first: int, last: int, low: int, high: int) -> tuple[Keys, Ints]:
    """Return the terms of some tokens that begin with a piece of a range, and the passage of each."""
    before = max(0, first - 1)  # the first of these tokens may touch the one before it
    tokens = slice(before, last)
    assert segment.token_ids is not None
    ids = segment.token_ids[tokens]
    inside = (ids >= low) & (ids < high)
    touches = second_touches(segment.token_starts[tokens], segment.token_lengths[tokens])
    singles = np.flatnonzero(inside[first - before :]) + first - before
    seconds = np.flatnonzero(touches[1:] & inside[:-1]) + 1
    keys = np.concatenate([piece_keys(ids[singles]), pair_keys(ids[seconds - 1], ids[seconds])])
    places = np.concatenate([singles, seconds]) + before
    return keys, np.searchsorted(segment.passage_starts, places, side="right") - 1
