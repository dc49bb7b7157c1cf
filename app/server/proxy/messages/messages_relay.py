"""Pass a streamed message on, with citations in it.

A text is divided where its sentences end, as Anthropic divides it: a sentence's citations come in its own block, and
what follows the sentence waits for them.  A block ends only when more words come, so that none is empty.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from propcite.app.server.problems import anthropic_error
from propcite.app.server.proxy.citing import BROKEN_OFF, Citer, is_text, stopped
from propcite.app.server.proxy.events import Event, encode_event
from propcite.app.server.proxy.messages.locations import Locator
from propcite.app.server.proxy.proxy_request import EXTENSION
from propcite.app.server.proxy.relay import StreamRelay
from propcite.app.server.proxy.streamed_text import StreamedText
from propcite.attribution.citations import CitedAnswer
from propcite.attribution.events import SentenceCited


class TextBlock:
    """A text of the model server, and the block that is being written of it."""

    def __init__(self, started: Mapping[str, Any]) -> None:
        self.started = {**started, "text": ""}
        self.streamed: StreamedText | None = None
        self.index: int | None = None  # of the open block
        self.is_complete = False  # the open block has its sentence, and more words begin another


class MessagesRelay(StreamRelay):
    """Relays the events of one message; `_indexes` has the places of the model server's blocks."""

    def __init__(self, citer: Citer, locator: Locator) -> None:
        super().__init__(citer)
        self._locator = locator
        self._num_blocks = 0
        self._indexes: dict[int, int] = {}
        self._texts_by_index: dict[int, TextBlock] = {}
        self._answers: list[CitedAnswer] = []
        self._has_ended = False

    @property
    def is_unfinished(self) -> bool:
        return not self._has_ended

    async def take(self, event: Event) -> None:
        content = event.content
        if content is None:
            await self.send(event.raw)
            return
        index = content["index"] if isinstance(content.get("index"), int) else -1
        block = self._texts_by_index.get(index)
        match content.get("type"):
            case "content_block_start":
                await self._start(content)
            case "content_block_delta" if block and _is_text_delta(content):
                await self._text(block, content["delta"]["text"])
            case "content_block_delta" if block:
                opening = self._opening(block)
                await self.send(*opening, encode_event({**content, "index": block.index}))
            case "content_block_stop" if block:
                await self._end(block)
                del self._texts_by_index[index]
            case "content_block_delta" | "content_block_stop":
                await self.send(encode_event({**content, "index": self._indexes.get(index, index)}))
            case "message_delta":
                await self._end_all()
                await self.send(encode_event({**content, **self._cited_answers(_reason(content))}))
            case kind:
                self._has_ended = self._has_ended or kind == "message_stop"
                await self.send(event.raw)

    async def finish(self, error_event: Event | None) -> None:
        """Cite what has come, and say by an error that it is not all."""
        if not self.is_unfinished:
            return await self.send(error_event.raw if error_event else b"")
        await self._end_all(self.why_broken or BROKEN_OFF)
        error = (error_event.content if error_event else None) or anthropic_error(502, self.error or BROKEN_OFF)
        return await self.send(encode_event({**error, "type": "error", **self._cited_answers(None)}))

    async def _start(self, content: Mapping[str, Any]) -> None:
        started, index = content.get("content_block"), content.get("index")
        is_text_block = isinstance(started, dict) and started.get("type") == "text" and not started.get("citations")
        if isinstance(index, int) and is_text_block and isinstance(started, dict):
            block = self._texts_by_index[index] = TextBlock(started)
            if text := started.get("text"):
                await self._text(block, text)
            return
        own = self._num_blocks
        self._num_blocks += 1
        if isinstance(index, int):
            self._indexes[index] = own
        await self.send(encode_event({**content, "index": own}))

    async def _text(self, block: TextBlock, text: str) -> None:
        if block.streamed is None:
            block.streamed = self.open_text(partial(self._cited, block), waits=True)
        taken, sent = block.streamed.take(text)
        await self.send(*self._written(block, sent))
        block.streamed.add(taken)

    async def _cited(self, block: TextBlock, event: SentenceCited | None) -> None:
        streamed = block.streamed
        assert streamed is not None
        assert streamed.gate is not None
        if event is None or self.client.sources_as_text:
            return await self.send(*self._written(block, streamed.released(event)))
        is_end, events = streamed.gate.cited(), self._opening(block)
        deltas = [
            {"type": "citations_delta", "citation": self._locator.locate(citation)} for citation in event.citations
        ]
        events += [encode_event({"type": "content_block_delta", "index": block.index, "delta": d}) for d in deltas]
        block.is_complete = is_end
        return await self.send(*events, *self._written(block, streamed.sending(streamed.gate.next())))

    async def _end(self, block: TextBlock, reason: str | None = None) -> None:
        """End a text: what waits for its last citations, and the block that is open."""
        if streamed := block.streamed:
            await self.send(*self._written(block, streamed.rest()))
            answer = await streamed.end(reason)
            await self.send(*self._written(block, streamed.sources()))
            if is_text(answer.text):
                self._answers.append(answer)
        opening, index = self._opening(block), block.index
        block.index = None
        await self.send(*opening, encode_event({"type": "content_block_stop", "index": index}))

    async def _end_all(self, reason: str | None = None) -> None:
        blocks, self._texts_by_index = list(self._texts_by_index.values()), {}
        for block in blocks:
            await self._end(block, reason)

    def _written(self, block: TextBlock, text: str) -> list[bytes]:
        """Return the events of a text; its words begin a block if the open one is complete."""
        if not text:
            return []
        events = []
        if block.is_complete and text.strip() and block.index is not None:
            events.append(encode_event({"type": "content_block_stop", "index": block.index}))
            block.index, block.is_complete = None, False
        events += self._opening(block)
        delta = {"type": "text_delta", "text": text}
        return [*events, encode_event({"type": "content_block_delta", "index": block.index, "delta": delta})]

    def _opening(self, block: TextBlock) -> list[bytes]:
        """Begin a block if none is open, and return its event."""
        if block.index is not None:
            return []
        block.index = self._num_blocks
        self._num_blocks += 1
        started = {"type": "content_block_start", "index": block.index, "content_block": block.started}
        return [encode_event(started)]

    def _cited_answers(self, reason: str | None) -> dict[str, Any]:
        answers = [self.citer.as_json(stopped(answer, reason)) for answer in self._answers]
        return {EXTENSION: answers} if answers else {}


def _is_text_delta(content: Mapping[str, Any]) -> bool:
    delta = content.get("delta")
    return isinstance(delta, dict) and delta.get("type") == "text_delta" and isinstance(delta.get("text"), str)


def _reason(content: Mapping[str, Any]) -> str | None:
    delta = content.get("delta")
    reason = delta.get("stop_reason") if isinstance(delta, dict) else None
    return reason if isinstance(reason, str) else None
