"""The file of a backup: a ZIP of parts, the last of which lists all others with their checksums."""

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
CHUNK = 1 << 20

CountBytes = Callable[[int], None]  # called with the number of bytes that were read or written


class BackupError(AppError):
    """The file is not a backup, or is incomplete."""


@dataclass(slots=True)
class BackupWriter:
    """A backup that is being written."""

    archive: zipfile.ZipFile
    files: dict[str, dict[str, Any]] = field(default_factory=dict)

    def add(self, name: str, chunks: Iterable[bytes], *, compress: bool = False) -> None:
        entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
        entry.compress_type = zipfile.ZIP_DEFLATED if compress else zipfile.ZIP_STORED
        digest, size = hashlib.sha256(), 0
        with self.archive.open(entry, "w", force_zip64=True) as part:
            for chunk in chunks:
                part.write(chunk)
                digest.update(chunk)
                size += len(chunk)
        self.files[name] = {"sha256": digest.hexdigest(), "bytes": size}


@contextmanager
def replace_file(path: Path) -> Iterator[BinaryIO]:
    """Open a new file that replaces the old one when the block ends; if it fails, the old one stays."""
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
def write_backup(path: Path, about: dict[str, Any]) -> Iterator[BackupWriter]:
    """Write a new backup, which exists only once the block has ended."""
    with replace_file(path) as file, zipfile.ZipFile(file, "w") as archive:
        writer = BackupWriter(archive)
        yield writer
        content = {"format": FORMAT, **about, "files": writer.files}
        writer.add(ABOUT, [json.dumps(content, ensure_ascii=False, indent=1).encode()])


@dataclass(frozen=True, slots=True)
class BackupReader:
    """An open backup; `about` is its description."""

    path: Path
    archive: zipfile.ZipFile
    about: dict[str, Any]

    def names(self, folder: str = "") -> list[str]:
        return [name for name in self.about["files"] if name.startswith(folder)]

    def extract(self, names: Iterable[str], target: Path, count: CountBytes) -> None:
        """Extract parts to files and compare their checksums."""
        for name in names:
            file_path = target / name
            file_path.parent.mkdir(parents=True, exist_ok=True)
            digest = hashlib.sha256()
            with _damage_errors(self.path), self.archive.open(name) as part, file_path.open("wb") as file:
                for chunk in _chunks(part):
                    digest.update(chunk)
                    file.write(chunk)
                    count(len(chunk))
            if digest.hexdigest() != self.about["files"][name]["sha256"]:
                raise _damaged(self.path, f"{name} differs from its checksum")


@contextmanager
def open_backup(path: Path) -> Iterator[BackupReader]:
    """Open a backup; raise BackupError if it is cut off or not a backup."""
    if not path.is_file():
        raise BackupError(f"there is no file {path}: give a file that propcite backup has written")
    with _damage_errors(path):
        archive = zipfile.ZipFile(path)
    with archive:
        with _damage_errors(path):
            about = json.loads(archive.read(ABOUT))
            _check(path, about, archive)
        yield BackupReader(path, archive, about)


@contextmanager
def _damage_errors(path: Path) -> Iterator[None]:
    """Raise errors of a malformed ZIP or JSON as a BackupError."""
    try:
        yield
    except (zipfile.BadZipFile, zlib.error, EOFError, KeyError, TypeError, ValueError, NotImplementedError) as error:
        raise _damaged(path, str(error).strip("'\"") or type(error).__name__) from error


def _check(path: Path, about: dict[str, Any], archive: zipfile.ZipFile) -> None:
    if not str(about["format"]).startswith("propcite/backup/"):
        raise BackupError(f"{path} is not a backup of PropCite")
    if about["format"] != FORMAT:
        raise BackupError(f"{path} has the format {about['format']}, newer than this version knows: update PropCite")
    members = set(archive.namelist())
    for name in about["files"]:
        place = PurePosixPath(name)
        if name not in members or place.is_absolute() or ".." in place.parts:
            raise ValueError(f"{name} is not in it")


def _damaged(path: Path, reason: str) -> BackupError:
    short = " ".join(reason.split())[:120]
    return BackupError(f"{path} is damaged, cut off or not a backup ({short}): give another one")


def _chunks(part: IO[bytes]) -> Iterator[bytes]:
    while chunk := part.read(CHUNK):
        yield chunk


def file_chunks(path: Path, count: CountBytes) -> Iterator[bytes]:
    with path.open("rb") as file:
        for chunk in _chunks(file):
            count(len(chunk))
            yield chunk
