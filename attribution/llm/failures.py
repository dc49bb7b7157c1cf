"""What may go wrong with one answer of a language model's server, and what is left out when it refuses a request."""

from __future__ import annotations

import re
from typing import Any

# What a server refuses most often without naming it.
_SUSPECTS = ("response_format", "logprobs", "top_logprobs", "stream_options")
_TOO_LONG = re.compile(  # as OpenAI, vLLM, llama.cpp, Mistral, Anthropic, Gemini, TGI and LM Studio say it
    r"context[ _-]?(length|size|window)|exceed_context|prompt is too long|too many (input )?tokens|request too large"
    r"|input token count|reduce the length|max_new_tokens.{0,5} must be|number of tokens to keep",
    re.IGNORECASE,
)


class NoAnswerError(Exception):
    """Why there is no usable answer.  Its text may quote the server; `what` quotes nothing."""

    def __init__(self, what: str, quoted: str = "") -> None:
        super().__init__(f"{what}: {quoted}" if quoted else what)
        self.what = what


class RefusedError(NoAnswerError):
    """The server does not take this request as it stands (400, 422)."""


class TooLongError(RefusedError):
    """The messages and the room for the answer are more than the model can hold."""


class BrokenError(NoAnswerError):
    """The connection ended in the middle."""


def is_too_long(complaint: str) -> bool:
    """
    >>> is_too_long("This model's maximum context length is 4096 tokens. However, you requested 5000 tokens")
    True
    """
    return _TOO_LONG.search(complaint) is not None


def give_way(refused: RefusedError, options: dict[str, Any]) -> None:
    """Leave out what the server complains of; where that is not known, its refusal stands."""
    unwanted = _unwanted(str(refused), options)
    if unwanted is None:
        raise refused
    del options[unwanted]


def _unwanted(complaint: str, options: dict[str, Any]) -> str | None:
    """The option that a server's complaint names; where it names none, the first of the usual suspects."""
    named = [option for option in options if option in complaint.lower()]
    suspects = [option for option in _SUSPECTS if option in options]
    return next(iter(named or suspects), None)


def one_line(text: str) -> str:
    """The beginning of a text, as a line."""
    return " ".join(text.split())[:200]


def sendable(text: str) -> str:
    """The text without halves of surrogate pairs, which no server takes."""
    return text.encode("utf-8", "replace").decode()
