"""The secrets that sign links to documents.  They are made when the first link is, and replaced on request."""

from __future__ import annotations

import secrets

from sqlalchemy import delete, select

from propcite.app.library.store.database import Database
from propcite.app.library.store.tables import SecretRow


class LinkSecrets:
    """The secrets in one database; every method is one transaction."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def all(self) -> list[str]:
        """Return the secrets, the newest last; one is made if there is none."""
        if not (values := self._values()):
            self._add()
            values = self._values()  # another process may have added one too
        return values

    def replace(self, *, keep: bool = False) -> None:
        """Sign with a new secret from now on; links made before open nothing more, unless they are kept."""
        if not keep:
            with self._database.session() as session:
                session.execute(delete(SecretRow))
        self._add()

    def _values(self) -> list[str]:
        with self._database.session() as session:
            return list(session.scalars(select(SecretRow.value).order_by(SecretRow.id)))

    def _add(self) -> None:
        with self._database.session() as session:
            session.add(SecretRow(value=secrets.token_urlsafe(32)))
