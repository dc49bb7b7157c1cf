"""Zip archives, read within limits on the number, size and compression of their members."""

from __future__ import annotations

import struct
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path, PurePosixPath
from typing import IO

from propcite.app.errors import ReadError
from propcite.app.ingest.names import is_hidden, parts_of
from propcite.app.ingest.readers.files import MAX_BYTES, check_size
from propcite.app.ingest.readers.kinds import ARCHIVES, KINDS, is_supported

MAX_MEMBERS = 20_000
MAX_UNPACKED = 1 * 2**30
MAX_PART = 128 * 2**20  # of a part that is read at once
# Deflate compresses up to 1,032 to 1; no real file above this size comes near the ratio.
_LARGE = 16 * 2**20
_MAX_RATIO = 250
_MAX_ENTRY = 600  # bytes per member in the directory, far more than names need
_TAIL = 2**16 + 22  # bytes at the end that contain the end record: it has 22, a comment up to 2**16
_ERRORS = (zipfile.BadZipFile, NotImplementedError, RuntimeError, OSError, EOFError, ValueError, struct.error)


class Archive:
    """The members of a zip file in order, without folders and links."""

    def __init__(self, name: str, file: bytes | Path) -> None:
        self.name = name
        self.members: dict[str, zipfile.ZipInfo] = {}
        try:
            self._zip = zipfile.ZipFile(_open(name, file))
        except _ERRORS as error:
            raise damaged(name) from error
        for info in self._zip.infolist():
            if not info.is_dir() and not _is_link(info):
                self.members.setdefault(info.filename, info)
        self._check_sizes()

    def read(self, member: str, max_bytes: int = MAX_PART) -> bytes:
        """Return a member's bytes.  It is damaged if it has more than it states, and never unpacked further."""
        info = self.members[member]
        if info.file_size > max_bytes:
            raise ReadError(f"{self.name} contains a part of {info.file_size >> 20} MB: split it and add the pieces")
        with self.open(member) as file:
            return file.read(info.file_size + 1)

    @contextmanager
    def open(self, member: str) -> Iterator[IO[bytes]]:
        try:
            with self._zip.open(self.members[member]) as file:
                yield file
        except ReadError:
            raise
        except _unpacking_errors() as error:
            raise damaged(self.name) from error

    def _check_sizes(self) -> None:
        if len(self.members) > MAX_MEMBERS:
            raise _too_many(self.name)
        sizes = [(info.file_size, info.compress_size) for info in self.members.values()]
        too_dense = any(size > _LARGE and size > _MAX_RATIO * max(packed, 1) for size, packed in sizes)
        if too_dense or sum(size for size, _ in sizes) > MAX_UNPACKED:
            unpacked = sum(size for size, _ in sizes) >> 20
            raise ReadError(f"{self.name} would unpack to {unpacked:,} MB, like a zip bomb: add its files one by one")


@dataclass(frozen=True, slots=True)
class Member:
    """A file in an archive, `papers.zip!/2024/tides.pdf`, as a source of its own."""

    archive: Archive
    path: str
    location: str

    @property
    def name(self) -> str:
        return PurePosixPath(self.location).name

    @property
    def size(self) -> int:
        return self.archive.members[self.path].file_size

    def read(self, max_bytes: int = MAX_BYTES) -> bytes:
        check_size(self.name, self.size, max_bytes)
        return self.archive.read(self.path, max_bytes)


def is_archive(name: str) -> bool:
    return PurePosixPath(name).suffix.lower() in ARCHIVES


def members(name: str, file: Path | bytes, location: str) -> tuple[list[Member], list[ReadError]]:
    """Return the supported files in an archive, sorted by path, and an error for each one that is refused.

    A member is refused if it is encrypted, an archive itself, or its path leads out of the archive.  The archive stays
    open until its last member is garbage.
    """
    archive = Archive(name, file)
    accepted: list[Member] = []
    errors: list[ReadError] = []
    for path, info in sorted(archive.members.items()):
        if is_hidden(path) or not is_supported(path):
            continue
        parts = parts_of(path)
        inside = f"{location}!/{'/'.join(parts) or path}"
        if not parts:
            errors.append(ReadError(f"{path} leads out of {name}: create the archive again without such paths", inside))
        elif is_encrypted(info):
            errors.append(ReadError(f"{parts[-1]} is encrypted in {name}: unpack it and add its files", inside))
        elif is_archive(path):
            errors.append(ReadError(f"{parts[-1]} is an archive inside {name}: unpack it and add its files", inside))
        else:
            accepted.append(Member(archive, path, inside))
    if not accepted and not errors:
        raise ReadError(f"{name} contains no file that can be read: add one of {KINDS}")
    return accepted, errors


def damaged(name: str) -> ReadError:
    return ReadError(f"{name} is damaged or incomplete: get it again, or save it again and add that")


def is_encrypted(info: zipfile.ZipInfo) -> bool:
    return bool(info.flag_bits & 1)


def _too_many(name: str) -> ReadError:
    return ReadError(f"{name} contains more than {MAX_MEMBERS:,} files: unpack it and add those that you need")


def _unpacking_errors() -> tuple[type[Exception], ...]:
    import lzma
    import zlib

    return (*_ERRORS, zlib.error, lzma.LZMAError)


def _is_link(info: zipfile.ZipInfo) -> bool:
    return info.create_system == 3 and (info.external_attr >> 28) == 0xA


def _open(name: str, file: bytes | Path) -> IO[bytes]:
    """Open a zip file; raise an error if its directory is too large, since zipfile reads all of it at once."""
    opened: IO[bytes] = BytesIO(file) if isinstance(file, bytes) else open(file, "rb")  # noqa: SIM115
    if _directory_size(opened) > _MAX_ENTRY * MAX_MEMBERS:
        opened.close()
        raise _too_many(name)
    return opened


def _directory_size(file: IO[bytes]) -> int:
    """Return the size of the directory as the end records state it, in the zip or the zip64 format."""
    size = file.seek(0, 2)
    file.seek(max(0, size - _TAIL))
    tail = file.read()
    file.seek(0)
    sizes = [0]
    if (at := tail.rfind(b"PK\5\6")) >= 0 and len(tail) >= at + 16:
        sizes += [size for size in struct.unpack("<L", tail[at + 12 : at + 16]) if size != 0xFFFFFFFF]
    if (at := tail.rfind(b"PK\6\6")) >= 0 and len(tail) >= at + 48:
        sizes += struct.unpack("<Q", tail[at + 40 : at + 48])
    return max(sizes)
