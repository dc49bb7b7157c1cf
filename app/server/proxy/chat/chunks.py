"""The chunks of a streamed chat completion."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from propcite.app.server.proxy.events import encode_chunk

_COMMON_FIELDS = ("id", "object", "created", "model", "system_fingerprint", "service_tier")


def common_fields(chunk: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields that all chunks of a completion share."""
    return {name: chunk[name] for name in _COMMON_FIELDS if name in chunk}


def delta(fields: Mapping[str, Any], index: int, added: Mapping[str, Any], reason: str | None = None) -> bytes:
    """Return a chunk that adds fields to the message of one choice."""
    choice = {"index": index, "delta": added, "logprobs": None, "finish_reason": reason}
    return encode_chunk({**fields, "choices": [choice]})


def split_end(chunk: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Split a chunk with both text and the end of a choice into two: the text, then the end."""
    text = [{**choice, "finish_reason": None} for choice in chunk["choices"]]
    end = [{**choice, "delta": {}, "logprobs": None} for choice in chunk["choices"] if choice.get("finish_reason")]
    return {**chunk, "choices": text, "usage": None}, {**chunk, "choices": end}


def choices_of(completion: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the choices of a completion or chunk that are objects."""
    choices = completion.get("choices")
    return [c for c in choices if isinstance(c, dict)] if isinstance(choices, list) else []


def index_of(choice: Mapping[str, Any]) -> int:
    index = choice.get("index")
    return index if isinstance(index, int) else 0


def text_of_delta(choice: Mapping[str, Any]) -> str:
    added = choice.get("delta")
    content = added.get("content") if isinstance(added, dict) else None
    return content if isinstance(content, str) else ""
