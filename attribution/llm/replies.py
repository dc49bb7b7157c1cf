"""Read the reply of a language model's server: the model's text, or an error that says why there is none."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from propcite.attribution.llm.failures import NoAnswerError, TooLongError, is_too_long, one_line
from propcite.attribution.llm.server_events import DONE, ModelChunk, parse_event


@dataclass(frozen=True, slots=True)
class Answer:
    """The model's text without its reasoning, and the likeliest tokens at each position if the server reports them.

    `structured` says whether a JSON schema was sent with the request.
    """

    content: str
    structured: bool = False
    logprobs: list[Any] = field(default_factory=list)


def parse_chunk(data: str) -> ModelChunk:
    """Parse one event of a stream; raise NoAnswerError if it reports an error or a refusal."""
    if data == DONE:
        return ModelChunk(reason="stop")
    try:
        chunk = parse_event(data)
    except (ValueError, RecursionError) as error:
        raise NoAnswerError("the reply is not a chat completion", one_line(data)) from error
    if chunk.complaint:
        kind = TooLongError if is_too_long(chunk.complaint) else NoAnswerError
        raise kind("the server stopped with an error", one_line(chunk.complaint))
    if chunk.refusal:
        raise NoAnswerError("the model refuses to answer", one_line(chunk.refusal))
    return chunk


def parse_reply(reply: str, structured: bool) -> Answer:
    """Parse a whole chat completion; raise NoAnswerError if it has no complete text."""
    try:
        choice = json.loads(reply)["choices"][0]
        content, reason = choice["message"]["content"], choice.get("finish_reason")
        text: str = content.rpartition("</think>")[2].strip() if content else ""
        logprobs = (choice.get("logprobs") or {}).get("content")
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        raise NoAnswerError("the reply is not a chat completion", one_line(reply)) from error
    if reason == "length" or text.startswith("<think>"):
        raise NoAnswerError("the answer was cut off: raise max_tokens")
    if not text:
        raise NoAnswerError("the answer is empty")
    return Answer(text, structured, logprobs if isinstance(logprobs, list) else [])
