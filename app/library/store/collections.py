"""The collections of a library: list, create, own and remove them."""

from __future__ import annotations

import shlex
from contextlib import suppress

from sqlalchemy import delete, func, select, update

from propcite.app.errors import CollidedError, NotFoundError, StoreError
from propcite.app.library.records import CollectionInfo
from propcite.app.library.store.database import Database, aware
from propcite.app.library.store.people.roles import person_name
from propcite.app.library.store.tables import CollectionRow, DocumentRow, PassageRow
from propcite.retrieval.sharding.layout import Versions

MAX_NAME_LENGTH = 200


class Collections(Database):
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
        collections = self.collections()
        for collection in collections:
            if collection.name == name:
                return collection
        existing = f"there is {', '.join(c.name for c in collections)}" if collections else "there is none yet"
        created = f"propcite ingest PATH --collection {shlex.quote(name)} creates it"
        raise NotFoundError(f"no collection {name!r}", f" ({existing}): {created}")

    def collection_id(self, name: str) -> int | None:
        """Return the number of a collection without counting its documents; None if it does not exist."""
        with self.session() as session:
            return session.scalar(select(CollectionRow.id).where(CollectionRow.name == name))

    def create_collection(self, name: str, owner: str = "") -> CollectionInfo:
        """Return the collection of this name, creating it if needed; an existing one keeps its owner."""
        _check_name(name, "a collection")
        owner = person_name(owner)
        with suppress(CollidedError), self.session() as session:  # another process created it at the same time
            if session.scalar(select(CollectionRow).where(CollectionRow.name == name)) is None:
                session.add(CollectionRow(name=name, owner=owner))
        return self.collection(name)

    def alignment(self, collection: CollectionInfo) -> str:
        """Return the name of the collection's own alignment as stored now; empty if it has none."""
        with self.session() as session:
            query = select(CollectionRow.alignment).where(CollectionRow.id == collection.id)
            return session.scalar(query) or ""

    def set_alignment(self, collection: CollectionInfo, alignment: str) -> None:
        """Give the collection its own alignment by name; the empty name removes it."""
        with self.session() as session:
            session.execute(update(CollectionRow).where(CollectionRow.id == collection.id).values(alignment=alignment))

    def set_owner(self, collection: CollectionInfo, owner: str) -> None:
        """Set the owner of a collection; the empty name removes it."""
        if owner:
            _check_name(owner, "an owner")
            owner = person_name(owner)
        with self.session() as session:
            session.execute(update(CollectionRow).where(CollectionRow.id == collection.id).values(owner=owner))

    def index_versions(self, collection: CollectionInfo) -> Versions | None:
        """Return the versions of the index that belong to the documents as they are now; None if they are not known."""
        with self.session() as session:
            text = session.scalar(select(CollectionRow.index_versions).where(CollectionRow.id == collection.id))
            return Versions.from_json(text) if text else None

    def note_index_versions(self, collection: CollectionInfo, before: Versions | None, now: Versions) -> None:
        """Note other versions of the index; CollidedError where others than those before are noted meanwhile."""
        noted = CollectionRow.index_versions
        with self.session() as session:
            change = update(CollectionRow).where(
                CollectionRow.id == collection.id,
                noted == before.to_json() if before else noted.is_(None),
            )
            result = session.execute(change.values(index_versions=now.to_json()))
            if not result.rowcount:  # type: ignore[attr-defined]
                raise CollidedError(
                    f"another process has changed the index of {collection.name!r} meanwhile: run it again, nothing is "
                    "lost"
                )

    def remove_collection(self, collection: CollectionInfo) -> None:
        with self.session() as session:
            session.execute(delete(CollectionRow).where(CollectionRow.id == collection.id))


def _check_name(name: str, of: str) -> None:
    if not name.strip() or not name.isprintable() or len(name) > MAX_NAME_LENGTH:
        raise StoreError(f"{of} cannot be named {name[:40]!r}: give 1 to {MAX_NAME_LENGTH} visible characters")
