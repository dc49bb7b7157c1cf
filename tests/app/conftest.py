"""Fixtures of the application's tests: commands, runs, databases, and what the attacks use too."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from app_fixtures import loaded, open_parts, serve, settings_of_its_own  # noqa: F401 - fixtures
from commanded import Propcite, commanded
from new_tables import migrated, put_tables
from postgres_servers import PostgresServer, running_postgres

from propcite.app import parts as bootstrap
from propcite.app.library.store import Runs
from propcite.app.parts import Parts
from propcite.app.settings import Settings, load_settings

if TYPE_CHECKING:
    from propcite.retrieval.encoding.encoder import Encoder

KINDS = ["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)]


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
def postgres_server() -> Iterator[PostgresServer]:
    """Start a server that ends with the tests."""
    with running_postgres() as server:
        yield server


@pytest.fixture(scope="session")
def postgres(postgres_server: PostgresServer) -> str:
    """Return the server's URL with a placeholder for the database's name."""
    return postgres_server.url


@pytest.fixture(params=KINDS)
def database_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Return the URL of a database of each kind, with the tables of this version."""
    if request.param == "sqlite":
        file = tmp_path / "propcite.sqlite"
        file.write_bytes(migrated())
        return f"sqlite:///{file}"
    server: PostgresServer = request.getfixturevalue("postgres_server")
    return server.new_database(tables=True)


@pytest.fixture(params=KINDS)
def empty_database_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Return the URL of a database of each kind that has no tables yet."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'propcite.sqlite'}"
    server: PostgresServer = request.getfixturevalue("postgres_server")
    return server.new_database()
