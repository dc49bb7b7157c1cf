"""Many writers at once, and a database that is locked, gone, read-only or full: one line of error, nothing lost."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from paths import SUPPORT
from sqlalchemy import text
from tests.benchmarks.writers import run

from propcite.app.errors import InUseError, StoreError
from propcite.app.library.store import Library
from propcite.app.library.store import database as store_database


def test_writers_and_readers_at_once_get_no_error(database_url: str) -> None:
    result = run(database_url, 1.5, 8, 8, processes=False)
    assert result["errors"] == []
    assert {"put", "keep", "keep shared", "list", "where", "answer", "sources"} <= set(result["operations"])


def error_of(work: Callable[[], object], kind: type[StoreError] = StoreError) -> str:
    with pytest.raises(kind) as caught:
        work()
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.fixture
def library(tmp_path: Path) -> Iterator[Library]:
    opened = Library(f"sqlite:///{tmp_path / 'data' / 'propcite.sqlite'}")
    opened.create_collection("rivers")
    yield opened
    opened.close()


def test_a_locked_database_is_reported_after_a_bounded_wait(library: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store_database, "WAIT_MS", 50)
    impatient = Library(library.url)
    holder = sqlite3.connect(library.engine.url.database or "", isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    assert "is in use by another writer: try again" in error_of(
        lambda: impatient.create_collection("lakes"), InUseError
    )
    assert [c.name for c in impatient.collections()] == ["rivers"]  # readers do not wait
    holder.execute("ROLLBACK")
    holder.close()
    assert impatient.create_collection("lakes").name == "lakes"
    impatient.close()


def test_a_removed_database_is_reported_and_not_written(library: Library, tmp_path: Path) -> None:
    library.collections()
    shutil.move(tmp_path / "data", tmp_path / "away")
    for work in (library.collections, lambda: library.create_collection("lakes")):
        assert "propcite.sqlite is gone: bring it back" in error_of(work)
    shutil.move(tmp_path / "away", tmp_path / "data")
    assert [c.name for c in library.collections()] == ["rivers"]


def test_a_replaced_database_is_opened_again(library: Library, tmp_path: Path) -> None:
    other = Library(f"sqlite:///{tmp_path / 'other.sqlite'}")
    other.create_collection("lakes")
    with other.engine.connect() as connection:
        connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)")
    other.close()
    library.collections()
    for path in (tmp_path / "data").iterdir():
        path.unlink()
    shutil.copy(tmp_path / "other.sqlite", tmp_path / "data" / "propcite.sqlite")
    assert [c.name for c in library.collections()] == ["lakes"]


LIMITED = """
import os, resource, signal, sys
from propcite.app.errors import StoreError
from propcite.app.library.store import Library
from test_store import put
library = Library(sys.argv[1])
rivers = library.create_collection("rivers")
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, 300_000))
try:
    for number in range(1000):
        put(library, rivers, f"/{number}.txt")
except StoreError as error:
    print(error)
    print(number)
"""


def test_a_full_disk_is_reported_and_loses_nothing(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'x.sqlite'}"
    path = os.pathsep.join([str(SUPPORT), str(Path(__file__).parent)])
    done = subprocess.run(
        [sys.executable, "-c", LIMITED, url], env={"PYTHONPATH": path}, capture_output=True, text=True, timeout=100
    )
    assert done.returncode == 0, done.stderr
    line, number = done.stdout.splitlines()
    assert "x.sqlite" in line
    assert "free space" in line or "cannot" in line
    library = Library(url)
    assert library.collection("rivers").num_documents == int(number) > 0
    with library.engine.connect() as connection:
        assert connection.execute(text("PRAGMA integrity_check")).scalar() == "ok"
    library.close()


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everything")
def test_a_read_only_database_is_reported(library: Library, tmp_path: Path) -> None:
    library.close()
    (tmp_path / "data" / "propcite.sqlite").chmod(0o400)
    assert "give it write permission" in error_of(lambda: library.create_collection("lakes"))


@pytest.mark.postgres
def test_a_stopped_database_server_is_reported_and_connected_again(postgres: str) -> None:
    import psycopg

    with psycopg.connect(postgres.format("postgres"), autocommit=True) as connection:
        connection.execute("CREATE DATABASE stopping")
    library = Library(postgres.format("stopping"))
    library.create_collection("rivers")

    def stop_in_the_middle() -> None:
        with library.session() as session:
            session.execute(text("UPDATE collections SET owner = 'nobody'"))
            with psycopg.connect(postgres.format("postgres"), autocommit=True) as connection:
                connection.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = 'stopping'")
            session.execute(text("UPDATE collections SET owner = 'anybody'"))

    assert "cannot reach the database" in error_of(stop_in_the_middle)
    assert library.collection("rivers").owner == ""
    assert "cannot reach the database" in error_of(
        lambda: Library(postgres.format("postgres").replace("pg-", "pg-gone-"))
    )
    library.close()
