"""Keys of the HTTP server.  A key's secret is shown once, when it is made; only its digest is kept."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from sqlalchemy import Engine, func, select
from sqlalchemy.orm import Session

from propcite.app.errors import NotFoundError, StoreError
from propcite.app.library.store.database import aware, told
from propcite.app.library.store.tables import CollectionRow, KeyRow, now

PREFIX = "pck"
LONGEST_NAME = 200


class Scope(StrEnum):
    """What a key may do; each may also do what stands before it."""

    READ = "read"  # search, ask, cite, list
    WRITE = "write"  # add and remove documents, make collections
    ADMIN = "admin"  # remove collections, read the server's figures

    def covers(self, other: Scope) -> bool:
        return list(Scope).index(self) >= list(Scope).index(other)


@dataclass(frozen=True, slots=True)
class Key:
    """What is known of a key; `collections` are those that it opens, None all of them.

    One with an owner opens what the owner has at the moment when the key is shown.
    """

    id: str
    name: str
    scope: Scope
    collections: frozenset[str] | None
    created_at: datetime
    revoked_at: datetime | None = None
    owner: str = ""

    def opens(self, collection: str) -> bool:
        return self.collections is None or collection in self.collections


class Keys:
    """The keys of one database."""

    def __init__(self, engine: Engine, url: str) -> None:
        self._engine = engine
        self._url = url

    def create(self, name: str, scope: Scope, collections: Sequence[str] = (), owner: str = "") -> tuple[Key, str]:
        """A new key and its secret; without collections it opens all, or those of its owner."""
        if not name.strip() or not name.isprintable() or len(name) > LONGEST_NAME:
            raise StoreError(f"a key cannot be named {name[:40]!r}: give it 1 to {LONGEST_NAME} visible characters")
        if owner and collections:
            raise StoreError("a key opens some collections or those of an owner: give one of the two")
        id_, secret = secrets.token_hex(6), secrets.token_urlsafe(32)
        row = KeyRow(
            id=id_,
            name=name,
            digest=_digest(secret),
            scope=scope.value,
            collections=sorted(set(collections)) or None,
            owner=owner or None,
        )
        with told(self._url), Session(self._engine) as session, session.begin():
            session.add(row)
            session.flush()
            return _key(session, row), f"{PREFIX}_{id_}_{secret}"

    def find(self, secret: str) -> Key | None:
        """The key of a secret, if it is one and not revoked."""
        prefix, _, rest = secret.partition("_")
        id_, _, own = rest.partition("_")
        with told(self._url), Session(self._engine) as session:
            row = session.get(KeyRow, id_) if prefix == PREFIX and id_.isalnum() else None
            digest = row.digest if row else ""
            right = hmac.compare_digest(_digest(own), digest)
            return _key(session, row) if row and right and row.revoked_at is None else None

    def all(self) -> list[Key]:
        with told(self._url), Session(self._engine) as session:
            return [_key(session, r) for r in session.scalars(select(KeyRow).order_by(KeyRow.created_at, KeyRow.id))]

    def any(self) -> bool:
        """Whether there is a key that opens anything."""
        with told(self._url), Session(self._engine) as session:
            query = select(func.count()).select_from(KeyRow).where(KeyRow.revoked_at.is_(None))
            return bool(session.scalar(query))

    def revoke(self, id_: str) -> Key:
        """From now on the key opens nothing."""
        with told(self._url), Session(self._engine) as session, session.begin():
            row = session.get(KeyRow, id_)
            if row is None:
                raise NotFoundError(f"no key {id_!r}: propcite keys list shows their ids")
            row.revoked_at = row.revoked_at or now()
            session.flush()
            return _key(session, row)


def _digest(secret: str) -> str:
    """The secret has 256 random bits: a plain digest gives nothing away."""
    return hashlib.sha256(secret.encode(errors="replace")).hexdigest()


def _key(session: Session, row: KeyRow) -> Key:
    opened = frozenset(row.collections) if row.collections is not None else None
    if row.owner:
        opened = frozenset(session.scalars(select(CollectionRow.name).where(CollectionRow.owner == row.owner)))
    revoked = aware(row.revoked_at) if row.revoked_at else None
    return Key(row.id, row.name, Scope(row.scope), opened, aware(row.created_at), revoked, row.owner or "")
