"""What is wrong with an index on disk: every file read, every checksum compared, every damage laid to its passages."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Unpack

import numpy as np

from propcite.retrieval.errors import IndexFormatError
from propcite.retrieval.index import Told, nobody
from propcite.retrieval.index.container import Container
from propcite.retrieval.index.manifest import Manifest, SegmentEntry, read_manifest
from propcite.retrieval.index.parts import codes_path, faiss_path, read_part, segment_path
from propcite.retrieval.index.segment import EACH_TOKEN, Segment
from propcite.retrieval.index.token_index import IndexOptions, TokenIndex


@dataclass(frozen=True, slots=True)
class Fault:
    """A file that is not as it was written.

    `passages` are those whose vectors are known to be touched; `derived` says that the file can be made anew from the
    others.
    """

    file: str
    what: str
    passages: tuple[str, ...] = ()
    derived: bool = False


def check_index(folder: Path, told: Told = nobody) -> list[Fault]:
    """All faults of the index in a folder; its manifest must be readable."""
    while True:
        manifest = read_manifest(folder)
        faults = _faults(folder, manifest, _Reading(told, _size(folder, manifest)))
        if not faults or read_manifest(folder) == manifest:
            return faults
        # What was missed may be what a writer has replaced meanwhile.


@dataclass(slots=True)
class _Reading:
    """Counts the bytes that were read, and tells their share."""

    told: Told
    total: int
    done: int = 0

    def __call__(self, more: int) -> None:
        self.done += more
        self.told("checking", min(1.0, self.done / self.total))


def _size(folder: Path, manifest: Manifest) -> int:
    """The bytes that a check will read, about."""
    paths = [segment_path(folder, entry.name) for entry in manifest.segments]
    paths += [path for entry in manifest.segments for path in _made_from(folder, entry, manifest)]
    return max(1, sum(path.stat().st_size for path in paths if path.exists()))


def _made_from(folder: Path, entry: SegmentEntry, manifest: Manifest) -> list[Path]:
    made = [codes_path(folder, entry.name, manifest.centroids)] if manifest.centroids else []
    return made + ([faiss_path(folder, entry.name, manifest.faiss)] if manifest.faiss else [])


def _faults(folder: Path, manifest: Manifest, read: _Reading) -> list[Fault]:
    faults = [fault for entry in manifest.segments for fault in _segment_faults(folder, entry, manifest, read)]
    for name in filter(None, (manifest.centroids, manifest.faiss)):
        faults += _derived(folder / name, read)
    return faults


def _segment_faults(folder: Path, entry: SegmentEntry, manifest: Manifest, read: _Reading) -> Iterator[Fault]:
    path = segment_path(folder, entry.name)
    try:
        segment = read_part(folder, entry, manifest.dimension).segment
    except IndexFormatError:
        yield Fault(path.name, "damaged, missing, or not what the manifest names")
        return
    assert segment.file is not None
    for damage in segment.file.check(read):
        passages = _touched(segment, damage.array, damage.start, damage.end)
        yield Fault(path.name, f"{damage.array}, bytes {damage.start} to {damage.end}", passages)
    for path in _made_from(folder, entry, manifest):
        yield from _derived(path, read)


def _touched(segment: Segment, array: str, start: int, end: int) -> tuple[str, ...]:
    """The passages whose entries lie within some bytes of an array; of a table, all."""
    if array not in EACH_TOKEN or not segment.num_tokens:
        return segment.ids
    values = getattr(segment, array)
    row = values.itemsize * (values.shape[1] if values.ndim > 1 else 1)
    first, last = start // row, -(-end // row)
    bounds = np.searchsorted(segment.passage_starts, [first, last - 1], side="right") - 1
    return segment.ids[int(bounds[0]) : int(bounds[1]) + 1]


def _derived(path: Path, read: _Reading) -> Iterator[Fault]:
    """Faults of what was made from segments."""
    try:
        damages = Container(path).check(read)
    except IndexFormatError:
        yield Fault(path.name, "damaged or missing", derived=True)
        return
    if damages:
        yield Fault(path.name, f"{damages[0].array}, bytes from {damages[0].start}", derived=True)


def mend_index(folder: Path, faults: Sequence[Fault], **options: Unpack[IndexOptions]) -> None:
    """Take out what is damaged and make anew what can be: the passages that are then missing are to be added again."""
    for fault in faults:
        if fault.derived:
            (folder / fault.file).unlink(missing_ok=True)
    index = TokenIndex.load(folder, tolerant=True, **options)
    index.mend(folder, [i for fault in faults for i in fault.passages])
