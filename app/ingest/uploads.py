"""Read documents in the background.  Accepted jobs are in the database, so any server or worker goes on with them."""

from __future__ import annotations

import time
from collections.abc import Sequence
from secrets import token_hex
from typing import BinaryIO

from propcite.app.errors import BusyError
from propcite.app.ingest.outcomes import Outcome
from propcite.app.ingest.worker import Worker
from propcite.app.library.store import Job
from propcite.app.library.store.jobs import MAX_JOBS, OF_ONE
from propcite.app.parts import Parts
from propcite.attribution.formats.text import is_address

__all__ = ["Job", "Uploads"]
RETRY_S = 60.0


class Uploads:
    """Accepts, lists and cancels the jobs of all servers; reads them too once it is started, if the settings say so."""

    def __init__(self, parts: Parts) -> None:
        self.parts = parts
        self._worker = Worker(parts)
        self._files = self._worker.files

    def start(self) -> None:
        """Read what waits, in threads of this process."""
        if self.parts.settings.serve_reads:
            self._worker.start()

    def close(self, *, wait: bool = True) -> None:
        """Finish the current documents and stop; others go on with the jobs."""
        self._worker.close(wait=wait)

    def new_id(self) -> str:
        return f"{time.time_ns():x}-{token_hex(4)}"  # sorts by time

    def write(self, job_id: str, number: int, content: BinaryIO) -> None:
        """Store an uploaded file, before its job is accepted."""
        self._files.write(job_id, number, content)

    def accept(
        self,
        job_id: str,
        collection: str,
        files: Sequence[str],
        sources: Sequence[str] = (),
        *,
        again: bool = False,
        by: str = "",
        on_page: bool = False,
    ) -> Job:
        """Put a job into the queue.  Its files will be read even if this process stops meanwhile."""
        info = self.parts.library.create_collection(collection)
        to_fetch = any(map(is_address, sources))
        job = self.parts.jobs.accept(
            job_id, info, files, sources, again=again, to_fetch=to_fetch, by=by, on_page=on_page
        )
        self._worker.wake()
        return job

    def discard(self, job_id: str) -> None:
        """Delete the files of a job that has ended or is not accepted."""
        self._files.remove(job_id)

    def check(self, by: str = "") -> None:
        """Raise BusyError if too many jobs wait already, of all or of this sender."""
        jobs = self.parts.jobs
        if (waiting := jobs.num_unfinished()) >= MAX_JOBS:
            raise BusyError(RETRY_S, f"{waiting} uploads wait to be read")
        if by and (waiting := jobs.num_unfinished(by)) >= OF_ONE:
            raise BusyError(RETRY_S, f"{waiting} uploads of {by} wait to be read")

    def job(self, job_id: str) -> Job | None:
        return self.parts.jobs.find(job_id)

    def jobs(self, collection: str) -> list[Job]:
        """Return the jobs of a collection that the page lists, oldest first."""
        return self.parts.jobs.of_collection(collection)

    def outcomes(self, job_id: str) -> list[Outcome]:
        """Return what became of a job's sources that were read."""
        return self.parts.jobs.outcomes(job_id)

    def cancel(self, job_id: str) -> None:
        """End a job after the document in work, and one that waits at once; what was read stays."""
        if self.parts.jobs.cancel(job_id):
            self.discard(job_id)
        self._worker.wake()

    def forget(self, job_id: str) -> None:
        """List a job that has ended no more."""
        self.parts.jobs.put_away(job_id)
