"""Sign-ins on the page: each ends after a time without use, after a time at most, or when the person signs out."""

from __future__ import annotations

from contextlib import suppress
from datetime import datetime, timedelta

from sqlalchemy import delete, update

from propcite.app.errors import CollidedError
from propcite.app.library.store.database import Database, aware
from propcite.app.library.store.tables import SignInRow, now

NOTED = timedelta(seconds=30)  # uses closer together are not written


class SignIns:
    """The sign-ins in one database; `idle` and `longest` say when they end.  Every method is one transaction."""

    def __init__(self, database: Database, idle: timedelta, longest: timedelta) -> None:
        self._database = database
        self._idle, self._longest = idle, longest

    def holds(self, id_: str, person: str, started: datetime, *, used: bool = True) -> bool:
        """Return whether a sign-in has not ended; `used` says that the person does something now."""
        moment = now()
        if moment - started > self._longest:
            return False
        with self._database.session() as session:
            row = session.get(SignInRow, id_)
            last = aware(row.last_used_at) if row else started
            if (row is not None and row.ended) or moment - last > self._idle:
                return False
            if row is not None and used and moment - last > min(NOTED, self._idle / 10):
                row.last_used_at = moment
        if row is None:
            self._begin(id_, person, moment)
        return True

    def _begin(self, id_: str, person: str, moment: datetime) -> None:
        forgotten = moment - self._longest  # older ones are refused by their start
        with suppress(CollidedError), self._database.session() as session:  # noted by another request
            session.execute(delete(SignInRow).where(SignInRow.last_used_at < forgotten))
            session.add(SignInRow(id=id_, person=person, last_used_at=moment, ended=False))

    def end(self, id_: str, person: str) -> None:
        """End a sign-in for good."""
        self._begin(id_, person, now())
        with self._database.session() as session:
            session.execute(update(SignInRow).where(SignInRow.id == id_).values(ended=True))
