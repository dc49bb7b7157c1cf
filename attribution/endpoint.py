"""A language model behind any OpenAI-compatible server, asked over the real client; each trouble is told in one line.

A server that is not there, lets nobody in or has no such model is an AttributionError; whatever costs one answer only
is a NoAnswerError, and whoever asked goes on.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from threading import BoundedSemaphore, Lock
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from attribution.errors import AttributionError

if TYPE_CHECKING:
    from openai import APIConnectionError, APIStatusError

Message = dict[str, str]

_UNREACHED = {"ConnectError", "ConnectTimeout", "UnsupportedProtocol"}  # of httpx, which openai 3 calls httpx2
_SUSPECTS = ("response_format", "logprobs", "top_logprobs")  # what a server refuses most often without naming it


class NoAnswerError(Exception):
    """Why there is no usable answer.  Its text may quote the server; `what` quotes nothing."""

    def __init__(self, what: str, quoted: str = "") -> None:
        super().__init__(f"{what}: {quoted}" if quoted else what)
        self.what = what


class _RefusedError(NoAnswerError):
    """The server does not take this request as it stands (400, 422)."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What the model wrote, without its thoughts, and the likeliest tokens at each place where the server tells them.

    `structured` says whether a schema was sent along.
    """

    content: str
    structured: bool = False
    logprobs: list[Any] = field(default_factory=list)


class Endpoint:
    """One model of one server.  Safe to share among threads, which have at most `num_parallel` requests in flight.

    What a server refuses of `options` (a schema, a seed; "system" is the system message) is left out from then on.
    """

    def __init__(
        self,
        base_url: str,
        model: str,
        options: Mapping[str, Any],
        *,
        api_key: str = "none",
        timeout: float = 30.0,
        retries: int = 2,
        num_parallel: int = 4,
    ) -> None:
        if not _is_url(base_url) or not model:
            raise ValueError(
                f"wanted an http:// or https:// base_url and a model, got {_shown(base_url)!r} and {model!r}"
            )
        if not (api_key.isascii() and api_key.isprintable()) or num_parallel < 1:
            raise ValueError(f"wanted a printable ASCII api_key and num_parallel >= 1, got {num_parallel}")
        try:
            import openai
        except ImportError as error:
            raise AttributionError("the openai client is missing: pip install 'propcite[llm]'") from error
        self.base_url, self.model, self.num_parallel = _shown(base_url), model, num_parallel
        self._openai = openai
        self._client = openai.OpenAI(base_url=base_url, api_key=api_key or "none", timeout=timeout, max_retries=retries)
        self._client.organization = self._client.project = None  # else taken from the environment, for any server
        self._options = {"system": True, **options}
        self._reached = False
        self._lock = Lock()
        self._places = BoundedSemaphore(num_parallel)

    def ask(self, messages_for: Callable[[bool], list[Message]]) -> Answer:
        """The answer to these messages, which are told whether a schema goes with them."""
        with self._lock:
            options = dict(self._options)
        while True:
            try:
                structured = "response_format" in options
                reply = self._complete(_request(self.model, messages_for(structured), options))
                break
            except _RefusedError as refused:
                unwanted = _unwanted(str(refused), options)
                if unwanted is None:
                    raise
                del options[unwanted]
        answer = _answer(reply, structured)
        self.leave_out(*(self._options.keys() - options.keys()))
        return answer

    def leave_out(self, *names: str) -> None:
        """These options are sent no more."""
        with self._lock:
            self._options = {name: value for name, value in self._options.items() if name not in names}

    def _complete(self, request: dict[str, Any]) -> str:
        """The server's reply as it came: the client would take a web page for a completion."""
        try:
            with self._places:
                reply = self._client.chat.completions.with_raw_response.create(**request)
        except self._openai.APIConnectionError as error:
            raise self._unreached(error) from error
        except self._openai.APIStatusError as error:
            self._reached = True
            raise self._refused(error) from error
        except self._openai.OpenAIError as error:
            raise NoAnswerError("the request failed", one_line(str(error))) from error
        self._reached = True
        return reply.http_response.text

    def _unreached(self, error: APIConnectionError) -> Exception:
        if not self._reached and type(error.__cause__).__name__ in _UNREACHED:
            return AttributionError(f"no server answers at {self.base_url}: start it or correct the base_url")
        timed_out = isinstance(error, self._openai.APITimeoutError)
        what = "the request timed out" if timed_out else "the connection broke"
        return NoAnswerError(what, one_line(f"{error.message} {error.__cause__ or ''}"))

    def _refused(self, error: APIStatusError) -> Exception:
        code, said = error.status_code, one_line(error.message)
        if code in (401, 403):
            return AttributionError(f"{self.base_url} refuses the API key ({code}): set the api_key it expects")
        if code == 404:
            return AttributionError(f"{self.base_url} has no chat model {self.model!r} (404): {self._known_models()}")
        kind = _RefusedError if code in (400, 422) else NoAnswerError
        return kind(f"the server answered {code}", said)

    def _known_models(self) -> str:
        try:
            names = [model.id for model in self._client.with_options(max_retries=0).models.list().data][:5]
        except (self._openai.OpenAIError, AttributeError, TypeError, ValueError):
            names = []
        return f"name one of {', '.join(names)}" if names else "correct the base_url, which often ends in /v1"


def _is_url(text: str) -> bool:
    try:
        parts = urlsplit(text)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False


def _shown(url: str) -> str:
    """The address without a name and password in it."""
    return re.sub(r"//[^/@]*@", "//", url)


def _request(model: str, messages: list[Message], options: dict[str, Any]) -> dict[str, Any]:
    if "system" not in options:
        task, first, *others = messages
        messages = [{"role": "user", "content": f"{task['content']}\n\n{first['content']}"}, *others]
    return {"model": model, "messages": messages} | {k: v for k, v in options.items() if k != "system"}


def _unwanted(complaint: str, options: dict[str, Any]) -> str | None:
    """The option that a server's complaint names; where it names none, the first of the usual suspects."""
    named = [option for option in options if option in complaint.lower()]
    suspects = [option for option in _SUSPECTS if option in options]
    return next(iter(named or suspects), None)


def _answer(reply: str, structured: bool) -> Answer:
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


def one_line(text: str) -> str:
    """The beginning of a text, as a line."""
    return " ".join(text.split())[:200]


def sendable(text: str) -> str:
    """The text without halves of surrogate pairs, which no server takes."""
    return text.encode("utf-8", "replace").decode()
