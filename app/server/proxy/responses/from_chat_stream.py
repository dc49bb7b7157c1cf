"""Translate a streamed chat completion to the events of the Responses API."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterator, Mapping
from typing import Any

from propcite.app.server.proxy.chat.chunks import choices_of
from propcite.app.server.proxy.chat.translating import translated
from propcite.app.server.proxy.events import Event
from propcite.app.server.proxy.responses.from_chat import (
    call_item,
    calls_in,
    ending,
    message_item,
    new_response,
    reasoning_in,
    reasoning_item,
    text_part,
    usage_of,
)
from propcite.app.server.proxy.responses.stream_error import stream_error

Content = dict[str, Any]


def response_events(events: AsyncGenerator[Event, None], body: Mapping[str, Any]) -> AsyncGenerator[Event, None]:
    """Return a response's events; where the completion breaks off, they break off too.  `body` is the request."""
    return translated(events, ResponseWriter(body), lambda detail: {**stream_error(detail), "sequence_number": 0})


class ResponseWriter:
    """Takes chunks and yields events, each with its number."""

    def __init__(self, body: Mapping[str, Any]) -> None:
        self._body = body
        self._response: Content = {}
        self._open: Content | None = None  # the item that is being written
        self._calls: dict[int, Content] = {}  # by the index of the chunks
        self._number = 0
        self._reason: str | None = None

    def chunk(self, chunk: Mapping[str, Any]) -> Iterator[Content]:
        if not self._response:
            self._response = new_response(chunk, self._body)
            yield self._event("response.created", response=dict(self._response))
            yield self._event("response.in_progress", response=dict(self._response))
        self._response["usage"] = usage_of(chunk) or self._response["usage"]
        for choice in choices_of(chunk)[:1]:
            delta = choice.get("delta")
            if isinstance(delta, Mapping):
                yield from self._delta(delta)
            self._reason = choice.get("finish_reason") or self._reason

    def end(self) -> Iterator[Content]:
        """Yield the end; nothing if the completion has not come to its end."""
        if self._reason is None:
            return
        yield from self._close()
        self._response |= ending(self._reason)
        yield self._event(f"response.{self._response['status']}", response=self._response)

    def _delta(self, delta: Mapping[str, Any]) -> Iterator[Content]:
        if thought := reasoning_in(delta):
            yield from self._write("reasoning", "reasoning_text", "text", thought)
        if isinstance(text := delta.get("content"), str) and text:
            yield from self._write("message", "output_text", "text", text)
        if isinstance(refusal := delta.get("refusal"), str) and refusal:
            yield from self._write("message", "refusal", "refusal", refusal)
        for call in calls_in(delta):
            yield from self._call(call)

    def _write(self, item_type: str, part_type: str, field: str, text: str) -> Iterator[Content]:
        """Yield the events of more text in a part of that type, which may begin with it."""
        item = self._open
        if item is None or item["type"] != item_type or item["content"][-1]["type"] != part_type:
            yield from self._close()
            part = text_part("") if part_type == "output_text" else {"type": part_type, field: ""}
            item = message_item([], "in_progress") if item_type == "message" else reasoning_item("")
            yield from self._begin(item)
            item["content"].append(part)
            yield self._event("response.content_part.added", **self._place(item), part=dict(part))
        item["content"][-1][field] += text
        more: Content = {"logprobs": []} if part_type == "output_text" else {}
        yield self._event(f"response.{part_type}.delta", **self._place(item), delta=text, **more)

    def _call(self, call: Mapping[str, Any]) -> Iterator[Content]:
        index = call.get("index")
        item = self._calls.get(index) if isinstance(index, int) else None
        function = call.get("function") or {}
        if item is None:
            if self._open is None or self._open["type"] != "function_call":  # calls may come side by side
                yield from self._close()
            item = call_item({**call, "function": {**function, "arguments": ""}}, "in_progress")
            self._calls[index if isinstance(index, int) else len(self._calls)] = item
            yield from self._begin(item)
        if arguments := function.get("arguments"):
            item["arguments"] += arguments
            place = {"item_id": item["id"], "output_index": self._response["output"].index(item)}
            yield self._event("response.function_call_arguments.delta", **place, delta=arguments)

    def _begin(self, item: Content) -> Iterator[Content]:
        self._open = item
        self._response["output"].append(item)
        index = len(self._response["output"]) - 1
        begun = {**item, "content": []} if "content" in item else dict(item)
        yield self._event("response.output_item.added", output_index=index, item=begun)

    def _close(self) -> Iterator[Content]:
        """Yield the events that end the open item."""
        item, self._open = self._open, None
        if item is None:
            return
        if item["type"] == "function_call":
            return (yield from self._close_calls())
        part = item["content"][-1]
        field = "refusal" if part["type"] == "refusal" else "text"
        more: Content = {"logprobs": []} if part["type"] == "output_text" else {}
        yield self._event(f"response.{part['type']}.done", **self._place(item), **{field: part[field]}, **more)
        yield self._event("response.content_part.done", **self._place(item), part=part)
        yield from self._done(item)

    def _close_calls(self) -> Iterator[Content]:
        """Yield the ends of calls; a server may write several at once."""
        calls, self._calls = self._calls, {}
        for item in calls.values():
            place = {"item_id": item["id"], "output_index": self._response["output"].index(item)}
            fields = {"name": item["name"], "arguments": item["arguments"]}
            yield self._event("response.function_call_arguments.done", **place, **fields)
            yield from self._done(item)

    def _done(self, item: Content) -> Iterator[Content]:
        if "status" in item:
            item["status"] = "completed"
        yield self._event("response.output_item.done", output_index=self._response["output"].index(item), item=item)

    def _place(self, item: Content) -> Content:
        index = self._response["output"].index(item)
        return {"item_id": item["id"], "output_index": index, "content_index": len(item["content"]) - 1}

    def _event(self, kind: str, **fields: Any) -> Content:
        self._number += 1
        return {"type": kind, "sequence_number": self._number - 1, **fields}
