"""Citing while the answer is still being written: text as it comes, each sentence's citations once it has ended."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import AsyncGenerator, AsyncIterable, AsyncIterator, Generator, Iterable, Iterator
from concurrent.futures import Future
from contextlib import suppress
from types import TracebackType
from typing import Any, Self

from propcite.attribution.citations import CitedAnswer
from propcite.attribution.citing.background import Desk
from propcite.attribution.errors import AttributionError
from propcite.attribution.events import AnswerDone, Event, TextDelta
from propcite.attribution.propcite import PropCite, Source
from propcite.attribution.prose.sentences import Sentences
from propcite.attribution.prose.unmarking import Unmarking
from propcite.retrieval.retriever import Retriever

END = object()


def cite_stream(
    propcite: PropCite,
    tokens: Iterable[str | None],
    source: Source,
    *,
    collection: Retriever | None = None,
    question: str = "",
    strip_markers: bool = False,
) -> CitedStream:
    """The events of an answer whose text comes in pieces, or None where a piece has none.

    Passages are encoded while the first sentence is written.  Citations come out with the next piece, also an empty
    one.  `strip_markers` takes out the markers that the writer typed.  Who stops early, by `break` or an error, leaves
    nothing running.
    """
    return CitedStream(Arriving(propcite, source, collection, question, strip_markers), tokens)


def acite_stream(
    propcite: PropCite,
    tokens: AsyncIterable[str | None],
    source: Source,
    *,
    collection: Retriever | None = None,
    question: str = "",
    strip_markers: bool = False,
) -> AsyncCitedStream:
    """The same for asyncio; citations come even while the next piece of text is waited for."""
    return AsyncCitedStream(Arriving(propcite, source, collection, question, strip_markers), tokens)


class Arriving:
    """An answer being written: its text so far, and the desk where its sentences are cited."""

    def __init__(
        self, propcite: PropCite, source: Source, collection: Retriever | None, question: str, strip_markers: bool
    ) -> None:
        self.question = question
        self.desk = Desk(propcite, source, collection)
        self._texts: list[str] = []
        self._sentences = Sentences()
        self._unmarking = Unmarking() if strip_markers else None

    def take(self, token: object) -> Iterator[Event]:
        """The events of the next piece of text."""
        if token is not None and not isinstance(token, str):
            raise AttributionError(f"a piece of the answer is a {type(token).__name__}: give its text, or None")
        yield from self._text(self._unmarking.feed(token or "") if self._unmarking else token or "")
        yield from self.desk.ready()

    def finish(self) -> Iterator[Event]:
        """The events of the text's end; sentences are still to be cited then."""
        yield from self._text(self._unmarking.finish() if self._unmarking else "")
        for sentence in self._sentences.finish():
            self.desk.put(sentence)

    def _text(self, text: str) -> Iterator[Event]:
        if text:
            self._texts.append(text)
            for sentence in self._sentences.feed(text):
                self.desk.put(sentence)
            yield TextDelta(text)

    @property
    def so_far(self) -> CitedAnswer:
        return self.desk.answer("".join(self._texts), self.question)


class CitedStream(Iterator[Event]):
    """The events of an answer, in order; `so_far` is what has been cited of it, also after an interruption."""

    def __init__(self, arriving: Arriving, tokens: Iterable[str | None]) -> None:
        self._arriving = arriving
        self._events = _events(arriving, tokens)

    def __next__(self) -> Event:
        return next(self._events)

    @property
    def so_far(self) -> CitedAnswer:
        return self._arriving.so_far

    @property
    def spent(self) -> dict[str, float]:
        """Milliseconds of each step of the citing so far."""
        return self._arriving.desk.spent

    def close(self) -> None:
        self._events.close()
        self._arriving.desk.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()


class AsyncCitedStream(AsyncIterator[Event]):
    """The same for asyncio."""

    def __init__(self, arriving: Arriving, tokens: AsyncIterable[str | None]) -> None:
        self._arriving = arriving
        self._events = _async_events(arriving, tokens)

    async def __anext__(self) -> Event:
        return await anext(self._events)

    @property
    def so_far(self) -> CitedAnswer:
        return self._arriving.so_far

    async def aclose(self) -> None:
        await self._events.aclose()
        await asyncio.to_thread(self._arriving.desk.close)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        await self.aclose()


def _events(arriving: Arriving, tokens: Iterable[str | None]) -> Generator[Event, None, None]:
    pieces = iter(tokens)
    try:
        for token in pieces:
            yield from arriving.take(token)
        yield from arriving.finish()
        yield from arriving.desk.rest()
        yield AnswerDone(arriving.so_far)
    finally:
        arriving.desk.close()
        if inspect.isgenerator(pieces):
            pieces.close()


async def _async_events(arriving: Arriving, tokens: AsyncIterable[str | None]) -> AsyncGenerator[Event, None]:
    pieces = aiter(tokens)
    coming: asyncio.Future[Any] | None = asyncio.ensure_future(anext(pieces, END))
    try:
        while coming or arriving.desk.oldest:
            await _either(coming, arriving.desk.oldest)
            for event in _told(arriving, coming):
                yield event
            if coming and coming.done():
                coming = None if coming.result() is END else asyncio.ensure_future(anext(pieces, END))
        await asyncio.to_thread(arriving.desk.opened)
        yield AnswerDone(arriving.so_far)
    finally:
        await _closed(arriving.desk, coming, pieces)


def _told(arriving: Arriving, coming: asyncio.Future[Any] | None) -> Iterator[Event]:
    if coming is None or not coming.done():
        return arriving.desk.ready()
    return arriving.finish() if coming.result() is END else arriving.take(coming.result())


async def _either(coming: asyncio.Future[Any] | None, job: Future[Any] | None) -> None:
    """Wait for the next piece of text or the next citations; neither is cancelled by this."""
    both = [coming] if coming else []
    if job is not None:
        both.append(asyncio.wrap_future(job))
    await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)


async def _closed(desk: Desk, coming: asyncio.Future[Any] | None, pieces: AsyncIterator[Any]) -> None:
    if coming is not None:
        coming.cancel()
        with suppress(asyncio.CancelledError, Exception):
            await coming
    if inspect.isasyncgen(pieces):
        await pieces.aclose()
    await asyncio.to_thread(desk.close)
