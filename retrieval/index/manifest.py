"""What an index consists of: one small file, replaced whole, that names everything else."""

from __future__ import annotations

import json
import zlib
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from propcite.retrieval.errors import IndexFormatError
from propcite.retrieval.index.container import replace_durably

FORMAT = 2
FILE = "manifest.json"


@dataclass(frozen=True, slots=True)
class SegmentEntry:
    """A segment by name, and how much of its list of deleted passages counts, with that part's checksum."""

    name: str
    passages: int
    tokens: int
    deleted: int = 0
    deleted_sum: int = 0


@dataclass(frozen=True, slots=True)
class Manifest:
    """`generation` grows with every change: who saves must have read the last one."""

    encoder: str
    dimension: int
    segments: tuple[SegmentEntry, ...]
    generation: int = 0
    centroids: str = ""
    faiss: str = ""
    format: int = FORMAT

    def write(self, folder: Path) -> None:
        content = asdict(self)
        replace_durably(folder / FILE, json.dumps(content | {"checksum": _checksum(content)}).encode())


def read_manifest(folder: Path) -> Manifest:
    path = folder / FILE
    try:
        content: dict[str, Any] = json.loads(path.read_text("utf-8"))
        found = content["format"]
        checksum = content.pop("checksum", None)
    except (FileNotFoundError, NotADirectoryError) as error:
        raise IndexFormatError(f"{folder} holds no index: run propcite reindex") from error
    except OSError as error:
        raise IndexFormatError(f"{path} cannot be read: {error.strerror}") from error
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise IndexFormatError(f"{path} is damaged: run propcite reindex") from error
    if found != FORMAT:
        raise IndexFormatError(f"{folder} has index format {found}, this version reads {FORMAT}: run propcite reindex")
    try:
        if checksum != _checksum(content):
            raise ValueError("its checksum differs")
        content["segments"] = tuple(SegmentEntry(**entry) for entry in content["segments"])
        return Manifest(**content)
    except (ValueError, KeyError, TypeError) as error:
        raise IndexFormatError(f"{path} is damaged: run propcite reindex") from error


def _checksum(content: dict[str, Any]) -> int:
    """One wrong digit in a list of deletions would bring a deleted passage back."""
    return zlib.crc32(json.dumps(content, sort_keys=True).encode())
