"""Parse the server-sent events of a chat completion stream."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

from propcite.attribution.llm.usage import Usage, usage_in

DONE = "[DONE]"


@dataclass(frozen=True, slots=True)
class StreamEnd:
    """How a stream ended: the server's finish reason (stop, length, content_filter), or the error that cut it short.

    `usage` holds the tokens read and written, if the server reports them.
    """

    reason: str = ""
    error: str = ""
    usage: Usage | None = None


@dataclass(frozen=True, slots=True)
class ModelChunk:
    """One event: the next text, the finish reason if it is the last, usage so far, and an error message if any."""

    text: str = ""
    reason: str = ""
    refusal: str = ""
    complaint: str = ""
    usage: Usage | None = None


async def event_data(lines: AsyncIterator[str]) -> AsyncIterator[str]:
    """Yield the data of each event; skip comments, which servers send to keep a connection alive."""
    pending: list[str] = []
    async for line in lines:
        if line.startswith("data:"):
            pending.append(line[5:].removeprefix(" "))
        elif not line.strip() and pending:
            yield "\n".join(pending)
            pending = []
    if pending:
        yield "\n".join(pending)


def parse_event(data: str) -> ModelChunk:
    """Parse the data of one event; raise ValueError if it is not part of a chat completion.

    >>> parse_event('{"choices": [{"delta": {"content": "It is"}, "finish_reason": null}]}').text
    'It is'
    """
    event = json.loads(data)
    if not isinstance(event, dict):
        raise ValueError("the event is not a JSON object")
    if complaint := event.get("error"):
        message = complaint.get("message", complaint) if isinstance(complaint, dict) else complaint
        return ModelChunk(complaint=str(message))
    usage = usage_in(event)
    try:
        choices = event["choices"]
        if not choices:  # only usage, or a content filter's verdict on the prompt
            return ModelChunk(usage=usage)
        delta = choices[0].get("delta") or choices[0].get("message") or {}
        content, refusal = _text(delta.get("content")), _text(delta.get("refusal"))
        return ModelChunk(content, _text(choices[0].get("finish_reason")), refusal, usage=usage)
    except (LookupError, TypeError, AttributeError) as error:
        raise ValueError("the event has no choices") from error


def _text(value: Any) -> str:
    """Return a string, or the joined text of the list of parts that some servers send."""
    if isinstance(value, list):
        return "".join(_text(part.get("text")) for part in value if isinstance(part, dict))
    return value if isinstance(value, str) else ""
