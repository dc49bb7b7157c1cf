"""What was made of documents and answers, and is kept until these change: suggested questions, summaries, outlines."""

from __future__ import annotations

from contextlib import suppress
from enum import StrEnum

from sqlalchemy import ColumnElement, and_, delete, func, or_, select

from propcite.app.errors import CollidedError
from propcite.app.library.records import CollectionInfo
from propcite.app.library.store.database import Database, aware
from propcite.app.library.store.tables import AnswerRow, CollectionRow, DocumentRow, OverviewRow


class OverviewKind(StrEnum):
    """What an overview is made of."""

    COLLECTION = "collection"  # questions to begin with
    ANSWER = "answer"  # questions that follow it
    DOCUMENT = "document"  # its summary and outline


class Overviews:
    """The overviews in one database.  Every method is one transaction."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def state(self, collection: CollectionInfo) -> str:
        """Return what differs once a document of the collection was added, changed or removed."""
        query = select(func.count(), func.max(DocumentRow.added_at)).where(DocumentRow.collection_id == collection.id)
        with self._database.session() as session:
            count, newest = session.execute(query).one()
            return f"{count} {aware(newest).isoformat() if newest else ''}".strip()

    def document_ids(self, collection: CollectionInfo) -> list[str]:
        """Return the ids of all documents, by source."""
        query = select(DocumentRow.id).where(DocumentRow.collection_id == collection.id).order_by(DocumentRow.source)
        with self._database.session() as session:
            return list(session.scalars(query))

    def find(self, collection: CollectionInfo, kind: OverviewKind, of: str, made_from: str) -> str | None:
        """Return the body that was kept for this state of things; None if there is none."""
        query = select(OverviewRow.body).where(*_place(collection, kind, of), OverviewRow.made_from == made_from)
        with self._database.session() as session:
            return session.scalar(query)

    def put(self, collection: CollectionInfo, kind: OverviewKind, of: str, made_from: str, body: str) -> None:
        """Keep a body in place of an earlier one; nothing is kept of a collection that was removed meanwhile."""
        with suppress(CollidedError), self._database.session() as session:  # another process keeps the same
            if session.get(CollectionRow, collection.id) is None:
                return
            gone = or_(
                and_(OverviewRow.kind == OverviewKind.ANSWER.value, OverviewRow.of.not_in(select(AnswerRow.id))),
                and_(OverviewRow.kind == OverviewKind.DOCUMENT.value, OverviewRow.of.not_in(select(DocumentRow.id))),
            )
            session.execute(delete(OverviewRow).where(or_(and_(*_place(collection, kind, of)), gone)))
            session.add(
                OverviewRow(collection_id=collection.id, kind=kind.value, of=of, made_from=made_from, body=body)
            )


def _place(collection: CollectionInfo, kind: OverviewKind, of: str) -> tuple[ColumnElement[bool], ...]:
    return (
        OverviewRow.collection_id == collection.id,
        OverviewRow.kind == kind.value,
        OverviewRow.of == of,
    )
