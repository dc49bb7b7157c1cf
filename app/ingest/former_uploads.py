"""Jobs that servers of a former version accepted, each server in a folder of its own: they go into the queue."""

from __future__ import annotations

import json
import os
import shutil
from contextlib import suppress
from pathlib import Path

from filelock import FileLock, Timeout

from propcite.app.errors import CollidedError
from propcite.app.ingest.uploaded_files import JOB_FILE, LOCK_FILE, UploadedFiles
from propcite.app.library.store import Jobs, Library
from propcite.attribution.formats.text import is_address


def take_over(library: Library, jobs: Jobs, files: UploadedFiles) -> None:
    """Put the jobs of former servers that have ended into the queue.

    Their files are moved first.  A job file that lies beside them keeps the job until the queue has it.
    """
    for lock in sorted(files.folder.glob(f"*/{LOCK_FILE}")):
        with suppress(Timeout, OSError), FileLock(lock, timeout=0):
            for job_file in sorted(lock.parent.glob(f"*/{JOB_FILE}")):
                os.replace(job_file.parent, files.folder / job_file.parent.name)
            shutil.rmtree(lock.parent)
    for job_file in sorted(files.folder.glob(f"*/{JOB_FILE}")):
        with suppress(OSError, CollidedError):  # another process does the same
            _accept(library, jobs, job_file)
            job_file.unlink()


def _accept(library: Library, jobs: Jobs, job_file: Path) -> None:
    with suppress(ValueError, KeyError):  # it was never written whole, so nothing was accepted
        about = json.loads(job_file.read_text(encoding="utf-8"))
        collection, sources = library.create_collection(about["collection"]), about.get("sources", ())
        to_fetch = any(map(is_address, sources))
        jobs.accept(
            job_file.parent.name,
            collection,
            about["files"],
            sources,
            again=bool(about.get("again")),
            to_fetch=to_fetch,
            on_page=True,
        )
