"""Answers that are written in a slot: whole, or as a stream."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterable, Callable
from concurrent.futures import Future
from typing import Any, Literal, TypeVar

from propcite.app.server.service import Service
from propcite.app.server.streaming import BoundedStream, Stream, items_from_thread, too_long
from propcite.app.turns.costs import Kind, Size
from propcite.app.turns.workers import Asking, settle

T = TypeVar("T")
WHOLE = Size()


class Writing:
    """Admits one answer to the slots; BusyError if it would wait too long, for a slot or for its turns."""

    def __init__(
        self,
        service: Service,
        asking: Asking,
        size: Size = WHOLE,
        kind: Literal[Kind.ANSWER, Kind.COMPARE] = Kind.ANSWER,
    ) -> None:
        service.workers.check(asking, kind, size)
        self._workers, settings = service.workers, service.settings
        self._seconds, self._grace = settings.serve_stream_seconds, settings.serve_idle_seconds
        self._kind, self._size = kind, size
        self._job = service.workers.writing_job(asking.client)
        self._slot = service.answers.request(asking, Kind.ASK)

    async def whole(self, work: Callable[[], T]) -> T:
        """Return the result of work in a thread; it ends early if its caller is cancelled, or it takes too long."""
        result = Future[T]()

        def compute() -> None:
            try:
                if result.set_running_or_notify_cancel():
                    with self._job.pacing():
                        settle(result, work)
            finally:
                self._end()

        try:
            async with asyncio.timeout(self._seconds):
                await self._slot.begun()
                self._slot.is_taken = True
                self._workers.start(compute)
                return await asyncio.wrap_future(result)
        except TimeoutError:
            raise too_long(self._seconds) from None
        finally:
            self._slot.leave()
            self._job.cancel()

    def items(self, make: Callable[[], Stream[T]]) -> AsyncGenerator[T | None]:
        """Yield what a stream yields, and None after a pause."""
        return items_from_thread(self._workers, self._slot, self._job, self._seconds, make)

    def leave(self) -> None:
        """Give the slot up unless it has begun to write."""
        self._slot.leave()

    def response(self, events: AsyncIterable[Any]) -> BoundedStream:
        return BoundedStream(events, self._slot, self._seconds + self._grace)

    def _end(self) -> None:
        self._slot.release()
        self._workers.learn(self._kind, self._size, self._job.spent)
