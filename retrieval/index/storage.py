"""The folder of an index: immutable segments, growing lists of deletions, and a manifest that is replaced by rename."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path

from filelock import FileLock, Timeout

from propcite.retrieval.errors import IndexFormatError
from propcite.retrieval.index import ProgressReport, report_share
from propcite.retrieval.index.codec import Codec
from propcite.retrieval.index.contents import Contents
from propcite.retrieval.index.derived_files import DerivedFiles
from propcite.retrieval.index.live_segment import LiveSegment, read_live_segment, segment_path
from propcite.retrieval.index.manifest import MANIFEST_FILE, Manifest, SegmentEntry, promote, read_manifest
from propcite.retrieval.index.merge import MergeInput, merge_segments
from propcite.retrieval.index.segment import read_segment, write_segment

MAX_SEGMENTS = 16  # a save merges more
MAX_DELETED_SHARE = 0.3  # with a larger share of deleted passages a save rewrites the others


class Storage:
    """Reads and writes an index, and remembers the folder and the generation that it read or wrote last."""

    def __init__(self, codec: Codec, contents: Contents, derived: DerivedFiles, progress: ProgressReport) -> None:
        self.folder: Path | None = None
        self._codec, self._contents, self._derived, self._progress = codec, contents, derived, progress
        self._generation = 0
        self._committed: list[str] = []  # names of the segments in the manifest
        self._prepared: Manifest | None = None
        self.version = ""  # the name of the manifest

    def read(self, folder: Path, manifest: Manifest, tolerant: bool, earlier: Storage | None = None) -> None:
        """Read a manifest's version; what an `earlier` one has open is shared, so that only what is new is read.

        `tolerant` leaves out damaged segments, but not those that a writer has replaced since the manifest was read.
        """
        self.folder = folder
        self._note(manifest)
        if earlier:
            self._derived.share(earlier._derived, manifest)
        known = {live.name: live for live in earlier._contents.segments} if earlier else {}
        for entry in manifest.segments:
            try:
                self._contents.attach(self._opened(folder, entry, known.get(entry.name)))
            except IndexFormatError:
                if not tolerant or read_manifest(folder) != manifest:
                    raise
        self._derived.read(folder, manifest)
        for live in self._contents.segments:
            self._derived.attach(live, folder)

    def _opened(self, folder: Path, entry: SegmentEntry, known: LiveSegment | None) -> LiveSegment:
        if known is None:
            return read_live_segment(folder, entry, self._codec.dimension)
        live = known.as_in(entry, folder)
        self._derived.drop_others(live)
        return live

    @contextmanager
    def writing(self, folder: Path) -> Iterator[None]:
        """Lock the folder for writing; fail if another process is writing it, or has written since it was read."""
        folder.mkdir(parents=True, exist_ok=True)
        try:
            with FileLock(folder / "index.lock", timeout=0):
                self.move_to(folder)
                yield
        except Timeout as error:
            raise IndexFormatError(f"another process is writing {folder}: try again when it is done") from error

    def move_to(self, folder: Path) -> None:
        """Prepare to write to a folder: fail if it holds changes of others; in a new folder everything is written."""
        folder.mkdir(parents=True, exist_ok=True)
        try:
            generation = read_manifest(folder).generation if (folder / MANIFEST_FILE).exists() else 0
        except IndexFormatError:
            generation = -1  # damaged: no index may replace it
        if self.folder != folder:
            if generation:
                raise IndexFormatError(f"{folder} holds another index: load that one, or remove it first")
            for live in self._contents.segments:
                live.detach()
            self._derived.detach(self._contents)
            self.folder, self._generation, self._committed = folder, 0, []
        elif generation != self._generation:
            raise IndexFormatError(f"another process has changed {folder} since it was opened: open it again")

    def stage(self, folder: Path) -> None:
        """Write new segments and derived files; no manifest names them yet."""
        for live in self._contents.segments:
            if not live.name or not segment_path(folder, live.name).exists():
                live.detach()
                name = _new_name()
                write_segment(live.segment, segment_path(folder, name))
                live.segment = read_segment(segment_path(folder, name), self._codec.dimension)  # mapped from now on
                live.name = name
        self._derived.build(self._contents.segments, folder)

    @property
    def staged(self) -> list[str]:
        """Return the names of the segments that are on disk and in no manifest."""
        return [live.name for live in self._contents.segments if live.name and live.name not in self._committed]

    def attach_staged(self, folder: Path, names: Sequence[str]) -> None:
        """Add such segments, all or none."""
        dimension = self._codec.dimension
        segments = [LiveSegment(read_segment(segment_path(folder, name), dimension), name) for name in names]
        for live in segments:
            self._contents.attach(live)

    def commit(self, folder: Path, encoder: str) -> None:
        """Write a manifest that names all staged files."""
        manifest = self._manifest(folder, encoder)
        manifest.write(folder)
        self._note(manifest)

    def prepare(self, folder: Path, encoder: str) -> str:
        """Write such a manifest beside the one that counts, and return its name."""
        self._prepared = self._manifest(folder, encoder)
        self._prepared.prepare(folder)
        return self._prepared.name

    def promote(self, folder: Path) -> None:
        """Make the prepared manifest count, if there is one."""
        if self._prepared:
            promote(folder, self._prepared.name)
            self._note(self._prepared)
            self._prepared = None

    def _note(self, manifest: Manifest) -> None:
        self._generation, self.version = manifest.generation, manifest.name
        self._committed = [entry.name for entry in manifest.segments]

    def _manifest(self, folder: Path, encoder: str) -> Manifest:
        return Manifest(
            encoder,
            self._codec.dimension,
            tuple(live.write_deleted(folder) for live in self._contents.segments),
            self._generation + 1,
            self._derived.centroids.name if self._derived.centroids else "",
            self._derived.faiss,
        )

    @property
    def changed(self) -> bool:
        """Return whether there are changes that no manifest names."""
        live_names = [live.name for live in self._contents.segments]
        return live_names != self._committed or any(live.changed for live in self._contents.segments)

    def compact(self, folder: Path) -> None:
        """Merge segments if there are many deletions, or many segments: then the smallest, so that growth is cheap."""
        contents = self._contents
        contents.replace([live for live in contents.segments if not live.num_passages], None)
        if contents.num_stored - len(contents) > MAX_DELETED_SHARE * contents.num_stored:
            self.merge(folder, contents.segments)
        elif len(contents.segments) > MAX_SEGMENTS:
            self.merge(folder, sorted(contents.segments, key=lambda live: live.num_passages)[: -(MAX_SEGMENTS // 3)])

    def merge(self, folder: Path, segments: Sequence[LiveSegment]) -> None:
        """Replace segments by one without their deleted passages."""
        in_order = [live for live in self._contents.segments if live in segments and live.num_passages]
        if not in_order:
            self._contents.replace(segments, None)
            return
        inputs = [MergeInput(live.segment, live.mask) for live in in_order]
        total = sum(int(one.tokens.sum()) for one in inputs)
        progress = partial(report_share, partial(self._progress, "merging segments"), total, 0)
        self._contents.replace(list(segments), self._merged(inputs, folder, progress))

    def add_merged(self, inputs: Sequence[MergeInput], folder: Path, progress: Callable[[int], None]) -> None:
        """Add a segment of the chosen passages of others, if there are any; `progress` gets the number of tokens."""
        if inputs:
            self._contents.attach(self._merged(inputs, folder, progress))

    def _merged(self, inputs: Sequence[MergeInput], folder: Path, progress: Callable[[int], None]) -> LiveSegment:
        name = _new_name()
        merge_segments(inputs, self._codec, segment_path(folder, name), progress)
        return LiveSegment(read_segment(segment_path(folder, name), self._codec.dimension), name)

    def clean(self, folder: Path) -> None:
        """Remove files that the manifest does not name; a reader that has mapped one keeps its pages."""
        names = {live.name for live in self._contents.segments}
        suffixes = {name.split("-")[1] for name in self._derived.file_names}
        for path in folder.glob("segment-*"):
            name, _, kind = path.name.partition(".")
            if name not in names or ("-" in kind and kind.split("-")[1] not in suffixes):
                path.unlink(missing_ok=True)
        for path in [*folder.glob("centroids-*"), *folder.glob("faiss-*")]:
            if path.name not in self._derived.file_names:
                path.unlink(missing_ok=True)

    @property
    def derived_bytes(self) -> int:
        """Return the size of the derived files."""
        if self.folder is None:
            return 0
        names = {live.name for live in self._contents.segments}
        derived = [*self.folder.glob("segment-*.*-*"), *self.folder.glob("segment-*.words")]
        per_segment = [path for path in derived if path.name.split(".")[0] in names]
        return sum(_size(path) for path in [*per_segment, *(self.folder / name for name in self._derived.file_names)])


def _new_name() -> str:
    return f"segment-{secrets.token_hex(6)}"


def _size(path: Path) -> int:
    """Return the size of a file; 0 if a writer has just removed it."""
    with suppress(FileNotFoundError):
        return path.stat().st_size
    return 0
