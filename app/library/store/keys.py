"""Keys of the HTTP server.  A key's secret is shown once, when it is created; only its digest is stored."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from propcite.app.errors import NotFoundError, StoreError
from propcite.app.library.store.database import Database, aware
from propcite.app.library.store.people.rights import Rights, Scope
from propcite.app.library.store.people.roles import person_name, rights_of
from propcite.app.library.store.tables import KeyRow, now

PREFIX = "pck"
MAX_NAME_LENGTH = 200


@dataclass(frozen=True, slots=True)
class Key:
    """A key without its secret.

    A key with an owner opens what the owner may when the key is used, as far as the key's scope goes.
    """

    id: str
    name: str
    scope: Scope
    rights: Rights
    created_at: datetime
    revoked_at: datetime | None = None
    owner: str = ""

    @property
    def speaker(self) -> str:
        """Return who speaks with the key: its owner, or whom it is for."""
        return self.owner or self.name

    @property
    def collections(self) -> frozenset[str] | None:
        """Return the names of the collections that the key opens; None for all."""
        return None if self.rights.everywhere else frozenset(self.rights.by_name)

    def opens(self, collection: str) -> bool:
        return self.rights.scope(collection) is not None


class Keys:
    """The keys of one database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def create(self, name: str, scope: Scope, collections: Sequence[str] = (), owner: str = "") -> tuple[Key, str]:
        """Create a key and return it with its secret; without collections it opens all, or those of its owner."""
        if not name.strip() or not name.isprintable() or len(name) > MAX_NAME_LENGTH:
            raise StoreError(f"a key cannot be named {name[:40]!r}: give 1 to {MAX_NAME_LENGTH} visible characters")
        if owner and not person_name(owner):
            raise StoreError(f"an owner cannot be named {owner[:40]!r}: give 1 to {MAX_NAME_LENGTH} visible characters")
        if owner and collections:
            raise StoreError("a key opens either collections or those of an owner: give one of the two")
        id_, secret = secrets.token_hex(6), secrets.token_urlsafe(32)
        row = KeyRow(
            id=id_,
            name=name,
            digest=_digest(secret),
            scope=scope.value,
            collections=sorted(set(collections)) or None,
            owner=person_name(owner) or None,
        )
        with self._database.session() as session:
            session.add(row)
            session.flush()
            return _key(session, row), f"{PREFIX}_{id_}_{secret}"

    def find(self, secret: str) -> Key | None:
        """Return the key of a secret; None if there is none or it was revoked."""
        prefix, _, rest = secret.partition("_")
        id_, _, own = rest.partition("_")
        with self._database.session() as session:
            row = session.get(KeyRow, id_) if prefix == PREFIX and id_.isalnum() else None
            digest = row.digest if row else ""
            matches = hmac.compare_digest(_digest(own), digest)
            return _key(session, row) if row and matches and row.revoked_at is None else None

    def all(self) -> list[Key]:
        with self._database.session() as session:
            return [_key(session, r) for r in session.scalars(select(KeyRow).order_by(KeyRow.created_at, KeyRow.id))]

    def any(self) -> bool:
        """Return whether there is a key that is not revoked."""
        with self._database.session() as session:
            query = select(func.count()).select_from(KeyRow).where(KeyRow.revoked_at.is_(None))
            return bool(session.scalar(query))

    def revoke(self, id_: str) -> Key:
        """Revoke a key at once and for good."""
        with self._database.session() as session:
            row = session.get(KeyRow, id_)
            if row is None:
                raise NotFoundError(f"no key {id_!r}: propcite keys list shows their ids")
            row.revoked_at = row.revoked_at or now()
            session.flush()
            return _key(session, row)


def _digest(secret: str) -> str:
    """Return the SHA-256 of a secret; with 256 random bits it needs no salt and no slow hash."""
    return hashlib.sha256(secret.encode(errors="replace")).hexdigest()


def _key(session: Session, row: KeyRow) -> Key:
    scope = Scope(row.scope)
    if row.owner:
        rights = rights_of(session, row.owner).at_most(scope)
    else:
        rights = Rights(scope) if row.collections is None else Rights(None, dict.fromkeys(row.collections, scope))
    revoked = aware(row.revoked_at) if row.revoked_at else None
    return Key(row.id, row.name, scope, rights, aware(row.created_at), revoked, row.owner or "")
