"""Workers: what one that died had stored is not read again, missing files are named, PostgreSQL may be restarted."""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from io import BytesIO
from pathlib import Path

import pytest
from filelock import FileLock
from postgres_servers import running_postgres
from serving import wait_until
from sqlalchemy import event, text

from propcite.app.ingest.sources import Upload
from propcite.app.ingest.uploads import Job, Uploads
from propcite.app.library.doctor import Doctor
from propcite.app.library.jobs import News
from propcite.app.parts import Parts

OpenParts = Callable[..., Parts]
QUICK = {"judge": "none", "splitter": "rules"}


@pytest.fixture
def parts(open_parts: OpenParts, database_url: str) -> Parts:
    return open_parts(database=database_url, **QUICK)


@pytest.fixture
def started() -> Iterator[Callable[[Parts], Uploads]]:
    with ExitStack() as running:

        def start(parts: Parts) -> Uploads:
            uploads = Uploads(parts)
            uploads.start()
            running.callback(uploads.close)
            return uploads

        yield start


Started = Callable[[Parts], Uploads]


def send(uploads: Uploads, id_: str, files: dict[str, str], collection: str = "harbour") -> None:
    for number, words in enumerate(files.values()):
        uploads.write(id_, number, BytesIO(words.encode()))
    uploads.accept(id_, collection, [name.strip() for name in files])


def ended(uploads: Uploads, id_: str) -> Job:
    wait_until(lambda: (job := uploads.job(id_)) is not None and job.has_ended, "the job does not end")
    job = uploads.job(id_)
    assert job
    return job


def folder(parts: Parts, id_: str) -> Path:
    return parts.settings.data_dir / "uploads" / id_


def test_what_a_worker_that_died_had_stored_is_not_read_again(parts: Parts, started: Started) -> None:
    texts = {
        "a.txt": "The crane is old.",
        "b.txt": "The quay is new.",
        "b.txt ": "The quay is newer.",
        "c.txt": "Rain.",
    }
    send(Uploads(parts), "1-a", texts)
    assert parts.jobs.take("dead")
    harbour = parts.library.collection("harbour")
    stored = list(
        parts.ingester(harbour).ingest([Upload("a.txt", b"The crane is old."), Upload("b.txt", b"The quay is new.")])
    )
    parts.jobs.sign("dead", {"1-a": News(stored)})
    for number in range(2):
        (folder(parts, "1-a") / f"{number}.bin").write_bytes(b"Whoever reads this reads again.")
    with parts.library.session() as session:
        session.execute(text("UPDATE jobs SET seen_at = '2026-01-01 00:00:00.000000'"))
    uploads = started(parts)
    job = ended(uploads, "1-a")
    assert (job.state, job.done, job.total, job.reason) == ("done", 4, 4, "")
    assert [(one.source, one.state) for one in uploads.outcomes("1-a")] == [
        ("a.txt", "added"), ("b.txt", "added"), ("b.txt", "changed"), ("c.txt", "added"),
    ]  # fmt: skip
    wait_until(lambda: not folder(parts, "1-a").exists(), "its files stay")


def test_files_that_are_not_here_are_named(parts: Parts, started: Started) -> None:
    send(Uploads(parts), "1-a", {"a.txt": "The crane is old."})
    (folder(parts, "1-a") / "0.bin").unlink()
    job = ended(started(parts), "1-a")
    assert job.state == "failed"
    assert job.reason.startswith(
        f"a.txt is not in {folder(parts, '1-a')}: servers and workers of one database need one"
    )


def test_a_server_may_leave_reading_to_workers(
    open_parts: OpenParts, database_url: str, parts: Parts, started: Started
) -> None:
    server = started(open_parts(database=database_url, serve_reads=False, **QUICK))
    send(server, "1-a", {"a.txt": "The crane is old."})
    worker = started(parts)
    assert ended(worker, "1-a").state == "done"
    assert server.outcomes("1-a")[0].state == "added"


def test_what_servers_of_a_former_version_accepted_is_read(parts: Parts, started: Started) -> None:
    uploads = parts.settings.data_dir / "uploads"
    for place in ("0123456789abcdef/1-a", "fedcba9876543210/2-b", "3-c"):
        job = uploads / place
        job.mkdir(parents=True)
        (job / "0.bin").write_text(f"The crane of {place} is old.")
        order = {"collection": "harbour", "files": [f"{job.name}.txt"], "sources": [], "again": False}
        (job / "job.json").write_text(json.dumps(order))
        if job.parent != uploads:  # the third was moved by a process that died then
            (job.parent / "server.lock").touch()
    half = uploads / "0123456789abcdef" / "4-d"  # it was never accepted
    half.mkdir()
    (half / "0.bin").write_text("The crane is half.")
    with FileLock(uploads / "fedcba9876543210" / "server.lock"):
        worker = started(parts)
        for id_ in ("1-a", "3-c"):
            assert ended(worker, id_).state == "done"
        assert worker.job("2-b") is None  # its server runs
    sources = [info.source for info in parts.library.documents(parts.library.collection("harbour"))]
    assert sources == ["1-a.txt", "3-c.txt"]
    wait_until(lambda: [path.name for path in uploads.iterdir()] == ["fedcba9876543210"], "files stay")
    assert ended(started(parts), "2-b").state == "done"
    wait_until(lambda: not list(uploads.iterdir()), "files stay")


def test_a_former_job_that_cannot_be_taken_keeps_no_other_from_being_read(parts: Parts, started: Started) -> None:
    job = folder(parts, "1-a")
    job.mkdir(parents=True)
    (job / "job.json").write_text(json.dumps({"collection": "", "files": ["a.txt"]}))
    worker = started(parts)
    send(worker, "2-b", {"a.txt": "The crane is old."})
    assert ended(worker, "2-b").state == "done"
    assert (job / "job.json").exists()


def test_a_job_is_written_once_a_second_at_most(parts: Parts, started: Started) -> None:
    writes: list[str] = []

    def note(_: object, __: object, statement: str, *___: object) -> None:
        writes.extend([statement] if statement.startswith("UPDATE jobs") else [])

    event.listen(parts.library.engine, "before_cursor_execute", note)
    begun = time.monotonic()
    uploads = started(parts)
    send(uploads, "1-a", {f"{n}.txt": f"Crane {n} lifts {n + 2} tonnes." for n in range(200)})
    assert ended(uploads, "1-a").done == 200
    assert len(writes) <= 3 + time.monotonic() - begun


@pytest.mark.postgres
def test_a_job_goes_on_when_the_database_is_back(open_parts: OpenParts, caplog: pytest.LogCaptureFixture) -> None:
    with running_postgres() as server:
        parts = open_parts(database=server.new_database(), **QUICK)
        uploads = Uploads(parts)
        texts = {f"{n}.txt": f"Crane {n} lifts {n + 2} tonnes." for n in range(700)}
        send(uploads, "1-a", texts)
        uploads.start()
        wait_until(lambda: (job := uploads.job("1-a")) is not None and job.done > 0, "nothing is read")
        with caplog.at_level(logging.WARNING, "propcite.queue"):
            server.stop()
            wait_until(lambda: bool(caplog.records), "nothing is said")
        server.start()
        job = ended(uploads, "1-a")
        uploads.close()
        lines = [record.message for record in caplog.records]
        assert all(line.startswith("documents wait in the queue: ") and "\n" not in line for line in lines)
        assert any("the database" in line for line in lines)
        assert (job.state, job.reason, job.done) == ("done", "", 700)
        outcomes = uploads.outcomes("1-a")
        assert sorted(one.source for one in outcomes) == sorted(texts)
        assert {one.state for one in outcomes} <= {"added", "unchanged"}
        assert parts.library.collection("harbour").num_documents == 700
        assert list(Doctor(parts, parts.library.collections()).findings()) == []
        parts.library.close()
