"""From a document to the file that it was read from."""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath, PureWindowsPath
from urllib.parse import urlsplit

from propcite.app.errors import NotFoundError
from propcite.app.ingest.readers.kinds import is_known
from propcite.app.library.originals.kept import Originals, is_file
from propcite.app.library.store import Content
from propcite.attribution.formats.addresses import is_address

SUFFIXES = {"markdown": ".md", "text": ".txt", "email": ".eml"}  # where a kind is not called by its own


@dataclass(frozen=True, slots=True)
class Original:
    """A document's file: what it is called, and where its bytes lie."""

    document_id: str
    title: str
    name: str
    kind: str
    path: Path


@dataclass(slots=True)
class Finder:
    """Finds originals; a file of the user's own counts only while it is what was read."""

    originals: Originals
    _digests: dict[tuple[str, int, int], str] = field(default_factory=dict)

    def find(self, document_id: str) -> Original:
        content = self.originals.library.content(document_id)
        path = self._path(content)
        if path is None:
            raise NotFoundError(
                f"the file of {name_of(content)!r} is not kept and no longer where it was: add it to the library again"
            )
        return Original(document_id, content.title, name_of(content), content.kind, path)

    def known(self, document_ids: set[str]) -> dict[str, str]:
        """The kinds of those documents whose file is there."""
        found = self.originals.library.contents(document_ids)
        return {i: content.kind for i, content in found.items() if self._path(content)}

    def _path(self, content: Content) -> Path | None:
        kept = self.originals.path(content.sha256)
        if kept.exists():
            return kept
        own = Path(content.source)
        return own if is_file(content.source) and self._digest(own) == content.sha256 else None

    def _digest(self, path: Path) -> str:
        """Of a file as it is now; empty where there is none.  One that did not change is not read again."""
        try:
            stat = os.stat(path)
            key = str(path), stat.st_mtime_ns, stat.st_size
            if key not in self._digests:
                with path.open("rb") as file:
                    self._digests[key] = hashlib.file_digest(file, "sha256").hexdigest()
            return self._digests[key]
        except (OSError, ValueError):
            return ""


def name_of(content: Content) -> str:
    """What a document's file is called: the last part of its source, and for a page of the web with a suffix."""
    if not is_address(content.source):
        return PureWindowsPath(content.source).name or content.source
    name = PurePosixPath(urlsplit(content.source).path).name or "page"
    return name if is_known(name) else name + SUFFIXES.get(content.kind, f".{content.kind}")
