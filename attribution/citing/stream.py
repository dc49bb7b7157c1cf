"""Cite an answer while it is written: text as it comes, then each sentence with its citations once it has ended."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import AsyncGenerator, AsyncIterable, AsyncIterator, Generator, Iterable, Iterator
from concurrent.futures import Future
from contextlib import suppress
from types import TracebackType
from typing import Any, Self

from propcite.attribution.citations import CitedAnswer
from propcite.attribution.citing.stream_citer import StreamCiter
from propcite.attribution.events import AnswerDone, Event

END = object()


class CitedStream(Iterator[Event]):
    """The events of an answer, in order.  Leaving it early, by `break` or an error, leaves nothing running.

    >>> from propcite import PropCite, SentenceCited
    >>> pieces = ["The barrier is ", "6.4 metres high. It ", "cost a lot."]
    >>> with PropCite.default().stream(pieces, ["The barrier is 6.4 metres high."]) as stream:
    ...     print([event.text for event in stream if isinstance(event, SentenceCited)])
    ['The barrier is 6.4 metres high.', 'It cost a lot.']
    """

    def __init__(self, citer: StreamCiter, pieces: Iterable[str | None]) -> None:
        self._citer = citer
        self._events = _events(citer, pieces)

    def __next__(self) -> Event:
        return next(self._events)

    @property
    def so_far(self) -> CitedAnswer:
        """Return the answer with the citations that are ready, also after an interruption."""
        return self._citer.so_far

    @property
    def spent(self) -> dict[str, float]:
        """Return the milliseconds of each step of the citing so far."""
        return self._citer.spent

    def close(self) -> None:
        self._events.close()
        self._citer.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()


class AsyncCitedStream(AsyncIterator[Event]):
    """The events of an answer for asyncio: citations come even while the next piece of text is awaited.

    >>> import asyncio
    >>> from propcite import AnswerDone, PropCite
    >>> async def pieces():
    ...     yield "The barrier is 6.4 metres high."
    >>> async def coverage():
    ...     async with PropCite.default().astream(pieces(), ["The barrier is 6.4 metres high."]) as stream:
    ...         return [event.answer.coverage async for event in stream if isinstance(event, AnswerDone)]
    >>> asyncio.run(coverage())
    [1.0]
    """

    def __init__(self, citer: StreamCiter, pieces: AsyncIterable[str | None]) -> None:
        self._citer = citer
        self._events = _async_events(citer, pieces)

    async def __anext__(self) -> Event:
        return await anext(self._events)

    @property
    def so_far(self) -> CitedAnswer:
        """Return the answer with the citations that are ready, also after an interruption."""
        return self._citer.so_far

    async def aclose(self) -> None:
        await self._events.aclose()
        await asyncio.to_thread(self._citer.close)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        await self.aclose()


async def _first_of(coming: asyncio.Future[Any] | None, job: Future[Any] | None) -> None:
    """Wait for the next piece of text or the next citations, whichever is first; cancel neither."""
    both = [coming] if coming else []
    if job is not None:
        both.append(asyncio.wrap_future(job))
    await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)


# The generators below hold no reference to their stream, so dropping a stream ends them and its thread at once.


def _events(citer: StreamCiter, pieces: Iterable[str | None]) -> Generator[Event, None, None]:
    coming = iter(pieces)
    try:
        for piece in coming:
            yield from citer.feed(piece)
        yield from citer.finish()
        yield from citer.rest()
        yield AnswerDone(citer.so_far)
    finally:
        citer.close()
        if inspect.isgenerator(coming):
            coming.close()


async def _async_events(citer: StreamCiter, pieces: AsyncIterable[str | None]) -> AsyncGenerator[Event, None]:
    source = aiter(pieces)
    coming: asyncio.Future[Any] | None = asyncio.ensure_future(anext(source, END))
    try:
        while coming or citer.next_job:
            await _first_of(coming, citer.next_job)
            for event in _arrived(citer, coming):
                yield event
            if coming and coming.done():
                coming = None if coming.result() is END else asyncio.ensure_future(anext(source, END))
        await asyncio.to_thread(citer.opened)
        yield AnswerDone(await asyncio.wrap_future(citer.whole()))
    finally:
        await _stop(citer, coming, source)


def _arrived(citer: StreamCiter, coming: asyncio.Future[Any] | None) -> Iterator[Event]:
    """Yield the events of the piece that has come, if one has, and of sentences cited meanwhile."""
    if coming is None or not coming.done():
        return citer.ready()
    return citer.finish() if coming.result() is END else citer.feed(coming.result())


async def _stop(citer: StreamCiter, coming: asyncio.Future[Any] | None, source: AsyncIterator[Any]) -> None:
    if coming is not None:
        coming.cancel()
        with suppress(asyncio.CancelledError, Exception):
            await coming
    if inspect.isasyncgen(source):
        await source.aclose()
    await asyncio.to_thread(citer.close)
