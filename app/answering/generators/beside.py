"""An event loop in a thread of its own, for whatever writes many texts at once and stops any of them at once."""

from __future__ import annotations

import asyncio
import queue
from collections.abc import AsyncGenerator, Coroutine, Generator
from contextlib import aclosing
from threading import Event, Thread
from typing import Any, TypeVar

T = TypeVar("T")
WAIT = 0.03  # seconds until a reader is told that nothing has come yet
AT_MOST = 10.0  # seconds that what was stopped may take to put itself away


class Beside:
    """Runs coroutines for threads that know of none.  Its own thread ends with the process."""

    def __init__(self, name: str) -> None:
        self.loop = asyncio.new_event_loop()
        Thread(target=self.loop.run_forever, name=name, daemon=True).start()

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Its result; an interrupt while it is waited for stops it."""
        job = asyncio.run_coroutine_threadsafe(work, self.loop)
        try:
            return job.result()
        finally:
            job.cancel()

    def items(self, source: AsyncGenerator[T, None]) -> Generator[T | None, None, None]:
        """Each item as it comes, None while none does; closing it stops the source."""
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
            while not isinstance(item := _got(arrived), Event):
                yield item
            job.result()
        finally:
            job.cancel()
            over.wait(AT_MOST)


def _got(arrived: queue.SimpleQueue[T]) -> T | None:
    try:
        return arrived.get(timeout=WAIT)
    except queue.Empty:
        return None
