"""Former documents: what is stored of them when a new version replaces them or they are removed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Set
from typing import Any

from sqlalchemy import ColumnElement, func, select, true
from sqlalchemy.orm import Session, aliased

from propcite.app.library.records import CollectionInfo, FormerReading, VersionInfo
from propcite.app.library.store.database import Database, aware, id_batches
from propcite.app.library.store.details import merge_details, merge_title
from propcite.app.library.store.tables import CollectionRow, DocumentRow, PassageRow, VersionRow
from propcite.attribution.citations import CitedAnswer
from propcite.attribution.formats.cited_documents import REMOVED, REPLACED, UNKNOWN, CitedDocument, all_evidence
from propcite.retrieval.fidelity import Fidelity
from propcite.retrieval.text import Passage

SUCCESSOR = aliased(DocumentRow)  # the document that has the source now


class Versions(Database):
    """Every method is one transaction."""

    def versions(self, collection: CollectionInfo, document: str = "") -> list[VersionInfo]:
        """Return the former documents of a collection, or the earlier versions of one document; the newest first."""
        query = _with_successor().where(VersionRow.collection_id == collection.id)
        if document:
            query = query.where(SUCCESSOR.id == document)
        with self.session() as session:
            rows = session.execute(query.order_by(VersionRow.ended_at.desc(), VersionRow.id.desc()))
            return [_info(row, successor is not None) for row, successor in rows]

    def former_readings(self, collection: CollectionInfo) -> list[FormerReading]:
        """Return how each former document of a collection was read."""
        columns = VersionRow.source, VersionRow.sha256, VersionRow.document_id, VersionRow.read_with
        kind = func.coalesce(VersionRow.details["kind"].as_string(), "")
        with self.session() as session:
            rows = session.execute(select(*columns, kind).where(VersionRow.collection_id == collection.id))
            return [FormerReading(*row) for row in rows]

    def cited_documents(self, *answers: CitedAnswer) -> dict[str, CitedDocument]:
        """Return by id the documents that answers cite or nearly cite, including those that are gone.

        Callers name the documents of passages that they give, so an answer over a collection has its documents alone.
        """
        names = {answer.collection for answer in answers}
        near = [(answer, evidence.passage) for answer in answers for evidence in all_evidence(answer)]
        ids = {passage.document_id for _, passage in near if passage.document_id}
        with self.session() as session:
            current = _current(session, ids, names)
            documents = {**_former(session, ids - current.keys(), names), **current}
        for answer, passage in near:
            if passage.document_id not in documents and answer.collection and _is_from_library(passage):
                title = passage.title.split(" › ")[0]
                documents[passage.document_id] = CitedDocument(passage.document_id, title, status=UNKNOWN)
        return documents


def store_versions(session: Session, ids: Sequence[str], change: int) -> None:
    """Store what readers of old answers need to know of documents that are about to be deleted."""
    rows = session.execute(
        select(DocumentRow, func.count(PassageRow.id), func.sum(func.length(PassageRow.text)))
        .outerjoin(PassageRow, PassageRow.document_id == DocumentRow.id)
        .where(DocumentRow.id.in_(ids))
        .group_by(DocumentRow.id)
    ).all()
    session.add_all(
        VersionRow(
            collection_id=row.collection_id,
            document_id=row.id,
            source=row.source,
            title=merge_title(row.title, row.described),
            sha256=row.sha256,
            details=merge_details(row.details, row.described),
            num_passages=num_passages,
            num_characters=size or 0,
            read_with=row.read_with,
            changed=change,
            added_at=row.added_at,
        )
        for row, num_passages, size in rows
    )
    session.flush()


def _with_successor() -> Any:
    """Return a query of versions, each with the id of the document that has its source now."""
    same_source = (SUCCESSOR.collection_id == VersionRow.collection_id) & (SUCCESSOR.source == VersionRow.source)
    return select(VersionRow, SUCCESSOR.id).outerjoin(SUCCESSOR, same_source)


def _in_collections(row: type[DocumentRow | VersionRow], names: Set[str]) -> ColumnElement[bool]:
    """Return the condition that a row is of one of the collections; any, if one of the names is empty."""
    ids = select(CollectionRow.id).where(CollectionRow.name.in_(names))
    return true() if "" in names else row.collection_id.in_(ids)


def _current(session: Session, ids: Iterable[str], collections: Set[str]) -> dict[str, CitedDocument]:
    inside = _in_collections(DocumentRow, collections)
    return {
        row.id: CitedDocument(
            row.id,
            merge_title(row.title, row.described),
            row.source,
            details=merge_details(row.details, row.described),
            doubt=Fidelity.of(row.details).doubt,
        )
        for batch in id_batches(ids)
        for row in session.scalars(select(DocumentRow).where(DocumentRow.id.in_(batch), inside))
    }


def _former(session: Session, ids: Iterable[str], collections: Set[str]) -> dict[str, CitedDocument]:
    """Return former documents by id; of a document that went several times, the last."""
    inside = _in_collections(VersionRow, collections)
    return {
        row.document_id: CitedDocument(
            row.document_id,
            row.title,
            row.source,
            REPLACED if successor else REMOVED,
            row.details,
            Fidelity.of(row.details).doubt,
        )
        for batch in id_batches(ids)
        for row, successor in session.execute(
            _with_successor().where(VersionRow.document_id.in_(batch), inside).order_by(VersionRow.id)
        )
    }


def _is_from_library(passage: Passage) -> bool:
    """Return whether the id is `DOCUMENT:NUMBER`, as a library numbers passages; callers' passages have any id."""
    document, colon, number = passage.id.rpartition(":")
    return bool(colon) and document == passage.document_id and number.isdecimal()


def _info(row: VersionRow, replaced: bool) -> VersionInfo:
    return VersionInfo(
        row.document_id,
        row.title,
        row.source,
        row.sha256,
        row.num_passages,
        row.num_characters,
        row.details,
        aware(row.added_at),
        aware(row.ended_at),
        replaced,
    )
