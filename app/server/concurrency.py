"""Limits on how many jobs run at once and how many wait; with a full queue, a request is refused at once."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import copy_context
from threading import Event, Lock
from typing import TypeVar

from propcite.app.server.errors import RequestError, too_busy, too_much_work
from propcite.retrieval.interrupting import interruptible

T = TypeVar("T")


class WorkerPool:
    """Runs functions in its own threads; one that is cancelled never starts, or ends at its next batch of texts.

    One that takes more than `max_seconds` ends in the same way, with an error that names the setting.
    """

    def __init__(
        self, num_threads: int, max_waiting: int, name: str = "propcite-work", *, max_seconds: float = math.inf
    ) -> None:
        self.num_threads, self.max_waiting, self.max_seconds = num_threads, max_waiting, max_seconds
        self._threads = ThreadPoolExecutor(num_threads, name)
        self._lock = Lock()
        self._num_jobs = 0

    @property
    def waiting(self) -> int:
        return max(0, self._num_jobs - self.num_threads)

    @property
    def running(self) -> int:
        return min(self._num_jobs, self.num_threads)

    async def run(self, work: Callable[[], T]) -> T:
        """Return the result of the work, which ends early if its caller is cancelled or it takes too long."""
        cancelled = Event()

        def bounded() -> T:
            end = time.monotonic() + self.max_seconds

            def check() -> None:
                if cancelled.is_set():
                    raise RequestError(499, "the client hung up")
                if time.monotonic() > end:
                    raise too_much_work(f"this took more than {self.max_seconds:g} seconds", "PROPCITE_SERVE_SECONDS")

            with interruptible(check):
                return work()

        try:
            return await asyncio.wrap_future(self.submit(bounded))
        finally:
            cancelled.set()

    def submit(self, work: Callable[[], T]) -> Future[T]:
        with self._lock:
            if self.waiting >= self.max_waiting:
                raise too_busy(self.waiting)
            self._num_jobs += 1
        future = self._threads.submit(copy_context().run, work)
        future.add_done_callback(self._done)
        return future

    def submit_unbounded(self, work: Callable[[], object]) -> None:
        """Run a function when a thread is free, uncounted; for callers with a bounded queue of their own."""
        self._threads.submit(copy_context().run, work)

    def _done(self, _: Future[T]) -> None:
        with self._lock:
            self._num_jobs -= 1

    def close(self) -> None:
        self._threads.shutdown(wait=True, cancel_futures=True)


class Slots:
    """Slots for tasks of the event loop, which wait for a slot in order and without a thread."""

    def __init__(self, num: int, max_waiting: int) -> None:
        self.max_waiting = max_waiting
        self.waiting = self.running = 0
        self._free = asyncio.Semaphore(num)

    async def acquire(self) -> None:
        if self._free.locked() and self.waiting >= self.max_waiting:
            raise too_busy(self.waiting)
        self.waiting += 1
        try:
            await self._free.acquire()
        finally:
            self.waiting -= 1
        self.running += 1

    def release(self) -> None:
        self.running -= 1
        self._free.release()
