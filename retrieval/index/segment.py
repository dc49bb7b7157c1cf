"""A segment: token vectors of some passages as they lie on disk, never changed once written."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import numpy as np
import numpy.typing as npt

from retrieval.encoder import Offsets, TokenVectors
from retrieval.errors import IndexFormatError
from retrieval.granularity import Ints
from retrieval.text import Passage

HEAD = -1  # the unit of tokens that belong to no sentence: special tokens and the title's
TABLES = ("offsets", "unit_starts", "unit_sentences", "unit_ranked", "passage_units", "ids")


@dataclass(frozen=True, slots=True)
class Segment:
    """Tokens of passages in order; units (a passage's head, then its sentences) are runs of tokens.

    vectors (n, d) float16; offsets (n, 2); unit_starts (u,) into tokens; unit_sentences (u,) the sentence's number or
    HEAD; unit_ranked (u,) whether a search may return it; passage_units (p,) into units; ids (p,).
    """

    vectors: npt.NDArray[np.float16]
    offsets: Offsets
    unit_starts: Ints
    unit_sentences: npt.NDArray[np.int32]
    unit_ranked: npt.NDArray[np.bool_]
    passage_units: Ints
    ids: npt.NDArray[np.str_]

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def passage_starts(self) -> Ints:
        return self.unit_starts[self.passage_units]

    def tokens_of(self, number: int) -> slice:
        starts = self.passage_starts
        end = starts[number + 1] if number + 1 < len(starts) else len(self.vectors)
        return slice(int(starts[number]), int(end))

    def units_of(self, number: int) -> slice:
        end = self.passage_units[number + 1] if number + 1 < len(self) else len(self.unit_starts)
        return slice(int(self.passage_units[number]), int(end))

    @property
    def bytes(self) -> int:
        return int(self.vectors.nbytes + sum(getattr(self, name).nbytes for name in TABLES))


def build_segment(passages: Sequence[Passage], vectors: Sequence[TokenVectors]) -> Segment:
    """Lay the tokens of passages out by unit.  Every passage needs at least one token."""
    ordered: list[TokenVectors] = []
    unit_starts: list[int] = []
    unit_sentences: list[int] = []
    unit_ranked: list[bool] = []
    passage_units: list[int] = []
    base = 0
    for passage, tokens in zip(passages, vectors, strict=True):
        owner = _sentence_of_each(passage, tokens)
        order = np.argsort(owner, kind="stable")
        tokens = TokenVectors(tokens.vectors[order], tokens.offsets[order])
        units, starts = np.unique(owner[order], return_index=True)
        passage_units.append(len(unit_starts))
        unit_starts += [base + int(start) for start in starts]
        unit_sentences += [int(unit) for unit in units]
        unit_ranked += [unit != HEAD and not passage.sentences[unit].is_heading for unit in units]
        ordered.append(tokens)
        base += len(tokens)
    return Segment(
        vectors=np.concatenate([t.vectors for t in ordered]).astype(np.float16),
        offsets=np.concatenate([t.offsets for t in ordered]),
        unit_starts=np.asarray(unit_starts, dtype=np.int64),
        unit_sentences=np.asarray(unit_sentences, dtype=np.int32),
        unit_ranked=np.asarray(unit_ranked, dtype=bool),
        passage_units=np.asarray(passage_units, dtype=np.int64),
        ids=np.asarray([p.id for p in passages], dtype=np.str_),
    )


def _sentence_of_each(passage: Passage, tokens: TokenVectors) -> npt.NDArray[np.int64]:
    """The number of the sentence in which each token begins, HEAD for tokens without characters.  -> (n,)"""
    starts = np.asarray([s.span.start for s in passage.sentences] or [0], dtype=np.int64)
    # Of several sentences that start at one place all but the last are empty, and `right` passes over them.
    owner = np.searchsorted(starts, tokens.offsets[:, 0], side="right") - 1
    if not passage.sentences:
        return np.full(len(tokens), HEAD, dtype=np.int64)
    return np.where(tokens.offsets[:, 0] < 0, HEAD, owner).astype(np.int64)


def join_segments(parts: Sequence[tuple[Segment, npt.NDArray[np.bool_]]]) -> Segment:
    """One segment of the passages that are kept, in order.  Each part is a segment and its kept passages (p,)."""
    vectors, offsets, starts, sentences, ranked, units, ids = [], [], [], [], [], [], []
    num_tokens = num_units = 0
    for segment, kept in parts:
        for number in np.flatnonzero(kept):
            tokens, unit = segment.tokens_of(int(number)), segment.units_of(int(number))
            vectors.append(segment.vectors[tokens])
            offsets.append(segment.offsets[tokens])
            starts.append(segment.unit_starts[unit] - tokens.start + num_tokens)
            sentences.append(segment.unit_sentences[unit])
            ranked.append(segment.unit_ranked[unit])
            units.append(num_units)
            ids.append(str(segment.ids[number]))
            num_tokens += tokens.stop - tokens.start
            num_units += unit.stop - unit.start
    return Segment(
        np.concatenate(vectors),
        np.concatenate(offsets),
        np.concatenate(starts),
        np.concatenate(sentences),
        np.concatenate(ranked),
        np.asarray(units, dtype=np.int64),
        np.asarray(ids, dtype=np.str_),
    )


def write_segment(segment: Segment, folder: Path, name: str) -> None:
    """Both files complete on disk before the manifest names them."""
    with durable(folder / f"{name}.vectors.npy") as file:
        np.save(file, segment.vectors)
    with durable(folder / f"{name}.tables.npz") as file:
        np.savez(file, **{table: getattr(segment, table) for table in TABLES})


def segment_exists(folder: Path, name: str) -> bool:
    return all((folder / f"{name}.{kind}").exists() for kind in ("vectors.npy", "tables.npz"))


def read_segment(folder: Path, name: str, dimension: int) -> Segment:
    """The tables in memory, the vectors mapped: the operating system reads what a search touches."""
    path = folder / f"{name}.vectors.npy"
    try:
        vectors = np.load(path, mmap_mode="r", allow_pickle=False)
        fits = vectors.dtype == np.float16 and vectors.offset + vectors.nbytes == path.stat().st_size
        with np.load(folder / f"{name}.tables.npz", allow_pickle=False) as tables:
            segment = Segment(vectors, **{table: tables[table] for table in TABLES})
    except Exception as error:  # numpy and zipfile raise whatever a damaged header leads them to
        raise IndexFormatError(f"the index part {folder / name} is damaged or missing: run propcite reindex") from error
    if not fits or vectors.shape != (len(segment.offsets), dimension):
        raise IndexFormatError(f"the index part {folder / name} does not fit together: run propcite reindex")
    return segment


@contextmanager
def durable(path: Path) -> Iterator[BinaryIO]:
    """A new file that is on the disk, not only in its cache, when the block ends."""
    with path.open("wb") as file:
        yield file
        file.flush()
        os.fsync(file.fileno())
