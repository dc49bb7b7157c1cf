"""The documents of a library with their passages: kept, found, described, replaced, removed."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sqlalchemy import Text, cast, delete, func, or_, select, update
from sqlalchemy.orm import Session

from propcite.app.errors import NotFoundError
from propcite.app.library.store.database import aware
from propcite.app.library.store.describing import TAGS, Change, details_of, title_of
from propcite.app.library.store.infos import CollectionInfo, DocumentInfo
from propcite.app.library.store.opened import Opened, by_few
from propcite.app.library.store.rows import document_of, passage_of, passage_row
from propcite.app.library.store.tables import DocumentRow, PassageRow
from propcite.app.library.store.versions import note_versions
from propcite.retrieval.text import Document, Passage


def document_id(collection: str, source: str, sha256: str) -> str:
    """The same content from the same place is the same document, in every database and after every rebuild."""
    return hashlib.sha256(f"{collection}\x1f{source}\x1f{sha256}".encode()).hexdigest()[:12]


class Documents(Opened):
    """Every method is one transaction."""

    def documents(self, collection: CollectionInfo, ids: Iterable[str] | None = None) -> list[DocumentInfo]:
        """Those of a collection, or these of it; by their sources."""
        query = counted_documents().where(DocumentRow.collection_id == collection.id)
        with self.session() as session:
            if ids is None:
                return [document_info(row) for row in session.execute(query.order_by(DocumentRow.source))]
            found = [
                document_info(r) for few in by_few(ids) for r in session.execute(query.where(DocumentRow.id.in_(few)))
            ]
            return sorted(found, key=lambda info: info.source)

    def about_documents(self, collection: CollectionInfo) -> dict[str, Mapping[str, Any]]:
        """What is told of each document, by its id: what a condition reads.  Passages are not looked at."""
        told = (DocumentRow.added_at, DocumentRow.details, DocumentRow.described)
        query = select(DocumentRow.id, DocumentRow.source, DocumentRow.title, *(cast(column, Text) for column in told))
        with self.session() as session:  # as texts: most of a hundred thousand dates and values are never read
            rows = session.execute(query.where(DocumentRow.collection_id == collection.id)).all()
        return {row[0]: _about(row) for row in sorted(rows, key=lambda row: row[1])}

    def sources(self, document_ids: Iterable[str]) -> dict[str, str]:
        """Where these documents came from; those that are gone are left out."""
        with self.session() as session:
            return {
                id_: source
                for few in by_few(document_ids)
                for id_, source in session.execute(
                    select(DocumentRow.id, DocumentRow.source).where(DocumentRow.id.in_(few))
                )
            }

    def find_document(self, collection: CollectionInfo, name: str) -> DocumentInfo:
        """By id, by source, or by a file name or id beginning that only one document has."""
        path = func.replace(DocumentRow.source, "\\", "/")
        like = or_(path.endswith(f"/{name}", autoescape=True), DocumentRow.id.startswith(name, autoescape=True))
        query = select(DocumentRow.id, DocumentRow.source).where(DocumentRow.collection_id == collection.id)
        with self.session() as session:
            there = list(session.execute(query.where(or_(DocumentRow.source == name, DocumentRow.id == name, like))))
        found = [d for d in there if name in (d.id, d.source)] or [
            d for d in there if d.source.replace("\\", "/").endswith(f"/{name}") or d.id.startswith(name)
        ]
        if len(found) == 1:
            return self.documents(collection, [found[0].id])[0]
        if found:
            named = ", ".join(sorted(d.source for d in found)[:4])
            raise NotFoundError(f"{name!r} could be {named}: give the id or whole path")
        raise NotFoundError(f"no document {name!r} in {collection.name!r}: propcite list shows what is there")

    def document(self, document_id: str) -> Document:
        """A document with its text joined from its passages."""
        with self.session() as session:
            row = session.get(DocumentRow, document_id)
            if row is None:
                raise NotFoundError(
                    f"document {document_id} is no longer in the library: its quotes are in the answers"
                )
            return document_of(row)

    def put_document(
        self,
        collection: CollectionInfo,
        document: Document,
        sha256: str,
        passages: Sequence[Passage],
        *,
        signature: bytes = b"",
    ) -> None:
        """Keep a document in place of what this source held before, with what people said of that."""
        with self.session() as session:
            old = session.scalar(
                select(DocumentRow).where(
                    DocumentRow.collection_id == collection.id, DocumentRow.source == document.source
                )
            )
            described = old.described if old else {}
            if old is not None:
                _take_out(session, [old.id], noted=old.id != document.id)
            session.add(
                DocumentRow(
                    id=document.id,
                    collection_id=collection.id,
                    source=document.source,
                    title=document.title,
                    sha256=sha256,
                    headings=[[h.level, h.span.start, h.span.end] for h in document.headings],
                    pages=[[p.number, p.span.start, p.span.end] for p in document.pages],
                    details=dict(document.metadata),
                    described=described,
                    signature=signature or None,
                    passages=[passage_row(p) for p in passages],
                )
            )

    def remove_document(self, document_id: str) -> None:
        with self.session() as session:
            _take_out(session, [document_id])

    def describe(self, document_ids: Iterable[str], change: Change) -> int:
        """Say something of documents, above what their files say; it outlives a new version.  -> how many are there"""
        with self.session() as session:
            rows = [
                row
                for few in by_few(document_ids)
                for row in session.scalars(select(DocumentRow).where(DocumentRow.id.in_(few)).with_for_update())
            ]
            for row in rows:
                row.described = change.of(row.details, row.described)
            return len(rows)

    def move_document(self, document_id: str, source: str) -> None:
        """The same file has another place; all else stays."""
        with self.session() as session:
            session.execute(update(DocumentRow).where(DocumentRow.id == document_id).values(source=source))

    def signatures(self, collection: CollectionInfo) -> list[tuple[str, bytes]]:
        """What tells the collection's documents that say nearly the same, with their sources."""
        with self.session() as session:
            query = select(DocumentRow.source, DocumentRow.signature).where(
                DocumentRow.collection_id == collection.id, DocumentRow.signature.is_not(None)
            )
            return [(source, told) for source, told in session.execute(query) if told]

    def passages(self, ids: Iterable[str]) -> dict[str, Passage]:
        """Passages by id; unknown ids are left out."""
        with self.session() as session:
            rows = [
                row for few in by_few(ids) for row in session.scalars(select(PassageRow).where(PassageRow.id.in_(few)))
            ]
            return {row.id: passage_of(row) for row in rows}

    def passage_ids(self, collection: CollectionInfo, document: str = "") -> list[str]:
        """Ids of all passages of a collection, or of one document of it, in order."""
        with self.session() as session:
            query = (
                select(PassageRow.id)
                .join(DocumentRow, DocumentRow.id == PassageRow.document_id)
                .where(DocumentRow.collection_id == collection.id)
                .order_by(DocumentRow.source, PassageRow.start)
            )
            return list(session.scalars(query.where(DocumentRow.id == document) if document else query))

    def passages_of(self, document_ids: Iterable[str]) -> set[str]:
        """Ids of the passages of some documents."""
        with self.session() as session:
            return {
                id_
                for few in by_few(document_ids)
                for id_ in session.scalars(select(PassageRow.id).where(PassageRow.document_id.in_(few)))
            }

    def is_empty(self, collection: CollectionInfo) -> bool:
        with self.session() as session:
            query = select(DocumentRow.id).where(DocumentRow.collection_id == collection.id).limit(1)
            return session.scalar(query) is None


def _take_out(session: Session, ids: Sequence[str], *, noted: bool = True) -> None:
    """Remove documents; what is to be known of them later is kept."""
    if noted:
        note_versions(session, ids)
    session.execute(delete(DocumentRow).where(DocumentRow.id.in_(ids)))
    session.expunge_all()


def _about(row: Sequence[Any]) -> dict[str, Any]:
    id_, source, title, added, details, described = row
    told: dict[str, Any] = json.loads(details)
    said = json.loads(described) if described != "{}" else {}
    if said or TAGS in told:
        told, title = details_of(told, said), title_of(title, said)
    told.update(id=id_, source=source, title=title, added=added)
    return told


def counted_documents() -> Any:
    """Documents with the number of their passages and of their characters."""
    return (
        select(DocumentRow, func.count(PassageRow.id), func.sum(func.length(PassageRow.text)))
        .outerjoin(PassageRow, PassageRow.document_id == DocumentRow.id)
        .group_by(DocumentRow.id)
    )


def document_info(found: Any) -> DocumentInfo:
    row, num_passages, size = found
    details, title = details_of(row.details, row.described), title_of(row.title, row.described)
    return DocumentInfo(row.id, title, row.source, row.sha256, num_passages, size or 0, details, aware(row.added_at))
