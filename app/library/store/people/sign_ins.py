"""Sign-ins on the page: each ends after a time without use, after a time at most, or when the person signs out."""

from __future__ import annotations

from datetime import datetime, timedelta
from enum import StrEnum

from sqlalchemy import delete, update

from propcite.app.errors import CollidedError
from propcite.app.library.store.database import Database, aware
from propcite.app.library.store.tables import SignInRow, now


class SignInState(StrEnum):
    """What is known of a sign-in."""

    BEGUN = "begun"  # seen for the first time
    KNOWN = "known"
    ENDED = "ended"


NOTED = timedelta(seconds=30)  # uses closer together are not written


class SignIns:
    """The sign-ins in one database; `idle` and `longest` say when they end.  Every method is one transaction."""

    def __init__(self, database: Database, idle: timedelta, longest: timedelta) -> None:
        self._database = database
        self._idle, self._longest = idle, longest

    def use(self, id_: str, person: str, started: datetime, *, used: bool = True) -> SignInState:
        """Return the state of a sign-in; `used` says that the person does something now."""
        moment = now()
        if moment - started > self._longest:
            return SignInState.ENDED
        with self._database.session() as session:
            row = session.get(SignInRow, id_)
            last = aware(row.last_used_at) if row else started
            if (row is not None and row.ended) or moment - last > self._idle:
                return SignInState.ENDED
            if row is not None and used and moment - last > min(NOTED, self._idle / 10):
                row.last_used_at = moment
        return SignInState.BEGUN if row is None and self._begin(id_, person, moment) else SignInState.KNOWN

    def _begin(self, id_: str, person: str, moment: datetime) -> bool:
        """Note a sign-in; return False if another request did."""
        forgotten = moment - self._longest  # older ones are refused by their start
        try:
            with self._database.session() as session:
                session.execute(delete(SignInRow).where(SignInRow.last_used_at < forgotten))
                session.add(SignInRow(id=id_, person=person, last_used_at=moment, ended=False))
        except CollidedError:
            return False
        return True

    def end(self, id_: str, person: str) -> None:
        """End a sign-in for good."""
        self._begin(id_, person, now())
        with self._database.session() as session:
            session.execute(update(SignInRow).where(SignInRow.id == id_).values(ended=True))
