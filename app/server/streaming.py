"""What is told while it is being made: an iterator that runs in a thread, awaited in the event loop."""

from __future__ import annotations

import asyncio
import json
import threading
from collections import deque
from collections.abc import AsyncGenerator, Callable, Iterator, Mapping
from typing import Any, Protocol, TypeVar

from propcite.app.server.work import Work

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)
QUIET_S = 15.0  # after so long without an event a comment tells the client that the connection lives
COMMENT = ": still here\n\n"


class Stream(Protocol[T_co]):
    """Items as they are made; `close` stops the making from any thread."""

    def __iter__(self) -> Iterator[T_co]: ...
    def close(self) -> None: ...


async def told(work: Work, make: Callable[[], Stream[T]]) -> AsyncGenerator[T | None]:
    """Each item as it comes, None after some quiet.  When nobody listens any more the stream is closed at once.

    A slow listener keeps no thread: what it has not read yet waits in memory.
    """
    items: deque[T] = deque()
    heard, unwanted, loop = asyncio.Event(), threading.Event(), asyncio.get_running_loop()
    making: list[Stream[T]] = []

    def tell() -> None:
        if unwanted.is_set():
            return
        making.append(make())
        try:
            for item in making[0]:
                if unwanted.is_set():
                    break
                items.append(item)
                loop.call_soon_threadsafe(heard.set)
        finally:
            making[0].close()

    running = work.submit(tell)
    running.add_done_callback(lambda _: loop.call_soon_threadsafe(heard.set))
    try:
        while True:
            has_ended = running.done()  # asked first: what came before the end is told
            while items:
                yield items.popleft()
            if has_ended:
                break
            if not await _within(heard, QUIET_S):
                yield None
        running.result()
    finally:
        unwanted.set()
        running.cancel()
        if making and not running.done():
            loop.run_in_executor(None, making[0].close)


async def _within(heard: asyncio.Event, seconds: float) -> bool:
    try:
        async with asyncio.timeout(seconds):
            await heard.wait()
    except TimeoutError:
        return False
    heard.clear()
    return True


def event(name: str, data: Mapping[str, Any] | str) -> str:
    """A server-sent event; `data` is JSON already when it is a text."""
    text = data if isinstance(data, str) else json.dumps(data, ensure_ascii=False)
    return f"event: {name}\ndata: {text}\n\n"
