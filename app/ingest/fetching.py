"""Fetch the web addresses of jobs, before any of them holds its collection."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from io import BytesIO

from propcite.app.errors import ReadError
from propcite.app.ingest.sources import WebFile
from propcite.app.ingest.uploaded_files import UploadedFiles
from propcite.app.library.jobs import Fetched, Job
from propcite.app.library.store.jobs import CANCELLED
from propcite.app.settings import Settings
from propcite.attribution.formats.text import is_address

AT_ONCE, OF_A_JOB = 8, 2  # addresses that are fetched


def addresses(job: Job) -> list[str]:
    return [source for source in job.sources if is_address(source)]


class Fetches:
    """Fetches in threads.  Slow addresses of one job leave threads for the others."""

    def __init__(self, settings: Settings, files: UploadedFiles) -> None:
        self._settings, self._files = settings, files
        self._threads = ThreadPoolExecutor(AT_ONCE, "propcite-fetches")
        self._lock = threading.Lock()

    def begin(self, job: Job, stopped: threading.Event, done: Callable[[Sequence[Fetched]], None]) -> None:
        """Fetch the addresses of a job, and call `done` once with what became of each."""
        numbers, found = iter(range(len(addresses(job)))), dict[int, Fetched]()

        def fetch_next() -> None:
            with self._lock:
                number = next(numbers, None)
            if number is None:
                return
            fetched = self._fetch(job, number, stopped)
            with self._lock:
                found[number] = fetched
                is_last = len(found) == len(addresses(job))
            if is_last:
                done([found[number] for number in sorted(found)])
            else:  # behind the addresses of other jobs
                self._submit(fetch_next)

        for _ in range(OF_A_JOB):
            self._submit(fetch_next)

    def _submit(self, work: Callable[[], None]) -> None:
        with suppress(RuntimeError):  # this process ends; another takes the job
            self._threads.submit(work)

    def _fetch(self, job: Job, number: int, stopped: threading.Event) -> Fetched:
        file = WebFile(addresses(job)[number], self._settings.fetch_inside)
        try:
            if stopped.is_set():
                raise ReadError(CANCELLED)
            data = file.read(self._settings.max_file_mb * 2**20)
            self._files.write(job.id, len(job.files) + number, BytesIO(data))
            return Fetched(file.name)
        except ReadError as error:
            return Fetched("", str(error))
        except Exception as error:  # in this thread nobody would see it
            return Fetched("", f"{file.url} cannot be fetched ({type(error).__name__}: {error})")

    def close(self) -> None:
        self._threads.shutdown(wait=True, cancel_futures=True)
