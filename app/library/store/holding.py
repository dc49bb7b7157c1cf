"""Which process measures which run: a lock that its system takes back when it ends, however it ends."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from filelock import FileLock, Timeout

from propcite.app.errors import InUseError, StoreError

PATIENCE_S = 2.0  # who only looks holds the lock for a moment


@dataclass(frozen=True, slots=True)
class Holding:
    """Two small files a run: the lock, and the number of the process that took it last."""

    folder: Path

    @contextmanager
    def held(self, run_id: str) -> Iterator[None]:
        """This process measures the run; a second one is told."""
        lock = self._taken(run_id)
        try:
            yield
        finally:
            lock.release()

    def _taken(self, run_id: str) -> FileLock:
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            lock = FileLock(self._lock(run_id), timeout=PATIENCE_S)
            lock.acquire()
            self._number(run_id).write_text(str(os.getpid()), encoding="ascii")
            return lock
        except Timeout as error:
            raise InUseError(
                f"run {run_id} is measured by another process ({self._last(run_id)}): wait for it, or stop it"
            ) from error
        except OSError as error:
            raise StoreError(
                f"{self.folder} cannot be written ({error.strerror}): free space or set PROPCITE_DATA_DIR"
            ) from error

    def holder(self, run_id: str) -> int | None:
        """The process that measures the run now; None where nobody does."""
        if not self._lock(run_id).exists():
            return None
        try:
            with FileLock(self._lock(run_id), timeout=0):
                return None
        except Timeout:
            return self._last(run_id)

    def begun_by(self, process: int) -> str:
        """The run that this process took last; empty where it has taken none."""
        found = [path for path in self.folder.glob("*.process") if self._last(path.stem) == process]
        return max(found, key=lambda path: path.stat().st_mtime_ns).stem if found else ""

    def forget(self, run_id: str) -> None:
        for path in (self._lock(run_id), self._number(run_id)):
            path.unlink(missing_ok=True)

    def _last(self, run_id: str) -> int | None:
        with suppress(OSError, ValueError):
            return int(self._number(run_id).read_text("ascii"))
        return None

    def _lock(self, run_id: str) -> Path:
        return self.folder / f"{run_id}.lock"

    def _number(self, run_id: str) -> Path:
        return self.folder / f"{run_id}.process"
