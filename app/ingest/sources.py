"""The sources of documents: files, bytes with a name, members of archives, and web addresses."""

from __future__ import annotations

import os
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
    """A page or file at a web address.  Its name is known once it was fetched.

    `private` allows addresses inside this network.
    """

    url: str
    private: bool = False
    name: str = ""
    size: int = 0
    fetched: Path | ReadError | None = None  # where `fetch` put it, or why it could not

    @property
    def location(self) -> str:
        return self.url

    def fetch(self, path: Path, max_bytes: int) -> None:
        """Fetch the file to a path before it is read; an error is raised when it is read."""
        try:
            self.size = path.write_bytes(self.read(max_bytes))
            self.fetched = path
        except ReadError as error:
            self.fetched = error

    def read(self, max_bytes: int) -> bytes:
        from propcite.app.ingest.readers.web import fetch

        if isinstance(self.fetched, ReadError):
            raise self.fetched
        if self.fetched:
            return self.fetched.read_bytes()
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
