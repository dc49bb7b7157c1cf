"""A folder of files by their content: the same file is there once, however many documents were read from it."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from propcite.app.errors import StoreError
from propcite.app.ingest.sources import stands_in
from propcite.app.library.store import Library

Keeps = Literal["sent", "all", "none"]
_CONTENT = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class Originals:
    """`keeps` says of which documents: those that were sent, unpacked or fetched, or also those with a file."""

    folder: Path
    library: Library
    keeps: Keeps = "sent"

    def wants(self, place: str) -> bool:
        """Whether what was read from there is to be kept."""
        return self.keeps == "all" or (self.keeps == "sent" and not is_file(place))

    def keep(self, sha256: str, data: bytes) -> None:
        """Whole on disk when this returns."""
        path = self.path(sha256)
        if path.exists():
            return
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with tempfile.NamedTemporaryFile(dir=path.parent, prefix=".", delete=False) as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            os.replace(file.name, path)
        except OSError as error:
            with suppress(OSError, UnboundLocalError):
                os.unlink(file.name)
            raise StoreError(
                f"{self.folder} cannot be written ({error.strerror or error}): free space, or PROPCITE_ORIGINALS=none"
            ) from error

    def path(self, sha256: str) -> Path:
        return self.folder / sha256[:2] / sha256

    def contents(self) -> Iterator[str]:
        """What is kept."""
        for path in self.folder.glob("??/*"):
            if _CONTENT.fullmatch(path.name):
                yield path.name

    def forget(self, contents: Iterable[str]) -> None:
        """Remove those of these files that neither a document nor a kept answer needs any more."""
        there = {sha256 for sha256 in contents if self.path(sha256).exists()}
        for sha256 in there - self.library.contents_in_use(there):
            self.path(sha256).unlink(missing_ok=True)

    def unused(self) -> set[str]:
        """What is kept for nothing."""
        there = set(self.contents())
        return there - self.library.contents_in_use(there)


def is_file(place: str) -> bool:
    """Whether it is a file of this machine, and no part of one."""
    return os.path.isabs(place) and stands_in(place) == place
