"""The events of a streamed completion: read from bytes that come in any pieces, and written."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncGenerator, AsyncIterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

DONE = b"data: [DONE]\n\n"
MOST_BYTES = 16 << 20  # of one event
_END = re.compile(rb"\r\n\r\n|\n\n|\r\r")
_FRAME = ("id", "object", "created", "model", "system_fingerprint", "service_tier")


class BrokenStreamError(Exception):
    """What came is no stream of events."""


@dataclass(frozen=True)
class Event:
    """One event as it came, with the blank line that ends it."""

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
        """The chunk in it; None in a comment, and in what is none."""
        try:
            chunk = json.loads(self.data)
        except (ValueError, RecursionError):
            return None
        return chunk if isinstance(chunk, dict) else None


async def events_of(pieces: AsyncIterable[bytes]) -> AsyncGenerator[Event, None]:
    """Each event once it is whole; what is cut off in its midst at the end is dropped."""
    held = b""
    async for piece in pieces:
        looked, held = max(0, len(held) - 3), held + piece
        start = 0
        while end := _END.search(held, max(start, looked)):
            yield Event(held[start : end.end()])
            start = end.end()
        held = held[start:]
        if len(held) > MOST_BYTES:
            raise BrokenStreamError("an event without an end")
    last = Event(held + b"\n\n")
    if last.is_last or last.chunk is not None:
        yield last


def frame_of(chunk: Mapping[str, Any]) -> dict[str, Any]:
    """What all chunks of a completion have in common."""
    return {name: chunk[name] for name in _FRAME if name in chunk}


def encoded(chunk: Mapping[str, Any]) -> bytes:
    """A chunk as an event.

    >>> encoded({"id": "c", "choices": []})
    b'data: {"id": "c", "choices": []}\\n\\n'
    """
    return b"data: " + json.dumps(chunk).encode() + b"\n\n"


def delta(frame: Mapping[str, Any], index: int, said: Mapping[str, Any], reason: str | None = None) -> bytes:
    """A chunk that adds this to the message of one choice."""
    choice = {"index": index, "delta": said, "logprobs": None, "finish_reason": reason}
    return encoded({**frame, "choices": [choice]})


def parted(chunk: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """A chunk that brings text and the end at once, as two: the text, then the end."""
    text = [{**choice, "finish_reason": None} for choice in chunk["choices"]]
    end = [{**choice, "delta": {}, "logprobs": None} for choice in chunk["choices"] if choice.get("finish_reason")]
    return {**chunk, "choices": text, "usage": None}, {**chunk, "choices": end}
