"""A PostgreSQL server of the tests' own, which can be stopped and started again."""

from __future__ import annotations

import itertools
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path

import pytest

from propcite.app.library.store.database import open_database

BINARIES = Path("/usr/lib/postgresql")


class PostgresServer:
    """A server in a folder of its own, reached through a socket there."""

    def __init__(self, folder: Path, binaries: Path) -> None:
        self.folder, self._binaries = folder, binaries
        self._user = "postgres" if os.geteuid() == 0 else None  # initdb refuses root
        self._numbers = itertools.count()
        if self._user:
            shutil.chown(folder, self._user)

    def call(self, program: str, *words: str) -> None:
        done = subprocess.run(
            [self._binaries / program, "-D", self.folder / "data", *words],
            user=self._user,
            cwd=self.folder,
            text=True,
            stdout=subprocess.DEVNULL,  # a pipe would stay open as long as the server
            stderr=subprocess.DEVNULL,
        )
        assert done.returncode == 0, f"{program} failed: run it by hand in a folder of {self._user}"

    def start(self) -> None:
        options = f"-c listen_addresses='' -k {self.folder} -F"
        self.call("pg_ctl", "start", "-w", "-l", str(self.folder / "log"), "-o", options)

    def stop(self) -> None:
        self.call("pg_ctl", "stop", "-m", "immediate")

    @property
    def url(self) -> str:
        """The server's URL with a placeholder for the database's name."""
        return f"postgresql://propcite@/{{}}?host={self.folder}"

    def new_database(self, *, tables: bool = False) -> str:
        """Return the URL of an empty database, on request with the tables of this version."""
        return self._create(f"test_{next(self._numbers)}", self._tables if tables else "template1")

    @cached_property
    def _tables(self) -> str:
        """Make a database to copy: that takes less time than all migrations."""
        open_database(self._create("tables", "template1")).dispose()
        return "tables"

    def _create(self, name: str, template: str) -> str:
        import psycopg

        with psycopg.connect(self.url.format("postgres"), autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name} TEMPLATE {template}")
        return self.url.format(name)


@contextmanager
def running_postgres() -> Iterator[PostgresServer]:
    """Start a server that ends with the block."""
    found = sorted(BINARIES.glob("*/bin/initdb"), key=lambda path: int(path.parts[-3]))
    if not found:
        pytest.skip("no PostgreSQL server here: apt-get install postgresql")
    folder = Path(tempfile.mkdtemp(prefix="pg-"))  # short: a socket's path has at most 107 characters
    try:
        server = PostgresServer(folder, found[-1].parent)
        server.call("initdb", "--auth=trust", "--username=propcite", "--encoding=UTF8", "--no-locale", "--no-sync")
        server.start()
        yield server
        server.stop()
    finally:
        shutil.rmtree(folder, ignore_errors=True)
