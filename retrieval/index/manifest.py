"""The manifest: one small file, replaced as a whole, that names all other files of an index.

A version that must count together with something else, as rows of a database, is prepared first: its manifest has a
name of its own, and readers that know this name find it.  A rename makes it the manifest for all others.
"""

from __future__ import annotations

import json
import os
import zlib
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from propcite.retrieval.errors import IndexFormatError, OtherVersionError
from propcite.retrieval.index.container import replace_durably, sync_folder

FORMAT = 2
MANIFEST_FILE = "manifest.json"
PREPARED = "manifest-*.json"


@dataclass(frozen=True, slots=True)
class SegmentEntry:
    """A segment's name and size, and the number of valid entries in its list of deletions with their checksum."""

    name: str
    passages: int
    tokens: int
    deleted: int = 0
    deleted_sum: int = 0


@dataclass(frozen=True, slots=True)
class Manifest:
    """One version of an index.  `generation` grows with each save: a writer must have read the latest one."""

    encoder: str
    dimension: int
    segments: tuple[SegmentEntry, ...]
    generation: int = 0
    centroids: str = ""
    faiss: str = ""
    format: int = FORMAT

    @property
    def name(self) -> str:
        """Return the name of this version: its generation, and a checksum that tells it from one that was given up."""
        return f"{self.generation}-{_checksum(asdict(self)):08x}"

    def to_json(self) -> str:
        content = asdict(self)
        return json.dumps(content | {"checksum": _checksum(content)})

    def write(self, folder: Path, file: str = MANIFEST_FILE) -> None:
        replace_durably(folder / file, self.to_json().encode())

    def prepare(self, folder: Path) -> None:
        """Write this version beside the one that counts, until `promote`."""
        self.write(folder, prepared_file(self.name))


def prepared_file(name: str) -> str:
    """Return the file of a version that is prepared.

    >>> prepared_file("7-0a1b2c3d")
    'manifest-7-0a1b2c3d.json'
    """
    return PREPARED.replace("*", name)


def prepared_names(folder: Path) -> list[str]:
    """Return the names of the versions that are prepared: a writer is about to make them count, or was stopped."""
    before, after = PREPARED.split("*")
    return [path.name.removeprefix(before).removesuffix(after) for path in folder.glob(PREPARED)]


def promote(folder: Path, name: str) -> None:
    """Make a prepared version count."""
    os.replace(folder / prepared_file(name), folder / MANIFEST_FILE)
    sync_folder(folder)


def settle(folder: Path, name: str) -> None:
    """Make the version of this name count if it is prepared, and remove all others that are."""
    for path in folder.glob(PREPARED):
        if path.name == prepared_file(name):
            promote(folder, name)
        else:
            path.unlink(missing_ok=True)
    for path in folder.glob(f"{PREPARED}.new"):  # not written to its end
        path.unlink(missing_ok=True)


def read_manifest(folder: Path, name: str = "") -> Manifest:
    """Read and verify the manifest of an index folder: of the version that counts, or of the one of this name."""
    if not name:
        return _read(folder, folder / MANIFEST_FILE)
    for file in (MANIFEST_FILE, prepared_file(name), MANIFEST_FILE):  # it may be renamed meanwhile
        try:
            manifest = _read(folder, folder / file)
        except IndexFormatError:
            if (folder / file).exists():
                raise
            continue
        if manifest.name == name:
            return manifest
    raise OtherVersionError(f"{folder} has no version {name} any more: try again")


def _read(folder: Path, path: Path) -> Manifest:
    try:
        content: dict[str, Any] = json.loads(path.read_text("utf-8"))
        version = content["format"]
        checksum = content.pop("checksum", None)
    except (FileNotFoundError, NotADirectoryError) as error:
        raise IndexFormatError(f"{folder} holds no index: run propcite reindex") from error
    except OSError as error:
        raise IndexFormatError(f"cannot read {path}: {error.strerror}") from error
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise IndexFormatError(f"{path} is damaged: run propcite reindex") from error
    if version != FORMAT:
        raise IndexFormatError(
            f"{folder} has index format {version}, this version reads {FORMAT}: run propcite reindex"
        )
    try:
        if checksum != _checksum(content):
            raise ValueError("the checksum differs")
        content["segments"] = tuple(SegmentEntry(**entry) for entry in content["segments"])
        manifest = Manifest(**content)
        names = (*(entry.name for entry in manifest.segments), *filter(None, (manifest.centroids, manifest.faiss)))
        if not all(map(is_plain_name, names)):
            raise ValueError("it names files outside its folder")
        return manifest
    except (ValueError, KeyError, TypeError) as error:
        raise IndexFormatError(f"{path} is damaged: run propcite reindex") from error


def is_plain_name(name: str) -> bool:
    """Return whether a name is that of a file or folder in a folder, and no path that leads out of it.

    >>> is_plain_name("segment-1.tokens"), is_plain_name("../page.key"), is_plain_name("/etc/passwd")
    (True, False, False)
    """
    return name.isprintable() and name not in ("", ".", "..") and not set(name) & set("/\\:")


def _checksum(content: dict[str, Any]) -> int:
    """Return a checksum; without it one wrong digit could restore a deleted passage."""
    return zlib.crc32(json.dumps(content, sort_keys=True).encode())
