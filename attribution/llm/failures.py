"""Errors of one request to a language model's server, and which option to drop when the server refuses a request."""

from __future__ import annotations

import re
from typing import Any

_OFTEN_REFUSED = ("response_format", "logprobs", "top_logprobs", "stream_options")  # often without being named
_TOO_LONG = re.compile(  # as OpenAI, vLLM, llama.cpp, Mistral, Anthropic, Gemini, TGI and LM Studio word it
    r"context[ _-]?(length|size|window)|exceed_context|prompt is too long|too many (input )?tokens|request too large"
    r"|input token count|reduce the length|max_new_tokens.{0,5} must be|number of tokens to keep",
    re.IGNORECASE,
)


class NoAnswerError(Exception):
    """The model gave no usable answer.  The message may quote the server; `summary` quotes nothing."""

    def __init__(self, summary: str, quote: str = "") -> None:
        super().__init__(f"{summary}: {quote}" if quote else summary)
        self.summary = summary


class RefusedError(NoAnswerError):
    """The server does not accept this request as it is (400, 422)."""


class TooLongError(RefusedError):
    """The messages plus the room for the answer exceed the model's context."""


class DisconnectedError(NoAnswerError):
    """The connection ended before the reply did."""


def is_too_long(complaint: str) -> bool:
    """Return whether a server's error message says that the prompt exceeds the model's context.

    >>> is_too_long("This model's maximum context length is 4096 tokens. However, you requested 5000 tokens")
    True
    """
    return _TOO_LONG.search(complaint) is not None


def drop_refused_option(refusal: RefusedError, options: dict[str, Any]) -> None:
    """Delete the option that the server complains about; raise its refusal again if there is no candidate.

    The candidate is an option that the message names, else the first of those that servers often refuse.
    """
    complaint = str(refusal).lower()
    named = [option for option in options if re.search(rf"(?<!\w){re.escape(option.lower())}(?!\w)", complaint)]
    suspects = [option for option in _OFTEN_REFUSED if option in options]
    if not (candidates := named or suspects):
        raise refusal
    del options[candidates[0]]


def one_line(text: str) -> str:
    """Return the first 200 characters of a text, on one line."""
    return " ".join(text.split())[:200]


def sendable(text: str) -> str:
    """Return the text with lone surrogates replaced: no server accepts them."""
    return text.encode("utf-8", "replace").decode()
