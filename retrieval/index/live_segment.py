"""A segment of an open index with its deleted passages and its derived search structures."""

from __future__ import annotations

import os
import zlib
from copy import copy
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import numpy as np

from propcite.retrieval.encoding.base import Mask
from propcite.retrieval.errors import IndexFormatError
from propcite.retrieval.index.centroid_codes import CentroidCodes
from propcite.retrieval.index.container import REPAIR, sync_folder
from propcite.retrieval.index.faiss_tokens import FaissTokens
from propcite.retrieval.index.manifest import SegmentEntry
from propcite.retrieval.index.segment import Segment, read_segment
from propcite.retrieval.words.postings import Postings, build_postings

DELETED_DTYPE = np.dtype("<u4")


@dataclass(eq=False)
class LiveSegment:
    """A segment in use.  `name` is empty until it is on disk; `deleted` are passage numbers in order of deletion."""

    segment: Segment
    name: str = ""
    deleted: list[int] = field(default_factory=list)
    centroid_codes: CentroidCodes | None = None
    faiss_tokens: FaissTokens | None = None
    written_postings: Postings | None = None
    mask: Mask = field(init=False)  # True for passages that are not deleted

    def __post_init__(self) -> None:
        self.mask = np.ones(len(self.segment), bool)
        self.mask[self.deleted] = False
        self._num_written = len(self.deleted) if self.name else 0
        self._sum = zlib.crc32(np.asarray(self.deleted, DELETED_DTYPE).tobytes()) if self.name else 0

    @property
    def num_passages(self) -> int:
        """Return the number of passages that are not deleted."""
        return len(self.segment) - len(self.deleted)

    @property
    def digest(self) -> int:
        """Return the sum of the hashes of the ids of passages that are not deleted."""
        ids = self.segment.ids
        return (ids.total - int(ids.hashes[self.deleted].sum())) % 2**64 if self.deleted else ids.total

    def as_in(self, entry: SegmentEntry, folder: Path) -> LiveSegment:
        """Return this segment with the deletions that a manifest names; what is in memory is shared."""
        same = copy(self)
        if (self._num_written, self._sum) == (entry.deleted, entry.deleted_sum):
            same.deleted = self.deleted[: entry.deleted]
        else:
            same.deleted = _read_deleted(folder, entry)
            same._num_written, same._sum = entry.deleted, entry.deleted_sum
        same.mask = np.ones(len(self.segment), bool)
        same.mask[same.deleted] = False
        return same

    def delete(self, number: int) -> None:
        self.mask[number] = False
        self.deleted.append(number)

    @property
    def changed(self) -> bool:
        """Return whether the segment or a deletion is not on disk yet."""
        return not self.name or self._num_written != len(self.deleted)

    def write_deleted(self, folder: Path) -> SegmentEntry:
        """Append new deletions to the file and return the manifest's entry, which says how much of the file counts."""
        new = np.asarray(self.deleted[self._num_written :], DELETED_DTYPE).tobytes()
        if new:
            path = deleted_path(folder, self.name)
            with path.open("r+b" if path.exists() else "w+b") as file:
                file.seek(DELETED_DTYPE.itemsize * self._num_written)
                file.write(new)
                file.truncate()  # a writer that was stopped may have left more, which no manifest counts
                file.flush()
                os.fsync(file.fileno())
            sync_folder(folder)
            self._sum = zlib.crc32(new, self._sum)
            self._num_written = len(self.deleted)
        return SegmentEntry(self.name, len(self.segment), self.segment.num_tokens, self._num_written, self._sum)

    @cached_property
    def postings(self) -> Postings | None:
        """Return the passages of each term, built in memory where no file holds them; None without pieces."""
        if self.written_postings:
            return self.written_postings
        return build_postings(self.segment) if self.segment.token_ids is not None else None

    def attach_postings(self, postings: Postings) -> None:
        """Use written postings in place of those in memory."""
        self.written_postings = postings
        self.__dict__.pop("postings", None)

    @property
    def searched_share(self) -> float:
        """Return the share of each passage's tokens that is used to find candidates."""
        structure = self.faiss_tokens or self.centroid_codes
        return structure.searched.share if structure else 1.0

    def drop_other_shares(self, searched_share: float) -> None:
        """Drop structures that were made for another share of searched tokens."""
        if self.centroid_codes and self.centroid_codes.searched.share != searched_share:
            self.centroid_codes = None
        if self.faiss_tokens and self.faiss_tokens.searched.share != searched_share:
            self.faiss_tokens = None

    def detach(self) -> None:
        """Forget the folder, so that the next save writes everything."""
        self.name, self._num_written, self._sum = "", 0, 0


def segment_path(folder: Path, name: str) -> Path:
    return folder / f"{name}.tokens"


def deleted_path(folder: Path, name: str) -> Path:
    return folder / f"{name}.deleted"


def postings_path(folder: Path, name: str) -> Path:
    return folder / f"{name}.words"


def codes_path(folder: Path, name: str, centroids: str) -> Path:
    return folder / f"{name}.codes-{centroids.split('-')[1]}"


def faiss_path(folder: Path, name: str, trained: str) -> Path:
    return folder / f"{name}.faiss-{trained.split('-')[1]}"


def read_live_segment(folder: Path, entry: SegmentEntry, dimension: int) -> LiveSegment:
    """Open a segment of a manifest with its deletions, without derived structures."""
    segment = read_segment(segment_path(folder, entry.name), dimension)
    if len(segment) != entry.passages or segment.num_tokens != entry.tokens:
        raise IndexFormatError(f"the index segment {folder / entry.name} does not match the manifest: {REPAIR}")
    return LiveSegment(segment, entry.name, _read_deleted(folder, entry))


def _read_deleted(folder: Path, entry: SegmentEntry) -> list[int]:
    if not entry.deleted:
        return []
    path = deleted_path(folder, entry.name)
    size = DELETED_DTYPE.itemsize * entry.deleted
    try:
        with path.open("rb") as file:
            content = file.read(size)
    except OSError as error:
        raise IndexFormatError(f"the index file {path} is damaged or missing: {REPAIR}") from error
    numbers = np.frombuffer(content[: len(content) // DELETED_DTYPE.itemsize * DELETED_DTYPE.itemsize], DELETED_DTYPE)
    if len(content) != size or zlib.crc32(content) != entry.deleted_sum or (numbers >= entry.passages).any():
        raise IndexFormatError(f"the index file {path} is damaged or missing: {REPAIR}")
    return [int(number) for number in numbers]
