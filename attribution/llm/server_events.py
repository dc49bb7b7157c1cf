"""What a server sends while a model writes: its server-sent events, read as text and as the reason why it ended."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

from propcite.attribution.llm.usage import Usage, usage_in

DONE = "[DONE]"


@dataclass(frozen=True, slots=True)
class Ended:
    """Why a text ended: the server's own word for it (stop, length, content_filter), or what went wrong.

    `usage` are the tokens that it took, where the server tells them.
    """

    reason: str = ""
    trouble: str = ""
    usage: Usage | None = None


@dataclass(frozen=True, slots=True)
class Said:
    """One event: the next words, the reason if it is the last, the usage so far, a complaint where there is one."""

    text: str = ""
    reason: str = ""
    refusal: str = ""
    complaint: str = ""
    usage: Usage | None = None


async def data_of(lines: AsyncIterator[str]) -> AsyncIterator[str]:
    """The data of each event; comments, by which a server says that it is still there, are none."""
    held: list[str] = []
    async for line in lines:
        if line.startswith("data:"):
            held.append(line[5:].removeprefix(" "))
        elif not line.strip() and held:
            yield "\n".join(held)
            held = []
    if held:
        yield "\n".join(held)


def said_in(data: str) -> Said:
    """What one event says.  ValueError: it is no piece of a chat completion.

    >>> said_in('{"choices": [{"delta": {"content": "It is"}, "finish_reason": null}]}').text
    'It is'
    """
    event = json.loads(data)
    if not isinstance(event, dict):
        raise ValueError("an event is no object")
    if complaint := event.get("error"):
        message = complaint.get("message", complaint) if isinstance(complaint, dict) else complaint
        return Said(complaint=str(message))
    usage = usage_in(event)
    try:
        choices = event["choices"]
        if not choices:  # the usage, or the filter's opinion of the prompt
            return Said(usage=usage)
        words = choices[0].get("delta") or choices[0].get("message") or {}
        content, refusal = _text(words.get("content")), _text(words.get("refusal"))
        return Said(content, _text(choices[0].get("finish_reason")), refusal, usage=usage)
    except (LookupError, TypeError, AttributeError) as error:
        raise ValueError("an event has no choices") from error


def _text(value: Any) -> str:
    """A text, or a list of parts as some servers send them."""
    if isinstance(value, list):
        return "".join(_text(part.get("text")) for part in value if isinstance(part, dict))
    return value if isinstance(value, str) else ""
