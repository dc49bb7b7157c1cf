"""Where the shards of an index are: one small file, replaced as a whole; an index without it is in one piece."""

from __future__ import annotations

import json
import secrets
import zlib
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from propcite.retrieval.encoding.base import Ints
from propcite.retrieval.errors import IndexFormatError
from propcite.retrieval.index.container import replace_durably
from propcite.retrieval.index.manifest import MANIFEST_FILE, read_manifest, settle
from propcite.retrieval.index.passage_ids import PassageIds

LAYOUT_FILE = "shards.json"
FORMAT = 1
MAX_SHARDS = 256
Version = tuple[tuple[int, int], ...]  # of the files that name all others


@dataclass(frozen=True, slots=True)
class Layout:
    """The folders of all shards in order, inside the index's own folder or, as absolute paths, elsewhere."""

    places: tuple[str, ...]

    def folders(self, folder: Path) -> list[Path]:
        return [folder / place for place in self.places]

    def write(self, folder: Path) -> None:
        content = {"format": FORMAT, "shards": list(self.places)}
        replace_durably(folder / LAYOUT_FILE, json.dumps(content | {"checksum": _checksum(content)}).encode())


def read_layout(folder: Path) -> Layout | None:
    """Return where the shards of an index are; None if it is in one piece."""
    path = folder / LAYOUT_FILE
    try:
        content = json.loads(path.read_text("utf-8"))
        checksum = content.pop("checksum")
        if content["format"] != FORMAT:
            raise IndexFormatError(f"{path} has format {content['format']}, this version reads {FORMAT}: update it")
        if checksum != _checksum(content) or not content["shards"]:
            raise ValueError("the checksum differs")
        layout = Layout(tuple(map(str, content["shards"])))
        if len({Path(place).name for place in layout.places}) < len(layout.places):
            raise ValueError("a shard is there twice")
        return layout
    except FileNotFoundError:
        return None
    except OSError as error:
        raise IndexFormatError(f"cannot read {path}: {error.strerror}") from error
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise IndexFormatError(f"{path} is damaged: run propcite reindex") from error


def _checksum(content: dict[str, object]) -> int:
    return zlib.crc32(json.dumps(content, sort_keys=True).encode())


def shard_folders(folder: Path) -> list[Path]:
    """Return the folders of an index's shards: its own folder where it is in one piece."""
    layout = read_layout(folder)
    return layout.folders(folder) if layout else [folder]


def index_version(folder: Path) -> Version | None:
    """Return what changes with every save of an index; None if the folder holds none."""
    try:
        layout = read_layout(folder)
    except IndexFormatError:
        return (_stamp(folder / LAYOUT_FILE),)  # opening the index will say what is wrong
    if layout is None:
        return (_stamp(folder / MANIFEST_FILE),) if (folder / MANIFEST_FILE).exists() else None
    manifests = [path / MANIFEST_FILE for path in layout.folders(folder)]
    return (_stamp(folder / LAYOUT_FILE), *map(_stamp, manifests))


@dataclass(frozen=True, slots=True)
class Versions:
    """The versions of an index's shards that belong together.

    `names` has the name of each shard's version (`Manifest.name`) by the name of its folder, which is empty for an
    index in one piece.  `stored` is the number of their version in a storage, 0 without one.
    """

    names: dict[str, str]
    stored: int = 0

    def to_json(self) -> str:
        return json.dumps({"names": self.names, "stored": self.stored}, sort_keys=True)

    @classmethod
    def from_json(cls, text: str) -> Versions:
        content = json.loads(text)
        return cls(content["names"], content["stored"])

    def of(self, layout: Layout | None) -> bool:
        """Return whether these are versions of the shards of a layout."""
        return self.names.keys() == ({Path(place).name for place in layout.places} if layout else {""})


def read_versions(folder: Path) -> dict[str, str]:
    """Return the names of the versions that count; empty if the folder holds no index that can be read."""
    try:
        layout = read_layout(folder)
        places = layout.folders(folder) if layout else [folder]
        return {place.name if layout else "": read_manifest(place).name for place in places}
    except IndexFormatError:
        return {}


def settle_versions(folder: Path, names: Mapping[str, str]) -> None:
    """Finish what a stopped writer has begun: what is prepared counts if it is named here, else it is removed."""
    with suppress(IndexFormatError):  # what is damaged is repaired by others
        layout = read_layout(folder)
        for place in layout.folders(folder) if layout else [folder]:
            settle(place, names.get(place.name if layout else "", ""))


def _stamp(path: Path) -> tuple[int, int]:
    try:
        stat = path.stat()
    except OSError:
        return 0, 0
    return stat.st_mtime_ns, stat.st_ino


def shard_numbers(ids: Sequence[str], number: int) -> Ints:
    """Return the shard of each passage, by the hash of its document's id.  (p,)

    >>> shard_numbers(["a:0", "a:1", "b:0"], 1).tolist()
    [0, 0, 0]
    """
    if number == 1 or not len(ids):
        return np.zeros(len(ids), np.int64)
    listed = ids if isinstance(ids, PassageIds) else PassageIds.of(ids)
    shards: Ints = (listed.document_hashes % np.uint64(number)).astype(np.int64)[listed.documents[1]]
    return shards


def new_places(number: int) -> list[str]:
    """Return names of new folders for so many shards, which no earlier layout has."""
    token = secrets.token_hex(4)
    return [f"shard-{one:02d}-of-{number:02d}-{token}" for one in range(number)]


def valid_number(number: int) -> int:
    if not 1 <= number <= MAX_SHARDS:
        raise ValueError(f"the number of shards must be between 1 and {MAX_SHARDS}, got {number}")
    return number
