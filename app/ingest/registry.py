"""The documents that a collection holds already, by location and by content."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from functools import cached_property

from propcite.app.ingest.near_duplicates import SignatureIndex
from propcite.app.ingest.outcomes import Outcome, State
from propcite.app.ingest.reader_pool import ParsedDocument, RawDocument
from propcite.app.ingest.sources import file_of
from propcite.app.library.store import CollectionInfo, Library, document_id
from propcite.retrieval.fidelity import Fidelity


@dataclass(frozen=True, slots=True)
class StoredDocument:
    """What an ingest needs to know of a document in the library."""

    id: str
    source: str
    sha256: str
    title: str
    num_passages: int

    @property
    def is_gone(self) -> bool:
        """Whether it was a file that no longer exists."""
        return os.path.isabs(self.source) and not os.path.exists(file_of(self.source))

    def outcome(self, state: State, reason: str = "", location: str = "") -> Outcome:
        return Outcome(location or self.source, state, self.title, self.id, self.num_passages, reason)


class Registry:
    """A collection's documents, including those that an ingest has parsed but not yet stored."""

    def __init__(self, library: Library, collection: CollectionInfo) -> None:
        self._library, self._collection = library, collection
        self._by_source: dict[str, StoredDocument] = {}
        self._by_content: dict[str, dict[str, StoredDocument]] = {}
        self._ids: set[str] = set()
        for info in library.documents(collection):
            self._put(StoredDocument(info.id, info.source, info.sha256, info.title, info.num_passages))

    @cached_property
    def _signatures(self) -> SignatureIndex:
        """Load the signatures, once the first new document comes."""
        index = SignatureIndex()
        for source, signature in self._library.signatures(self._collection):
            index.put(source, signature)
        return index

    def get(self, source: str) -> StoredDocument | None:
        return self._by_source.get(source)

    def recognize(self, raw: RawDocument, *, again: bool) -> Outcome | None:
        """Return the outcome of a document that need not be parsed, or None if it must be.

        It is unchanged (and not read `again`), its file was only moved, or another document has the same content.
        """
        old = self.get(raw.location)
        if old is not None:
            return old.outcome("unchanged") if old.sha256 == raw.sha256 and not again else None
        same = list(self._by_content.get(raw.sha256, {}).values())
        moved = next((document for document in same if document.is_gone), None)
        if moved is not None:
            return self._move(moved, raw.location).outcome("moved", f"from {moved.source}")
        return same[0].outcome("duplicate", f"the same as {same[0].source}", raw.location) if same else None

    def with_id(self, raw: RawDocument) -> RawDocument:
        """Give a document an id that no other has: a moved document keeps the id of its old location."""
        id_ = document_id(self._collection.name, raw.location, raw.sha256)
        while id_ in self._ids:
            id_ = document_id(self._collection.name, id_, raw.sha256)
        return replace(raw, document_id=id_)

    def add(self, parsed: ParsedDocument) -> tuple[Outcome, StoredDocument | None]:
        """Add a parsed document.  Return its outcome and the document that it replaces, if any."""
        old, title = self.get(parsed.location), parsed.document.title
        new = StoredDocument(parsed.document.id, parsed.location, parsed.sha256, title, len(parsed.passages))
        self._put(new)
        alike = self._signatures.similar(parsed.location, parsed.signature)
        self._signatures.put(parsed.location, parsed.signature)
        fidelity = Fidelity.of(parsed.document.metadata)
        return replace(new.outcome("changed" if old else "added"), alike=alike, fidelity=fidelity), old

    def _put(self, document: StoredDocument) -> None:
        old = self._by_source.get(document.source)
        if old is not None:
            del self._by_content[old.sha256][old.source]
            self._ids.discard(old.id)
        self._ids.add(document.id)
        self._by_source[document.source] = document
        self._by_content.setdefault(document.sha256, {})[document.source] = document

    def _move(self, document: StoredDocument, source: str) -> StoredDocument:
        self._library.move_document(document.id, source)
        del self._by_source[document.source], self._by_content[document.sha256][document.source]
        moved = replace(document, source=source)
        self._put(moved)
        self._signatures.move(document.source, source)
        return moved
