"""An index's folder: segments written once, deletions appended, one manifest replaced by rename."""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path

from filelock import FileLock, Timeout

from propcite.retrieval.errors import IndexFormatError
from propcite.retrieval.index import Told, tell_share
from propcite.retrieval.index.codec import Codec
from propcite.retrieval.index.helping import Help
from propcite.retrieval.index.holding import Holding
from propcite.retrieval.index.joining import Kept, join_segments
from propcite.retrieval.index.manifest import FILE, Manifest, read_manifest
from propcite.retrieval.index.parts import Part, read_part, segment_path
from propcite.retrieval.index.segment import read_segment, write_segment

MOST_SEGMENTS = 16  # more are joined when saving
MOST_DELETED = 0.3  # the share of deleted passages above which saving rewrites the rest


class Disk:
    """Where an index lies, and the last version of it that was read or written."""

    def __init__(self, codec: Codec, held: Holding, helper: Help, told: Told) -> None:
        self.folder: Path | None = None
        self._codec, self._held, self._help, self._told = codec, held, helper, told
        self._generation = 0

    def read(self, folder: Path, manifest: Manifest, tolerant: bool) -> None:
        """The manifest's version.  `tolerant` leaves out what is damaged, not what a writer has replaced meanwhile."""
        self.folder, self._generation = folder, manifest.generation
        for entry in manifest.segments:
            try:
                self._held.attach(read_part(folder, entry, self._codec.dimension))
            except IndexFormatError:
                if not tolerant or read_manifest(folder) != manifest:
                    raise
        self._help.read(folder, manifest)
        for part in self._held.parts:
            self._help.attach(part, folder)

    @contextmanager
    def writing(self, folder: Path) -> Iterator[None]:
        """The right to write: nobody else writes, and nobody has since this was read."""
        folder.mkdir(parents=True, exist_ok=True)
        try:
            with FileLock(folder / "index.lock", timeout=0):
                self.move_to(folder)
                yield
        except Timeout as error:
            raise IndexFormatError(f"another process is writing {folder}: try again when it is done") from error

    def move_to(self, folder: Path) -> None:
        """Write nothing over what another has changed; in another folder everything is new."""
        folder.mkdir(parents=True, exist_ok=True)
        try:
            found = read_manifest(folder).generation if (folder / FILE).exists() else 0
        except IndexFormatError:
            found = -1  # damaged: only what was read from it may take its place
        if self.folder != folder:
            if found:
                raise IndexFormatError(f"{folder} holds another index: load that one, or remove it first")
            for part in self._held.parts:
                part.forget_place()
            self._help.forget(self._held)
            self.folder, self._generation = folder, 0
        elif found != self._generation:
            raise IndexFormatError(f"another process has changed {folder} since it was opened: open it again")

    def stage(self, folder: Path) -> None:
        """Write what is new without naming it."""
        for part in self._held.parts:
            if not part.name or not segment_path(folder, part.name).exists():
                part.forget_place()
                name = _new_name()
                write_segment(part.segment, segment_path(folder, name))
                part.segment = read_segment(segment_path(folder, name), self._codec.dimension)  # mapped from now on
                part.name = name
        self._help.make(self._held.parts, folder)

    def commit(self, folder: Path, encoder: str) -> None:
        """Name all that is written."""
        manifest = Manifest(
            encoder,
            self._codec.dimension,
            tuple(part.write_deleted(folder) for part in self._held.parts),
            self._generation + 1,
            self._help.centroids.name if self._help.centroids else "",
            self._help.faiss,
        )
        manifest.write(folder)
        self._generation = manifest.generation

    def compact(self, folder: Path) -> None:
        """Join segments when they are many (the smallest of them, so that growth stays cheap) or mostly deleted."""
        held = self._held
        held.replace([p for p in held.parts if not p.num_kept], None)
        if held.num_passages - len(held) > MOST_DELETED * held.num_passages:
            self.join(folder, held.parts)
        elif len(held.parts) > MOST_SEGMENTS:
            self.join(folder, sorted(held.parts, key=lambda p: p.num_kept)[: -(MOST_SEGMENTS // 3)])

    def join(self, folder: Path, parts: Sequence[Part]) -> None:
        """One segment in the place of these, without what was deleted."""
        wanted = [p for p in self._held.parts if p in parts and p.num_kept]
        if not wanted:
            self._held.replace(parts, None)
            return
        name, kept = _new_name(), [Kept(p.segment, p.kept) for p in wanted]
        told = partial(tell_share, partial(self._told, "joining parts"), sum(int(k.tokens.sum()) for k in kept), 0)
        join_segments(kept, self._codec, segment_path(folder, name), told)
        segment = read_segment(segment_path(folder, name), self._codec.dimension)
        self._held.replace(list(parts), Part(segment, name))

    def clean(self, folder: Path) -> None:
        """Remove files that the manifest does not name; a reader that has one mapped keeps its pages."""
        names = {p.name for p in self._held.parts}
        endings = {name.split("-")[1] for name in self._help.files}
        for path in folder.glob("segment-*"):
            name, _, kind = path.name.partition(".")
            if name not in names or ("-" in kind and kind.split("-")[1] not in endings):
                path.unlink(missing_ok=True)
        for path in [*folder.glob("centroids-*"), *folder.glob("faiss-*")]:
            if path.name not in self._help.files:
                path.unlink(missing_ok=True)

    @property
    def bytes_of_help(self) -> int:
        if self.folder is None:
            return 0
        names = {p.name for p in self._held.parts}
        made = [p for p in self.folder.glob("segment-*.*-*") if p.name.split(".")[0] in names]
        return sum(_size(path) for path in [*made, *(self.folder / name for name in self._help.files)])


def _new_name() -> str:
    return f"segment-{secrets.token_hex(6)}"


def _size(path: Path) -> int:
    """Of a file that a writer may just have removed."""
    with suppress(FileNotFoundError):
        return path.stat().st_size
    return 0
