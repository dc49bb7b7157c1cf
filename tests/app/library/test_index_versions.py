"""Documents and their passages count at once: for readers while it happens, and after a kill at any moment."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from threading import Event
from typing import NoReturn

import pytest
from killed_commits import NEW, uploads
from paths import SUPPORT
from postgres_servers import PostgresServer

from propcite.app.errors import CollidedError, StoreError
from propcite.app.ingest.sources import Upload
from propcite.app.library.shards import Shards
from propcite.app.library.store import CollectionInfo, Library
from propcite.app.parts import Parts
from propcite.retrieval.index.manifest import PREPARED
from propcite.retrieval.sharding.layout import Versions, read_versions, shard_folders

OpenParts = Callable[..., Parts]
QUICK = {"judge": "none", "splitter": "rules"}


@pytest.fixture(params=["one file, in one piece", pytest.param("a server, in shards", marks=pytest.mark.postgres)])
def parts(request: pytest.FixtureRequest, open_parts: OpenParts) -> Parts:
    divided = "shards" in request.param
    server: PostgresServer | None = request.getfixturevalue("postgres_server") if divided else None
    opened = open_parts(**QUICK, **({"database": server.new_database()} if server else {}))
    opened.library.create_collection("harbour")
    ingest(opened, uploads(0))
    if divided:
        Shards(opened.workspace(harbour(opened))).divide(2)
    return opened


def harbour(parts: Parts) -> CollectionInfo:
    return parts.library.collection("harbour")


def ingest(parts: Parts, sources: list[Upload]) -> list[str]:
    return [outcome.state for outcome in parts.ingester(harbour(parts)).ingest(sources)]


def found(parts: Parts) -> set[str]:
    """Return the texts that a search finds: of all passages, since each has the word."""
    hits = parts.pipeline(harbour(parts)).retriever().search("ferry", k=100)
    return {hit.passage.text for hit in hits}


def texts(*numbers: int, timetable: int) -> set[str]:
    lines = {upload.data.decode() for number in numbers for upload in uploads(number)[1:]}
    return {uploads(timetable)[0].data.decode(), *lines}


def prepared(parts: Parts) -> list[Path]:
    return [path for place in shard_folders(parts.workspace(harbour(parts)).folder) for path in place.glob(PREPARED)]


@contextmanager
def killed(parts: Parts) -> Iterator[Callable[[str, int], None]]:
    command = [sys.executable, SUPPORT / "killed_commits.py", parts.settings.data_dir, parts.settings.database_url]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin
        assert process.stdout
        says, hears = process.stdout, process.stdin

        def kill(step: str, number: int) -> None:
            hears.write(f"{step} {number}\n")
            hears.flush()
            assert says.readline() == "killed\n"

        yield kill


def no_encoder() -> NoReturn:
    raise AssertionError("nothing had to be encoded")


def test_a_kill_leaves_the_former_documents_and_passages_or_the_new_ones(parts: Parts) -> None:
    with killed(parts) as kill:
        kill("prepared", 1)
        assert found(parts) == texts(0, timetable=0)
        assert prepared(parts)
        kill("committed", 2)  # it has removed what the first one left
        assert found(parts) == texts(0, 2, timetable=2)
        assert prepared(parts)
        kill("promoting", 3)  # it has finished what the second one left
        assert found(parts) == texts(0, 2, 3, timetable=3)
    ingester = parts.ingester(harbour(parts))
    ingester.load_encoder = no_encoder
    assert {outcome.state for outcome in ingester.ingest(uploads(3))} == {"unchanged"}
    assert prepared(parts) == []
    assert ingest(parts, uploads(1)) == ["changed", *["added"] * NEW]
    assert found(parts) == texts(0, 1, 2, 3, timetable=1)
    assert parts.workspace(harbour(parts)).faults() == []


def test_a_search_finds_the_documents_that_are_there_while_they_come_and_go(
    parts: Parts, open_parts: OpenParts
) -> None:
    reader = open_parts(**QUICK, database=parts.settings.database)
    library, info, ended = reader.library, harbour(reader), Event()
    missed: list[set[str]] = []

    def documents() -> set[str]:
        return {one.id for one in library.documents(info)}

    def read() -> int:
        number = 0
        while not ended.is_set():
            before = documents()
            hits = reader.pipeline(info).retriever().search("ferry", k=100)
            missed.append((before & documents()) - {hit.passage.document_id for hit in hits})
            number += 1
        return number

    found(reader)
    with ThreadPoolExecutor() as pool:
        reading = pool.submit(read)
        for number in range(1, 8):
            for upload in uploads(number):
                ingest(parts, [upload])
            parts.ingester(info).remove(library.find_document(info, f"{number}-1.txt").id)
        ended.set()
        assert reading.result() > 5
    assert not any(missed)


def test_a_change_of_another_writer_is_not_overwritten(parts: Parts, monkeypatch: pytest.MonkeyPatch) -> None:
    note = Library.note_index_versions

    def note_too_late(library: Library, info: CollectionInfo, before: Versions | None, now: Versions) -> None:
        monkeypatch.setattr(Library, "note_index_versions", note)
        assert before
        note(library, info, before, Versions(before.names, before.stored + 1))
        note(library, info, before, now)

    monkeypatch.setattr(Library, "note_index_versions", note_too_late)
    with pytest.raises(CollidedError, match="another process has changed the index of 'harbour' meanwhile: run it"):
        ingest(parts, uploads(1))
    assert found(parts) == texts(0, timetable=0)
    assert ingest(parts, uploads(1)) == ["changed", *["added"] * NEW]
    assert found(parts) == texts(0, 1, timetable=1)


def test_work_that_changes_no_document_is_noted(parts: Parts) -> None:
    workspace = parts.workspace(harbour(parts))
    ingest(parts, uploads(1))
    for change in (workspace.compact, lambda: workspace.rebuild(parts.encoder), lambda: Shards(workspace).divide(3)):
        before = workspace.versions.now()
        change()
        now = workspace.versions.now()
        assert now
        assert now != before
        assert now.names == read_versions(workspace.folder)
        assert found(parts) == texts(0, 1, timetable=1)


def test_an_index_that_was_lost_is_named_until_the_next_writer_makes_it(parts: Parts) -> None:
    for place in shard_folders(parts.workspace(harbour(parts)).folder):
        for path in place.glob("manifest.json"):
            path.unlink()
    workspace = parts.workspace(harbour(parts))
    (workspace.folder / "shards.json").unlink(missing_ok=True)
    with pytest.raises(StoreError, match="the index of 'harbour' is gone: run propcite reindex"):
        found(parts)
    assert ingest(parts, uploads(1)) == ["changed", *["added"] * NEW]
    assert found(parts) == texts(0, 1, timetable=1)
