"""Threads that work, with a bounded line before them: who finds it full is told at once to come again."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from threading import Lock
from typing import TypeVar

from propcite.app.server.errors import too_busy

T = TypeVar("T")


class Work:
    """Runs functions in threads of its own; a cancelled one that has not begun never runs."""

    def __init__(self, num_threads: int, most_waiting: int, name: str = "propcite-work") -> None:
        self.num_threads, self.most_waiting = num_threads, most_waiting
        self._threads = ThreadPoolExecutor(num_threads, name)
        self._lock = Lock()
        self._inside = 0

    @property
    def waiting(self) -> int:
        """How many have not begun."""
        return max(0, self._inside - self.num_threads)

    @property
    def running(self) -> int:
        return min(self._inside, self.num_threads)

    async def run(self, work: Callable[[], T]) -> T:
        return await asyncio.wrap_future(self.submit(work))

    def submit(self, work: Callable[[], T]) -> Future[T]:
        with self._lock:
            if self.waiting >= self.most_waiting:
                raise too_busy(self.waiting)
            self._inside += 1
        future = self._threads.submit(work)
        future.add_done_callback(self._left)
        return future

    def spare(self, work: Callable[[], object]) -> None:
        """Run it when a thread is free; for those who keep a line of their own."""
        self._threads.submit(work)

    def _left(self, _: Future[T]) -> None:
        with self._lock:
            self._inside -= 1

    def close(self) -> None:
        self._threads.shutdown(wait=True, cancel_futures=True)
