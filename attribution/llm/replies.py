"""What a language model's server replied: read as words, or told as the trouble that it is."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from propcite.attribution.llm.failures import NoAnswerError, TooLongError, is_too_long, one_line
from propcite.attribution.llm.server_events import DONE, Said, said_in


@dataclass(frozen=True, slots=True)
class Answer:
    """What the model wrote, without its thoughts, and the likeliest tokens at each place where the server tells them.

    `structured` says whether a schema was sent along.
    """

    content: str
    structured: bool = False
    logprobs: list[Any] = field(default_factory=list)


def said_or_trouble(data: str) -> Said:
    """One event of a stream; a complaint instead of words is an error."""
    if data == DONE:
        return Said(reason="stop")
    try:
        said = said_in(data)
    except (ValueError, RecursionError) as error:
        raise NoAnswerError("the reply is no chat completion", one_line(data)) from error
    if said.complaint:
        kind = TooLongError if is_too_long(said.complaint) else NoAnswerError
        raise kind("the server stopped with an error", one_line(said.complaint))
    if said.refusal:
        raise NoAnswerError("the model refuses to answer", one_line(said.refusal))
    return said


def answer_in(reply: str, structured: bool) -> Answer:
    try:
        choice = json.loads(reply)["choices"][0]
        content, reason = choice["message"]["content"], choice.get("finish_reason")
        said: str = content.rpartition("</think>")[2].strip() if content else ""
        logprobs = (choice.get("logprobs") or {}).get("content")
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        raise NoAnswerError("the reply is no chat completion", one_line(reply)) from error
    if reason == "length" or said.startswith("<think>"):
        raise NoAnswerError("the answer was cut off: raise max_tokens")
    if not said:
        raise NoAnswerError("the answer is empty")
    return Answer(said, structured, logprobs if isinstance(logprobs, list) else [])
