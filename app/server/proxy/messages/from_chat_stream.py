"""Translate a streamed chat completion to the events of the Messages API."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterator, Mapping
from typing import Any

from propcite.app.server.problems import anthropic_error
from propcite.app.server.proxy.chat.chunks import choices_of
from propcite.app.server.proxy.chat.translating import translated
from propcite.app.server.proxy.events import Event
from propcite.app.server.proxy.messages.from_chat import new_message, stop_reason, tool_use, usage_of
from propcite.app.server.proxy.responses.from_chat import calls_in, reasoning_in

Content = dict[str, Any]


def message_events(events: AsyncGenerator[Event, None], body: Mapping[str, Any]) -> AsyncGenerator[Event, None]:
    """Return a message's events; where the completion breaks off, they break off too.  `body` is the request."""
    return translated(events, MessageWriter(body), lambda detail: anthropic_error(502, detail))


class MessageWriter:
    """Takes chunks and yields events."""

    def __init__(self, body: Mapping[str, Any]) -> None:
        self._body = body
        self._has_begun = False
        self._num_blocks = 0
        self._open = ""  # what the open block is: text, thinking, or a call by its index
        self._waiting: dict[object, tuple[Mapping[str, Any], list[str]]] = {}  # calls beside the open one, by index
        self._reason: object = None
        self._usage = usage_of({})

    def chunk(self, chunk: Mapping[str, Any]) -> Iterator[Content]:
        if not self._has_begun:
            self._has_begun = True
            yield {"type": "message_start", "message": new_message(chunk, self._body)}
        if chunk.get("usage"):
            self._usage = usage_of(chunk)
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
        for index, (call, arguments) in self._waiting.items():
            yield from self._begin(f"call {index}", tool_use(call, {}))
            yield self._added({"type": "input_json_delta", "partial_json": "".join(arguments)})
            yield from self._close()
        delta = {"stop_reason": stop_reason(self._reason), "stop_sequence": None}
        yield {"type": "message_delta", "delta": delta, "usage": self._usage}
        yield {"type": "message_stop"}

    def _delta(self, delta: Mapping[str, Any]) -> Iterator[Content]:
        if thought := reasoning_in(delta):
            yield from self._begin("thinking", {"type": "thinking", "thinking": "", "signature": ""})
            yield self._added({"type": "thinking_delta", "thinking": thought})
        for field in ("content", "refusal"):
            if isinstance(text := delta.get(field), str) and text:
                yield from self._begin("text", {"type": "text", "text": ""})
                yield self._added({"type": "text_delta", "text": text})
        for call in calls_in(delta):
            index, arguments = call.get("index", call.get("id")), (call.get("function") or {}).get("arguments")
            if self._open.startswith("call") and self._open != f"call {index}":  # blocks come one after the other
                self._waiting.setdefault(index, (call, []))[1].append(arguments or "")
                continue
            yield from self._begin(f"call {index}", tool_use(call, {}))
            if arguments:
                yield self._added({"type": "input_json_delta", "partial_json": arguments})

    def _begin(self, name: str, block: Content) -> Iterator[Content]:
        """Begin a block, unless it is the open one."""
        if self._open != name:
            yield from self._close()
            self._open = name
            yield {"type": "content_block_start", "index": self._num_blocks, "content_block": block}

    def _close(self) -> Iterator[Content]:
        if self._open:
            self._open = ""
            yield {"type": "content_block_stop", "index": self._num_blocks}
            self._num_blocks += 1

    def _added(self, delta: Content) -> Content:
        return {"type": "content_block_delta", "index": self._num_blocks, "delta": delta}
