"""Work on the queue of jobs in threads of this process: fetch addresses, read documents, give signs of both."""

from __future__ import annotations

import logging
import os
import shutil
import socket
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from secrets import token_hex
from threading import Event

from propcite.app.errors import InUseError, UnreachableError
from propcite.app.ingest.fetching import Fetches, addresses
from propcite.app.ingest.former_uploads import take_over
from propcite.app.ingest.outcomes import Outcome, Progress
from propcite.app.ingest.sources import Source, WebFile, gather, without
from propcite.app.library.jobs import Fetched, Job, News
from propcite.app.library.rereading import sources_to_read_again
from propcite.app.library.store import CollectionInfo
from propcite.app.library.store.jobs import CANCELLED
from propcite.app.parts import Parts
from propcite.attribution.formats.text import is_address
from propcite.retrieval.errors import PropCiteError, StorageError

log = logging.getLogger("propcite.queue")
COLLECTIONS = 4  # that are written at once
FETCHED = 16  # jobs whose addresses are fetched at once
LOOK_S = 1.0  # between two looks at the queue, and two signs
TIDY_S = 600.0  # between two looks at the files
MAX_WAIT_S, RETRY_S = 600.0, 1.0  # for another writer of the same collection, and for a storage that is away


@dataclass(slots=True)
class _Work:
    """A job that this process has; `stopped` once it is cancelled, or another worker has it."""

    job: Job
    known: list[Outcome] = field(default_factory=list)  # of the worker that had it before
    outcomes: list[Outcome] = field(default_factory=list)
    progress: Progress | None = None
    stopped: Event = field(default_factory=Event)
    is_finished: bool = False

    @property
    def news(self) -> News:
        return News(list(self.outcomes), len(self.known), self.progress)

    @property
    def done(self) -> list[str]:
        return [outcome.source for outcome in (*self.known, *self.outcomes)]

    def report(self, before: int, progress: Progress) -> None:
        if not progress.step:
            self.progress = replace(progress, done=progress.done + before, total=progress.total + before)


class Worker:
    """Takes jobs of several collections at once, one of each.  Any number of processes may work on one queue."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self.files = parts.uploaded_files
        self._name = f"{socket.gethostname()[:100]} {os.getpid()} {token_hex(4)}"
        self._fetches = Fetches(parts.settings, self.files)
        self._reading = ThreadPoolExecutor(COLLECTIONS, "propcite-uploads")
        self._work: dict[str, _Work] = {}
        self._slots = {True: FETCHED, False: COLLECTIONS}  # free ones, by whether they fetch
        self._lock = threading.Lock()
        self._woken, self._closing = Event(), Event()
        self._trouble, self._was_away, self._tidied = "", False, -TIDY_S
        self._thread = threading.Thread(target=self._run, name="propcite-queue", daemon=True)
        # A process that ends joins the threads of executors before it runs `atexit` handlers, so they must be
        # stopped before.  CPython has no public name for that; without it an interrupt waits until all is read.
        getattr(threading, "_register_atexit", lambda _: None)(self._closing.set)

    def start(self) -> None:
        self._thread.start()

    def wake(self) -> None:
        """Look at the queue now."""
        self._woken.set()

    def close(self, *, wait: bool = True) -> None:
        """Finish the current documents and stop; others take the jobs at once."""
        self._closing.set()
        self.wake()
        if wait and self._thread.is_alive():
            self._thread.join()
            self._fetches.close()
            self._reading.shutdown(wait=True, cancel_futures=True)
            self._try(lambda: self._parts.jobs.let_go(self._name))

    def _run(self) -> None:
        while not self._closing.is_set():
            if self._try(self._look) and self._try(self._tidy):
                self._trouble = ""
            self._woken.wait(LOOK_S)
            self._woken.clear()

    def _try(self, step: Callable[[], object]) -> bool:
        """Log why a step failed, once where it fails again and again; return whether it did not."""
        try:
            step()
            return True
        except PropCiteError as error:
            trouble = str(error)
            self._was_away |= isinstance(error, UnreachableError)
        except Exception as error:  # in this thread nobody would see it
            trouble = f"{type(error).__name__}: {error}"
        if trouble != self._trouble:
            log.warning("documents wait in the queue: %s", trouble)
            self._trouble = trouble
        return False

    def _look(self) -> None:
        if self._was_away:  # what ended while the database was away could not be noted: it is taken again
            self._parts.jobs.let_go(self._name, keep=list(self._work))
            self._was_away = False
        self._sign()
        for to_fetch in (True, False):
            while self._slots[to_fetch] and not self._closing.is_set() and self._take(to_fetch):
                pass

    def _tidy(self) -> None:
        """Take over what a former version accepted, and remove files that no job needs."""
        if time.monotonic() - self._tidied >= TIDY_S:
            take_over(self._parts.library, self._parts.jobs, self.files)
            for folder in self.files.left(self._parts.jobs.unfinished()):
                shutil.rmtree(folder, ignore_errors=True)
            self._tidied = time.monotonic()
            self.wake()

    def _sign(self) -> None:
        """Say in the database how far the jobs are, and stop those that are cancelled or taken by others."""
        with self._lock:
            work = dict(self._work)
        if not work:
            return
        has = self._parts.jobs.sign(self._name, {id_: one.news for id_, one in work.items()})
        for id_, one in work.items():
            if has.get(id_, True):
                one.stopped.set()

    def _take(self, to_fetch: bool) -> bool:
        """Begin the next job; return whether there was one."""
        jobs = self._parts.jobs
        job = jobs.take(self._name, to_fetch=to_fetch)
        if job is None:
            return False
        work = _Work(job, jobs.outcomes(job.id))
        if job.is_cancelled:
            work.stopped.set()
        with self._lock:
            self._work[job.id] = work
            self._slots[to_fetch] -= 1
        if to_fetch:
            self._fetches.begin(job, work.stopped, partial(self._end_fetching, work))
        else:
            self._reading.submit(self._read, work)
        return True

    def _leave(self, work: _Work, to_fetch: bool) -> None:
        with self._lock:
            if self._work.get(work.job.id) is work:  # fetched, it may be taken again at once
                del self._work[work.job.id]
            self._slots[to_fetch] += 1
        self.wake()

    def _end_fetching(self, work: _Work, fetched: Sequence[Fetched]) -> None:
        self._try(lambda: self._parts.jobs.note_fetched(self._name, work.job.id, fetched))
        self._leave(work, to_fetch=True)

    def _read(self, work: _Work) -> None:
        self._try(lambda: self._end(work, self._run_job(work)))
        self._leave(work, to_fetch=False)

    def _run_job(self, work: _Work) -> str:
        """Read what a job names; return why it failed, empty if it did not."""
        try:
            self._ingest_when_free(work)
        except UnreachableError:
            raise
        except PropCiteError as error:
            return str(error)
        except Exception as error:  # in this thread nobody would see it
            return f"{type(error).__name__}: {error}"
        return CANCELLED if work.stopped.is_set() and not work.is_finished else ""

    def _end(self, work: _Work, reason: str) -> None:
        jobs, id_ = self._parts.jobs, work.job.id
        if self._closing.is_set() and not work.is_finished:
            jobs.let_go(self._name, news={id_: work.news})
        elif jobs.end(self._name, id_, reason, work.news):
            self.files.remove(id_)

    def _ingest_when_free(self, work: _Work) -> None:
        """Run a job, once another writer of the collection has ended and the storage answers."""
        deadline = time.monotonic() + MAX_WAIT_S
        while not work.stopped.is_set():
            try:
                return self._ingest(work)
            except (InUseError, StorageError):
                if time.monotonic() > deadline or self._closing.wait(RETRY_S):
                    raise
        return None

    def _ingest(self, work: _Work) -> None:
        job = work.job
        collection = self._parts.library.create_collection(job.collection)
        sources, failed = self._sources(job, collection)
        work.outcomes += [one for one in without(failed, work.done) if isinstance(one, Outcome)]
        ingester = self._parts.ingester(collection, progress=partial(work.report, len(work.done)))
        for outcome in ingester.ingest(sources, again=job.again, cancelled=lambda: self._ends(work), done=work.done):
            work.outcomes.append(outcome)
        total = work.progress.total if work.progress else job.total
        work.is_finished = not self._ends(work) or len(work.done) == total

    def _ends(self, work: _Work) -> bool:
        return work.stopped.is_set() or self._closing.is_set()

    def _sources(self, job: Job, collection: CollectionInfo) -> tuple[list[Source], list[Outcome]]:
        """Return what a job reads, and a failed outcome for each of its sources that is not there."""
        settings = self._parts.settings
        if job.is_of_all:
            return sources_to_read_again(self._parts.originals, collection, settings.max_file_mb * 2**20)
        files, failed = gather(
            [Path(source) for source in job.sources if not is_address(source)], follow_links=settings.follow_links
        )
        uploads = [self.files.stored(job.id, number, name) for number, name in enumerate(job.files)]
        fetched = zip(addresses(job), job.fetched or (), strict=True)
        pages = [
            WebFile(url, reason=page.reason)
            if page.reason
            else self.files.stored(job.id, len(job.files) + number, page.name, url)
            for number, (url, page) in enumerate(fetched)
        ]
        return [*uploads, *pages, *files], failed
