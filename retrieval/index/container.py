"""A file of named arrays that are memory-mapped, with a checksum per block, so that damage is located.

Layout: a magic number, the arrays (each at a multiple of 64 bytes), a JSON table of them, the table's length and
checksum, the magic number again.  A file is written once, complete and durably, and never changed.
"""

from __future__ import annotations

import json
import os
import shutil
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

MAGIC = b"PropCite"
FOOTER = struct.Struct("<QI8s")  # the table's length, its checksum, the magic number
ALIGNMENT = 64
BLOCK = 1 << 17  # bytes per checksum
OUTSIDE = "outside all arrays"  # where nothing is read from
REPAIR = "run propcite index check --repair"


@dataclass(frozen=True, slots=True)
class ChunkedArray:
    """An array that comes in chunks, so that only one of them is in memory; without a shape it is one row of items."""

    dtype: np.dtype[Any]
    shape: tuple[int, ...] | None
    chunks: Iterable[Array]


@dataclass(frozen=True, slots=True)
class Damage:
    """A range of bytes of an array that differs from what was written."""

    array: str
    start: int
    end: int


def write_arrays(path: Path, arrays: Mapping[str, Array | ChunkedArray]) -> None:
    """Write a new file and flush it to the disk."""
    table: dict[str, Any] = {}
    with durable_file(path) as file:
        position = file.write(MAGIC)
        for name, array in arrays.items():
            position += file.write(bytes(-position % ALIGNMENT))
            size, sums = _write(file, array.chunks if isinstance(array, ChunkedArray) else [array])
            shape = array.shape if array.shape is not None else (size // array.dtype.itemsize,)
            table[name] = {"dtype": array.dtype.str, "shape": shape, "place": position, "sums": sums}
            position += size
        text = json.dumps(table).encode()
        file.write(text)
        file.write(FOOTER.pack(len(text), zlib.crc32(text), MAGIC))


def replace_arrays(path: Path, arrays: Mapping[str, Array | ChunkedArray]) -> None:
    """Write a file in the place of one that may exist and be open in a reader."""
    new = path.with_name(f"{path.name}.new")
    write_arrays(new, arrays)
    os.replace(new, path)
    sync_folder(path.parent)


def _write(file: BinaryIO, chunks: Iterable[Array]) -> tuple[int, list[int]]:
    """Write chunks one after the other.  -> number of bytes, checksum of each block"""
    size, sums = 0, []
    for chunk in chunks:
        data = np.ascontiguousarray(chunk).reshape(-1).view(np.uint8).data
        while len(data):
            if size % BLOCK == 0:
                sums.append(0)
            rest_of_block = data[: BLOCK - size % BLOCK]
            sums[-1] = zlib.crc32(rest_of_block, sums[-1])
            size += file.write(rest_of_block)
            data = data[len(rest_of_block) :]
    return size, sums


class Container:
    """The arrays of one file.  Opening it verifies the table only; `check` verifies everything."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            self._bytes = np.memmap(path, np.uint8, mode="r")
            self._table = self._read_table()
        except (OSError, ValueError, KeyError, TypeError, struct.error) as error:
            raise IndexFormatError(f"the index file {path} is damaged or missing: {REPAIR}") from error

    def _read_table(self) -> dict[str, dict[str, Any]]:
        end = len(self._bytes) - FOOTER.size
        length, checksum, magic = FOOTER.unpack(self._bytes[max(end, 0) :].tobytes())
        text = self._bytes[end - length : end].tobytes() if length <= end else b""
        if magic != MAGIC or zlib.crc32(text) != checksum:
            raise ValueError("the table is damaged")
        table: dict[str, dict[str, Any]] = json.loads(text)
        return table

    def __contains__(self, name: str) -> bool:
        return name in self._table

    @property
    def size(self) -> int:
        return len(self._bytes)

    def mapped(self, name: str) -> Array:
        """Return a memory-mapped array, without verifying it; only the pages in use are read."""
        entry = self._table[name]
        dtype, shape = np.dtype(entry["dtype"]), tuple(entry["shape"])
        raw = self._raw(name)
        array: Array = raw.view(dtype).reshape(shape) if raw.size else np.zeros(shape, dtype)
        return array

    def verified(self, name: str) -> Array:
        """Return a memory-mapped array after verifying its checksums."""
        if damages := list(self.damages(name)):
            raise IndexFormatError(f"the index file {self.path} is damaged ({name}, byte {damages[0].start}): {REPAIR}")
        return self.mapped(name)

    def read(self, name: str) -> Array:
        """Return an array in memory after verifying its checksums."""
        return np.array(self.verified(name))

    def damages(self, name: str, progress: Callable[[int], None] = lambda _: None) -> Iterator[Damage]:
        """Yield the damaged blocks of an array; report the bytes of each block as it is read."""
        sums = self._table[name]["sums"]
        for (start, block), checksum in zip(_blocks(self._raw(name).data), sums, strict=True):
            if zlib.crc32(block) != checksum:
                yield Damage(name, start, start + len(block))
            progress(len(block))

    def check(self, progress: Callable[[int], None] = lambda _: None) -> list[Damage]:
        """Return the damaged blocks of all arrays; report the bytes of each block as it is read."""
        return [damage for name in self._table for damage in self.damages(name, progress)]

    def check_between(self) -> list[Damage]:
        """Return damage outside all arrays: in the magic number at the beginning, or in the zeros between arrays."""
        found, at = [], len(MAGIC)
        if self._bytes[:at].tobytes() != MAGIC:
            found.append(Damage(OUTSIDE, 0, at))
        for name, entry in self._table.items():
            if self._bytes[at : entry["place"]].any():
                found.append(Damage(OUTSIDE, at, entry["place"]))
            at = entry["place"] + len(self._raw(name))
        return found

    def _raw(self, name: str) -> npt.NDArray[np.uint8]:
        entry = self._table[name]
        size = int(np.dtype(entry["dtype"]).itemsize * np.prod(entry["shape"], dtype=np.int64))
        raw: npt.NDArray[np.uint8] = self._bytes[entry["place"] : entry["place"] + size]
        return raw


def _blocks(data: memoryview) -> Iterator[tuple[int, memoryview]]:
    for start in range(0, len(data), BLOCK):
        yield start, data[start : start + BLOCK]


@contextmanager
def durable_file(path: Path) -> Iterator[BinaryIO]:
    """Open a new file for writing and flush it to the disk at the end of the block."""
    with path.open("wb") as file:
        yield file
        file.flush()
        os.fsync(file.fileno())


def replace_durably(path: Path, content: bytes) -> None:
    """Replace a file's content; a crash leaves the old content or the new one."""
    new = path.with_name(f"{path.name}.new")
    try:
        with durable_file(new) as file:
            file.write(content)
    except OSError:  # the disk is full: others of its files may need the space
        new.unlink(missing_ok=True)
        raise
    os.replace(new, path)
    sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    """Flush names of new files and renames to the disk."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def link(path: Path, new: Path) -> None:
    """Give a file a second name, which stays when the first is removed; copy it if the disk has no links."""
    try:
        os.link(path, new)
    except FileNotFoundError:
        raise
    except OSError:
        shutil.copyfile(path, new)
