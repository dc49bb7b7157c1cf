"""PostgreSQL's lock of a collection's writer: it keeps writers apart where the file system's locks do not reach."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from sqlalchemy import Connection, func, select
from sqlalchemy.exc import SQLAlchemyError

from propcite.app.errors import UnreachableError
from propcite.app.library.store.database import Database, database_errors

WRITERS = 0x57726974  # with a collection's number it names the lock of its writer
LOST = "the database was away, and with it the right to write: what was stored is whole, run it again for the rest"


@contextmanager
def database_lock(database: Database, number: int) -> Iterator[Callable[[], None] | None]:
    """Hold the lock of a collection's writer on a connection of its own, with which it ends.

    Gives a function that raises UnreachableError once the lock is lost, or None where another process has it.  SQLite
    needs none: all of its writers are on one machine.
    """
    if database.engine.dialect.name != "postgresql":
        yield lambda: None
        return
    with database_errors(database.url):
        connection = database.engine.connect().execution_options(isolation_level="AUTOCOMMIT")
    try:
        with database_errors(database.url):
            has_it = connection.scalar(select(func.pg_try_advisory_lock(WRITERS, number)))
        yield (lambda: _check(connection)) if has_it else None
    finally:
        _release(connection, number)


def _check(connection: Connection) -> None:
    try:
        connection.scalar(select(1))
    except SQLAlchemyError as error:  # once it is broken it stays so
        raise UnreachableError(LOST) from error


def _release(connection: Connection, number: int) -> None:
    try:
        connection.execute(select(func.pg_advisory_unlock(WRITERS, number)))
    except SQLAlchemyError:
        connection.invalidate()
    finally:
        connection.close()
