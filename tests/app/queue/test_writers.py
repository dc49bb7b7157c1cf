"""Writers on several hosts over one PostgreSQL: never two at once, though each has a lock file of its own."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psycopg
import pytest
from paths import SUPPORT
from postgres_servers import PostgresServer
from serving import wait_until

from propcite.app.errors import InUseError, StoreError, UnreachableError
from propcite.app.ingest.sources import Upload
from propcite.app.library.store import Library
from propcite.app.library.workspace import Workspace
from propcite.app.parts import Parts

pytestmark = pytest.mark.postgres
OpenParts = Callable[..., Parts]


@pytest.fixture
def database(postgres_server: PostgresServer) -> str:
    return postgres_server.new_database()


@pytest.fixture
def parts(open_parts: OpenParts, database: str) -> Parts:
    opened = open_parts(database=database, judge="none", splitter="rules")
    opened.library.create_collection("harbour")
    return opened


def workspace(parts: Parts) -> Workspace:
    return parts.workspace(parts.library.collection("harbour"))


def writer(data_dir: Path, database: str, journal: Path, rounds: int) -> subprocess.Popen[bytes]:
    words = [SUPPORT / "exclusive_writers.py", data_dir, database, journal, str(rounds)]
    return subprocess.Popen([sys.executable, *words], stdin=subprocess.PIPE, stdout=subprocess.PIPE)


def said(process: subprocess.Popen[bytes]) -> bytes:
    assert process.stdout
    return process.stdout.readline()


def test_writers_without_a_common_lock_file_are_kept_apart(parts: Parts, database: str, tmp_path: Path) -> None:
    journal = tmp_path / "journal"
    writers = [writer(parts.settings.data_dir, database, journal, 25) for _ in range(4)]
    assert [said(one) for one in writers] == [b"ready\n"] * 4
    for one in writers:
        assert one.stdin
        one.stdin.write(b"go\n")
        one.stdin.flush()
    assert [one.wait(100) for one in writers] == [0] * 4
    lines = [line.split() for line in journal.read_text().splitlines()]
    assert [what for what, _ in lines] == ["begin", "end"] * 100
    assert [begun for _, begun in lines[::2]] == [ended for _, ended in lines[1::2]]
    assert len({writer for _, writer in lines}) == 4


def test_a_writer_on_another_host_is_waited_for_until_it_dies(
    open_parts: OpenParts, parts: Parts, database: str, tmp_path: Path
) -> None:
    other = open_parts(database=database, data_dir=tmp_path / "other host")
    with writer(parts.settings.data_dir, database, tmp_path / "journal", 0) as holder:
        try:
            assert said(holder) == b"held\n"
            for one in (parts, other):
                with pytest.raises(InUseError) as caught, workspace(one).write_lock():
                    pass
                assert str(caught.value) == "another process is changing 'harbour': try again when it is done"
        finally:
            holder.kill()

    def is_free() -> bool:
        try:
            with workspace(other).write_lock():
                return True
        except InUseError:
            return False

    wait_until(is_free, "the lock outlives its process")


def test_a_database_that_goes_away_while_a_change_is_to_count_leaves_the_former_state(
    parts: Parts, database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    harbour, note = parts.library.collection("harbour"), Library.note_index_versions
    list(parts.ingester(harbour).ingest([Upload("a.txt", b"The ferry leaves at seven.")]))

    def note_without(library: Library, *versions: Any) -> None:
        monkeypatch.setattr(Library, "note_index_versions", note)
        end_connections(database)
        note(library, *versions)

    monkeypatch.setattr(Library, "note_index_versions", note_without)
    files = [Upload("a.txt", b"The ferry leaves at nine."), Upload("b.txt", b"The ferry is blue.")]
    with pytest.raises(StoreError) as caught:
        list(parts.ingester(harbour).ingest(files))
    assert "\n" not in str(caught.value)

    def found() -> set[str]:
        return {hit.passage.text for hit in parts.pipeline(harbour).retriever().search("ferry")}

    assert found() == {"The ferry leaves at seven."}
    assert [outcome.state for outcome in parts.ingester(harbour).ingest(files)] == ["changed", "added"]
    assert found() == {"The ferry leaves at nine.", "The ferry is blue."}
    assert workspace(parts).faults() == []


def end_connections(database: str) -> list[Any]:
    """End all connections of a database but one's own, as a restart of the server does."""
    with psycopg.connect(database, autocommit=True) as connection:
        others = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid()"
        return list(connection.execute(f"{others} AND datname = current_database()"))


def test_a_writer_that_lost_its_lock_writes_no_more(parts: Parts, database: str) -> None:
    ingester = parts.ingester(parts.library.collection("harbour"))
    encoder, lost = parts.encoder, []

    class Losing:
        """Encodes, and loses all connections of the database meanwhile, as when the server is restarted."""

        name, dimension = encoder.name, encoder.dimension

        def encode_passages(self, passages: object) -> object:
            if not lost:
                lost.extend(end_connections(database))
            return encoder.encode_passages(passages)  # type: ignore[arg-type]

    ingester.load_encoder = Losing  # type: ignore[assignment]
    files = [Upload("a.txt", b"The ferry leaves at seven.")]
    with pytest.raises(UnreachableError, match="the database was away, and with it the right to write"):
        list(ingester.ingest(files))
    assert lost
    assert parts.library.documents(ingester.collection) == []
    assert [outcome.state for outcome in ingester.ingest(files)] == ["added"]
    assert workspace(parts).faults() == []
    with workspace(parts).write_lock():
        pass
