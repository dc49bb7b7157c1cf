"""The queue of jobs in the database: one worker at a time has a job, one job of a collection is read at a time."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from paths import SUPPORT
from sqlalchemy import text

from propcite.app.errors import NotFoundError
from propcite.app.ingest.outcomes import Alike, Outcome, Progress
from propcite.app.library.jobs import Fetched, News
from propcite.app.library.store import Job, Jobs, Library
from propcite.app.library.store import jobs as store_jobs
from propcite.app.library.store.jobs import CANCELLED, SILENT
from propcite.retrieval.fidelity import Fidelity

A = Outcome("a.txt", "added", "A", "d1", 2, "", (Alike("b.txt", 0.9),), Fidelity(pages=3, ocr_pages=1))
B = Outcome("b.txt", "failed", reason="it is empty")


@pytest.fixture
def library(database_url: str) -> Iterator[Library]:
    opened = Library(database_url)
    yield opened
    opened.close()


@pytest.fixture
def jobs(library: Library) -> Jobs:
    return Jobs(library)


def accept(library: Library, id_: str, collection: str = "harbour", *files: str, to_fetch: bool = False) -> Job:
    info = library.create_collection(collection)
    return Jobs(library).accept(id_, info, files or ("a.txt", "b.txt"), to_fetch=to_fetch, by="ada", on_page=True)


def found(jobs: Jobs, id_: str) -> Job:
    job = jobs.find(id_)
    assert job
    return job


def fall_silent(library: Library, id_: str) -> None:
    earlier = "datetime('now', '-1 hour')" if "sqlite" in library.url else "now() - interval '1 hour'"
    with library.session() as session:
        session.execute(text(f"UPDATE jobs SET seen_at = {earlier} WHERE id = :id"), {"id": id_})


def test_one_job_of_a_collection_is_read_at_a_time_and_collections_take_turns(library: Library, jobs: Jobs) -> None:
    for number in range(4):
        accept(library, f"{number}-a")
    accept(library, "4-b", "quay")
    taken = [jobs.take("w1"), jobs.take("w2"), jobs.take("w3")]
    assert [(job.id, job.collection, job.by) for job in taken if job] == [
        ("0-a", "harbour", "ada"), ("4-b", "quay", "ada"),
    ]  # fmt: skip
    assert (found(jobs, "0-a").state, found(jobs, "1-a").state) == ("reading", "waiting")
    assert jobs.end("w1", "0-a", "", News())
    assert jobs.end("w2", "4-b", "it broke", News())
    assert (found(jobs, "0-a").state, found(jobs, "4-b").state, found(jobs, "4-b").reason) == (
        "done", "failed", "it broke",
    )  # fmt: skip
    accept(library, "5-b", "quay")
    following = jobs.take("w1")
    assert following
    assert following.id == "1-a"  # nothing of its collection was read for longer
    assert jobs.end("w1", "1-a", "", News())
    following = jobs.take("w1")
    assert following
    assert following.id == "5-b"


def test_what_is_known_of_a_job_is_seen_by_all(library: Library, jobs: Jobs) -> None:
    accept(library, "1-a", "harbour", "a.txt", "b.txt", "c.txt")
    assert jobs.take("w1")
    progress = Progress(0.4, 1, 3, 2, 1.5, reading="b.txt: page 2 of 3")
    assert jobs.sign("w1", {"1-a": News([A], 0, progress), "gone": News()}) == {"1-a": False}
    assert jobs.sign("w1", {"1-a": News([A, B], 0, progress)}) == {"1-a": False}
    job = found(jobs, "1-a")
    assert (job.done, job.num_left, job.total, job.progress) == (2, 1, 3, progress)
    assert jobs.outcomes("1-a") == [A, B]
    assert jobs.of_collection("harbour") == [job]
    assert jobs.end("w1", "1-a", "", News([A, B, A], 0, progress))
    assert (found(jobs, "1-a").num_left, jobs.outcomes("1-a")) == (0, [A, B, A])
    jobs.put_away("1-a")
    assert jobs.of_collection("harbour") == []
    assert found(jobs, "1-a").state == "done"


def test_a_job_whose_worker_is_silent_goes_to_another(library: Library, jobs: Jobs) -> None:
    accept(library, "1-a")
    accept(library, "2-a")
    assert jobs.take("w1")
    jobs.sign("w1", {"1-a": News([A])})
    assert jobs.take("w2") is None
    fall_silent(library, "1-a")
    taken = jobs.take("w2")
    assert taken
    assert (taken.id, taken.done) == ("1-a", 1)
    assert jobs.sign("w1", {"1-a": News([A, B])}) == {}
    assert not jobs.end("w1", "1-a", "", News([A, B]))
    jobs.let_go("w1")
    assert jobs.sign("w2", {"1-a": News([B], 1)}) == {"1-a": False}
    assert jobs.outcomes("1-a") == [A, B]
    jobs.let_go("w2")
    assert found(jobs, "1-a").state == "waiting"
    taken = jobs.take("w3")  # at once
    assert taken
    assert (taken.id, taken.done) == ("1-a", 2)


def test_a_job_is_cancelled_by_any_process(library: Library, jobs: Jobs) -> None:
    accept(library, "1-a")
    accept(library, "2-a")
    assert jobs.take("w1")
    assert jobs.cancel("2-a")
    assert (found(jobs, "2-a").state, found(jobs, "2-a").reason) == ("failed", CANCELLED)
    assert not jobs.cancel("1-a")
    assert found(jobs, "1-a").is_cancelled
    assert jobs.sign("w1", {"1-a": News()}) == {"1-a": True}
    assert jobs.end("w1", "1-a", CANCELLED, News())
    assert jobs.cancel("1-a")
    assert not jobs.cancel("nothing")
    assert jobs.unfinished() == []


def test_addresses_are_fetched_before_the_job_is_read_by_any(library: Library, jobs: Jobs) -> None:
    accept(library, "1-a", to_fetch=True)
    accept(library, "2-a")
    fetching = jobs.take("w1", to_fetch=True)
    assert fetching
    assert (fetching.id, fetching.state, fetching.fetched) == ("1-a", "waiting", None)
    assert jobs.take("w2", to_fetch=True) is None
    reading = jobs.take("w2")
    assert reading
    assert reading.id == "2-a"
    jobs.note_fetched("w1", "1-a", [Fetched("page.html"), Fetched("", "it is gone")])
    assert jobs.end("w2", "2-a", "", News())
    reading = jobs.take("w2")
    assert reading
    assert reading.fetched == (Fetched("page.html"), Fetched("", "it is gone"))


def test_jobs_that_nobody_reads_are_counted(library: Library, jobs: Jobs, monkeypatch: pytest.MonkeyPatch) -> None:
    accept(library, "1-a")
    accept(library, "2-a")
    assert jobs.num_forsaken() == 0  # just accepted
    monkeypatch.setattr(store_jobs, "SILENT", -SILENT)
    assert jobs.num_forsaken() == 2


def test_old_jobs_are_forgotten_and_those_of_a_collection_go_with_it(
    library: Library, jobs: Jobs, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store_jobs, "MAX_JOBS", 2)
    for number in range(4):
        accept(library, f"{number}-a")
        if number < 3:
            jobs.cancel(f"{number}-a")
    accept(library, "4-a")
    assert [job.id for job in jobs.of_collection("harbour")] == ["1-a", "2-a", "3-a", "4-a"]
    assert jobs.take("w1")
    jobs.sign("w1", {"3-a": News([A])})
    harbour = library.collection("harbour")
    library.remove_collection(harbour)
    assert (jobs.unfinished(), jobs.outcomes("3-a")) == ([], [])
    assert jobs.sign("w1", {"3-a": News([A])}) == {}
    with pytest.raises(NotFoundError, match="was deleted meanwhile"):
        jobs.accept("5-a", harbour, ["a.txt"])


def test_many_processes_run_each_job_once(library: Library, jobs: Jobs, tmp_path: Path, database_url: str) -> None:
    for number in range(60):
        accept(library, f"{number:02}-a", f"collection {number % 5}")
    journal = tmp_path / "journal"
    journal.touch()
    command = [sys.executable, SUPPORT / "queue_takers.py", database_url, journal]
    takers = [subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) for _ in range(4)]
    for taker in takers:
        assert taker.stdout
        taker.stdout.readline()
    for taker in takers:
        assert taker.stdin
        taker.stdin.write(b"go\n")
        taker.stdin.flush()
    assert [taker.wait(100) for taker in takers] == [0] * 4
    lines = [line.split(" ", 1) for line in journal.read_text().splitlines()]
    assert len(lines) == len({tuple(line) for line in lines}) == 120
    assert jobs.unfinished() == []
    for number in range(5):
        of_one = [line for line in lines if f"collection {number} " in line[1]]
        assert [what for what, _ in of_one] == ["begin", "end"] * 12
        assert [begun for _, begun in of_one[::2]] == [ended for _, ended in of_one[1::2]]
