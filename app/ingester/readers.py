"""Sources read ahead, side by side, each in a process that may hang or die without harm to the rest."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import PurePath
from threading import Event, Timer, local
from types import TracebackType
from typing import IO

from app.ingester.reading import Job, Read, failed, read
from retrieval.splitter import PassageSplitter

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
        self._processes: list[_Process] = []

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
            self._own.process = _Process(self._splitter.num_words, self._limits.megabytes)
            self._processes.append(self._own.process)
        process: _Process = self._own.process
        return process.read(job, self._limits.seconds)


class _Process:
    """One reader, begun anew after each source that it did not survive."""

    def __init__(self, words: int, megabytes: int) -> None:
        self._words = [sys.executable, "-m", "app.ingester.process", str(words), str(megabytes)]
        self._running: subprocess.Popen[bytes] | None = None

    def read(self, job: Job, seconds: float) -> Read:
        running = self._running = self._running or self._start()
        late = Event()
        timer = Timer(seconds, _stop, (running, late))
        timer.daemon = True
        timer.start()
        try:
            into, out = _pipes(running)
            pickle.dump(job, into, pickle.HIGHEST_PROTOCOL)
            into.flush()
            found = pickle.load(out)
        except (EOFError, OSError, ValueError, pickle.UnpicklingError):
            self.kill()
            return failed(job, _ended(job.name, seconds if late.is_set() else 0))
        finally:
            timer.cancel()
        assert isinstance(found, Read)
        return found

    def _start(self) -> subprocess.Popen[bytes]:
        pipe = subprocess.PIPE
        path = os.pathsep.join(place or os.getcwd() for place in sys.path)
        alone = {"PYTHONPATH": path, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
        return subprocess.Popen(
            self._words, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, env={**os.environ, **alone}
        )

    def kill(self) -> None:
        running, self._running = self._running, None
        if running is not None:
            running.kill()
            running.wait()
            for end in _pipes(running):
                with suppress(OSError):
                    end.close()


def _stop(running: subprocess.Popen[bytes], late: Event) -> None:
    late.set()
    running.kill()


def _pipes(running: subprocess.Popen[bytes]) -> tuple[IO[bytes], IO[bytes]]:
    assert running.stdin
    assert running.stdout
    return running.stdin, running.stdout


def _ended(name: str, seconds: float) -> str:
    if seconds:
        return f"{name} was not read within {seconds:g} seconds: split it, or raise PROPCITE_READ_SECONDS"
    return f"{name} ended its reader: it is damaged or hostile, save it anew or leave it out"
