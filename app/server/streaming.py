"""Server-sent events from an iterator that runs in a thread and is awaited in the event loop."""

from __future__ import annotations

import asyncio
import json
import threading
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterable, Callable, Iterator, Mapping
from contextlib import suppress
from typing import Any, Protocol, TypeVar

from fastapi.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from propcite.app.errors import TooLongError
from propcite.app.turns.costs import Kind, Size
from propcite.app.turns.jobs import Job
from propcite.app.turns.slots import Slot
from propcite.app.turns.workers import Workers

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)
KEEP_ALIVE_S = 15.0  # after so long without an event a comment shows the client that the connection is alive
COMMENT = ": still here\n\n"
UNBUFFERED = {"Cache-Control": "no-cache", "X-Accel-Buffering": "no"}


class Stream(Protocol[T_co]):
    """An iterator of items; `close` stops it from any thread."""

    def __iter__(self) -> Iterator[T_co]: ...
    def close(self) -> None: ...


class BoundedStream(StreamingResponse):
    """A stream in a slot.  It ends `seconds` after it began, whatever its client reads: nobody can hold it open."""

    def __init__(self, events: AsyncIterable[Any], slot: Slot, seconds: float) -> None:
        super().__init__(events, headers=UNBUFFERED, media_type="text/event-stream")
        self._slot, self._seconds = slot, seconds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            with suppress(TimeoutError):
                async with asyncio.timeout(self._seconds):
                    await super().__call__(scope, receive, send)
        finally:
            self._slot.leave()


def too_long(seconds: float) -> TooLongError:
    what = f"this took more than {seconds:g} seconds, so nothing follows"
    return TooLongError(f"{what}: ask for less, or raise PROPCITE_SERVE_STREAM_SECONDS")


async def items_from_thread(
    workers: Workers, slot: Slot, job: Job, seconds: float, make: Callable[[], Stream[T]]
) -> AsyncGenerator[T | None]:
    """Yield each item of a stream that runs in a thread once its slot has begun, and None after a pause.

    The stream is closed as soon as the consumer stops, or by TooLongError after some seconds.  A slow consumer blocks
    no thread and no slot: items wait in memory.
    """
    items: deque[T] = deque()
    ready, stopped, loop = asyncio.Event(), threading.Event(), asyncio.get_running_loop()
    streams: list[Stream[T]] = []
    ended: asyncio.Future[None] = loop.create_future()

    def produce() -> None:
        error: BaseException | None = None
        try:
            with job.pacing():
                streams.append(make())
                for item in streams[0]:
                    if stopped.is_set():
                        break
                    items.append(item)
                    loop.call_soon_threadsafe(ready.set)
        except BaseException as raised:
            error = raised
        finally:
            _close(streams)
            slot.release()
            workers.learn(Kind.ANSWER, Size(), job.spent)
            loop.call_soon_threadsafe(_end, ended, error)
            loop.call_soon_threadsafe(ready.set)

    end = loop.time() + seconds
    try:
        while not await slot.begun(min(KEEP_ALIVE_S, end - loop.time())):
            _check_time(end, seconds)
            yield None
        slot.is_taken = True
        workers.start(produce)
        while True:
            has_ended = ended.done()  # read before the items, so that none is lost at the end
            while items:
                yield items.popleft()
            if has_ended:
                break
            has_come = await _wait(ready, min(KEEP_ALIVE_S, end - loop.time()))
            _check_time(end, seconds)
            if not has_come:
                yield None
        await ended
    finally:
        stopped.set()
        slot.leave()
        if slot.is_taken and not ended.done():
            ended.cancel()
            loop.run_in_executor(None, _stop, streams, job)


def _check_time(end: float, seconds: float) -> None:
    if asyncio.get_running_loop().time() >= end:
        raise too_long(seconds)


def _stop(streams: list[Stream[Any]], job: Job) -> None:
    """Stop a stream that somebody waits for no more; what it has by then is kept."""
    job.cancel()
    _close(streams)


def _close(streams: list[Stream[Any]]) -> None:
    for stream in streams:
        with suppress(ValueError):  # a generator that runs at this moment: the thread in which it runs closes it
            stream.close()


def _end(ended: asyncio.Future[None], error: BaseException | None) -> None:
    if ended.done():
        return
    if error is None:
        ended.set_result(None)
    else:
        ended.set_exception(error)


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
