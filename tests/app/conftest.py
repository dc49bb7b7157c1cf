"""Fixtures of the application's tests: commands, runs, databases, and what the attacks use too."""

from __future__ import annotations

import itertools
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from app_fixtures import loaded, open_parts, serve, settings_of_its_own  # noqa: F401 - fixtures
from commanded import Propcite, commanded
from new_tables import put_tables

from propcite.app import parts as bootstrap
from propcite.app.library.store import Runs
from propcite.app.parts import Parts
from propcite.app.settings import Settings, load_settings

if TYPE_CHECKING:
    from propcite.retrieval.encoding.encoder import Encoder

BINARIES = Path("/usr/lib/postgresql")


@pytest.fixture
def runs(tmp_path: Path) -> Iterator[Runs]:
    """Open the runs in this test's data directory."""
    parts = Parts(load_settings(data_dir=tmp_path / "data"))
    put_tables(parts.settings)
    yield parts.runs
    parts.library.close()


@pytest.fixture
def propcite(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], encoder: Encoder) -> Propcite:
    """Run the command in this process, with weights that are loaded once for all tests."""
    build = bootstrap.build_encoder

    def built(settings: Settings) -> Encoder:
        return build(settings) if settings.encoder else encoder

    monkeypatch.setattr(bootstrap, "build_encoder", built)
    call = commanded(monkeypatch, capsys)
    return lambda *words: call(*map(str, words))


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    """Start a server that ends with the tests, and yield its URL with a placeholder for the database's name."""
    found = sorted(BINARIES.glob("*/bin/initdb"), key=lambda path: int(path.parts[-3]))
    if not found:
        pytest.skip("no PostgreSQL server here: apt-get install postgresql")
    folder = Path(tempfile.mkdtemp(prefix="pg-"))  # short: a socket's path has at most 107 characters
    data, binaries = folder / "data", found[-1].parent
    user = "postgres" if os.geteuid() == 0 else None  # initdb refuses root
    if user:
        shutil.chown(folder, user)

    def call(program: str, *words: str) -> None:
        done = subprocess.run(
            [binaries / program, "-D", data, *words],
            user=user,
            cwd=folder,
            text=True,
            stdout=subprocess.DEVNULL,  # a pipe would stay open as long as the server
            stderr=subprocess.DEVNULL,
        )
        assert done.returncode == 0, f"{program} failed: run it by hand in a folder of {user}"

    try:
        call("initdb", "--auth=trust", "--username=propcite", "--encoding=UTF8", "--no-locale", "--no-sync")
        call("pg_ctl", "start", "-w", "-l", str(folder / "log"), "-o", f"-c listen_addresses='' -k {folder} -F")
        yield f"postgresql://propcite@/{{}}?host={folder}"
        call("pg_ctl", "stop", "-m", "immediate")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


_numbers = itertools.count()


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
def database_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Return the URL of an empty database of each kind."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'propcite.sqlite'}"
    import psycopg

    url: str = request.getfixturevalue("postgres")
    name = f"test_{next(_numbers)}"
    with psycopg.connect(url.format("postgres"), autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
    return url.format(name)
