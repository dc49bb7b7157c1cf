"""Server-sent events of a model server: parsed from bytes that come in any pieces, and written."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncGenerator, AsyncIterable, AsyncIterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

DONE = b"data: [DONE]\n\n"
MAX_EVENT_BYTES = 16 << 20
_END = re.compile(rb"\r\n\r\n|\n\n|\r\r")


class BrokenStreamError(Exception):
    """The bytes are not a stream of events."""


class OutOfTimeError(Exception):
    """The stream took longer than one may."""


def out_of_time(seconds: float) -> str:
    return f"the model server took more than {seconds:g} seconds (PROPCITE_SERVE_STREAM_SECONDS)"


async def within(pieces: AsyncIterator[bytes], seconds: float) -> AsyncIterator[bytes]:
    """Yield pieces as they come; OutOfTimeError once that has taken so many seconds."""
    end = asyncio.get_running_loop().time() + seconds
    while True:
        try:
            async with asyncio.timeout_at(end):
                piece = await anext(pieces, None)
        except TimeoutError:
            raise OutOfTimeError(out_of_time(seconds)) from None
        if piece is None:
            return
        yield piece


@dataclass(frozen=True)
class Event:
    """One event as received, with the blank line that ends it."""

    raw: bytes

    @classmethod
    def of(cls, content: Mapping[str, Any]) -> Self:
        """Return an event that is named by the type of its content."""
        event = cls(encode_event(content))
        event.__dict__["content"] = content  # where the cached property stores it
        return event

    @cached_property
    def data(self) -> str:
        lines = self.raw.decode(errors="replace").splitlines()
        return "\n".join(line[5:].removeprefix(" ") for line in lines if line.startswith("data:"))

    @property
    def is_last(self) -> bool:
        return self.data.startswith("[DONE]")

    @cached_property
    def content(self) -> dict[str, Any] | None:
        """Return the object that the event carries; None for a comment and for anything that is not an object."""
        try:
            content = json.loads(self.data)
        except (ValueError, RecursionError):
            return None
        return content if isinstance(content, dict) else None

    @property
    def is_error(self) -> bool:
        return self.content is not None and (bool(self.content.get("error")) or self.content.get("type") == "error")


async def parse_events(pieces: AsyncIterable[bytes]) -> AsyncGenerator[Event, None]:
    """Yield each event once it is complete; an event that is cut off at the end is dropped."""
    buffer = b""
    async for piece in pieces:
        searched, buffer = max(0, len(buffer) - 3), buffer + piece
        start = 0
        while end := _END.search(buffer, max(start, searched)):
            yield Event(buffer[start : end.end()])
            start = end.end()
        buffer = buffer[start:]
        if len(buffer) > MAX_EVENT_BYTES:
            raise BrokenStreamError("an event without an end")
    last = Event(buffer + b"\n\n")
    if last.is_last or last.content is not None:
        yield last


def encode_chunk(chunk: Mapping[str, Any]) -> bytes:
    """Return a chunk as an event without a name.

    >>> encode_chunk({"id": "c", "choices": []})
    b'data: {"id": "c", "choices": []}\\n\\n'
    """
    return b"data: " + json.dumps(chunk).encode() + b"\n\n"


def encode_event(content: Mapping[str, Any]) -> bytes:
    """Return an event that is named by its type.

    >>> encode_event({"type": "ping"})
    b'event: ping\\ndata: {"type": "ping"}\\n\\n'
    """
    return f"event: {content.get('type')}\n".encode() + encode_chunk(content)
