"""People and their roles: who may do what with a collection, or with all of them."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import ColumnElement, delete, select
from sqlalchemy.orm import Session

from propcite.app.errors import CollidedError, NotFoundError, StoreError
from propcite.app.library.records import CollectionInfo
from propcite.app.library.store.database import Database, aware
from propcite.app.library.store.people.rights import Rights, Scope
from propcite.app.library.store.tables import CollectionRow, RoleRow

MAX_NAME_LENGTH = 200
ATTEMPTS = 8  # while others grant the same


def person_name(text: str) -> str:
    """Return a person's name as it is compared: e-mail addresses in lower case; empty if it is no name.

    >>> person_name(" Ada@Propcite.Example "), person_name("Ada"), person_name("a\\nb")
    ('ada@propcite.example', 'Ada', '')
    """
    name = text.strip()
    if not name.isprintable() or len(name) > MAX_NAME_LENGTH:
        return ""
    return name.lower() if "@" in name else name


@dataclass(frozen=True, slots=True)
class Role:
    """The scope of a person in a collection; an empty `collection` stands for all."""

    person: str
    collection: str
    scope: Scope
    granted_at: datetime


class People:
    """The roles in one database.  Every method is one transaction."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def grant(self, person: str, scope: Scope, collection: CollectionInfo | None = None) -> Role:
        """Give a person a role in a collection, or in all; it replaces the one that the person had there."""
        name = person_name(person)
        if not name:
            raise StoreError(
                f"a person cannot be named {person[:40]!r}: give the name or e-mail address that the sign-in tells"
            )
        for _ in range(ATTEMPTS - 1):
            with suppress(CollidedError):  # another process granted it at the same time: replace that
                return self._put(name, scope, collection)
        return self._put(name, scope, collection)

    def _put(self, name: str, scope: Scope, collection: CollectionInfo | None) -> Role:
        with self._database.session() as session:
            session.execute(delete(RoleRow).where(*_same(name, collection)))
            row = RoleRow(person=name, collection_id=collection.id if collection else None, scope=scope.value)
            session.add(row)
            session.flush()
            return Role(name, collection.name if collection else "", scope, aware(row.granted_at))

    def revoke(self, person: str, collection: CollectionInfo | None = None) -> Role:
        """Take a role away at once; NotFoundError if the person has none there."""
        where = f"in {collection.name!r}" if collection else "over all collections"
        with self._database.session() as session:
            row = session.scalar(select(RoleRow).where(*_same(person_name(person), collection)))
            if row is None:
                raise NotFoundError(f"{person[:40]!r} has no role {where}: propcite people list shows the roles")
            taken = Role(row.person, collection.name if collection else "", Scope(row.scope), aware(row.granted_at))
            session.execute(delete(RoleRow).where(*_same(row.person, collection)))
            return taken

    def roles(self, collection: CollectionInfo | None = None) -> list[Role]:
        """Return all roles, or those in one collection without those in all, by person and collection."""
        query = (
            select(RoleRow, CollectionRow.name)
            .outerjoin(CollectionRow, CollectionRow.id == RoleRow.collection_id)
            .order_by(RoleRow.person, CollectionRow.name)
        )
        if collection is not None:
            query = query.where(RoleRow.collection_id == collection.id)
        with self._database.session() as session:
            rows = session.execute(query).all()
            return [Role(row.person, name or "", Scope(row.scope), aware(row.granted_at)) for row, name in rows]

    def rights(self, person: str) -> Rights:
        """Return what a person may do now; nothing for an empty name."""
        with self._database.session() as session:
            return rights_of(session, person_name(person))


def rights_of(session: Session, person: str) -> Rights:
    """Return a person's rights: those of their roles, and all in the collections that they own."""
    if not person:
        return Rights()
    roles = session.execute(
        select(RoleRow.scope, CollectionRow.name)
        .outerjoin(CollectionRow, CollectionRow.id == RoleRow.collection_id)
        .where(RoleRow.person == person)
    ).all()
    owned: Sequence[str] = session.scalars(select(CollectionRow.name).where(CollectionRow.owner == person)).all()
    everywhere = next((Scope(scope) for scope, name in roles if name is None), None)
    by_name = {name: Scope(scope) for scope, name in roles if name is not None}
    return Rights(everywhere, by_name | dict.fromkeys(owned, Scope.ADMIN))


def _same(person: str, collection: CollectionInfo | None) -> tuple[ColumnElement[bool], ...]:
    where = RoleRow.collection_id == collection.id if collection else RoleRow.collection_id.is_(None)
    return RoleRow.person == person, where
