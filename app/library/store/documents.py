"""The documents of a library with their passages: store, find, describe, replace and remove them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import islice, zip_longest
from typing import Any

from sqlalchemy import and_, delete, func, insert, or_, select, update
from sqlalchemy.orm import Session

from propcite.app.errors import NotFoundError
from propcite.app.library.conditions.dates import parse_date
from propcite.app.library.records import CollectionInfo, DocumentInfo
from propcite.app.library.store.changes import (
    PassageSet,
    begin_change,
    forget_passage_set,
    note_passages,
    passage_set,
    passages_of_documents,
)
from propcite.app.library.store.database import IDS_PER_QUERY, Database, aware, id_batches
from propcite.app.library.store.details import DetailsChange, merge_details, merge_title
from propcite.app.library.store.rows import document_of, heading_values, headings_of, passage_of, passage_values
from propcite.app.library.store.tables import DocumentRow, PassageRow
from propcite.app.library.store.versions import store_versions
from propcite.retrieval.fidelity import Fidelity
from propcite.retrieval.text import Document, Heading, Passage


def document_id(collection: str, source: str, sha256: str) -> str:
    """Return the id of a document: the same for the same content and source, in every database and after a rebuild."""
    return hashlib.sha256(f"{collection}\x1f{source}\x1f{sha256}".encode()).hexdigest()[:12]


class Documents(Database):
    """Every method is one transaction."""

    def documents(self, collection: CollectionInfo, ids: Iterable[str] | None = None) -> list[DocumentInfo]:
        """Return all documents of a collection, or those with these ids, sorted by source."""
        query = documents_with_counts().where(DocumentRow.collection_id == collection.id)
        with self.session() as session:
            if ids is None:
                return [document_info(row) for row in session.execute(query.order_by(DocumentRow.source))]
            infos = [
                document_info(row)
                for batch in id_batches(ids)
                for row in session.execute(query.where(DocumentRow.id.in_(batch)))
            ]
            return sorted(infos, key=lambda info: info.source)

    def read_before(self, collection: CollectionInfo, versions: Mapping[str, int]) -> list[DocumentInfo]:
        """Return the documents that were read by earlier versions of their kind's reader than these, by source."""
        kind = DocumentRow.details["kind"].as_string()
        earlier = [and_(kind == name, DocumentRow.read_with < version) for name, version in versions.items()]
        query = documents_with_counts().where(DocumentRow.collection_id == collection.id, or_(*earlier))
        with self.session() as session:
            return [document_info(row) for row in session.execute(query.order_by(DocumentRow.source))]

    def sources(self, document_ids: Iterable[str]) -> dict[str, str]:
        """Return the sources of documents by id, without documents that are gone."""
        with self.session() as session:
            return {
                id_: source
                for batch in id_batches(document_ids)
                for id_, source in session.execute(
                    select(DocumentRow.id, DocumentRow.source).where(DocumentRow.id.in_(batch))
                )
            }

    def document_dates(self, document_ids: Iterable[str]) -> dict[str, str]:
        """Return by id when documents were written, as their field `date` says, or else when they were added."""
        columns = DocumentRow.id, DocumentRow.added_at, DocumentRow.details, DocumentRow.described
        with self.session() as session:
            return {
                id_: parse_date(str(merge_details(details, described).get("date", ""))) or aware(added).isoformat()
                for batch in id_batches(document_ids)
                for id_, added, details, described in session.execute(select(*columns).where(DocumentRow.id.in_(batch)))
            }

    def find_document(self, collection: CollectionInfo, name: str) -> DocumentInfo:
        """Find a document by id or source, or by the start of its id or the end of its path if only one matches."""
        path = func.replace(DocumentRow.source, "\\", "/")
        like = or_(path.endswith(f"/{name}", autoescape=True), DocumentRow.id.startswith(name, autoescape=True))
        query = select(DocumentRow.id, DocumentRow.source).where(DocumentRow.collection_id == collection.id)
        with self.session() as session:
            rows = list(session.execute(query.where(or_(DocumentRow.source == name, DocumentRow.id == name, like))))
        # LIKE ignores case on SQLite, so matches are compared again here.
        matches = [d for d in rows if name in (d.id, d.source)] or [
            d for d in rows if d.source.replace("\\", "/").endswith(f"/{name}") or d.id.startswith(name)
        ]
        if len(matches) == 1:
            return self.documents(collection, [matches[0].id])[0]
        if matches:
            sources = ", ".join(sorted(d.source for d in matches)[:4])
            raise NotFoundError(f"{name!r} could be {sources}: give the id or the whole path")
        raise NotFoundError(f"no document {name!r} in {collection.name!r}", ": propcite list shows the documents")

    def document(self, document_id: str) -> Document:
        """Return a document, its text joined from its passages."""
        with self.session() as session:
            row = session.get(DocumentRow, document_id)
            if row is None:
                raise NotFoundError(f"document {document_id} is no longer in the library: answers keep its quotes")
            return document_of(row)

    def headings(self, document_id: str) -> list[Heading]:
        """Return the headings of a document in order; empty if it has none, or is gone."""
        with self.session() as session:
            row = session.get(DocumentRow, document_id)
            return headings_of(row) if row else []

    def put_document(
        self,
        collection: CollectionInfo,
        document: Document,
        sha256: str,
        passages: Iterable[Passage],
        *,
        signature: bytes = b"",
        read_with: int = 1,
    ) -> None:
        """Store a document in place of its source's earlier version, whose details set by users it takes over."""
        with self.session() as session:
            change = begin_change(session, collection.id)
            old = session.scalar(
                select(DocumentRow).where(
                    DocumentRow.collection_id == collection.id, DocumentRow.source == document.source
                )
            )
            described = old.described if old else {}
            removed = added = PassageSet()
            if old is not None:
                removed = _delete(session, [old.id], change, as_version=old.id != document.id)
            session.add(
                DocumentRow(
                    id=document.id,
                    collection_id=collection.id,
                    source=document.source,
                    title=document.title,
                    sha256=sha256,
                    headings=heading_values(document.headings),
                    pages=[[p.number, p.span.start, p.span.end] for p in document.pages],
                    details=dict(document.metadata),
                    described=described,
                    signature=signature or None,
                    read_with=read_with,
                    changed=change,
                )
            )
            session.flush()
            rows = ({**passage_values(p), "document_id": document.id} for p in passages)
            while batch := list(islice(rows, IDS_PER_QUERY)):
                session.execute(insert(PassageRow), batch)
                added += PassageSet.of([row["id"] for row in batch])
            note_passages(session, collection.id, added, removed)

    def has_passages(self, document_id: str, passages: Iterable[Passage]) -> bool:
        """Whether a document's passages are these, apart from their ids."""
        query = select(PassageRow).where(PassageRow.document_id == document_id).order_by(PassageRow.start)
        with self.session() as session:
            rows = session.scalars(query.execution_options(yield_per=IDS_PER_QUERY))
            for row, passage in zip_longest(rows, passages):
                if not row or not passage:
                    return False
                if passage_of(row) != replace(passage, id=row.id, document_id=document_id):
                    return False
            return True

    def note_reading(self, document_id: str, metadata: Mapping[str, str], read_with: int) -> None:
        """Set what a reader found out about a document whose passages stayed the same."""
        with self.session() as session:
            for change in _begin_changes(session, [document_id]).values():
                row = update(DocumentRow).where(DocumentRow.id == document_id)
                session.execute(row.values(details=dict(metadata), read_with=read_with, changed=change))

    def remove_document(self, document_id: str) -> None:
        with self.session() as session:
            for collection, change in _begin_changes(session, [document_id]).items():
                note_passages(session, collection, PassageSet(), _delete(session, [document_id], change))

    def describe(self, document_ids: Iterable[str], change: DetailsChange) -> int:
        """Change the details that users set; a new version keeps them.  Return how many documents were there."""
        ids = list(document_ids)
        with self.session() as session:
            changes = _begin_changes(session, ids)
            rows = [
                row
                for batch in id_batches(ids)
                for row in session.scalars(select(DocumentRow).where(DocumentRow.id.in_(batch)).with_for_update())
            ]
            for row in rows:
                row.described = change.apply(row.details, row.described)
                row.changed = changes.get(row.collection_id, 0)
            return len(rows)

    def move_document(self, document_id: str, source: str) -> None:
        """Set the source of a document whose file was moved."""
        with self.session() as session:
            for change in _begin_changes(session, [document_id]).values():
                row = update(DocumentRow).where(DocumentRow.id == document_id)
                session.execute(row.values(source=source, changed=change))

    def signatures(self, collection: CollectionInfo) -> list[tuple[str, bytes]]:
        """Return the sources of a collection with the signatures that reveal near-duplicates."""
        with self.session() as session:
            query = select(DocumentRow.source, DocumentRow.signature).where(
                DocumentRow.collection_id == collection.id, DocumentRow.signature.is_not(None)
            )
            return [(source, signature) for source, signature in session.execute(query) if signature]

    def passages(self, ids: Iterable[str]) -> dict[str, Passage]:
        """Return passages by id, without unknown ids."""
        with self.session() as session:
            rows = [
                row
                for batch in id_batches(ids)
                for row in session.scalars(select(PassageRow).where(PassageRow.id.in_(batch)))
            ]
            return {row.id: passage_of(row) for row in rows}

    def passage_ids(self, collection: CollectionInfo, document: str = "") -> list[str]:
        """Return the ids of all passages of a collection, or of one of its documents, in order."""
        with self.session() as session:
            query = (
                select(PassageRow.id)
                .join(DocumentRow, DocumentRow.id == PassageRow.document_id)
                .where(DocumentRow.collection_id == collection.id)
                .order_by(DocumentRow.source, PassageRow.start)
            )
            return list(session.scalars(query.where(DocumentRow.id == document) if document else query))

    def passage_set(self, collection: CollectionInfo) -> PassageSet:
        """Return what names the set of a collection's passages, without reading their ids where it is known."""
        with self.session() as session:
            return passage_set(session, collection.id)

    def forget_passage_set(self, collection: CollectionInfo) -> None:
        """Make the next comparison read all ids: rows may have been changed by others than this application."""
        with self.session() as session:
            forget_passage_set(session, collection.id)

    def is_empty(self, collection: CollectionInfo) -> bool:
        with self.session() as session:
            query = select(DocumentRow.id).where(DocumentRow.collection_id == collection.id).limit(1)
            return session.scalar(query) is None


def _begin_changes(session: Session, document_ids: Sequence[str]) -> dict[int, int]:
    """Return the number of a change of each collection that has one of these documents."""
    collections = {
        id_
        for batch in id_batches(document_ids)
        for id_ in session.scalars(select(DocumentRow.collection_id).where(DocumentRow.id.in_(batch)).distinct())
    }
    return {id_: begin_change(session, id_) for id_ in sorted(collections)}


def _delete(session: Session, ids: Sequence[str], change: int, *, as_version: bool = True) -> PassageSet:
    """Delete documents and return their passages; `as_version` stores what answers that cite them need later."""
    removed = passages_of_documents(session, ids)
    if as_version:
        store_versions(session, ids, change)
    session.execute(delete(DocumentRow).where(DocumentRow.id.in_(ids)))
    session.expunge_all()
    return removed


def documents_with_counts() -> Any:
    """Return a query of documents with the numbers of their passages and characters."""
    return (
        select(DocumentRow, func.count(PassageRow.id), func.sum(func.length(PassageRow.text)))
        .outerjoin(PassageRow, PassageRow.document_id == DocumentRow.id)
        .group_by(DocumentRow.id)
    )


def document_info(counted: Any) -> DocumentInfo:
    row, num_passages, size = counted
    details, title = merge_details(row.details, row.described), merge_title(row.title, row.described)
    return DocumentInfo(
        row.id,
        title,
        row.source,
        row.sha256,
        num_passages,
        size or 0,
        details,
        aware(row.added_at),
        Fidelity.of(row.details),
        row.read_with,
    )
