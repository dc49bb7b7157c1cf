"""A PostgreSQL that does not answer, or is slow: one line after some seconds, in place of requests that hang."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from postgres_servers import PostgresServer
from sqlalchemy import text

from propcite.app.errors import UnreachableError
from propcite.app.library.store import database as database_module
from propcite.app.library.store.database import PATIENCE, Database

pytestmark = pytest.mark.postgres


@contextmanager
def listening(server: PostgresServer, *, answers: bool) -> Iterator[int]:
    """Listen on a port of this machine for a server that has a socket alone; yields the port."""
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve() -> None:
            while True:
                try:
                    inner, _ = listener.accept()
                except OSError:
                    return
                outer = socket.socket(socket.AF_UNIX)
                outer.connect(str(server.folder / ".s.PGSQL.5432"))
                for source, target in ((inner, outer), (outer, inner)):
                    threading.Thread(target=copy, args=(source, target), daemon=True).start()

        if answers:
            threading.Thread(target=serve, daemon=True).start()
        yield listener.getsockname()[1]


def copy(source: socket.socket, target: socket.socket) -> None:
    while data := source.recv(65536):
        target.sendall(data)
    target.close()


def test_a_server_that_does_not_answer_is_named_after_some_seconds(postgres_server: PostgresServer) -> None:
    with listening(postgres_server, answers=False) as port:
        begun = time.monotonic()
        with pytest.raises(UnreachableError, match=r"^cannot reach the database .*127\.0\.0\.1.*: start it, or set"):
            Database(f"postgresql://propcite:secret@127.0.0.1:{port}/any")
    assert time.monotonic() - begun < 2 * PATIENCE["connect_timeout"]


def test_a_machine_that_is_gone_is_noticed(postgres_server: PostgresServer) -> None:
    name = Path(postgres_server.new_database().partition("?")[0]).name
    with listening(postgres_server, answers=True) as port:
        url = f"postgresql://propcite@127.0.0.1:{port}/{name}"
        for more, seconds in (("", PATIENCE["keepalives_idle"]), ("?keepalives_idle=60", 60)):
            database = Database(url + more)
            with database.engine.connect() as connection:
                raw = connection.connection.driver_connection
                assert raw
                with socket.socket(fileno=raw.fileno()) as used:
                    idle = used.getsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE)
                    assert used.getsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT) == PATIENCE["tcp_user_timeout"]
                    used.detach()
            assert idle == seconds
            database.close()


def test_more_than_the_connections_is_one_line(
    postgres_server: PostgresServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database_module, "POOL_WAIT_S", 0.1)
    database = Database(postgres_server.new_database())
    held = [database.engine.connect() for _ in range(15)]
    with (
        pytest.raises(UnreachableError, match=r"all connections to it are in use: try again later$"),
        database.session() as one,
    ):
        one.execute(text("SELECT 1"))
    for connection in held:
        connection.close()
    with database.session() as session:
        assert session.scalar(text("SELECT 1")) == 1
    database.close()
