"""The versions of an index's shards that belong to a collection's documents: the database names them with the rows.

A change of documents is prepared on disk, then one transaction changes rows and names, then what is prepared counts for
those who do not ask the database.  Until the transaction readers open the former versions, from then on the new ones;
what a writer that was stopped has prepared is finished or removed by the next one.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from propcite.app.library.store import CollectionInfo, Library
from propcite.retrieval.errors import OtherVersionError
from propcite.retrieval.index import ProgressReport
from propcite.retrieval.sharding.layout import Versions, read_versions, settle_versions

if TYPE_CHECKING:
    from propcite.retrieval.remote.published_index import PublishedIndex
    from propcite.retrieval.sharding.folder import OpenIndex

TRIES = 20  # a writer replaces what was named between two of them
T = TypeVar("T")


class IndexVersions:
    """The versions of one collection's index, in its folder and in the storage, if there is one."""

    def __init__(
        self,
        library: Library,
        collection: CollectionInfo,
        folder: Path,
        published: PublishedIndex | None,
        progress: ProgressReport,
    ) -> None:
        self._library, self._collection, self._folder = library, collection, folder
        self._published, self._progress = published, progress
        self._known: Versions | None = None  # what the database names, while this is the writer

    def now(self) -> Versions | None:
        """Return what belongs to the documents as they are now; None if it is not known."""
        return self._library.index_versions(self._collection)

    def open(self, at: Callable[[Versions | None], T]) -> T:
        """Open what belongs to the documents, and what is on disk where that is not known or not there.

        It is not there after work that changes no document, as joining segments, until it is noted.
        """
        before: Versions | None = None
        for _ in range(TRIES):
            versions = self.now()
            if versions is None or versions == before:
                break
            try:
                return at(versions)
            except OtherVersionError:
                before = versions
        return at(None)

    def fetch(self, versions: Versions | None, shards: Collection[str] | None = None, *, soon: bool = False) -> None:
        """Bring these versions from the storage, or the latest ones; without a storage nothing is done."""
        if self._published:
            number = versions.stored if versions else 0
            self._published.fetch(shards, soon=soon, number=number, progress=self._progress)

    # Writing

    def begin(self) -> None:
        """Bring the folder to what belongs to the documents, for its writer."""
        self._known = self.now()
        self.fetch(self._known)
        settle_versions(self._folder, self._known.names if self._known else {})

    def commit(self, index: OpenIndex, change_rows: Callable[[], object]) -> Versions:
        """Let the changes of an index and those of rows count at once, or neither; return the versions that do."""
        names = index.prepare(self._folder)
        versions = Versions(names, self._publish(names))
        with self._library.together():
            change_rows()
            self._library.note_index_versions(self._collection, self._known, versions)
        self._known = versions
        index.promote(self._folder)
        if read_versions(self._folder) != names:  # it has trained centroids
            self.note()
        return self._known

    def note(self) -> None:
        """Publish what is on disk, and let it belong to the documents as they are."""
        names, stored = read_versions(self._folder), self._publish()
        versions = Versions(names, stored)
        if names and versions != self._known:
            self._library.note_index_versions(self._collection, self._known, versions)
            self._known = versions

    def _publish(self, names: dict[str, str] | None = None) -> int:
        return self._published.publish(self._progress, names, fenced=True) if self._published else 0
