"""Tables as JSON lines: read from a consistent snapshot of a database, and loaded into another in one transaction.

Numeric ids are assigned again when rows are loaded, so a restored collection fits beside those of another library.
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
from propcite.app.library.store.tables import Table as MappedTable
from propcite.app.library.store.tables import new_history

BATCH = 1000
LEFT_OUT = ("jobs", "job_outcomes")  # the files that they read are in no backup
TABLES = [table for table in MappedTable.metadata.sorted_tables if table.name not in LEFT_OUT]  # referenced ones first
WITHOUT_COLLECTION = ("keys", "runs", "run_items", "sign_ins", "audit", "secrets")
PARENTS = {"document_id": "documents", "answer_id": "answers", "run_id": "runs", "review_id": "reviews"}

Row = dict[str, Any]
ReadRows = Callable[[Table], Iterable[Row]]


@contextmanager
def snapshot_connection(engine: Engine) -> Iterator[Connection]:
    """Open a connection that sees the database as it is now, whatever other processes write meanwhile."""
    with engine.connect() as connection:
        if engine.dialect.name == "sqlite":
            connection.exec_driver_sql("BEGIN")  # the driver does not begin a transaction for reading
        else:
            connection = connection.execution_options(isolation_level="REPEATABLE READ")
        connection.execute(
            text("SELECT version_num FROM alembic_version")
        ).scalar()  # the first read fixes the snapshot
        yield connection
        connection.rollback()


def json_lines(connection: Connection, table: Table) -> Iterator[bytes]:
    for row in table_rows(connection, table):
        yield json.dumps(row, ensure_ascii=False, default=_json_value).encode() + b"\n"


def table_rows(connection: Connection, table: Table) -> Iterator[Row]:
    query = select(table).order_by(*table.primary_key)
    streamed = connection.execution_options(stream_results=True, yield_per=BATCH)
    for row in streamed.execute(query).mappings():
        yield dict(row)


def _json_value(value: object) -> str:
    if isinstance(value, bytes):
        return b64encode(value).decode()
    assert isinstance(value, datetime)
    return aware(value).isoformat()


def row_reader(folder: Path, schema: str) -> ReadRows:
    """Return a function that yields a table's rows from a backup, migrated to this version's schema."""
    if schema == HEAD:
        return lambda table: _file_rows(folder / f"{table.name}.jsonl", table)
    return _migrated(folder, schema)


def _file_rows(path: Path, table: Table) -> Iterator[Row]:
    parsers = {column.name: parse for column in table.columns if (parse := _parser(column.type))}
    with path.open("rb") as file:
        for line in file:
            row = json.loads(line)
            row.update((name, parse(row[name])) for name, parse in parsers.items() if row[name] is not None)
            yield row


def _parser(column_type: object) -> Callable[[str], object] | None:
    if isinstance(column_type, DateTime):
        return datetime.fromisoformat
    return b64decode if isinstance(column_type, LargeBinary) else None


def _migrated(folder: Path, schema: str) -> ReadRows:
    """Load an older backup into a temporary SQLite database of its schema, and run the migrations there."""
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
                _insert(connection, table, _file_rows(path, table))
        upgrade(connection)

    def read(table: Table) -> Iterator[Row]:
        with engine.connect() as connection:
            yield from table_rows(connection, table)

    return read


def _insert(connection: Connection, table: Table, rows: Iterable[Row]) -> None:
    remaining = iter(rows)
    while batch := list(islice(remaining, BATCH)):
        connection.execute(insert(table), batch)


@dataclass(slots=True)
class RowLoader:
    """Loads rows into a database; `collections` maps the numbers of collections in the backup to the new ones."""

    connection: Connection
    only: str = ""  # load this collection only
    collections: dict[int, int] = field(default_factory=dict)
    _loaded_ids: dict[str, set[str]] = field(default_factory=dict)

    def load(self, read: ReadRows, count_rows: Callable[[int], None]) -> None:
        for table in TABLES:
            if table.name == "collections":
                self._load_collections(table, read(table))
            elif not (self.only and table.name in WITHOUT_COLLECTION):
                _insert(self.connection, table, self._converted(table, read(table), count_rows))

    def _load_collections(self, table: Table, rows: Iterable[Row]) -> None:
        for row in rows:
            if not self.only or row["name"] == self.only:
                values = {**_without_number(table, row), "history": new_history(), "index_versions": None}
                new = self.connection.execute(insert(table).returning(table.c.id), values)
                self.collections[row["id"]] = new.scalar_one()

    def _converted(self, table: Table, rows: Iterable[Row], count_rows: Callable[[int], None]) -> Iterator[Row]:
        """Yield the rows that belong to the restored collections, with the new numbers."""
        loaded = self._loaded_ids.setdefault(table.name, set())
        for row in rows:
            count_rows(1)
            if not self._belongs(table, row):
                continue
            if row.get("collection_id") is not None:
                row["collection_id"] = self.collections[row["collection_id"]]
            if self.only and isinstance(row.get("id"), str):
                loaded.add(row["id"])
            yield _without_number(table, row)

    def _belongs(self, table: Table, row: Mapping[str, Any]) -> bool:
        if not self.only:
            return True
        if "collection_id" in row:
            return row["collection_id"] in self.collections
        parents = [key.parent.name for key in table.foreign_keys]
        return all(row[name] in self._loaded_ids[PARENTS[name]] for name in parents)


def _without_number(table: Table, row: Row) -> Row:
    """Drop a numeric id, which the database assigns."""
    is_number = isinstance(table.primary_key.columns[0].type, Integer)
    return {k: v for k, v in row.items() if k != "id"} if is_number else row


def is_empty(connection: Connection) -> bool:
    """Return whether the database has no collection, key, role or run."""
    tables = (table for table in TABLES if table.name in ("collections", "keys", "roles", "runs"))
    return not any(connection.execute(select(table).limit(1)).first() for table in tables)


def delete_all(connection: Connection) -> None:
    for table in reversed(TABLES):
        connection.execute(table.delete())
