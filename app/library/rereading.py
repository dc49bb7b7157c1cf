"""Find again what the documents that an earlier version of the readers read were read from."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from propcite.app.ingest.outcomes import Outcome
from propcite.app.ingest.readers.kinds import READING_VERSIONS
from propcite.app.ingest.sources import File, Source, StoredFile, WebFile, file_of, unpack_archives
from propcite.app.library.originals import Originals, is_file, name_of
from propcite.app.library.store import CollectionInfo, DocumentInfo, SourceFile
from propcite.attribution.formats.text import is_address

GONE = "its file is gone and no copy is kept: add it from where it is now, or remove it"


def sources_to_read_again(
    originals: Originals, collection: CollectionInfo, max_bytes: int
) -> tuple[list[Source], list[Outcome]]:
    """Return the sources of documents that an earlier version read, and a failed outcome for each that is gone."""
    found: list[Source] = []
    gone: list[DocumentInfo] = []
    for info in originals.library.read_before(collection, READING_VERSIONS):
        source = _source(originals, info)
        found += [source] if source else []
        gone += [] if source else [info]
    found += _archived(gone, max_bytes)
    known = {source.location for source in found}
    return found, [Outcome(info.source, "failed", reason=GONE) for info in gone if info.source not in known]


def _source(originals: Originals, info: DocumentInfo) -> Source | None:
    """Return the user's file, else the stored one, else the web address; None if there is none of them."""
    if is_file(info.source) and os.path.isfile(info.source):
        return File(Path(info.source))
    stored = originals.path(info.sha256)
    if originals.is_intact(info.sha256):
        kind = str(info.details.get("kind", ""))
        name = name_of(SourceFile(info.id, info.title, info.source, info.sha256, kind))
        return StoredFile(name, stored, info.source)
    return WebFile(info.source, private=True) if is_address(info.source) else None


def _archived(documents: Sequence[DocumentInfo], max_bytes: int) -> Iterator[Source]:
    """Yield those of the documents that are members of archives which are still there."""
    wanted = {info.source for info in documents if file_of(info.source) != info.source}
    archives = sorted({file_of(place) for place in wanted if os.path.isfile(file_of(place))})
    for member in unpack_archives([File(Path(archive)) for archive in archives], max_bytes):
        if not isinstance(member, Outcome) and member.location in wanted:
            yield member
