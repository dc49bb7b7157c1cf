"""Pass a stream on as it comes, with citations in between.

The model server's chunks are passed on unchanged and at once.  A sentence's citations follow in a chunk of their own,
with `delta.annotations`, once they are known.  The chunk that ends a choice is held until all of the choice is cited,
and a chunk with `delta.propcite`, the cited answer, precedes it.  So `finish_reason` is the last of a choice, and the
usage the last of all, as clients expect.  A chunk with both text and the end of a choice is split into two.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterable, AsyncIterator, Mapping, Sequence
from contextlib import aclosing
from typing import Any

import httpx

from propcite.app.server.problems import INTERNAL_ERROR, openai_error
from propcite.app.server.proxy.chunks import (
    DONE,
    BrokenStreamError,
    Event,
    OutOfTimeError,
    common_fields,
    delta,
    encode_chunk,
    parse_events,
    split_end,
)
from propcite.app.server.proxy.citing import BROKEN_OFF, CompletionCiter, index_of
from propcite.app.server.proxy.streamed_choice import StreamedChoice

log = logging.getLogger("propcite.server")

MAX_QUEUED = 64  # events that wait for a slow client before the model server has to wait

Choice = Mapping[str, Any]


class StreamRelay:
    """Relays one stream; `error` says why it ended too early."""

    def __init__(self, citer: CompletionCiter) -> None:
        self.error = ""
        self._citer = citer
        self._out: asyncio.Queue[bytes | None] = asyncio.Queue(MAX_QUEUED)
        self._fields: Mapping[str, Any] = {}
        self._choices: dict[int, StreamedChoice] = {}
        self._begun: set[int] = set()
        self._ended: set[int] = set()
        self._tasks: list[asyncio.Task[None]] = []
        self._ending: list[asyncio.Task[None]] = []

    async def events(self, pieces: AsyncIterable[bytes]) -> AsyncIterator[bytes]:
        self._tasks.append(asyncio.create_task(self._run(pieces)))
        while (event := await self._out.get()) is not None:
            yield event

    async def close(self) -> None:
        """Stop all tasks, and stop reading."""
        self._citer.stop()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await asyncio.gather(*(choice.close() for choice in self._choices.values()), return_exceptions=True)

    async def _run(self, pieces: AsyncIterable[bytes]) -> None:
        try:
            error_event = await self._relay_all(pieces)
            await self._finish(error_event)
        except Exception as error:  # the client's stream must end
            log.error("a stream could not be passed on", exc_info=error)
            self.error = INTERNAL_ERROR
            await self._out.put(encode_chunk(openai_error(500, INTERNAL_ERROR)) + DONE)
        await self._out.put(None)

    async def _relay_all(self, pieces: AsyncIterable[bytes]) -> bytes:
        """Relay events up to the end of the stream; return an error event of the model server, or nothing."""
        try:
            async with aclosing(parse_events(pieces)) as events:
                async for event in events:
                    if event.is_last:
                        return b""
                    if event.chunk and event.chunk.get("error"):
                        self.error = "the model server sent an error in its stream"
                        return event.raw
                    await self._take(event)
        except (httpx.HTTPError, BrokenStreamError) as error:
            self.error = f"{BROKEN_OFF} ({type(error).__name__})"
        except OutOfTimeError as error:
            self.error = str(error)
            return encode_chunk(openai_error(504, self.error))
        if self._is_unfinished:
            self.error = self.error or BROKEN_OFF
        return b""

    @property
    def _is_unfinished(self) -> bool:
        """Return whether no choice has begun, or one has not ended."""
        return not self._begun or bool(self._begun - self._ended)

    async def _finish(self, error_event: bytes) -> None:
        """Send a well-formed end, whatever came before it."""
        await self._await_ending()
        open_choices = [choice for index, choice in self._choices.items() if index not in self._ended]
        for choice in open_choices:
            await choice.end(None, why_broken=self.error)
        if error_event:
            await self._out.put(error_event)
        elif self.error and not open_choices and self._is_unfinished:
            await self._out.put(encode_chunk(openai_error(502, self.error)))
        await self._out.put(DONE)

    async def _take(self, event: Event) -> None:
        chunk = event.chunk
        if chunk is None:  # a comment
            return await self._out.put(event.raw)
        choices = _choices(chunk)
        self._fields = common_fields(chunk) or self._fields
        indexes = {index_of(choice) for choice in choices}
        if not choices or indexes & self._ended:
            await self._await_ending()  # the usage comes last
        self._begun |= indexes
        if any(map(_text, choices)) and any(choice.get("finish_reason") for choice in choices):
            text, end = split_end(chunk)
            await self._pass(text, None)
            return await self._pass(end, None)
        return await self._pass(chunk, event.raw)

    async def _pass(self, chunk: Mapping[str, Any], raw: bytes | None) -> None:
        """Pass a chunk on, unchanged unless markers are removed from it, and cite its text only after that."""
        choices, passed_texts = _choices(chunk), []
        for choice in choices:
            if text := _text(choice):
                streamed = self._choice(index_of(choice))
                passed = streamed.strip(text)
                if passed != text:
                    choice["delta"]["content"], raw = passed, None
                streamed.num_annotations += len(choice["delta"].get("annotations") or ())
                passed_texts.append((streamed, passed))
        ended = [choice for choice in choices if choice.get("finish_reason")]
        if ended:
            self._hold(ended, raw or encode_chunk(chunk))
        else:
            await self._out.put(raw or encode_chunk(chunk))
        for streamed, passed in passed_texts:
            streamed.add(passed)

    def _hold(self, ended: Sequence[Choice], raw: bytes) -> None:
        """Hold the chunk that ends choices until these are cited, without holding the text of other choices."""
        newly_ended = [choice for choice in ended if index_of(choice) not in self._ended]  # some servers end one twice
        self._ended |= {index_of(choice) for choice in ended}
        task = asyncio.create_task(self._end(newly_ended, raw))
        self._ending.append(task)
        self._tasks.append(task)

    async def _end(self, ended: Sequence[Choice], raw: bytes) -> None:
        for choice in ended:
            if streamed := self._choices.get(index_of(choice)):
                await streamed.end(choice.get("finish_reason"))
        await self._out.put(raw)

    async def _await_ending(self) -> None:
        ending, self._ending = self._ending, []
        await asyncio.gather(*ending)

    def _choice(self, index: int) -> StreamedChoice:
        if index not in self._choices:
            self._choices[index] = StreamedChoice(index, self._citer, self._send)
        return self._choices[index]

    async def _send(self, index: int, added: Mapping[str, Any]) -> None:
        await self._out.put(delta(self._fields, index, added))


def _choices(chunk: Mapping[str, Any]) -> list[Any]:
    choices = chunk.get("choices")
    return [c for c in choices if isinstance(c, dict)] if isinstance(choices, list) else []


def _text(choice: Choice) -> str:
    added = choice.get("delta")
    content = added.get("content") if isinstance(added, dict) else None
    return content if isinstance(content, str) else ""
