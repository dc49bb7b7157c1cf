"""A segment in use: which of its passages are deleted, and what helps to search it."""

from __future__ import annotations

import os
import zlib
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from propcite.retrieval.errors import IndexFormatError
from propcite.retrieval.index.coarse_codes import Coded
from propcite.retrieval.index.container import REPAIR, sync_folder
from propcite.retrieval.index.faiss_tokens import FaissTokens
from propcite.retrieval.index.manifest import SegmentEntry
from propcite.retrieval.index.ranking import Mask
from propcite.retrieval.index.segment import Segment, read_segment

NUMBER = np.dtype("<u4")


@dataclass(eq=False)
class Part:
    """`name` is empty until the segment is on disk; `deleted` holds numbers in the order of deleting."""

    segment: Segment
    name: str = ""
    deleted: list[int] = field(default_factory=list)
    coded: Coded | None = None
    tokens: FaissTokens | None = None
    kept: Mask = field(init=False)

    def __post_init__(self) -> None:
        self.kept = np.ones(len(self.segment), bool)
        self.kept[self.deleted] = False
        self._written = len(self.deleted) if self.name else 0
        self._sum = zlib.crc32(np.asarray(self.deleted, NUMBER).tobytes()) if self.name else 0

    @property
    def num_kept(self) -> int:
        return len(self.segment) - len(self.deleted)

    def delete(self, number: int) -> None:
        self.kept[number] = False
        self.deleted.append(number)

    def write_deleted(self, folder: Path) -> SegmentEntry:
        """Append what was deleted since the last time; the manifest's entry says how much of the file counts."""
        new = np.asarray(self.deleted[self._written :], NUMBER).tobytes()
        if new:
            path = deleted_path(folder, self.name)
            with path.open("r+b" if path.exists() else "w+b") as file:
                file.seek(NUMBER.itemsize * self._written)
                file.write(new)
                file.truncate()  # what a stopped writer left behind counts for nobody
                file.flush()
                os.fsync(file.fileno())
            sync_folder(folder)
            self._sum = zlib.crc32(new, self._sum)
            self._written = len(self.deleted)
        return SegmentEntry(self.name, len(self.segment), self.segment.num_tokens, self._written, self._sum)

    @property
    def searched_share(self) -> float:
        """Of each passage's tokens, by which candidates are looked for."""
        made = self.tokens or self.coded
        return made.searched.share if made else 1.0

    def forget_help(self, searched_share: float) -> None:
        """What was made while another share of the tokens was searched is to be made anew."""
        if self.coded and self.coded.searched.share != searched_share:
            self.coded = None
        if self.tokens and self.tokens.searched.share != searched_share:
            self.tokens = None

    def forget_place(self) -> None:
        """The part belongs to no folder any more: everything is to be written anew."""
        self.name, self._written, self._sum = "", 0, 0


def segment_path(folder: Path, name: str) -> Path:
    return folder / f"{name}.tokens"


def deleted_path(folder: Path, name: str) -> Path:
    return folder / f"{name}.deleted"


def codes_path(folder: Path, name: str, centroids: str) -> Path:
    return folder / f"{name}.codes-{centroids.split('-')[1]}"


def faiss_path(folder: Path, name: str, trained: str) -> Path:
    return folder / f"{name}.faiss-{trained.split('-')[1]}"


def read_part(folder: Path, entry: SegmentEntry, dimension: int) -> Part:
    segment = read_segment(segment_path(folder, entry.name), dimension)
    if len(segment) != entry.passages or segment.num_tokens != entry.tokens:
        raise IndexFormatError(f"the index part {folder / entry.name} does not fit together: {REPAIR}")
    return Part(segment, entry.name, _read_deleted(folder, entry))


def _read_deleted(folder: Path, entry: SegmentEntry) -> list[int]:
    if not entry.deleted:
        return []
    path = deleted_path(folder, entry.name)
    size = NUMBER.itemsize * entry.deleted
    try:
        with path.open("rb") as file:
            content = file.read(size)
    except OSError as error:
        raise IndexFormatError(f"the index part {path} is damaged or missing: {REPAIR}") from error
    numbers = np.frombuffer(content[: len(content) // NUMBER.itemsize * NUMBER.itemsize], NUMBER)
    if len(content) != size or zlib.crc32(content) != entry.deleted_sum or (numbers >= entry.passages).any():
        raise IndexFormatError(f"the index part {path} is damaged or missing: {REPAIR}")
    return [int(number) for number in numbers]
