"""Ask a language model several things at once, in threads that end with the work that wants the replies."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import Event
from typing import TypeVar

from propcite.attribution.llm.background_loop import result_of
from propcite.retrieval.interrupting import interruptible

T = TypeVar("T")


class _AbandonedError(Exception):
    """Raised in a thread whose reply nobody waits for any more."""


def in_threads(works: Sequence[Callable[[], T]], num_parallel: int, name: str) -> list[T]:
    """Return the results in order; an interrupt or the first error cancels the requests that still wait for a reply."""
    over = Event()

    def check() -> None:
        if over.is_set():
            raise _AbandonedError

    def done(work: Callable[[], T]) -> T:
        with interruptible(check):
            return work()

    pool = ThreadPoolExecutor(num_parallel, thread_name_prefix=name)
    try:
        jobs = [pool.submit(done, work) for work in works]
        return [result_of(job) for job in jobs]
    finally:
        over.set()
        pool.shutdown(wait=False, cancel_futures=True)
