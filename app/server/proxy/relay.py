"""Pass a stream on as it comes, with citations in between: what the streams of all APIs share."""

from __future__ import annotations

import asyncio
import logging
from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, AsyncIterator, Coroutine
from contextlib import aclosing
from typing import Any

import httpx

from propcite.app.server.problems import INTERNAL_ERROR
from propcite.app.server.proxy.citing import BROKEN_OFF, SERVER, Citer
from propcite.app.server.proxy.events import BrokenStreamError, Event, OutOfTimeError
from propcite.app.server.proxy.streamed_text import OnCited, StreamedText

log = logging.getLogger("propcite.server")

MAX_QUEUED = 64  # events that wait for a slow client before the model server has to wait


class StreamRelay(ABC):
    """Relays one stream; `error` says why it ended too early."""

    def __init__(self, citer: Citer) -> None:
        self.error = ""
        self.citer, self.client = citer, citer.client
        self._out: asyncio.Queue[bytes | None] = asyncio.Queue(MAX_QUEUED)
        self._sending = asyncio.Lock()  # which keeps the order in which events are sent
        self._texts: list[StreamedText] = []
        self._tasks: list[asyncio.Task[None]] = []

    async def events(self, source: AsyncGenerator[Event, None]) -> AsyncIterator[bytes]:
        self.start(self._run(source))
        while (event := await self._out.get()) is not None:
            yield event

    async def close(self) -> None:
        """Stop all tasks, and stop reading."""
        self.citer.stop()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await asyncio.gather(*(text.close() for text in self._texts), return_exceptions=True)

    def start(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        """Start a task that ends with the stream at the latest."""
        task = asyncio.create_task(work)
        self._tasks.append(task)
        return task

    def open_text(self, on_cited: OnCited, *, waits: bool = False) -> StreamedText:
        """Return a new text of the answer; what `on_cited` does waits for nothing but `send`."""
        text = StreamedText(self.citer, on_cited, waits=waits)
        self._texts.append(text)
        return text

    async def send(self, *events: bytes) -> None:
        """Send events in the order of the calls, those of one call together."""
        data = b"".join(events)
        if data:
            async with self._sending:
                await self._out.put(data)

    @abstractmethod
    async def take(self, event: Event) -> None:
        """Pass an event on."""

    @abstractmethod
    async def finish(self, error_event: Event | None) -> None:
        """Send a well-formed end, whatever came before it."""

    def out_of_time_event(self) -> Event | None:
        """Return the event that says so; None if `finish` says it."""
        return None

    @property
    def why_broken(self) -> str | None:
        """Return why the texts that are open end too early."""
        if not self.error:
            return None
        return self.error if self.error.startswith(SERVER) else BROKEN_OFF

    @property
    @abstractmethod
    def is_unfinished(self) -> bool:
        """Return whether the stream has not come to the end of its answer."""

    async def _run(self, source: AsyncGenerator[Event, None]) -> None:
        try:
            error_event = await self._relay_all(source)
            await self.finish(error_event)
        except Exception as error:  # the client's stream must end
            log.error("a stream could not be passed on", exc_info=error)
            self.error = INTERNAL_ERROR
            await self.send(self.citer.call.error_events(500, INTERNAL_ERROR))
        await self._out.put(None)

    async def _relay_all(self, source: AsyncGenerator[Event, None]) -> Event | None:
        """Relay events up to the end of the stream; return an error event of the model server."""
        try:
            async with aclosing(source) as events:
                async for event in events:
                    if event.is_last:
                        return None
                    if event.is_error:
                        self.error = "the model server sent an error in its stream"
                        return event
                    await self.take(event)
        except (httpx.HTTPError, BrokenStreamError) as error:
            self.error = f"{BROKEN_OFF} ({type(error).__name__})"
        except OutOfTimeError as error:
            self.error = str(error)
            return self.out_of_time_event()
        if self.is_unfinished:
            self.error = self.error or BROKEN_OFF
        return None
