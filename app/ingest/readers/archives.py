"""Zip archives: each member of a known kind is a source of its own, `papers.zip!/2024/tides.pdf`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from propcite.app.errors import ReadError
from propcite.app.ingest.readers.archive import Archive, is_encrypted
from propcite.app.ingest.readers.files import MOST_BYTES, check_size
from propcite.app.ingest.readers.kinds import ARCHIVES, KINDS, is_known


@dataclass(frozen=True, slots=True)
class Member:
    """A file in an archive; its bytes are unpacked when they are asked for."""

    archive: Archive
    path: str
    source: str

    @property
    def name(self) -> str:
        return PurePosixPath(self.path).name

    def read(self, most_bytes: int = MOST_BYTES) -> bytes:
        check_size(self.name, self.archive.members[self.path].file_size, most_bytes)
        return self.archive.read(self.path, most_bytes)


def is_archive(name: str) -> bool:
    return PurePosixPath(name).suffix.lower() in ARCHIVES


def members(name: str, file: Path | bytes, source: str) -> tuple[list[Member], list[ReadError]]:
    """The members of a known kind, sorted, and a refusal for each that is locked, an archive itself or climbs out.

    The archive stays open until its last member is forgotten.
    """
    archive = Archive(name, file)
    found: list[Member] = []
    errors: list[ReadError] = []
    for path, info in sorted(archive.members.items()):
        parts = PurePosixPath(path.replace("\\", "/")).parts
        if not parts or any(part.startswith((".", "__MACOSX")) for part in parts if part != "..") or not is_known(path):
            continue
        place = f"{source}!/{path}"
        if ".." in parts or path.startswith("/") or parts[0].endswith(":"):
            errors.append(ReadError(f"{path} leads out of {name}: pack the archive anew without such names", place))
        elif is_encrypted(info):
            errors.append(ReadError(f"{parts[-1]} is encrypted in {name}: unpack it and add what it holds", place))
        elif is_archive(path):
            errors.append(ReadError(f"{parts[-1]} is an archive inside {name}: unpack it and add what it holds", place))
        else:
            found.append(Member(archive, path, place))
    if not found and not errors:
        raise ReadError(f"{name} holds no file that can be read: add one of {KINDS}")
    return found, errors
