"""A database with the tables of this version: to run all migrations takes 0.1 s, and most tests do not test them."""

from __future__ import annotations

import tempfile
from functools import cache
from pathlib import Path

from propcite.app.library.store.database import open_database
from propcite.app.settings import DATABASE_FILE, Settings


def put_tables(settings: Settings) -> None:
    """Put an empty database into the data directory, unless there is one or it is elsewhere."""
    file = settings.data_dir / DATABASE_FILE
    if not settings.database and not file.exists():
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(migrated())


@cache
def migrated() -> bytes:
    """Return the file of an empty database of SQLite."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, DATABASE_FILE)
        open_database(f"sqlite:///{file}").dispose()
        return file.read_bytes()
