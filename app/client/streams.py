"""Answers while they are written: the events of a server as those of the library."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Generator, Iterator
from contextlib import aclosing, closing
from types import TracebackType
from typing import Any, Self

import httpx

from propcite.app.client.errors import ServerError, broken, unreadable
from propcite.attribution.citations import CitedAnswer, CitedSentence
from propcite.attribution.events import AnswerDone, Event, SentenceCited, TextDelta
from propcite.attribution.formats.json import from_json
from propcite.attribution.formats.json.reading import read_passage, read_sentence
from propcite.retrieval.errors import PropCiteError
from propcite.retrieval.text import Passage

ENDED = "the connection ended before the whole answer had come"


class AnswerReader:
    """Pieces of a stream go in, events of the library come out; `so_far` is the answer with what has come."""

    def __init__(self) -> None:
        self.so_far = CitedAnswer("")
        self.is_done = False
        self._passages: dict[str, Passage] = {}
        self._rest, self._name, self._data = "", "", list[str]()

    def feed(self, text: str) -> Iterator[Event]:
        """Yield the events that end in this piece of the stream; ServerError if one is an error."""
        *lines, self._rest = (self._rest + text).split("\n")  # splitlines would cut at characters inside a text
        for line in lines:
            if event := self._line(line.removesuffix("\r")):
                yield event

    def _line(self, line: str) -> Event | None:
        if line.startswith("event:"):
            self._name = line[6:].strip()
        elif line.startswith("data:"):
            self._data.append(line[5:].removeprefix(" "))
        elif not line and self._data:
            name, data = self._name, "\n".join(self._data)
            self._name, self._data = "", []
            try:
                return self._event(name, data)
            except ServerError:
                raise
            except (KeyError, TypeError, ValueError, PropCiteError) as error:
                raise unreadable(error) from error
        return None

    def check_end(self) -> None:
        """Raise ServerError if the whole answer has not come."""
        if not self.is_done:
            raise broken(ENDED)

    def _event(self, name: str, data: str) -> Event | None:
        match name:
            case "answer.delta":
                text = json.loads(data)["text"]
                self.so_far = CitedAnswer(self.so_far.text + text, self.so_far.sentences)
                return TextDelta(text)
            case "sentence":
                return self._sentence(json.loads(data))
            case "result":
                self.so_far, self.is_done = from_json(data), True
                return AnswerDone(self.so_far)
            case "error":
                problem = json.loads(data)
                raise ServerError(problem["status"], problem["detail"], problem.get("errors", ()))
        return None  # citation.added repeats what its sentence has

    def _sentence(self, data: Any) -> SentenceCited:
        self._passages |= {passage["id"]: read_passage(passage) for passage in data["passages"]}
        sentence: CitedSentence = read_sentence(data, self.so_far.text, self._passages)
        self.so_far = CitedAnswer(self.so_far.text, (*self.so_far.sentences, sentence))
        return SentenceCited(sentence, data["text"])


class AnswerStream(Iterator[Event]):
    """The events of an answer, in order: text, sentences with their citations, the whole answer.

    Leave it early by `with` or `close`, and the server stops writing.
    """

    def __init__(self, open_response: Callable[[], httpx.Response]) -> None:
        self._reader = AnswerReader()
        self._events = _events(open_response, self._reader)

    def __next__(self) -> Event:
        return next(self._events)

    @property
    def so_far(self) -> CitedAnswer:
        """Return the answer with the text and the citations that have come, also after an error."""
        return self._reader.so_far

    def answer(self) -> CitedAnswer:
        """Read the events that remain, and return the whole answer."""
        for _ in self:
            pass
        return self.so_far

    def close(self) -> None:
        self._events.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()


class AsyncAnswerStream(AsyncIterator[Event]):
    """The events of an answer for asyncio."""

    def __init__(self, open_response: Callable[[], Awaitable[httpx.Response]]) -> None:
        self._reader = AnswerReader()
        self._events = _async_events(open_response, self._reader)

    async def __anext__(self) -> Event:
        return await anext(self._events)

    @property
    def so_far(self) -> CitedAnswer:
        """Return the answer with the text and the citations that have come, also after an error."""
        return self._reader.so_far

    async def answer(self) -> CitedAnswer:
        """Read the events that remain, and return the whole answer."""
        async for _ in self:
            pass
        return self.so_far

    async def aclose(self) -> None:
        await self._events.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        await self.aclose()


# The generators hold no reference to their stream, so dropping a stream closes its connection.


def _events(open_response: Callable[[], httpx.Response], reader: AnswerReader) -> Generator[Event]:
    with closing(open_response()) as response:
        try:
            for text in response.iter_text():
                yield from reader.feed(text)
        except httpx.HTTPError as error:
            raise broken(str(error) or type(error).__name__) from error
    reader.check_end()


async def _async_events(
    open_response: Callable[[], Awaitable[httpx.Response]], reader: AnswerReader
) -> AsyncGenerator[Event]:
    async with aclosing(await open_response()) as response:
        try:
            async for text in response.aiter_text():
                for event in reader.feed(text):
                    yield event
        except httpx.HTTPError as error:
            raise broken(str(error) or type(error).__name__) from error
    reader.check_end()
