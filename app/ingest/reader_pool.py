"""Sources read ahead, side by side, each in a process that may hang or die without harm to the rest."""

from __future__ import annotations

import os
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import PurePath
from threading import local
from types import TracebackType

from propcite.app.ingest.reading import Job, Read, failed, read
from propcite.app.processes import EndedError, Process
from propcite.retrieval.splitter import PassageSplitter

AT_ONCE = (".txt", ".text", ".md", ".markdown")  # as quick to read as to send elsewhere
SMALL = 2**20  # bytes


@dataclass(frozen=True, slots=True)
class Limits:
    """How many read side by side, and what one source may take of a machine."""

    num: int = field(default_factory=lambda: max(1, min(4, (os.cpu_count() or 1) - 1)))
    seconds: float = 300.0
    megabytes: int = 4096

    @classmethod
    def of(cls, num: int, seconds: float, megabytes: int) -> Limits:
        """As many readers as there are cores to spare where `num` is 0."""
        return cls(num, seconds, megabytes) if num else cls(seconds=seconds, megabytes=megabytes)


class Readers:
    """Processes that are started when they are needed."""

    def __init__(self, splitter: PassageSplitter, limits: Limits) -> None:
        self.num = limits.num
        self._splitter, self._limits = splitter, limits
        self._threads = ThreadPoolExecutor(limits.num, "propcite-readers")
        self._own = local()
        self._processes: list[Process] = []

    def __enter__(self) -> Readers:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._threads.shutdown(wait=False, cancel_futures=True)
        for process in list(self._processes):
            process.kill()
        self._threads.shutdown(wait=True)

    def begin(self, job: Job) -> Read | Future[Read]:
        """What is plain text and small is read before this returns."""
        if PurePath(job.name).suffix.lower() in AT_ONCE and len(job.data) <= SMALL:
            return read(job, self._splitter)
        return self._threads.submit(self._ask, job)

    def _ask(self, job: Job) -> Read:
        if not hasattr(self._own, "process"):
            words = str(self._splitter.num_words), str(self._limits.megabytes)
            self._own.process = Process("propcite.app.ingest.process", *words)
            self._processes.append(self._own.process)
        seconds = self._limits.seconds
        try:
            found = self._own.process.ask(job, seconds)
        except EndedError as error:
            return failed(job, _ended(job.name, seconds if error.late else 0))
        assert isinstance(found, Read)
        return found


def _ended(name: str, seconds: float) -> str:
    if seconds:
        return f"{name} was not read within {seconds:g} seconds: split it, or raise PROPCITE_READ_SECONDS"
    return f"{name} ended its reader: it is damaged or hostile, save it anew or leave it out"
