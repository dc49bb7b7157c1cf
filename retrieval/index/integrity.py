"""Integrity check of an index on disk: verifies all checksums, maps damage to passages, and repairs it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Unpack

import numpy as np

from propcite.retrieval.errors import IndexFormatError
from propcite.retrieval.index import IndexOptions, ProgressReport, ignore_progress
from propcite.retrieval.index.container import OUTSIDE, Container
from propcite.retrieval.index.live_segment import codes_path, faiss_path, postings_path, read_live_segment, segment_path
from propcite.retrieval.index.manifest import Manifest, SegmentEntry, read_manifest
from propcite.retrieval.index.segment import TOKEN_COLUMNS, Segment
from propcite.retrieval.index.token_index import TokenIndex


@dataclass(frozen=True, slots=True)
class Fault:
    """A damaged or missing file.

    `passages` are those with damaged vectors, as far as known; a `derived` file can be rebuilt from the others.
    """

    file: str
    problem: str
    passages: tuple[str, ...] = ()
    derived: bool = False


def check_index(folder: Path, progress: ProgressReport = ignore_progress) -> list[Fault]:
    """Return all faults of the index in a folder; its manifest must be readable."""
    while True:
        manifest = read_manifest(folder)
        faults = _faults(folder, manifest, _ReadProgress(progress, _bytes_to_read(folder, manifest)))
        if not faults or read_manifest(folder) == manifest:
            return faults
        # A writer has replaced the index meanwhile, so the faults may be files that it removed: check again.


@dataclass(slots=True)
class _ReadProgress:
    """Counts the bytes that were read and reports their share."""

    report: ProgressReport
    total: int
    num_read: int = 0

    def __call__(self, more: int) -> None:
        self.num_read += more
        self.report("checking", min(1.0, self.num_read / self.total))


def _bytes_to_read(folder: Path, manifest: Manifest) -> int:
    """Return about how many bytes a check will read."""
    paths = [segment_path(folder, entry.name) for entry in manifest.segments]
    paths += [path for entry in manifest.segments for path in _derived_paths(folder, entry, manifest)]
    return max(1, sum(path.stat().st_size for path in paths if path.exists()))


def _derived_paths(folder: Path, entry: SegmentEntry, manifest: Manifest) -> list[Path]:
    words = [postings_path(folder, entry.name)]
    codes = [codes_path(folder, entry.name, manifest.centroids)] if manifest.centroids else []
    return words + codes + ([faiss_path(folder, entry.name, manifest.faiss)] if manifest.faiss else [])


def _faults(folder: Path, manifest: Manifest, progress: _ReadProgress) -> list[Fault]:
    faults = [fault for entry in manifest.segments for fault in _segment_faults(folder, entry, manifest, progress)]
    for name in filter(None, (manifest.centroids, manifest.faiss)):
        faults += _derived_faults(folder / name, progress)
    return faults


def _segment_faults(folder: Path, entry: SegmentEntry, manifest: Manifest, progress: _ReadProgress) -> Iterator[Fault]:
    path = segment_path(folder, entry.name)
    try:
        segment = read_live_segment(folder, entry, manifest.dimension).segment
    except IndexFormatError:
        yield Fault(path.name, "damaged, missing, or not the file that the manifest names")
        return
    assert segment.file is not None
    for damage in (*segment.file.check_between(), *segment.file.check(progress)):
        passages = _damaged_passages(segment, damage.array, damage.start, damage.end)
        yield Fault(path.name, f"{damage.array}, bytes {damage.start} to {damage.end}", passages)
    for path in _derived_paths(folder, entry, manifest):
        if path != postings_path(folder, entry.name) or path.exists():
            yield from _derived_faults(path, progress)
        elif segment.token_ids is not None:
            yield Fault(
                path.name, "missing, as in older indexes: searches list the words again each time", derived=True
            )


def _damaged_passages(segment: Segment, array: str, start: int, end: int) -> tuple[str, ...]:
    """Return the passages with rows in a range of bytes of an array; all passages if it has no row per token.

    Empty for bytes outside all arrays, which belong to no passage.
    """
    if array == OUTSIDE:
        return ()
    if array not in TOKEN_COLUMNS or not segment.num_tokens:
        return tuple(segment.ids)
    values = getattr(segment, array)
    row = values.itemsize * (values.shape[1] if values.ndim > 1 else 1)
    first, last = start // row, -(-end // row)
    bounds = np.searchsorted(segment.passage_starts, [first, last - 1], side="right") - 1
    return segment.ids[int(bounds[0]) : int(bounds[1]) + 1]


def _derived_faults(path: Path, progress: _ReadProgress) -> Iterator[Fault]:
    try:
        damages = Container(path).check(progress)
    except IndexFormatError:
        yield Fault(path.name, "damaged or missing", derived=True)
        return
    if damages:
        yield Fault(path.name, f"{damages[0].array}, bytes from {damages[0].start}", derived=True)


def repair_index(folder: Path, faults: Sequence[Fault], **options: Unpack[IndexOptions]) -> None:
    """Remove damaged passages, which must be added again, rewrite damaged segments, rebuild damaged derived files."""
    for fault in faults:
        if fault.derived:
            (folder / fault.file).unlink(missing_ok=True)
    index = TokenIndex.load(folder, tolerant=True, **options)
    damaged = {fault.file for fault in faults if not fault.derived}
    index.rewrite_without(folder, [i for fault in faults for i in fault.passages], damaged)
