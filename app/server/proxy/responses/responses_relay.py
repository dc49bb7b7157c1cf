"""Pass a streamed response on, with an event for each citation.

Text passes at once.  The events of a sentence's citations follow it; the event that ends a text waits until all of the
text is cited.  From then on every event that repeats the text has its annotations and the cited answer.  All events are
numbered again, because there are more of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from propcite.app.server.proxy.citing import BROKEN_OFF, Citer, is_text, stopped
from propcite.app.server.proxy.events import Event, encode_event
from propcite.app.server.proxy.proxy_request import EXTENSION, parts_of
from propcite.app.server.proxy.relay import StreamRelay
from propcite.app.server.proxy.responses.annotations import annotations_of
from propcite.app.server.proxy.responses.stream_error import stream_error
from propcite.app.server.proxy.streamed_text import StreamedText
from propcite.attribution.citations import CitedAnswer
from propcite.attribution.events import SentenceCited

ENDS = ("response.completed", "response.incomplete", "response.failed", "response.cancelled")


@dataclass
class Part:
    """A text of the response: its place, its annotations, and its cited answer once it has ended."""

    item_id: str
    output_index: int
    content_index: int
    streamed: StreamedText | None = None
    annotations: list[dict[str, Any]] = field(default_factory=list)
    answer: CitedAnswer | None = None

    def event(self, kind: str, **fields: Any) -> dict[str, Any]:
        place = {"item_id": self.item_id, "output_index": self.output_index, "content_index": self.content_index}
        return {"type": f"response.output_text.{kind}", **place, **fields}

    @property
    def sent(self) -> str:
        return self.streamed.sent if self.streamed else ""


class ResponsesRelay(StreamRelay):
    """Relays the events of one response."""

    def __init__(self, citer: Citer) -> None:
        super().__init__(citer)
        self._response: dict[str, Any] = {}
        self._items: dict[int, dict[str, Any]] = {}  # as they began, or ended
        self._parts: dict[tuple[int, int], Part] = {}
        self._number: int | None = None  # of the last event
        self._has_ended = False

    @property
    def is_unfinished(self) -> bool:
        return not self._has_ended

    async def take(self, event: Event) -> None:
        content = event.content
        if content is None or not isinstance(content.get("type"), str):
            await self.send(event.raw)
            return
        kind, place = content["type"], content.get("output_index")
        if kind == "response.output_text.delta" and isinstance(content.get("delta"), str):
            await self._text(content)
            return
        if isinstance(content.get("response"), dict):
            self._response = content["response"]
        if kind == "response.output_text.annotation.added" and (part := self._parts.get(_key(content))):
            part.annotations.append(content.get("annotation") or {})
        elif kind in ("response.output_text.done", "response.content_part.done"):
            await self._end(*_key(content))
            self._complete(content, part=_key(content))
        elif kind == "response.output_item.added" and isinstance(content.get("item"), dict):
            self._items[_number(place)] = content["item"]
        elif kind == "response.output_item.done" and isinstance(content.get("item"), dict):
            await self._end(_number(place))
            self._complete_item(_number(place), content["item"])
            self._items[_number(place)] = content["item"]
        elif kind in ENDS:
            await self._end()
            self._complete_response(self._response)
            self._has_ended = True
        await self._send(content)

    async def finish(self, error_event: Event | None) -> None:
        """End what has begun; a response that broke off has failed, and has what came of it."""
        if self.is_unfinished:
            await self._end(reason=self.why_broken)
        if error_event is not None:
            return await self._send(error_event.content or {})
        if not self.is_unfinished:
            return None
        error = {"code": "server_error", "message": self.error or BROKEN_OFF}
        if not self._response:
            return await self._send(stream_error(error["message"]))
        for index, item in sorted(self._items.items()):
            await self._end_item(index, item)
        output = [item for _, item in sorted(self._items.items())]
        response = {**self._response, "status": "failed", "error": error, "output": output}
        return await self._send({"type": "response.failed", "response": response})

    async def _text(self, content: dict[str, Any]) -> None:
        part = self._part(content)
        if part.streamed is None:
            part.streamed = self.open_text(partial(self._cited, part))
        taken, sent = part.streamed.take(content["delta"])
        if sent:
            await self._send({**content, "delta": sent})
        part.streamed.add(taken)

    async def _cited(self, part: Part, event: SentenceCited | None) -> None:
        streamed = part.streamed
        assert streamed is not None
        events = []
        if text := streamed.released(event):
            events.append(part.event("delta", delta=text, logprobs=[]))
        if event:
            for one in annotations_of(streamed.answer_with(event), self.citer):
                added = part.event("annotation.added", annotation_index=len(part.annotations), annotation=one)
                part.annotations.append(one)
                events.append(added)
        await self._send(*events)

    async def _end(
        self, output_index: int | None = None, content_index: int | None = None, reason: str | None = None
    ) -> None:
        """Wait until those texts are cited that have not ended: of one part, of one item, or all."""
        for (index, own), part in self._parts.items():
            is_meant = output_index in (None, index) and content_index in (None, own)
            if is_meant and part.streamed and part.answer is None:
                await self._send_text(part, part.streamed.rest())
                part.answer = await part.streamed.end(reason)
                await self._send_text(part, part.streamed.sources())

    async def _send_text(self, part: Part, text: str) -> None:
        if text:
            await self._send(part.event("delta", delta=text, logprobs=[]))

    async def _end_item(self, index: int, item: dict[str, Any]) -> None:
        """Send the ends of an item that the model server left open."""
        parts = [part for (own, _), part in sorted(self._parts.items()) if own == index and part.answer]
        if item.get("type") != "message" or item.get("status") == "completed" or not parts:
            return
        item["content"] = [{"type": "output_text", "text": p.sent, "annotations": [], "logprobs": []} for p in parts]
        item["status"] = "incomplete"
        self._complete_item(index, item)
        for part, written in zip(parts, item["content"], strict=True):
            place = part.event("", part=written)
            await self._send(
                part.event("done", text=part.sent, logprobs=[]), {**place, "type": "response.content_part.done"}
            )
        await self._send({"type": "response.output_item.done", "output_index": index, "item": item})

    def _complete(self, content: dict[str, Any], part: tuple[int, int], reason: str | None = None) -> None:
        """Write what is known of a text into an event or a part that repeats it."""
        known = self._parts.get(part)
        if known is None or known.answer is None:
            return
        written = content.get("part") if isinstance(content.get("part"), dict) else content
        if isinstance(written, dict) and isinstance(written.get("text"), str):
            written["text"] = known.sent
            if written is not content or content.get("type") == "output_text":
                written["annotations"] = known.annotations
                if is_text(known.answer.text):
                    written[EXTENSION] = self.citer.as_json(stopped(known.answer, reason))

    def _complete_item(self, index: int, item: dict[str, Any], reason: str | None = None) -> None:
        for place, part in enumerate(parts_of(item)):
            if isinstance(part, dict) and part.get("type") == "output_text":
                self._complete(part, (index, place), reason)

    def _complete_response(self, response: Mapping[str, Any]) -> None:
        details, output = response.get("incomplete_details"), response.get("output")
        reason = details.get("reason") if isinstance(details, Mapping) else None
        for index, item in enumerate(output if isinstance(output, list) else ()):
            if isinstance(item, dict):
                self._complete_item(index, item, reason)

    def _part(self, content: Mapping[str, Any]) -> Part:
        key = _key(content)
        return self._parts.setdefault(key, Part(str(content.get("item_id") or ""), *key))

    async def _send(self, *contents: dict[str, Any]) -> None:
        """Send events, each with the next number; the first keeps its own."""
        events = []
        for content in contents:
            own = content.get("sequence_number")
            self._number = self._number + 1 if self._number is not None else _number(own)
            events.append(encode_event({**content, "sequence_number": self._number}))
        await self.send(*events)


def _key(content: Mapping[str, Any]) -> tuple[int, int]:
    return _number(content.get("output_index")), _number(content.get("content_index"))


def _number(value: object) -> int:
    return value if isinstance(value, int) else 0
