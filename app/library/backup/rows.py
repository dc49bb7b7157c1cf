"""The tables as lines of JSON: out of one moment of a database, and into another in one transaction.

Numbers that a database gives out by itself are given anew, so rows of one library can come beside those of another.
"""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from itertools import islice
from pathlib import Path
from typing import Any

from sqlalchemy import (
    Connection,
    DateTime,
    Engine,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    create_engine,
    insert,
    select,
    text,
)

from propcite.app.errors import StoreError
from propcite.app.library.store.database import HEAD, aware, migration_config, upgrade
from propcite.app.library.store.tables import Table as Declared

AT_ONCE = 1000
TABLES = Declared.metadata.sorted_tables  # what others refer to comes first
ALONE = ("keys", "runs", "run_items")  # belong to no collection
PARENTS = {"document_id": "documents", "answer_id": "answers", "run_id": "runs"}

Row = dict[str, Any]
Rows = Callable[[Table], Iterable[Row]]


@contextmanager
def one_moment(engine: Engine) -> Iterator[Connection]:
    """A connection that sees the database as it is now, whatever others write meanwhile."""
    with engine.connect() as connection:
        if engine.dialect.name == "sqlite":
            connection.exec_driver_sql("BEGIN")  # the driver itself begins none for reading
        else:
            connection = connection.execution_options(isolation_level="REPEATABLE READ")
        connection.execute(text("SELECT version_num FROM alembic_version")).scalar()  # the moment is the first reading
        yield connection
        connection.rollback()


def lines(connection: Connection, table: Table) -> Iterator[bytes]:
    for row in rows(connection, table):
        yield json.dumps(row, ensure_ascii=False, default=_written).encode() + b"\n"


def rows(connection: Connection, table: Table) -> Iterator[Row]:
    query = select(table).order_by(*table.primary_key)
    streamed = connection.execution_options(stream_results=True, yield_per=AT_ONCE)
    for row in streamed.execute(query).mappings():
        yield dict(row)


def _written(value: object) -> str:
    """What JSON has no form for."""
    if isinstance(value, bytes):
        return b64encode(value).decode()
    assert isinstance(value, datetime)
    return aware(value).isoformat()


def read_lines(folder: Path, schema: str) -> Rows:
    """The rows of a backup as this version keeps them; those of an older one go through the migrations."""
    if schema == HEAD:
        return lambda table: _from_file(folder / f"{table.name}.jsonl", table)
    return _migrated(folder, schema)


def _from_file(path: Path, table: Table) -> Iterator[Row]:
    forms = {column.name: form for column in table.columns if (form := _form(column.type))}
    with path.open("rb") as file:
        for line in file:
            row = json.loads(line)
            row.update((name, form(row[name])) for name, form in forms.items() if row[name] is not None)
            yield row


def _form(kind: object) -> Callable[[str], object] | None:
    if isinstance(kind, DateTime):
        return datetime.fromisoformat
    return b64decode if isinstance(kind, LargeBinary) else None


def _migrated(folder: Path, schema: str) -> Rows:
    from alembic import util
    from alembic.script import ScriptDirectory

    try:
        ScriptDirectory.from_config(migration_config()).get_revision(schema)
    except util.CommandError as error:
        raise StoreError(f"the backup has schema {schema}, newer than this version knows: update PropCite") from error
    engine = create_engine(f"sqlite:///{folder / 'migrated.sqlite'}")
    with engine.begin() as connection:
        upgrade(connection, schema)
        old = MetaData()
        old.reflect(connection)
        for table in old.sorted_tables:
            if (path := folder / f"{table.name}.jsonl").exists():
                _insert(connection, table, _from_file(path, table))
        upgrade(connection)

    def read(table: Table) -> Iterator[Row]:
        with engine.connect() as connection:
            yield from rows(connection, table)

    return read


def _insert(connection: Connection, table: Table, given: Iterable[Row]) -> None:
    left = iter(given)
    while some := list(islice(left, AT_ONCE)):
        connection.execute(insert(table), some)


@dataclass(slots=True)
class Loading:
    """Rows on their way into a database; `collections` are the new numbers of the old ones."""

    connection: Connection
    only: str = ""  # this collection alone
    collections: dict[int, int] = field(default_factory=dict)
    _kept: dict[str, set[str]] = field(default_factory=dict)

    def load(self, read: Rows, loaded: Callable[[int], None]) -> None:
        for table in TABLES:
            if table.name == "collections":
                self._collections(table, read(table))
            elif not (self.only and table.name in ALONE):
                _insert(self.connection, table, self._wanted(table, read(table), loaded))

    def _collections(self, table: Table, given: Iterable[Row]) -> None:
        for row in given:
            if not self.only or row["name"] == self.only:
                made = self.connection.execute(insert(table).returning(table.c.id), _without_number(table, row))
                self.collections[row["id"]] = made.scalar_one()

    def _wanted(self, table: Table, given: Iterable[Row], loaded: Callable[[int], None]) -> Iterator[Row]:
        """The rows that belong to what is restored, with the new numbers."""
        kept = self._kept.setdefault(table.name, set())
        for row in given:
            loaded(1)
            if not self._belongs(table, row):
                continue
            if "collection_id" in row:
                row["collection_id"] = self.collections[row["collection_id"]]
            if self.only and isinstance(row.get("id"), str):
                kept.add(row["id"])
            yield _without_number(table, row)

    def _belongs(self, table: Table, row: Mapping[str, Any]) -> bool:
        if not self.only:
            return True
        if "collection_id" in row:
            return row["collection_id"] in self.collections
        parents = [key.parent.name for key in table.foreign_keys]
        return all(row[name] in self._kept[PARENTS[name]] for name in parents)


def _without_number(table: Table, row: Row) -> Row:
    return (
        {k: v for k, v in row.items() if k != "id"} if isinstance(table.primary_key.columns[0].type, Integer) else row
    )


def empty(connection: Connection) -> bool:
    """Whether nothing was ever kept here."""
    kept = (table for table in TABLES if table.name in ("collections", "keys", "runs"))
    return not any(connection.execute(select(table).limit(1)).first() for table in kept)


def clear(connection: Connection) -> None:
    for table in reversed(TABLES):
        connection.execute(table.delete())
