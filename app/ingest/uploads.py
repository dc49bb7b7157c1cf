"""Documents that are read in the background.  What was accepted is on disk: a restarted server reads on."""

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
from pathlib import Path, PurePosixPath
from secrets import token_hex
from threading import Event, Lock
from typing import Literal

from filelock import FileLock, Timeout

from propcite.app.errors import InUseError, ReadError
from propcite.app.ingest.outcomes import Outcome, Progress
from propcite.app.ingest.readers import check_size
from propcite.app.ingest.sources import Source, Web, gather
from propcite.app.parts import Parts
from propcite.attribution.formats.addresses import is_address
from propcite.retrieval.errors import PropCiteError

State = Literal["waiting", "reading", "done", "failed"]
MOST_KEPT = 1000  # jobs that can be asked about
PATIENCE_S, STEP_S = 600.0, 1.0  # how long another writer of the same collection is waited for
ORDER = "job.json"  # written last: a folder without it was never accepted
IN_USE = "server.lock"  # held by the server whose folder it is


@dataclass(slots=True)
class Job:
    """Files on their way into a collection; `sources` are paths and addresses that are read where they are.

    `again` reads what is unchanged too.
    """

    id: str
    collection: str
    files: tuple[str, ...]
    sources: tuple[str, ...] = ()
    again: bool = False
    state: State = "waiting"
    outcomes: list[Outcome] = field(default_factory=list)
    reason: str = ""
    ended: Event = field(default_factory=Event)
    finished: bool = False
    progress: Progress | None = None

    @property
    def total(self) -> int:
        """Documents to be read, as far as it is known; an archive may turn out to hold several."""
        return self.progress.total if self.progress else len(self.files) + len(self.sources)

    def tell(self, progress: Progress) -> None:
        self.progress = progress


@dataclass(frozen=True, slots=True)
class Stored:
    """A file that was sent: its name, and where its bytes lie until they are read."""

    name: str
    path: Path

    @property
    def place(self) -> str:
        return self.name

    @property
    def size(self) -> int:
        return self.path.stat().st_size

    def read(self, most_bytes: int) -> bytes:
        check_size(self.name, self.size, most_bytes)
        return self.path.read_bytes()


class Uploads:
    """Reads one job after another in a thread of its own.

    Each server has a folder of its own for what it accepts; what a server that is gone left there, the next takes over.
    """

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self.folder = parts.settings.data_dir / "uploads" / token_hex(8)
        self._in_use = FileLock(self.folder / IN_USE, timeout=0, thread_local=False)
        self._jobs: dict[str, Job] = {}
        self._lock = Lock()
        self._thread = ThreadPoolExecutor(1, "propcite-uploads")
        self._closing = Event()
        # A process that ends waits for the threads of executors before anything that `atexit` knows of: they are told
        # first.  CPython has no public name for that; without it an interrupt waits until all is read.
        getattr(threading, "_register_atexit", lambda _: None)(self._closing.set)

    def new_id(self) -> str:
        return f"{time.time_ns():x}-{token_hex(4)}"  # in the order in which they came

    def place(self, job_id: str, number: int) -> Path:
        """Where a file's bytes are put before the job is accepted; its name has no part in that."""
        folder = self.folder / job_id
        with self._lock:
            if not self._in_use.is_locked:
                self.folder.mkdir(parents=True, exist_ok=True)
                self._in_use.acquire()
        folder.mkdir(exist_ok=True)
        return folder / f"{number}.bin"

    def accept(
        self, job_id: str, collection: str, files: Sequence[str], sources: Sequence[str] = (), *, again: bool = False
    ) -> Job:
        """From now on these files will be read, even if the server stops meanwhile."""
        job = Job(job_id, collection, tuple(files), tuple(sources), again)
        order = self.place(job_id, 0).with_name(ORDER)
        new = order.with_suffix(".new")
        with open(new, "w", encoding="utf-8") as file:
            json.dump({"collection": collection, "files": list(files), "sources": list(sources), "again": again}, file)
            file.flush()
            os.fsync(file.fileno())
        os.replace(new, order)
        self._start(job)
        return job

    def drop(self, job_id: str) -> None:
        """What came of a job that is not accepted."""
        shutil.rmtree(self.folder / job_id, ignore_errors=True)

    def resume(self) -> None:
        """Read what servers that are gone had accepted; what they had not is removed."""
        for left in sorted(self.folder.parent.glob("*")):
            with suppress(Timeout, OSError), FileLock(left / IN_USE, timeout=0):
                for folder in sorted(left.glob(f"*/{ORDER}")):
                    self._take_over(folder.parent)
                shutil.rmtree(left, ignore_errors=True)

    def _take_over(self, folder: Path) -> None:
        with suppress(ValueError, KeyError):
            order = json.loads((folder / ORDER).read_text(encoding="utf-8"))
            files, sources = tuple(order["files"]), tuple(order.get("sources", ()))
            job = Job(folder.name, order["collection"], files, sources, bool(order.get("again")))
            os.replace(folder, self.place(job.id, 0).parent)
            self._start(job)

    def job(self, job_id: str) -> Job | None:
        return self._jobs.get(job_id)

    def jobs(self, collection: str) -> list[Job]:
        """Those of a collection that are known, the oldest first."""
        return [job for _, job in sorted(self._jobs.items()) if job.collection == collection]

    def forget(self, job_id: str) -> None:
        """What came of a job that has ended is told no more."""
        if (job := self._jobs.get(job_id)) and job.ended.is_set():
            with self._lock:
                self._jobs.pop(job_id, None)

    def close(self) -> None:
        """The document in work is finished; what waits is read after the next start."""
        self._closing.set()
        self._thread.shutdown(wait=True, cancel_futures=True)
        self._in_use.release()
        if not any(self.folder.glob("*-*")):
            shutil.rmtree(self.folder, ignore_errors=True)

    def _start(self, job: Job) -> None:
        with self._lock:
            ended = [i for i, other in self._jobs.items() if other.ended.is_set()]
            for old in ended[: max(0, len(self._jobs) - MOST_KEPT)]:
                del self._jobs[old]
            self._jobs[job.id] = job
        self._thread.submit(self._read, job)

    def _read(self, job: Job) -> None:
        job.state = "reading"
        try:
            self._patiently(lambda: self._ingest(job))
            job.state = "done"
        except PropCiteError as error:
            job.state, job.reason = "failed", str(error)
        except Exception as error:  # nobody would hear of it
            job.state, job.reason = "failed", f"{type(error).__name__}: {error}"
        finally:
            if job.finished or not self._closing.is_set():
                self.drop(job.id)
                job.ended.set()

    def _ingest(self, job: Job) -> None:
        collection = self._parts.library.create_collection(job.collection)
        ingester = self._parts.ingester(collection)
        ingester.progress = job.tell
        files, failed = gather([Path(one) for one in job.sources if not is_address(one)])
        job.outcomes += failed
        sent = [Stored(name, self.place(job.id, number)) for number, name in enumerate(job.files)]
        inside = self._parts.settings.fetch_inside
        fetched = [Web(one, inside) for one in job.sources if is_address(one)]
        sources: list[Source] = [*sent, *fetched, *files]
        for outcome in ingester.ingest(sources, again=job.again):
            job.outcomes.append(outcome)
            if self._closing.is_set():
                return
        job.finished = True

    def _patiently(self, work: Callable[[], None]) -> None:
        """Another writer of the collection is waited for."""
        until = time.monotonic() + PATIENCE_S
        while True:
            try:
                return work()
            except InUseError:
                if time.monotonic() > until or self._closing.wait(STEP_S):
                    raise


def safe_name(name: str | None) -> str:
    """A file's own name, without folders and signs that cannot be printed.

    >>> safe_name("../../etc/passwd.txt"), safe_name("C:\\\\notes\\\\a\\x00b.md")
    ('passwd.txt', 'ab.md')
    """
    last = PurePosixPath((name or "").replace("\\", "/")).name
    shown = "".join(c for c in last if c.isprintable()).strip()[-200:]
    if not shown.strip("."):
        raise ReadError("a file has no name: send each with its file name")
    return shown
