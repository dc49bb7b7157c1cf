"""Files that documents were read from: store those without a place of their own, and find the file of a document."""

from __future__ import annotations

import hashlib
import os
import re
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import Literal
from urllib.parse import urlsplit

from propcite.app.errors import NotFoundError, StoreError
from propcite.app.ingest.readers.kinds import is_supported
from propcite.app.ingest.sources import file_of
from propcite.app.library.store import Library, SourceFile
from propcite.attribution.formats.text import is_address
from propcite.retrieval.remote.objects import MissingObjectError, ObjectStore

KeepPolicy = Literal["sent", "all", "none"]
SUFFIXES = {"markdown": ".md", "text": ".txt", "email": ".eml"}  # of kinds whose suffix is not the kind's name
_DIGEST = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class Originals:
    """A folder of files named by their SHA-256, so each content is stored once for however many documents.

    `policy` is `sent` for documents without a file on this machine (uploads, archives, the web), `all` or `none`.
    With `objects` the files are in an object store, and the folder has copies of those that were used here.
    """

    folder: Path
    library: Library
    policy: KeepPolicy = "sent"
    objects: ObjectStore | None = None

    def wants(self, place: str) -> bool:
        """Return whether the file read from there is to be stored."""
        return self.policy == "all" or (self.policy == "sent" and not is_file(place))

    def save(self, sha256: str, data: bytes) -> None:
        """Store a file, also in the place of an altered one; it is completely on disk when this returns."""
        path = self.path(sha256)
        if digest_of(path) != sha256:
            self._write(path, data)
        if self.objects and not self.objects.has(_name(sha256)):
            self.objects.upload(path, _name(sha256))

    def put_all(self, progress: Callable[[float], None]) -> int:
        """Put the files of the folder into the object store; return how many it has then."""
        if not self.objects:
            return 0
        there = {name.rpartition("/")[2] for name in self.objects.names()}
        missing = [path for path in self.folder.glob("??/*") if _DIGEST.fullmatch(path.name) and path.name not in there]
        for done, path in enumerate(missing, start=1):
            self.objects.upload(path, _name(path.name))
            progress(done / len(missing))
        return len(there) + len(missing)

    def _write(self, path: Path, data: bytes) -> None:
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with tempfile.NamedTemporaryFile(dir=path.parent, prefix=".", delete=False) as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            os.replace(file.name, path)
        except OSError as error:
            with suppress(OSError, UnboundLocalError):
                os.unlink(file.name)
            raise StoreError(
                f"cannot write {self.folder} ({error.strerror or error}): free space, or set PROPCITE_ORIGINALS=none"
            ) from error

    def path(self, sha256: str) -> Path:
        return self.folder / sha256[:2] / sha256

    def fetched(self, sha256: str) -> Path:
        """Return the path of a stored file, brought to this disk; no file is there if none is stored."""
        path = self.path(sha256)
        if self.objects and not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            with suppress(MissingObjectError):
                self.objects.download(_name(sha256), path)
        return path

    def has(self, sha256: str) -> bool:
        """Return whether a file is stored, here or in the object store."""
        return self.path(sha256).exists() or bool(self.objects and self.objects.has(_name(sha256)))

    def is_intact(self, sha256: str) -> bool:
        """Return whether the file is stored and has the content that its name says; all of it is read."""
        return digest_of(self.fetched(sha256)) == sha256

    def digests(self) -> Iterator[str]:
        """Yield the digests of all stored files."""
        there = self.objects.names() if self.objects else []
        names = {path.name for path in self.folder.glob("??/*")} | {name.rpartition("/")[2] for name in there}
        yield from sorted(name for name in names if _DIGEST.fullmatch(name))

    def remove_unused(self, digests: Iterable[str]) -> None:
        """Remove those of these files that neither a document nor a stored answer needs."""
        stored = {sha256 for sha256 in digests if self.objects or self.path(sha256).exists()}
        unused = stored - self.library.digests_in_use(stored)
        for sha256 in unused:
            self.path(sha256).unlink(missing_ok=True)
        if self.objects:
            self.objects.remove(map(_name, unused))

    def unused(self, older_than_s: float = 0.0) -> set[str]:
        """Return the digests of files that neither a document nor a stored answer needs, and that are so old."""
        stored = set(self.digests())
        unused = stored - self.library.digests_in_use(stored)
        return {sha256 for sha256 in unused if time.time() - self._stored_at(sha256) > older_than_s}

    def _stored_at(self, sha256: str) -> float:
        path = self.path(sha256)
        if path.exists() or not self.objects:
            return path.stat().st_mtime
        return self.objects.written_at(_name(sha256))


@dataclass(frozen=True, slots=True)
class Original:
    """A document's file: its name, and the path of its bytes."""

    document_id: str
    title: str
    name: str
    kind: str
    path: Path


@dataclass(slots=True)
class Finder:
    """Finds the file of a document; a file of the user counts only while its content is what was read."""

    originals: Originals
    _digests: dict[tuple[str, int, int, int, int], str] = field(default_factory=dict)

    def find(self, document_id: str) -> Original:
        file = self.originals.library.source_file(document_id)
        path = self._path(file)
        if path is None and self.originals.has(file.sha256):
            raise NotFoundError(
                f"the stored file of {name_of(file)!r} was altered: propcite doctor --mend --backup FILE restores it"
            )
        if path is None:
            raise NotFoundError(
                f"the file {name_of(file)!r} is not stored and has moved or changed: add it to the library again"
            )
        return Original(document_id, file.title, name_of(file), file.kind, path)

    def kinds(self, document_ids: set[str]) -> dict[str, str]:
        """Return the kinds of those documents whose file is there, by id; stored ones are not read for it."""
        files = self.originals.library.source_files(document_ids)
        is_stored = {i: self._seems_stored(file) for i, file in files.items()}
        return {i: file.kind for i, file in files.items() if is_stored[i] or self._path(file)}

    def _seems_stored(self, file: SourceFile) -> bool:
        """Return whether a file is stored here, or was sent to the object store when it was read."""
        return self.originals.path(file.sha256).exists() or bool(
            self.originals.objects and self.originals.wants(file.source)
        )

    def _path(self, file: SourceFile) -> Path | None:
        """Return where the bytes are that the document was read from; None if no file has them any more."""
        stored = self.originals.fetched(file.sha256)
        if self._digest(stored) == file.sha256:
            return stored
        own = Path(file.source)
        return own if is_file(file.source) and self._digest(own) == file.sha256 else None

    def _digest(self, path: Path) -> str:
        """Return the digest of a file, read again only if it changed; empty if it cannot be read."""
        try:
            stat = os.stat(path)
            key = str(path), stat.st_ino, stat.st_ctime_ns, stat.st_mtime_ns, stat.st_size
        except (OSError, ValueError):
            return ""
        if key not in self._digests:
            self._digests[key] = digest_of(path)
        return self._digests[key]


def _name(sha256: str) -> str:
    return f"{sha256[:2]}/{sha256}"


def digest_of(path: Path) -> str:
    """Return the SHA-256 of a file; empty if it cannot be read."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except (OSError, ValueError):
        return ""


def name_of(file: SourceFile) -> str:
    """Return a file name: the last part of the source, for a web page with a suffix for its kind."""
    if not is_address(file.source):
        return PureWindowsPath(file.source).name or file.source
    name = PurePosixPath(urlsplit(file.source).path).name or "page"
    return name if is_supported(name) else name + SUFFIXES.get(file.kind, f".{file.kind}")


def is_file(place: str) -> bool:
    """Return whether a source is a whole file of this machine, not a member of an archive."""
    return os.path.isabs(place) and file_of(place) == place
