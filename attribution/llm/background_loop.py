"""Run coroutines in an event loop of a background thread, for callers that have none."""

from __future__ import annotations

import asyncio
import queue
import weakref
from collections.abc import AsyncGenerator, Coroutine, Generator
from concurrent.futures import Future
from contextlib import aclosing, suppress
from threading import Event, Thread
from typing import Any, TypeVar

from propcite.retrieval.interrupting import check_interrupt

T = TypeVar("T")
LOOK_S = 0.1  # after which work that waits looks whether it was interrupted
WAIT = 0.03  # seconds after which a reader gets None, because nothing has come yet
CLEANUP_SECONDS = 10.0  # how long a stopped source may take to clean up


class BackgroundLoop:
    """Runs coroutines for any thread.  Its own thread ends when nobody has it any more, or with the process."""

    def __init__(self, name: str) -> None:
        self.loop = asyncio.new_event_loop()
        Thread(target=_run, args=(self.loop,), name=name, daemon=True).start()
        weakref.finalize(self, self.loop.call_soon_threadsafe, self.loop.stop).atexit = False

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Return the result of a coroutine; an interrupt of the caller's work meanwhile cancels it."""
        job = asyncio.run_coroutine_threadsafe(work, self.loop)
        try:
            return result_of(job)
        finally:
            job.cancel()

    def items(self, source: AsyncGenerator[T, None]) -> Generator[T | None, None, None]:
        """Yield each item as it comes, None while none does; closing the generator stops the source."""
        arrived: queue.SimpleQueue[T | Event] = queue.SimpleQueue()
        over = Event()

        async def pump() -> None:
            try:
                async with aclosing(source):
                    async for item in source:
                        arrived.put(item)
            finally:
                over.set()
                arrived.put(over)

        job = asyncio.run_coroutine_threadsafe(pump(), self.loop)
        try:
            while not isinstance(item := _next(arrived), Event):
                yield item
            job.result()
        finally:
            job.cancel()
            over.wait(CLEANUP_SECONDS)


def result_of(job: Future[T]) -> T:
    """Wait for a result; work that is interrupted waits no longer."""
    while True:
        with suppress(TimeoutError):
            return job.result(LOOK_S)
        if job.done():
            return job.result()
        check_interrupt()


def _run(loop: asyncio.AbstractEventLoop) -> None:
    try:
        loop.run_forever()
        left = asyncio.all_tasks(loop)  # an interrupted one may still clean up
        for task in left:
            task.cancel()
        if left:
            loop.run_until_complete(asyncio.gather(*left, return_exceptions=True))
    finally:
        loop.close()


def _next(arrived: queue.SimpleQueue[T]) -> T | None:
    try:
        return arrived.get(timeout=WAIT)
    except queue.Empty:
        return None
