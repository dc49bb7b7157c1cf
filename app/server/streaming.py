"""Server-sent events from an iterator that runs in a thread and is awaited in the event loop."""

from __future__ import annotations

import asyncio
import json
import threading
from collections import deque
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping
from typing import Any, Protocol, TypeVar

from propcite.app.server.concurrency import WorkerPool

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)
KEEP_ALIVE_S = 15.0  # after so long without an event a comment shows the client that the connection is alive
COMMENT = ": still here\n\n"


class Stream(Protocol[T_co]):
    """An iterator of items; `close` stops it from any thread."""

    def __iter__(self) -> Iterator[T_co]: ...
    def close(self) -> None: ...


async def items_from_thread(workers: WorkerPool, make: Callable[[], Stream[T]]) -> AsyncGenerator[T | None]:
    """Yield each item of a stream that runs in a worker thread, and None after a pause.

    The stream is closed as soon as the consumer stops.  A slow consumer blocks no thread: items wait in memory.
    """
    items: deque[T] = deque()
    ready, stopped, loop = asyncio.Event(), threading.Event(), asyncio.get_running_loop()
    streams: list[Stream[T]] = []

    def produce() -> None:
        if stopped.is_set():
            return
        streams.append(make())
        try:
            for item in streams[0]:
                if stopped.is_set():
                    break
                items.append(item)
                loop.call_soon_threadsafe(ready.set)
        finally:
            streams[0].close()

    running = workers.submit(produce)
    running.add_done_callback(lambda _: loop.call_soon_threadsafe(ready.set))
    try:
        while True:
            has_ended = running.done()  # read before the items, so that none is lost at the end
            while items:
                yield items.popleft()
            if has_ended:
                break
            if not await _wait(ready, KEEP_ALIVE_S):
                yield None
        running.result()
    finally:
        stopped.set()
        running.cancel()
        if streams and not running.done():
            loop.run_in_executor(None, streams[0].close)


async def _wait(ready: asyncio.Event, seconds: float) -> bool:
    try:
        async with asyncio.timeout(seconds):
            await ready.wait()
    except TimeoutError:
        return False
    ready.clear()
    return True


def sse_event(name: str, data: Mapping[str, Any] | str) -> str:
    """Return a server-sent event; `data` as text is JSON already."""
    text = data if isinstance(data, str) else json.dumps(data, ensure_ascii=False)
    return f"event: {name}\ndata: {text}\n\n"
