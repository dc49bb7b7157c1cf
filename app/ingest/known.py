"""What a collection holds already, by place and by content."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from functools import cached_property

from propcite.app.ingest.likeness import Likenesses
from propcite.app.ingest.reading import Job
from propcite.app.ingest.sources import stands_in
from propcite.app.library.store import CollectionInfo, Library, document_id


@dataclass(frozen=True, slots=True)
class Kept:
    """A document of the library, as far as an ingest asks."""

    id: str
    source: str
    sha256: str
    title: str
    num_passages: int

    @property
    def is_gone(self) -> bool:
        """Whether it was a file that is no longer there."""
        return os.path.isabs(self.source) and not os.path.exists(stands_in(self.source))


class Known:
    """Follows what an ingest adds, before that is on disk."""

    def __init__(self, library: Library, collection: CollectionInfo) -> None:
        self._library, self._collection = library, collection
        documents = library.documents(collection)
        self._places = {d.source: Kept(d.id, d.source, d.sha256, d.title, d.num_passages) for d in documents}
        self._ids = {d.id for d in documents}
        self._contents: dict[str, dict[str, Kept]] = {}
        for kept in self._places.values():
            self._contents.setdefault(kept.sha256, {})[kept.source] = kept

    @cached_property
    def likenesses(self) -> Likenesses:
        """Read when the first new document comes."""
        found = Likenesses()
        for source, told in self._library.signatures(self._collection):
            found.put(source, told)
        return found

    def at(self, place: str) -> Kept | None:
        return self._places.get(place)

    def same_as(self, sha256: str) -> list[Kept]:
        """The documents of this very content."""
        return list(self._contents.get(sha256, {}).values())

    def named(self, job: Job) -> Job:
        """With an id for its document that no other has: one that was moved kept the id of its old place."""
        id_ = document_id(self._collection.name, job.place, job.sha256)
        while id_ in self._ids:
            id_ = document_id(self._collection.name, id_, job.sha256)
        return replace(job, document_id=id_)

    def put(self, kept: Kept) -> None:
        old = self._places.get(kept.source)
        if old is not None:
            del self._contents[old.sha256][old.source]
            self._ids.discard(old.id)
        self._ids.add(kept.id)
        self._places[kept.source] = kept
        self._contents.setdefault(kept.sha256, {})[kept.source] = kept

    def move(self, kept: Kept, place: str) -> Kept:
        del self._places[kept.source], self._contents[kept.sha256][kept.source]
        moved = replace(kept, source=place)
        self.put(moved)
        self.likenesses.move(kept.source, place)
        return moved
