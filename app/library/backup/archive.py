"""The file of a backup: a ZIP of parts, the last of which names all others with their checksums."""

from __future__ import annotations

import hashlib
import json
import os
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import IO, Any, BinaryIO

from propcite.app.errors import AppError

FORMAT = "propcite/backup/1"
ABOUT = "about.json"
PIECE = 1 << 20

Read = Callable[[int], None]  # hears how many bytes more went through


class BackupError(AppError):
    """A file is no backup, or not whole."""


@dataclass(slots=True)
class Writing:
    """A backup while it is written."""

    archive: zipfile.ZipFile
    files: dict[str, dict[str, Any]] = field(default_factory=dict)

    def add(self, name: str, pieces: Iterable[bytes], *, packed: bool = False) -> None:
        entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
        entry.compress_type = zipfile.ZIP_DEFLATED if packed else zipfile.ZIP_STORED
        digest, size = hashlib.sha256(), 0
        with self.archive.open(entry, "w", force_zip64=True) as part:
            for piece in pieces:
                part.write(piece)
                digest.update(piece)
                size += len(piece)
        self.files[name] = {"sha256": digest.hexdigest(), "bytes": size}


@contextmanager
def replaced(path: Path) -> Iterator[BinaryIO]:
    """A new file: it is there whole when the block ends, or the old one is as it was."""
    new = path.with_name(f"{path.name}.part")
    try:
        with new.open("wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(new, path)
    finally:
        with suppress(OSError):
            new.unlink(missing_ok=True)


@contextmanager
def writing(path: Path, about: dict[str, Any]) -> Iterator[Writing]:
    """A new backup: whole when the block ends, or not there."""
    with replaced(path) as file, zipfile.ZipFile(file, "w") as archive:
        written = Writing(archive)
        yield written
        told = {"format": FORMAT, **about, "files": written.files}
        written.add(ABOUT, [json.dumps(told, ensure_ascii=False, indent=1).encode()])


@dataclass(frozen=True, slots=True)
class Backup:
    """A backup to read; `about` is what it says of itself."""

    path: Path
    archive: zipfile.ZipFile
    about: dict[str, Any]

    def names(self, folder: str = "") -> list[str]:
        return [name for name in self.about["files"] if name.startswith(folder)]

    def take_out(self, names: Iterable[str], into: Path, read: Read) -> None:
        """Parts as files, each compared with its checksum."""
        for name in names:
            target = into / name
            target.parent.mkdir(parents=True, exist_ok=True)
            digest = hashlib.sha256()
            with told(self.path), self.archive.open(name) as part, target.open("wb") as file:
                for piece in _pieces(part):
                    digest.update(piece)
                    file.write(piece)
                    read(len(piece))
            if digest.hexdigest() != self.about["files"][name]["sha256"]:
                raise _damaged(self.path, f"{name} differs from its checksum")


@contextmanager
def reading(path: Path) -> Iterator[Backup]:
    """A backup whose beginning and end fit together."""
    if not path.is_file():
        raise BackupError(f"{path} is not there: name a file that propcite backup has written")
    with told(path):
        archive = zipfile.ZipFile(path)
    with archive:
        with told(path):
            about = json.loads(archive.read(ABOUT))
            _check(path, about, archive)
        yield Backup(path, archive, about)


@contextmanager
def told(path: Path) -> Iterator[None]:
    try:
        yield
    except (zipfile.BadZipFile, zlib.error, EOFError, KeyError, TypeError, ValueError, NotImplementedError) as error:
        raise _damaged(path, str(error).strip("'\"") or type(error).__name__) from error


def _check(path: Path, about: dict[str, Any], archive: zipfile.ZipFile) -> None:
    if not str(about["format"]).startswith("propcite/backup/"):
        raise BackupError(f"{path} is no backup of PropCite")
    if about["format"] != FORMAT:
        raise BackupError(f"{path} has the form {about['format']}, newer than this version knows: update PropCite")
    there = set(archive.namelist())
    for name in about["files"]:
        place = PurePosixPath(name)
        if name not in there or place.is_absolute() or ".." in place.parts:
            raise ValueError(f"{name} is not in it")


def _damaged(path: Path, why: str) -> BackupError:
    return BackupError(f"{path} is damaged, cut off or no backup ({' '.join(why.split())[:120]}): take another one")


def _pieces(part: IO[bytes]) -> Iterator[bytes]:
    while piece := part.read(PIECE):
        yield piece


def pieces_of(path: Path, read: Read) -> Iterator[bytes]:
    with path.open("rb") as file:
        for piece in _pieces(file):
            read(len(piece))
            yield piece
