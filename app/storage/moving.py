"""Bring everything from the storage to this disk, put everything from this disk there, and compare the two."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from propcite.app.errors import AppError
from propcite.retrieval.index import ProgressReport, ignore_progress

if TYPE_CHECKING:
    from propcite.app.library.store import CollectionInfo
    from propcite.app.library.workspace import Workspace
    from propcite.app.parts import Parts
    from propcite.retrieval.remote.published_index import PublishedIndex


@dataclass(frozen=True, slots=True)
class StoredIndex:
    """The versions of a collection's index: of the storage, and of this disk; 0 where there is none."""

    collection: str
    stored: int
    fetched: int
    bytes: int
    objects: int


def stored_indexes(parts: Parts) -> Iterator[StoredIndex]:
    """Yield what the storage has of each collection's index."""
    for collection, workspace in _workspaces(parts):
        published = _published(workspace)
        latest, known = published.version(), published.fetched()
        objects = latest.objects if latest else {}
        yield StoredIndex(
            collection.name,
            latest.number if latest else 0,
            known.number if known else 0,
            sum(objects.values()),
            len(objects),
        )


def pull(parts: Parts, progress: ProgressReport = ignore_progress) -> tuple[int, int]:
    """Bring all indexes and all kept files to this disk; return how many of each are here now."""
    indexes = 0
    for _, workspace in _workspaces(parts, progress):
        workspace.fetch()
        indexes += workspace.exists()
    digests = sorted(parts.originals.digests())
    here = 0
    for done, sha256 in enumerate(digests, start=1):
        here += parts.originals.fetched(sha256).exists()
        progress("fetching files", done / len(digests))
    return indexes, here


def push(parts: Parts, progress: ProgressReport = ignore_progress) -> tuple[int, int]:
    """Put the indexes and kept files of this disk into the storage; return how many of each are there now.

    Where the storage has a version of an index that is not from here, that one is brought here in its place.
    """
    indexes = 0
    for _, workspace in _workspaces(parts, progress):
        with workspace.write_lock():
            indexes += workspace.exists()
    return indexes, parts.originals.put_all(lambda share: progress("storing files", share))


def _workspaces(parts: Parts, progress: ProgressReport = ignore_progress) -> Iterator[tuple[CollectionInfo, Workspace]]:
    if not parts.settings.storage:
        raise AppError(
            "there is no storage: set it to an address such as s3://bucket/folder, as docs/deploying.md says"
        )
    for collection in parts.library.collections():
        yield collection, parts.workspace(collection, progress)


def _published(workspace: Workspace) -> PublishedIndex:
    assert workspace.published
    return workspace.published
