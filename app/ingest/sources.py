"""The sources of documents: files, bytes with a name, members of archives, and web addresses."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from propcite.app.errors import ReadError
from propcite.app.ingest.outcomes import Outcome
from propcite.app.ingest.readers import check_size, find_files, read_bytes, source_path
from propcite.app.ingest.readers.archive import is_archive, members
from propcite.attribution.formats.text import is_address


class Source(Protocol):
    """Something that a document can be read from."""

    @property
    def location(self) -> str:
        """The path, address or upload name by which the library identifies the document."""

    @property
    def name(self) -> str:
        """The file name, whose suffix decides how the bytes are read."""

    @property
    def size(self) -> int:
        """The number of bytes, or 0 if it is not known before they are read."""

    def read(self, max_bytes: int) -> bytes: ...


@dataclass(frozen=True, slots=True)
class File:
    path: Path

    @property
    def location(self) -> str:
        return source_path(self.path)

    @property
    def name(self) -> str:
        return self.path.name

    @property
    def size(self) -> int:
        try:
            return os.stat(self.path).st_size
        except (OSError, ValueError):
            return 0

    def read(self, max_bytes: int) -> bytes:
        return read_bytes(self.path, max_bytes)


@dataclass(frozen=True, slots=True)
class Upload:
    """A file that has a name and bytes but no path."""

    name: str
    data: bytes

    @property
    def location(self) -> str:
        return self.name

    @property
    def size(self) -> int:
        return len(self.data)

    def read(self, max_bytes: int) -> bytes:
        check_size(self.name, len(self.data), max_bytes)
        return self.data


@dataclass(frozen=True, slots=True)
class StoredFile:
    """A copy of a file under another path: its name, and the location of the file unless the name is that."""

    name: str
    path: Path
    origin: str = ""

    @property
    def location(self) -> str:
        return self.origin or self.name

    @property
    def size(self) -> int:
        return self.path.stat().st_size

    def read(self, max_bytes: int) -> bytes:
        check_size(self.name, self.size, max_bytes)
        return self.path.read_bytes()


@dataclass(slots=True)
class WebFile:
    """A page or file at a web address.  Its name is known once it was read.

    `private` allows addresses inside this network; `reason` says why it could not be fetched before, if it was tried.
    """

    url: str
    private: bool = False
    name: str = ""
    size: int = 0
    reason: str = ""

    @property
    def location(self) -> str:
        return self.url

    def read(self, max_bytes: int) -> bytes:
        from propcite.app.ingest.readers.web import fetch

        if self.reason:
            raise ReadError(self.reason)
        fetched = fetch(self.url, max_bytes=max_bytes, private=self.private)
        self.name = fetched.name
        return fetched.data


def gather(
    paths: Sequence[Path | str], *, follow_links: bool = False, report: Callable[[str], object] = lambda _: None
) -> tuple[list[Source], list[Outcome]]:
    """Find the sources at paths and web addresses.  Return them and a failed outcome for each path without any.

    Links that lead out of a folder are left out unless `follow_links` is set; `report` gets a line with their number.
    """
    addresses = [path for path in paths if isinstance(path, str) and is_address(path)]
    files, errors = find_files(
        [Path(path) for path in paths if path not in addresses], follow_links=follow_links, report=report
    )
    failed = [Outcome(error.source, "failed", reason=str(error)) for error in errors]
    return [*map(File, files), *(WebFile(url, private=True) for url in addresses)], failed


def unpack_archives(sources: Iterable[Source], max_bytes: int) -> Iterator[Source | Outcome]:
    """Yield the sources, with each archive replaced by its members; those that cannot be read as failed outcomes."""
    for source in sources:
        if not is_archive(source.name):
            yield source
            continue
        try:
            file = source.path if isinstance(source, File) else source.read(max_bytes)
            inside, errors = members(source.name, file, source.location)
        except ReadError as error:
            yield Outcome(source.location, "failed", reason=str(error))
            continue
        yield from (Outcome(error.source, "failed", reason=str(error)) for error in errors)
        yield from inside


def file_of(location: str) -> str:
    """Return the file that a location lies in: the archive of a member, else the location itself.

    >>> file_of("/a/papers.zip!/2024/tides.pdf"), file_of("/a/tides.pdf")
    ('/a/papers.zip', '/a/tides.pdf')
    """
    return location.partition("!/")[0]


def without(items: Iterable[Source | Outcome], done: Iterable[str]) -> Iterator[Source | Outcome]:
    """Yield what an earlier run left, given the locations that it has outcomes of; of several alike it had the first.

    >>> files = [Upload("a.txt", b"1"), Upload("b.txt", b"2"), Upload("a.txt", b"3")]
    >>> [file.data for file in without(files, ["a.txt"])]
    [b'2', b'3']
    """
    counts = Counter(done)
    for item in items:
        location = item.source if isinstance(item, Outcome) else item.location
        if counts[location] > 0:
            counts[location] -= 1
        else:
            yield item
