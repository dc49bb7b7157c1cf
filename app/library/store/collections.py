"""The collections of a library: listed, made, owned, removed."""

from __future__ import annotations

import shlex
from contextlib import suppress

from sqlalchemy import delete, func, select, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from propcite.app.errors import NotFoundError, StoreError
from propcite.app.library.store.database import aware, told
from propcite.app.library.store.infos import CollectionInfo
from propcite.app.library.store.opened import Opened
from propcite.app.library.store.tables import CollectionRow, DocumentRow, PassageRow

LONGEST_NAME = 200


class Collections(Opened):
    """Every method is one transaction."""

    def collections(self) -> list[CollectionInfo]:
        with self.session() as session:
            counts = (
                select(
                    DocumentRow.collection_id,
                    func.count(DocumentRow.id.distinct()).label("documents"),
                    func.count(PassageRow.id).label("passages"),
                )
                .outerjoin(PassageRow, PassageRow.document_id == DocumentRow.id)
                .group_by(DocumentRow.collection_id)
                .subquery()
            )
            rows = session.execute(
                select(CollectionRow, counts.c.documents, counts.c.passages)
                .outerjoin(counts, counts.c.collection_id == CollectionRow.id)
                .order_by(CollectionRow.name)
            )
            return [
                CollectionInfo(c.id, c.name, documents or 0, passages or 0, aware(c.created_at), c.alignment, c.owner)
                for c, documents, passages in rows
            ]

    def collection(self, name: str) -> CollectionInfo:
        known = self.collections()
        for collection in known:
            if collection.name == name:
                return collection
        there = f"there is {', '.join(c.name for c in known)}" if known else "there is none yet"
        raise NotFoundError(
            f"no collection {name!r} ({there}): propcite ingest PATH --collection {shlex.quote(name)} makes it"
        )

    def collection_id(self, name: str) -> int | None:
        """The number of a collection, without counting what it holds."""
        with self.session() as session:
            return session.scalar(select(CollectionRow.id).where(CollectionRow.name == name))

    def create_collection(self, name: str, owner: str = "") -> CollectionInfo:
        """The collection of this name, made if it is not there; one that is there keeps its owner."""
        _check_name(name, "a collection")
        made_by_another = suppress(IntegrityError)
        with told(self.url), made_by_another, Session(self.engine) as session, session.begin():
            if session.scalar(select(CollectionRow).where(CollectionRow.name == name)) is None:
                session.add(CollectionRow(name=name, owner=owner))
        return self.collection(name)

    def alignment(self, collection: CollectionInfo) -> str:
        """The collection's own as it is now; empty where it has none."""
        with self.session() as session:
            query = select(CollectionRow.alignment).where(CollectionRow.id == collection.id)
            return session.scalar(query) or ""

    def keep_alignment(self, collection: CollectionInfo, alignment: str) -> None:
        """Give the collection one of its own, by its name; the empty name takes it away."""
        with self.session() as session:
            session.execute(update(CollectionRow).where(CollectionRow.id == collection.id).values(alignment=alignment))

    def keep_owner(self, collection: CollectionInfo, owner: str) -> None:
        """Whose the collection is from now on; the empty name makes it nobody's."""
        if owner:
            _check_name(owner, "an owner")
        with self.session() as session:
            session.execute(update(CollectionRow).where(CollectionRow.id == collection.id).values(owner=owner))

    def remove_collection(self, collection: CollectionInfo) -> None:
        with self.session() as session:
            session.execute(delete(CollectionRow).where(CollectionRow.id == collection.id))


def _check_name(name: str, of: str) -> None:
    if not name.strip() or not name.isprintable() or len(name) > LONGEST_NAME:
        raise StoreError(f"{of} cannot be named {name[:40]!r}: give it 1 to {LONGEST_NAME} visible characters")
