"""The audit log: who asked, gave feedback, added, removed or shared what, and when.

An entry has names and ids alone, no texts, questions, addresses or keys.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from sqlalchemy import ColumnElement, and_, delete, false, func, or_, select

from propcite.app.library.records import CollectionInfo, ResultPage
from propcite.app.library.store.database import Database, aware
from propcite.app.library.store.tables import AuditRow, now

FORGET_EVERY = timedelta(hours=1)
MAX_LENGTH = 200
BY_KEY = " (key "  # follows a person's name where a key spoke for them


class Action(StrEnum):
    """What somebody did."""

    SIGNED_IN = "signed in"
    SIGNED_OUT = "signed out"
    ASKED = "asked"
    CITED = "cited"
    BEGAN_REVIEW = "began review"
    DECIDED = "decided on a fact"
    REMOVED_REVIEW = "removed review"
    GAVE_FEEDBACK = "gave feedback"
    REMOVED_FEEDBACK = "removed feedback"
    REMOVED_ANSWER = "removed answer"
    WROTE_NOTE = "wrote note"
    REMOVED_NOTE = "removed note"
    ADDED_DOCUMENTS = "added documents"
    CHANGED_DOCUMENT = "changed document"
    REMOVED_DOCUMENT = "removed document"
    CREATED_COLLECTION = "created collection"
    CHANGED_COLLECTION = "changed collection"
    REMOVED_COLLECTION = "removed collection"
    SHARED = "shared"
    UNSHARED = "unshared"
    CREATED_KEY = "created key"
    REVOKED_KEY = "revoked key"
    CHANGED_SETTINGS = "changed settings"


class Via(StrEnum):
    """How somebody reached the library."""

    PAGE = "page"
    HTTP = "http"
    COMMAND = "command"


@dataclass(frozen=True, slots=True)
class AuditEntry:
    """One action; `subject` names what it was done to, by id or name, and is empty for the collection itself."""

    at: datetime
    who: str
    via: str
    action: str
    collection: str
    subject: str


class AuditLog:
    """The audit log of one database, kept for `days`; with 0 nothing is recorded."""

    def __init__(self, database: Database, days: int) -> None:
        self._database = database
        self._kept = timedelta(days=days)
        self._forgot_at: datetime | None = None

    def record(self, who: str, via: Via, action: Action, collection: str = "", subject: str = "") -> None:
        """Record an action, and delete entries that are too old."""
        if not self._kept:
            return
        moment = now()
        entry = AuditRow(
            at=moment,
            who=who[:MAX_LENGTH] or "anyone",
            via=via.value,
            action=action.value,
            collection=collection[:MAX_LENGTH],
            subject=subject[:MAX_LENGTH],
        )
        with self._database.session() as session:
            session.add(entry)
            if self._forgot_at is None or moment - self._forgot_at > FORGET_EVERY:
                session.execute(delete(AuditRow).where(AuditRow.at < moment - self._kept))
                self._forgot_at = moment

    def find(
        self,
        collections: Collection[CollectionInfo] | None = None,
        *,
        who: str = "",
        action: str = "",
        subject: str = "",
        since: datetime | None = None,
        first: int = 0,
        limit: int = 100,
    ) -> ResultPage[AuditEntry]:
        """Return the newest entries first, of all collections or of some; `who` also finds what their keys did.

        Of some, without those of a removed collection that had the same name.
        """
        conditions = [AuditRow.at >= now() - self._kept]
        if collections is not None:
            conditions.append(or_(false(), *map(_of, collections)))
        if who:
            conditions.append(or_(AuditRow.who == who, AuditRow.who.startswith(f"{who}{BY_KEY}", autoescape=True)))
        if action:
            conditions.append(AuditRow.action == action)
        if subject:
            conditions.append(AuditRow.subject == subject)
        if since is not None:
            conditions.append(AuditRow.at >= since)
        query = select(AuditRow).where(*conditions).order_by(AuditRow.at.desc(), AuditRow.id.desc())
        with self._database.session() as session:
            total = session.scalar(select(func.count()).select_from(AuditRow).where(*conditions)) or 0
            rows = session.scalars(query.offset(first).limit(limit))
            return ResultPage([_entry(row) for row in rows], total)


def _of(collection: CollectionInfo) -> ColumnElement[bool]:
    return and_(AuditRow.collection == collection.name, AuditRow.at >= collection.created_at)


def _entry(row: AuditRow) -> AuditEntry:
    return AuditEntry(aware(row.at), row.who, row.via, row.action, row.collection, row.subject)
