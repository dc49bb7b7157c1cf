"""Read documents in the background.  Accepted jobs are on disk, so a restarted server goes on with them."""

from __future__ import annotations

import json
import os
import shutil
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path, PurePosixPath
from secrets import token_hex
from threading import Event, Lock
from typing import Literal

from filelock import FileLock, Timeout

from propcite.app.errors import InUseError, ReadError
from propcite.app.ingest.outcomes import Outcome, Progress
from propcite.app.ingest.sources import Source, StoredFile, WebFile, gather
from propcite.app.library.rereading import sources_to_read_again
from propcite.app.library.store import CollectionInfo
from propcite.app.parts import Parts
from propcite.attribution.formats.text import is_address
from propcite.retrieval.errors import PropCiteError

State = Literal["waiting", "reading", "done", "failed"]
MAX_JOBS = 1000  # remembered, ended ones included
MAX_WAIT_S, RETRY_S = 600.0, 1.0  # for another writer of the same collection
COLLECTIONS = 4  # that are written at once
FETCHES, FETCHES_PER_JOB = 8, 2  # web addresses that are fetched at once
JOB_FILE = "job.json"  # written last: a folder without it was never accepted
CANCELLED = "cancelled: what was read until then stays"
LOCK_FILE = "server.lock"  # held by the server that the folder belongs to


@dataclass(slots=True)
class Job:
    """Uploaded files that are added to a collection, and `sources`: paths and addresses that are read where they are.

    `again` also reads unchanged documents; without files and sources, all that an earlier version of the readers read.
    """

    id: str
    collection: str
    files: tuple[str, ...]
    sources: tuple[str, ...] = ()
    again: bool = False
    state: State = "waiting"
    outcomes: list[Outcome] = field(default_factory=list)
    reason: str = ""
    cancelled: Event = field(default_factory=Event)
    ended: Event = field(default_factory=Event)
    finished: bool = False
    progress: Progress | None = None
    web_files: list[WebFile] = field(default_factory=list)
    num_fetched: int = 0

    @property
    def is_of_all(self) -> bool:
        """Whether all is read that an earlier version of the readers read."""
        return self.again and not (self.files or self.sources)

    @property
    def total(self) -> int:
        """The number of documents; an archive counts as one until it was opened."""
        return self.progress.total if self.progress else len(self.files) + len(self.sources)

    @property
    def num_left(self) -> int:
        """The number of documents that are still to be read; 0 once it has ended."""
        return 0 if self.ended.is_set() else max(0, self.total - len(self.outcomes))

    def report(self, progress: Progress) -> None:
        if not progress.step:
            self.progress = progress


class Uploads:
    """Runs jobs in threads of its own: web addresses are fetched first, then all is read.

    Jobs of different collections are read at the same time, those of one collection one after another.  Slow web
    addresses of one job leave threads for the others.

    Each server process has a folder for the jobs that it accepts.  The next server takes over those of one that ended.
    """

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self.folder = parts.settings.data_dir / "uploads" / token_hex(8)
        self._folder_lock = FileLock(self.folder / LOCK_FILE, timeout=0, thread_local=False)
        self._jobs: dict[str, Job] = {}
        self._lock = Lock()
        self._fetching = ThreadPoolExecutor(FETCHES, "propcite-fetches")
        self._reading = ThreadPoolExecutor(COLLECTIONS, "propcite-uploads")
        self._ready: list[Job] = []  # all of it is fetched, and another job of its collection is being read
        self._in_use: set[str] = set()  # collections of jobs that are being read
        self._closing = Event()
        # A process that ends joins the threads of executors before it runs `atexit` handlers, so they must be
        # stopped before.  CPython has no public name for that; without it an interrupt waits until all is read.
        getattr(threading, "_register_atexit", lambda _: None)(self._closing.set)

    def new_id(self) -> str:
        return f"{time.time_ns():x}-{token_hex(4)}"  # sorts by time

    def path_of(self, job_id: str, number: int) -> Path:
        """Return the path for an uploaded file's bytes, which must be written before the job is accepted.

        It does not depend on the file's name, which is not to be trusted.
        """
        folder = self.folder / job_id
        with self._lock:
            if not self._folder_lock.is_locked:
                self.folder.mkdir(parents=True, exist_ok=True)
                self._folder_lock.acquire()
        folder.mkdir(exist_ok=True)
        return folder / f"{number}.bin"

    def accept(
        self, job_id: str, collection: str, files: Sequence[str], sources: Sequence[str] = (), *, again: bool = False
    ) -> Job:
        """Save a job to disk and start it.  Its files will be read even if the server stops meanwhile."""
        job = Job(job_id, collection, tuple(files), tuple(sources), again)
        path = self.path_of(job_id, 0).with_name(JOB_FILE)
        new = path.with_suffix(".new")
        with open(new, "w", encoding="utf-8") as file:
            json.dump({"collection": collection, "files": list(files), "sources": list(sources), "again": again}, file)
            file.flush()
            os.fsync(file.fileno())
        os.replace(new, path)
        self._start(job)
        return job

    def discard(self, job_id: str) -> None:
        """Delete the files of a job that has ended or is not accepted."""
        shutil.rmtree(self.folder / job_id, ignore_errors=True)

    def resume(self) -> None:
        """Run the jobs that servers which have ended had accepted, and delete the rest of their folders."""
        for folder in sorted(self.folder.parent.glob("*")):
            with suppress(Timeout, OSError), FileLock(folder / LOCK_FILE, timeout=0):
                for job_file in sorted(folder.glob(f"*/{JOB_FILE}")):
                    self._take_over(job_file.parent)
                shutil.rmtree(folder, ignore_errors=True)

    def _take_over(self, folder: Path) -> None:
        with suppress(ValueError, KeyError):
            fields = json.loads((folder / JOB_FILE).read_text(encoding="utf-8"))
            files, sources = tuple(fields["files"]), tuple(fields.get("sources", ()))
            job = Job(folder.name, fields["collection"], files, sources, bool(fields.get("again")))
            os.replace(folder, self.path_of(job.id, 0).parent)
            self._start(job)

    @property
    def num_unfinished(self) -> int:
        return sum(not job.ended.is_set() for job in list(self._jobs.values()))

    def job(self, job_id: str) -> Job | None:
        return self._jobs.get(job_id)

    def jobs(self, collection: str) -> list[Job]:
        """Return the remembered jobs of a collection, oldest first."""
        return [job for _, job in sorted(self._jobs.items()) if job.collection == collection]

    def cancel(self, job_id: str) -> None:
        """End a job after the document in work, and one that waits at once; what was read stays."""
        job = self._jobs.get(job_id)
        if job is None or job.ended.is_set():
            return
        job.cancelled.set()
        with self._lock:
            waits = job in self._ready
            if waits:
                self._ready.remove(job)
        if waits:
            self._run(job)

    def forget(self, job_id: str) -> None:
        """Forget a job, if it has ended."""
        if (job := self._jobs.get(job_id)) and job.ended.is_set():
            with self._lock:
                self._jobs.pop(job_id, None)

    def close(self) -> None:
        """Finish the current document and stop; waiting jobs are run after the next start."""
        self._closing.set()
        for threads in (self._fetching, self._reading):
            threads.shutdown(wait=True, cancel_futures=True)
        self._folder_lock.release()
        if not any(self.folder.glob("*-*")):
            shutil.rmtree(self.folder, ignore_errors=True)

    def _start(self, job: Job) -> None:
        with self._lock:
            ended = [i for i, other in self._jobs.items() if other.ended.is_set()]
            for job_id in ended[: max(0, len(self._jobs) - MAX_JOBS)]:
                del self._jobs[job_id]
            self._jobs[job.id] = job
        private = self._parts.settings.fetch_inside
        job.web_files = [WebFile(source, private) for source in job.sources if is_address(source)]
        for file in job.web_files[:FETCHES_PER_JOB]:
            self._submit(self._fetching, partial(self._fetch, job, file))
        if not job.web_files:
            self._read_in_turn(job)

    def _submit(self, threads: ThreadPoolExecutor, work: Callable[[], None]) -> None:
        with suppress(RuntimeError):  # this server closes; the next one takes the job over
            threads.submit(work)

    def _fetch(self, job: Job, file: WebFile) -> None:
        """Fetch a web file, then let the next one of the job queue behind those of other jobs."""
        number = job.web_files.index(file)
        try:
            if job.cancelled.is_set():
                raise ReadError(CANCELLED)
            file.fetch(self.path_of(job.id, len(job.files) + number), self._parts.settings.max_file_mb * 2**20)
        except Exception as error:  # in this thread nobody would see it
            file.fetched = ReadError(f"{file.url} cannot be fetched ({type(error).__name__}: {error})")
        with self._lock:
            job.num_fetched += 1
            is_last = job.num_fetched == len(job.web_files)
        if is_last:
            self._read_in_turn(job)
        elif number + FETCHES_PER_JOB < len(job.web_files):
            self._submit(self._fetching, partial(self._fetch, job, job.web_files[number + FETCHES_PER_JOB]))

    def _read_in_turn(self, job: Job) -> None:
        with self._lock:
            if job.collection in self._in_use:
                self._ready.append(job)
                return
            self._in_use.add(job.collection)
        self._submit(self._reading, partial(self._read, job))

    def _read(self, job: Job) -> None:
        """Run a job, then let the next one of its collection queue behind those of other collections."""
        self._run(job)
        with self._lock:
            following = next((other for other in self._ready if other.collection == job.collection), None)
            if following:
                self._ready.remove(following)
            else:
                self._in_use.discard(job.collection)
        if following:
            self._submit(self._reading, partial(self._read, following))

    def _run(self, job: Job) -> None:
        job.state = "reading"
        try:
            if not job.cancelled.is_set():
                self._ingest_when_free(job)
            job.state = "done"
            if job.cancelled.is_set() and not job.finished:
                job.state, job.reason = "failed", CANCELLED
        except PropCiteError as error:
            job.state, job.reason = "failed", str(error)
        except Exception as error:  # in this thread nobody would see it
            job.state, job.reason = "failed", f"{type(error).__name__}: {error}"
        finally:
            if job.finished or not self._closing.is_set():
                self.discard(job.id)
                job.ended.set()

    def _ingest(self, job: Job) -> None:
        collection = self._parts.library.create_collection(job.collection)
        ingester = self._parts.ingester(collection, progress=job.report)
        sources, failed = self._sources(job, collection)
        job.outcomes += failed
        for outcome in ingester.ingest(sources, again=job.again, cancelled=job.cancelled.is_set):
            job.outcomes.append(outcome)
            if self._closing.is_set():
                return
        job.finished = not job.cancelled.is_set() or len(job.outcomes) == job.total

    def _sources(self, job: Job, collection: CollectionInfo) -> tuple[list[Source], list[Outcome]]:
        """Return what a job reads, and a failed outcome for each of its sources that is not there."""
        settings = self._parts.settings
        if job.is_of_all:
            return sources_to_read_again(self._parts.originals, collection, settings.max_file_mb * 2**20)
        files, failed = gather(
            [Path(source) for source in job.sources if not is_address(source)], follow_links=settings.follow_links
        )
        uploads = [StoredFile(name, self.path_of(job.id, number)) for number, name in enumerate(job.files)]
        return [*uploads, *job.web_files, *files], failed

    def _ingest_when_free(self, job: Job) -> None:
        """Wait for another writer of the collection, then run a job."""
        deadline = time.monotonic() + MAX_WAIT_S
        while True:
            try:
                return self._ingest(job)
            except InUseError:
                if time.monotonic() > deadline or self._closing.wait(RETRY_S):
                    raise
                if job.cancelled.is_set():
                    return None


def safe_name(name: str | None) -> str:
    """Return a file's name without folders and unprintable characters.

    >>> safe_name("../../etc/passwd.txt"), safe_name("C:\\\\notes\\\\a\\x00b.md")
    ('passwd.txt', 'ab.md')
    """
    last = PurePosixPath((name or "").replace("\\", "/")).name
    printable = "".join(c for c in last if c.isprintable()).strip()[-200:]
    if not printable.strip("."):
        raise ReadError("a file has no name: send each with its file name")
    return printable
