"""Documents that were here: what is kept of them when another version takes their place, or when they are removed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from sqlalchemy import func, select
from sqlalchemy.orm import Session, aliased

from propcite.app.library.store.database import aware
from propcite.app.library.store.describing import details_of, title_of
from propcite.app.library.store.infos import CollectionInfo, VersionInfo
from propcite.app.library.store.opened import Opened, by_few
from propcite.app.library.store.tables import DocumentRow, PassageRow, VersionRow
from propcite.attribution.citations import CitedAnswer
from propcite.attribution.formats.cited_documents import REMOVED, REPLACED, UNKNOWN, CitedDocument, all_evidence
from propcite.retrieval.text import Passage

AFTER = aliased(DocumentRow)  # what is at the same place now


class Versions(Opened):
    """Every method is one transaction."""

    def versions(self, collection: CollectionInfo, document: str = "") -> list[VersionInfo]:
        """Documents that were in a collection, or at the place of one of it; the newest first."""
        query = _with_successor().where(VersionRow.collection_id == collection.id)
        if document:
            query = query.where(AFTER.id == document)
        with self.session() as session:
            rows = session.execute(query.order_by(VersionRow.ended_at.desc(), VersionRow.id.desc()))
            return [_info(row, after is not None) for row, after in rows]

    def cited_documents(self, *answers: CitedAnswer) -> dict[str, CitedDocument]:
        """What is known of the documents that answers cite or nearly cite, those that are gone too."""
        near = [(answer, evidence.passage) for answer in answers for evidence in all_evidence(answer)]
        ids = {passage.document_id for _, passage in near if passage.document_id}
        with self.session() as session:
            here = _here(session, ids)
            known = {**_were_here(session, ids - here.keys()), **here}
        for answer, passage in near:
            if passage.document_id not in known and answer.collection and _is_ours(passage):
                title = passage.title.split(" › ")[0]
                known[passage.document_id] = CitedDocument(passage.document_id, title, gone=UNKNOWN)
        return known


def note_versions(session: Session, ids: Sequence[str]) -> None:
    """Keep of documents that are about to go what a reader of old answers wants to know."""
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
            title=title_of(row.title, row.described),
            sha256=row.sha256,
            details=details_of(row.details, row.described),
            num_passages=num_passages,
            num_characters=size or 0,
            added_at=row.added_at,
        )
        for row, num_passages, size in rows
    )
    session.flush()


def _with_successor() -> Any:
    """Versions, each with the id of what has its place now."""
    same_place = (AFTER.collection_id == VersionRow.collection_id) & (AFTER.source == VersionRow.source)
    return select(VersionRow, AFTER.id).outerjoin(AFTER, same_place)


def _here(session: Session, ids: Iterable[str]) -> dict[str, CitedDocument]:
    return {
        row.id: CitedDocument(
            row.id, title_of(row.title, row.described), row.source, details=details_of(row.details, row.described)
        )
        for few in by_few(ids)
        for row in session.scalars(select(DocumentRow).where(DocumentRow.id.in_(few)))
    }


def _were_here(session: Session, ids: Iterable[str]) -> dict[str, CitedDocument]:
    """Of several times that a document went, the last counts."""
    return {
        row.document_id: CitedDocument(
            row.document_id, row.title, row.source, REPLACED if after else REMOVED, row.details
        )
        for few in by_few(ids)
        for row, after in session.execute(
            _with_successor().where(VersionRow.document_id.in_(few)).order_by(VersionRow.id)
        )
    }


def _is_ours(passage: Passage) -> bool:
    """Passages of a library are numbered within their documents; those that a caller gives are named as they like."""
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
