"""A stream passed on as it comes, with its citations in between.

The model server's chunks go on as they are and at once.  A sentence's citations follow in a chunk of their own, with
`delta.annotations`, when they are known.  The chunk that ends a choice is held until all of that choice is cited: in
front of it comes one with `delta.propcite`, the cited answer.  So `finish_reason` is the last of a choice, the usage
the last of all, as clients expect.  A chunk that brings text and the end at once becomes two.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterable, AsyncIterator, Mapping, Sequence
from contextlib import aclosing
from typing import Any

import httpx

from propcite.app.server.problems import OWN_FAULT, openai_error
from propcite.app.server.proxy.choices import CitedChoice
from propcite.app.server.proxy.chunks import DONE, BrokenStreamError, Event, delta, encoded, events_of, frame_of, parted
from propcite.app.server.proxy.citing import BROKE_OFF, Citing, index_of

log = logging.getLogger("propcite.server")

AHEAD = 64  # events that wait for a slow client; then the model's server waits

Choice = Mapping[str, Any]


class Passing:
    """One stream on its way.  `trouble` says why it ended too soon."""

    def __init__(self, citing: Citing) -> None:
        self.trouble = ""
        self._citing = citing
        self._out: asyncio.Queue[bytes | None] = asyncio.Queue(AHEAD)
        self._frame: Mapping[str, Any] = {}
        self._choices: dict[int, CitedChoice] = {}
        self._seen: set[int] = set()
        self._ended: set[int] = set()
        self._tasks: list[asyncio.Task[None]] = []
        self._held: list[asyncio.Task[None]] = []

    async def events(self, pieces: AsyncIterable[bytes]) -> AsyncIterator[bytes]:
        self._tasks.append(asyncio.create_task(self._read(pieces)))
        while (event := await self._out.get()) is not None:
            yield event

    async def close(self) -> None:
        """Nothing runs any more, and nothing is read."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await asyncio.gather(*(choice.close() for choice in self._choices.values()), return_exceptions=True)

    async def _read(self, pieces: AsyncIterable[bytes]) -> None:
        try:
            complaint = await self._pass_all(pieces)
            await self._close_off(complaint)
        except Exception as error:  # the client must come to an end
            log.error("a stream could not be passed on", exc_info=error)
            self.trouble = OWN_FAULT
            await self._out.put(encoded(openai_error(500, OWN_FAULT)) + DONE)
        await self._out.put(None)

    async def _pass_all(self, pieces: AsyncIterable[bytes]) -> bytes:
        """All that comes, up to its end; what the model's server itself says of a trouble is given back."""
        try:
            async with aclosing(events_of(pieces)) as events:
                async for event in events:
                    if event.is_last:
                        return b""
                    if event.chunk and event.chunk.get("error"):
                        self.trouble = "the model's server told of an error in its stream"
                        return event.raw
                    await self._take(event)
        except (httpx.HTTPError, BrokenStreamError) as error:
            self.trouble = f"{BROKE_OFF} ({type(error).__name__})"
        if not self._seen or self._seen - self._ended:
            self.trouble = self.trouble or BROKE_OFF
        return b""

    async def _close_off(self, complaint: bytes) -> None:
        """A well-formed end, whatever came before it."""
        await self._all_held()
        unended = [choice for index, choice in self._choices.items() if index not in self._ended]
        for choice in unended:
            await choice.end(None, broken=bool(self.trouble))
        if complaint:
            await self._out.put(complaint)
        elif self.trouble and not unended and (not self._seen or self._seen - self._ended):
            await self._out.put(encoded(openai_error(502, self.trouble)))
        await self._out.put(DONE)

    async def _take(self, event: Event) -> None:
        chunk = event.chunk
        choices = _choices(chunk) if chunk is not None else []
        if chunk is None:  # a comment
            return await self._out.put(event.raw)
        self._frame = frame_of(chunk) or self._frame
        indexes = {index_of(choice) for choice in choices}
        if not choices or indexes & self._ended:
            await self._all_held()  # the usage comes last
        self._seen |= indexes
        if any(map(_text, choices)) and any(choice.get("finish_reason") for choice in choices):
            text, end = parted(chunk)
            await self._pass(text, None)
            return await self._pass(end, None)
        return await self._pass(chunk, event.raw)

    async def _pass(self, chunk: Mapping[str, Any], raw: bytes | None) -> None:
        """On it goes, as it came unless markers are taken out of it; only then are its words cited."""
        choices, said = _choices(chunk), []
        for choice in choices:
            if text := _text(choice):
                cited = self._choice(index_of(choice))
                passed = cited.without_markers(text)
                if passed != text:
                    choice["delta"]["content"], raw = passed, None
                cited.num_annotations += len(choice["delta"].get("annotations") or ())
                said.append((cited, passed))
        ended = [choice for choice in choices if choice.get("finish_reason")]
        if ended:
            self._hold(ended, raw or encoded(chunk))
        else:
            await self._out.put(raw or encoded(chunk))
        for cited, passed in said:
            cited.add(passed)

    def _hold(self, ended: Sequence[Choice], raw: bytes) -> None:
        """The chunk that ends these choices waits for their citations, the other choices' text does not."""
        first = [choice for choice in ended if index_of(choice) not in self._ended]  # some servers end one twice
        self._ended |= {index_of(choice) for choice in ended}
        task = asyncio.create_task(self._end(first, raw))
        self._held.append(task)
        self._tasks.append(task)

    async def _end(self, ended: Sequence[Choice], raw: bytes) -> None:
        for choice in ended:
            if cited := self._choices.get(index_of(choice)):
                await cited.end(choice.get("finish_reason"))
        await self._out.put(raw)

    async def _all_held(self) -> None:
        held, self._held = self._held, []
        await asyncio.gather(*held)

    def _choice(self, index: int) -> CitedChoice:
        if index not in self._choices:
            self._choices[index] = CitedChoice(index, self._citing, self._tell)
        return self._choices[index]

    async def _tell(self, index: int, added: Mapping[str, Any]) -> None:
        await self._out.put(delta(self._frame, index, added))


def _choices(chunk: Mapping[str, Any]) -> list[Any]:
    choices = chunk.get("choices")
    return [c for c in choices if isinstance(c, dict)] if isinstance(choices, list) else []


def _text(choice: Choice) -> str:
    said = choice.get("delta")
    content = said.get("content") if isinstance(said, dict) else None
    return content if isinstance(content, str) else ""
