"""The manifest: one small file, replaced as a whole, that names all other files of an index."""

from __future__ import annotations

import json
import zlib
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from propcite.retrieval.errors import IndexFormatError
from propcite.retrieval.index.container import replace_durably

FORMAT = 2
MANIFEST_FILE = "manifest.json"


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

    def write(self, folder: Path) -> None:
        content = asdict(self)
        replace_durably(folder / MANIFEST_FILE, json.dumps(content | {"checksum": _checksum(content)}).encode())


def read_manifest(folder: Path) -> Manifest:
    """Read and verify the manifest of an index folder."""
    path = folder / MANIFEST_FILE
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
