"""An open database, and one transaction over it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from sqlalchemy.orm import Session

from propcite.app.library.store.database import open_database, told

FEW = 500  # ids in one query: every database takes so many


class Opened:
    """What every part of the library stands on."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.engine = open_database(url)

    def close(self) -> None:
        self.engine.dispose()

    @contextmanager
    def session(self) -> Iterator[Session]:
        """One transaction; what the database refuses is told in one line."""
        with told(self.url), Session(self.engine) as session, session.begin():
            yield session


def by_few(ids: Iterable[str]) -> Iterator[list[str]]:
    """The ids, each once, so many at a time as one query takes."""
    wanted = list(dict.fromkeys(ids))
    for first in range(0, len(wanted), FEW):
        yield wanted[first : first + FEW]
