"""One file of named arrays that are mapped, not read, with a checksum for every block: damage is found where it lies.

Layout: a mark, the arrays (each from a multiple of 64 bytes), a JSON table of them, the table's length and checksum,
the mark again.  A file is written once, whole and durably; nothing changes it.
"""

from __future__ import annotations

import json
import os
import struct
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

from propcite.retrieval.errors import IndexFormatError

Array = npt.NDArray[Any]

MARK = b"PropCite"
END = struct.Struct("<QI8s")  # the table's length, its checksum, the mark
ALIGNED = 64
BLOCK = 1 << 17  # bytes under one checksum
REPAIR = "run propcite index check --repair"


@dataclass(frozen=True, slots=True)
class Pieces:
    """An array that comes in pieces, of which only one is in memory."""

    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    parts: Iterable[Array]


@dataclass(frozen=True, slots=True)
class Damage:
    """Some bytes of an array that are not what was written."""

    array: str
    start: int
    end: int


def write_arrays(path: Path, arrays: Mapping[str, Array | Pieces]) -> None:
    """A new file that is on the disk, not only in its cache, when this returns."""
    table: dict[str, Any] = {}
    with durable(path) as file:
        place = file.write(MARK)
        for name, array in arrays.items():
            place += file.write(bytes(-place % ALIGNED))
            size, sums = _write(file, array.parts if isinstance(array, Pieces) else [array])
            table[name] = {"dtype": array.dtype.str, "shape": array.shape, "place": place, "sums": sums}
            place += size
        text = json.dumps(table).encode()
        file.write(text)
        file.write(END.pack(len(text), zlib.crc32(text), MARK))


def write_anew(path: Path, arrays: Mapping[str, Array | Pieces]) -> None:
    """The same in the place of a file that may be there and be read."""
    new = path.with_name(f"{path.name}.new")
    write_arrays(new, arrays)
    os.replace(new, path)
    sync_folder(path.parent)


def _write(file: BinaryIO, parts: Iterable[Array]) -> tuple[int, list[int]]:
    """-> the bytes written, the checksum of each block of them"""
    size, sums = 0, []
    for part in parts:
        data = np.ascontiguousarray(part).reshape(-1).view(np.uint8).data
        while len(data):
            if size % BLOCK == 0:
                sums.append(0)
            some = data[: BLOCK - size % BLOCK]
            sums[-1] = zlib.crc32(some, sums[-1])
            size += file.write(some)
            data = data[len(some) :]
    return size, sums


class Container:
    """The arrays of one file.  Opening it checks the table alone; `check` reads everything."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            self._bytes = np.memmap(path, np.uint8, mode="r")
            self._table = self._read_table()
        except (OSError, ValueError, KeyError, TypeError, struct.error) as error:
            raise IndexFormatError(f"the index part {path} is damaged or missing: {REPAIR}") from error

    def _read_table(self) -> dict[str, dict[str, Any]]:
        end = len(self._bytes) - END.size
        length, checksum, mark = END.unpack(self._bytes[max(end, 0) :].tobytes())
        text = self._bytes[end - length : end].tobytes() if length <= end else b""
        if mark != MARK or zlib.crc32(text) != checksum:
            raise ValueError("the table is not whole")
        table: dict[str, dict[str, Any]] = json.loads(text)
        return table

    def __contains__(self, name: str) -> bool:
        return name in self._table

    @property
    def size(self) -> int:
        return len(self._bytes)

    def mapped(self, name: str) -> Array:
        """An array as it lies in the file; the operating system reads what is touched."""
        entry = self._table[name]
        dtype, shape = np.dtype(entry["dtype"]), tuple(entry["shape"])
        raw = self._raw(name)
        array: Array = raw.view(dtype).reshape(shape) if raw.size else np.zeros(shape, dtype)
        return array

    def checked(self, name: str) -> Array:
        """An array in memory, its checksums compared."""
        if damages := list(self.damages(name)):
            raise IndexFormatError(f"the index part {self.path} is damaged ({name}, byte {damages[0].start}): {REPAIR}")
        return np.array(self.mapped(name))

    def damages(self, name: str, told: Callable[[int], None] = lambda _: None) -> Iterator[Damage]:
        sums = self._table[name]["sums"]
        for (start, block), checksum in zip(_blocks(self._raw(name).data), sums, strict=True):
            if zlib.crc32(block) != checksum:
                yield Damage(name, start, start + len(block))
            told(len(block))

    def check(self, told: Callable[[int], None] = lambda _: None) -> list[Damage]:
        """What differs from what was written; `told` hears how many bytes more were read."""
        return [damage for name in self._table for damage in self.damages(name, told)]

    def _raw(self, name: str) -> npt.NDArray[np.uint8]:
        entry = self._table[name]
        size = int(np.dtype(entry["dtype"]).itemsize * np.prod(entry["shape"], dtype=np.int64))
        raw: npt.NDArray[np.uint8] = self._bytes[entry["place"] : entry["place"] + size]
        return raw


def _blocks(data: memoryview) -> Iterator[tuple[int, memoryview]]:
    for start in range(0, len(data), BLOCK):
        yield start, data[start : start + BLOCK]


@contextmanager
def durable(path: Path) -> Iterator[BinaryIO]:
    """A new file that is on the disk, not only in its cache, when the block ends."""
    with path.open("wb") as file:
        yield file
        file.flush()
        os.fsync(file.fileno())


def replace_durably(path: Path, content: bytes) -> None:
    """The file has this content or its old one, whatever happens."""
    new = path.with_name(f"{path.name}.new")
    with durable(new) as file:
        file.write(content)
    os.replace(new, path)
    sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    """Names of new files, and renames, must reach the disk too."""
    directory = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(directory)
    finally:
        os.close(directory)
