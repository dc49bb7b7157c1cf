"""The events of a streamed completion: parsed from bytes that come in any pieces, and written."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncGenerator, AsyncIterable, AsyncIterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

DONE = b"data: [DONE]\n\n"
MAX_EVENT_BYTES = 16 << 20
_END = re.compile(rb"\r\n\r\n|\n\n|\r\r")
_COMMON_FIELDS = ("id", "object", "created", "model", "system_fingerprint", "service_tier")


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

    @cached_property
    def data(self) -> str:
        lines = self.raw.decode(errors="replace").splitlines()
        return "\n".join(line[5:].removeprefix(" ") for line in lines if line.startswith("data:"))

    @property
    def is_last(self) -> bool:
        return self.data.startswith("[DONE]")

    @cached_property
    def chunk(self) -> dict[str, Any] | None:
        """Return the event's chunk; None for a comment and for anything that is not an object."""
        try:
            chunk = json.loads(self.data)
        except (ValueError, RecursionError):
            return None
        return chunk if isinstance(chunk, dict) else None


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
    if last.is_last or last.chunk is not None:
        yield last


def common_fields(chunk: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields that all chunks of a completion share."""
    return {name: chunk[name] for name in _COMMON_FIELDS if name in chunk}


def encode_chunk(chunk: Mapping[str, Any]) -> bytes:
    """Return a chunk as an event.

    >>> encode_chunk({"id": "c", "choices": []})
    b'data: {"id": "c", "choices": []}\\n\\n'
    """
    return b"data: " + json.dumps(chunk).encode() + b"\n\n"


def delta(fields: Mapping[str, Any], index: int, added: Mapping[str, Any], reason: str | None = None) -> bytes:
    """Return a chunk that adds fields to the message of one choice."""
    choice = {"index": index, "delta": added, "logprobs": None, "finish_reason": reason}
    return encode_chunk({**fields, "choices": [choice]})


def split_end(chunk: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Split a chunk with both text and the end of a choice into two: the text, then the end."""
    text = [{**choice, "finish_reason": None} for choice in chunk["choices"]]
    end = [{**choice, "delta": {}, "logprobs": None} for choice in chunk["choices"] if choice.get("finish_reason")]
    return {**chunk, "choices": text, "usage": None}, {**chunk, "choices": end}
