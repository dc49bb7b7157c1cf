"""A zip file read within bounds: how many members, how large, how strongly packed, before anything is unpacked."""

from __future__ import annotations

import struct
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import IO

from propcite.app.errors import ReadError

MOST_MEMBERS = 20_000
MOST_UNPACKED = 1 * 2**30
MOST_AT_ONCE = 128 * 2**20  # a part that is read whole
# Deflate packs 1,032 to 1; of real files none above this size comes near the ratio.
_LARGE = 16 * 2**20
_MOST_RATIO = 250
_LONGEST_ENTRY = 600  # bytes of the list for a member, far over what names take
_TAIL = 2**16 + 22
_WRONG = (zipfile.BadZipFile, NotImplementedError, RuntimeError, OSError, EOFError, ValueError, struct.error)


class Archive:
    """The members of a zip file, in order; folders and links are none."""

    def __init__(self, name: str, file: bytes | Path) -> None:
        self.name = name
        self.members: dict[str, zipfile.ZipInfo] = {}
        try:
            self._zip = zipfile.ZipFile(_checked(name, file))
        except _WRONG as error:
            raise damaged(name) from error
        for info in self._zip.infolist():
            if not info.is_dir() and not _is_link(info):
                self.members.setdefault(info.filename, info)
        self._check_sizes()

    def read(self, member: str, most_bytes: int = MOST_AT_ONCE) -> bytes:
        """The member's bytes; one that states a smaller size than it has is damaged, and never unpacked further."""
        info = self.members[member]
        if info.file_size > most_bytes:
            raise ReadError(f"{self.name} has a part of {info.file_size >> 20} MB inside: split it and add the pieces")
        with self.open(member) as file:
            return file.read(info.file_size + 1)

    @contextmanager
    def open(self, member: str) -> Iterator[IO[bytes]]:
        try:
            with self._zip.open(self.members[member]) as file:
                yield file
        except ReadError:
            raise
        except _wrong() as error:
            raise damaged(self.name) from error

    def _check_sizes(self) -> None:
        if len(self.members) > MOST_MEMBERS:
            raise ReadError(f"{self.name} holds more than {MOST_MEMBERS:,} files: unpack it and add what matters")
        sizes = [(info.file_size, info.compress_size) for info in self.members.values()]
        too_dense = any(size > _LARGE and size > _MOST_RATIO * max(packed, 1) for size, packed in sizes)
        if too_dense or sum(size for size, _ in sizes) > MOST_UNPACKED:
            unpacked = sum(size for size, _ in sizes) >> 20
            raise ReadError(f"{self.name} would unpack to {unpacked:,} MB, as only a bomb does: it was not opened")


def damaged(name: str) -> ReadError:
    return ReadError(f"{name} is damaged or cut off: get it again, or save it anew and add that")


def is_encrypted(info: zipfile.ZipInfo) -> bool:
    return bool(info.flag_bits & 1)


def _wrong() -> tuple[type[Exception], ...]:
    import lzma
    import zlib

    return (*_WRONG, zlib.error, lzma.LZMAError)


def _is_link(info: zipfile.ZipInfo) -> bool:
    return info.create_system == 3 and (info.external_attr >> 28) == 0xA


def _checked(name: str, file: bytes | Path) -> IO[bytes]:
    """The file, once its directory is known to be small enough to be read."""
    opened: IO[bytes] = BytesIO(file) if isinstance(file, bytes) else open(file, "rb")  # noqa: SIM115
    if _directory_size(opened) > _LONGEST_ENTRY * MOST_MEMBERS:
        opened.close()
        raise ReadError(f"{name} holds more than {MOST_MEMBERS:,} files: unpack it and add what matters")
    return opened


def _directory_size(file: IO[bytes]) -> int:
    """How large the list of members says that it is: zipfile reads all of it at once."""
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
