"""The bytes of uploads and of fetched pages until they are read: where all processes that may read them reach them."""

from __future__ import annotations

import shutil
import time
from collections.abc import Collection
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from propcite.app.errors import StoreError
from propcite.app.ingest.sources import Source, StoredFile
from propcite.retrieval.remote.objects import MissingObjectError, ObjectStore

JOB_FILE, LOCK_FILE = "job.json", "server.lock"  # of a former version: of a job it had accepted, of a server that runs
LEFT_S = 3600.0  # after which the files of a job that was never accepted are removed


@dataclass(frozen=True, slots=True)
class UploadedFiles:
    """A folder for each job, and a numbered file for each of its uploads: names that were sent name no file here.

    With `objects` the files are in an object store too, and the folder has those that were sent or are read here.
    """

    folder: Path
    objects: ObjectStore | None = None

    def write(self, job_id: str, number: int, content: BinaryIO) -> None:
        """Store a file of a job that is accepted afterwards."""
        path = self._path(job_id, number)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("wb") as file:
                shutil.copyfileobj(content, file, 1 << 20)
        except OSError as error:
            reason = error.strerror or error
            raise StoreError(f"cannot write {path.parent} ({reason}): free space, or set PROPCITE_DATA_DIR") from error
        if self.objects:
            self.objects.upload(path, _name(job_id, number))

    def stored(self, job_id: str, number: int, name: str, origin: str = "") -> Source:
        """Return a file of a job as it is read; StoreError where it is not here."""
        path = self._path(job_id, number)
        if self.objects and not path.is_file():
            path.parent.mkdir(parents=True, exist_ok=True)
            with suppress(MissingObjectError):
                self.objects.download(_name(job_id, number), path)
        if not path.is_file():
            raise StoreError(
                f"{name} is not in {path.parent}: servers and workers of one database need one data folder "
                "or storage (docs/deploying.md), send it again"
            )
        return StoredFile(name, path, origin)

    def remove(self, job_id: str) -> None:
        shutil.rmtree(self.folder / job_id, ignore_errors=True)
        if self.objects:
            self.objects.remove(self.objects.names(job_id))

    def left(self, unfinished: Collection[str]) -> list[Path]:
        """Return the folders that no job needs: of requests that broke off, and of processes that were killed."""
        folders = (path for path in self.folder.glob("*") if path.is_dir() and path.name not in unfinished)
        return [path for path in folders if not self.is_of_former(path) and _is_old(path)]

    def is_of_former(self, path: Path) -> bool:
        """Return whether a folder has jobs that a former version accepted, or may get some."""
        return any(path.rglob(JOB_FILE)) or (path / LOCK_FILE).exists()

    def _path(self, job_id: str, number: int) -> Path:
        return self.folder / _name(job_id, number)


def _name(job_id: str, number: int) -> str:
    return f"{job_id}/{number}.bin"


def _is_old(folder: Path) -> bool:
    try:
        return time.time() - max(path.stat().st_mtime for path in (folder, *folder.rglob("*"))) > LEFT_S
    except OSError:  # its job removes it at this moment
        return False
