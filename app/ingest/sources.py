"""What can be read: a file, bytes with a name, what an archive holds, an address of the web."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from propcite.app.errors import ReadError
from propcite.app.ingest.outcomes import Outcome
from propcite.app.ingest.readers import check_size, find_files, read_bytes, source_of
from propcite.app.ingest.readers.archives import Member as InArchive
from propcite.app.ingest.readers.archives import is_archive, members
from propcite.attribution.formats.addresses import is_address


class Source(Protocol):
    """`place` is what the library knows it by, `name` says how it is read."""

    @property
    def place(self) -> str: ...

    @property
    def name(self) -> str: ...

    @property
    def size(self) -> int:
        """Its bytes, as far as that is known before it is read."""

    def read(self, most_bytes: int) -> bytes: ...


@dataclass(frozen=True, slots=True)
class File:
    path: Path

    @property
    def place(self) -> str:
        return source_of(self.path)

    @property
    def name(self) -> str:
        return self.path.name

    @property
    def size(self) -> int:
        try:
            return os.stat(self.path).st_size
        except (OSError, ValueError):
            return 0

    def read(self, most_bytes: int) -> bytes:
        return read_bytes(self.path, most_bytes)


@dataclass(frozen=True, slots=True)
class Upload:
    """A file that has a name and bytes but no path."""

    name: str
    data: bytes

    @property
    def place(self) -> str:
        return self.name

    @property
    def size(self) -> int:
        return len(self.data)

    def read(self, most_bytes: int) -> bytes:
        check_size(self.name, len(self.data), most_bytes)
        return self.data


@dataclass(frozen=True, slots=True)
class Member:
    """A file in an archive: `papers.zip!/2024/tides.pdf`."""

    member: InArchive

    @property
    def place(self) -> str:
        return self.member.source

    @property
    def name(self) -> str:
        return self.member.name

    @property
    def size(self) -> int:
        return self.member.archive.members[self.member.path].file_size

    def read(self, most_bytes: int) -> bytes:
        return self.member.read(most_bytes)


@dataclass(slots=True)
class Web:
    """What lies at an address; what it is called is known once it is here.  `private`: also inside this network."""

    url: str
    private: bool = False
    name: str = ""
    size: int = 0

    @property
    def place(self) -> str:
        return self.url

    def read(self, most_bytes: int) -> bytes:
        from propcite.app.ingest.readers.web import fetch

        found = fetch(self.url, most_bytes=most_bytes, private=self.private)
        self.name = found.name
        return found.data


def gather(paths: Sequence[Path | str]) -> tuple[list[Source], list[Outcome]]:
    """The sources that these paths and addresses name, and an outcome for each path that names none."""
    addresses = [path for path in paths if isinstance(path, str) and is_address(path)]
    files, errors = find_files([Path(path) for path in paths if path not in addresses])
    failed = [Outcome(error.source, "failed", reason=str(error)) for error in errors]
    return [*map(File, files), *(Web(url, private=True) for url in addresses)], failed


def unpacked(sources: Iterable[Source], most_bytes: int) -> Iterator[Source | Outcome]:
    """The same with the members of each archive in its place."""
    for source in sources:
        if not is_archive(source.name):
            yield source
            continue
        try:
            file = source.path if isinstance(source, File) else source.read(most_bytes)
            inside, errors = members(source.name, file, source.place)
        except ReadError as error:
            yield Outcome(source.place, "failed", reason=str(error))
            continue
        yield from (Outcome(error.source, "failed", reason=str(error)) for error in errors)
        yield from map(Member, inside)


def stands_in(place: str) -> str:
    """The file that a place lies in: that of an archive, else itself.

    >>> stands_in("/a/papers.zip!/2024/tides.pdf"), stands_in("/a/tides.pdf")
    ('/a/papers.zip', '/a/tides.pdf')
    """
    return place.partition("!/")[0]
