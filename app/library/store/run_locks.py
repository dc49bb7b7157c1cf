"""Locks that show which process measures which run; the system releases them when the process ends, however it ends."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from filelock import FileLock, Timeout

from propcite.app.errors import InUseError, StoreError

PATIENCE_S = 2.0  # a process that only looks holds the lock for a moment


@dataclass(frozen=True, slots=True)
class RunLocks:
    """Two small files per run: the lock, and the id of the process that took it last."""

    folder: Path

    @contextmanager
    def lock(self, run_id: str) -> Iterator[None]:
        """Hold the lock of a run; raise InUseError while another process holds it."""
        lock = self._acquire(run_id)
        try:
            yield
        finally:
            lock.release()

    def _acquire(self, run_id: str) -> FileLock:
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            lock = FileLock(self._lock_path(run_id), timeout=PATIENCE_S)
            lock.acquire()
            self._process_path(run_id).write_text(str(os.getpid()), encoding="ascii")
            return lock
        except Timeout as error:
            raise InUseError(
                f"another process ({self._last_process(run_id)}) measures run {run_id}: wait for it, or stop it"
            ) from error
        except OSError as error:
            raise StoreError(
                f"cannot write {self.folder} ({error.strerror}): free space, or set PROPCITE_DATA_DIR"
            ) from error

    def holder(self, run_id: str) -> int | None:
        """Return the process that measures the run now; None if there is none."""
        if not self._lock_path(run_id).exists():
            return None
        try:
            with FileLock(self._lock_path(run_id), timeout=0):
                return None
        except Timeout:
            return self._last_process(run_id)

    def last_run_of(self, process: int) -> str:
        """Return the id of the run that a process took last; empty if there is none."""
        paths = [path for path in self.folder.glob("*.process") if self._last_process(path.stem) == process]
        return max(paths, key=lambda path: path.stat().st_mtime_ns).stem if paths else ""

    def remove(self, run_id: str) -> None:
        for path in (self._lock_path(run_id), self._process_path(run_id)):
            path.unlink(missing_ok=True)

    def _last_process(self, run_id: str) -> int | None:
        with suppress(OSError, ValueError):
            return int(self._process_path(run_id).read_text("ascii"))
        return None

    def _lock_path(self, run_id: str) -> Path:
        return self.folder / f"{run_id}.lock"

    def _process_path(self, run_id: str) -> Path:
        return self.folder / f"{run_id}.process"
