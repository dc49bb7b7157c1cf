"""Call a language model behind any OpenAI-compatible server, through the official client.

A server that is down, rejects the API key or lacks the model raises EndpointError.  A problem with one answer alone
raises NoAnswerError, after which callers can go on with the next request.  `ask` waits for the whole answer, `stream`
yields it while it is written.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator, Mapping
from contextlib import aclosing, contextmanager
from functools import cached_property
from threading import Lock
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlsplit

from propcite.attribution.errors import AttributionError, EndpointError
from propcite.attribution.llm.failures import (
    DisconnectedError,
    NoAnswerError,
    RefusedError,
    TooLongError,
    drop_refused_option,
    is_too_long,
    one_line,
)
from propcite.attribution.llm.replies import Answer, parse_chunk, parse_reply
from propcite.attribution.llm.server_events import DONE, StreamEnd, event_data
from propcite.attribution.llm.usage import record_usage, usage_of_reply
from propcite.attribution.llm.whole_replies import WholeReplies
from propcite.retrieval.extras import install_command

if TYPE_CHECKING:
    from openai import APIConnectionError, APIStatusError, AsyncOpenAI

Message = dict[str, str]

_UNREACHABLE = {"ConnectError", "ConnectTimeout", "UnsupportedProtocol"}  # of httpx, which openai 3 calls httpx2
_STREAM_OPTIONS = {"stream_options": {"include_usage": True}}  # sent with streams only
CONNECT_S = 3.0  # to open a connection, in which a host that is up answers from anywhere
_PAUSE = 0.5  # seconds before a stream that broke before its first text is retried; doubled each time


class EndpointNames(NamedTuple):
    """What messages call the address and the key: these arguments, or the settings that an application takes them from.

    >>> EndpointNames(url="PROPCITE_LLM_URL").url
    'PROPCITE_LLM_URL'
    """

    url: str = "base_url"
    key: str = "api_key"


ARGUMENTS = EndpointNames()


class Endpoint:
    """One model of one server.  Safe to share among threads: at most `num_parallel` requests run at once.

    An entry of `options` that the server refuses (a schema, a seed) is never sent again; so is one of `extra`, which
    has fields that are not OpenAI's own.  The entry "system" stands for the role of the system message.
    """

    def __init__(
        self,
        base_url: str,
        model: str,
        options: Mapping[str, Any],
        *,
        extra: Mapping[str, Any] | None = None,
        api_key: str = "none",
        timeout: float = 30.0,
        retries: int = 2,
        num_parallel: int = 4,
        names: EndpointNames = ARGUMENTS,
    ) -> None:
        url = _without_credentials(base_url)
        if not _is_url(base_url) or not model:
            raise ValueError(f"expected an http:// or https:// base_url and a model, got {url!r} and {model!r}")
        if not (api_key.isascii() and api_key.isprintable()) or num_parallel < 1:
            raise ValueError(f"expected a printable ASCII api_key and num_parallel >= 1, got {num_parallel}")
        try:
            import openai
        except ImportError as error:
            raise AttributionError(f"the openai client is missing: {install_command('llm')}") from error
        self.base_url, self.model, self.num_parallel = url, model, num_parallel
        self._openai = openai
        self._timeout, self._retries, self._names = timeout, retries, names
        self._arguments: dict[str, Any] = {
            "base_url": base_url,
            "api_key": api_key or "none",
            "timeout": openai.Timeout(timeout, connect=min(timeout, CONNECT_S)),
            "max_retries": retries,
        }
        self._replies = WholeReplies(self._new_client(), num_parallel)
        self._extra = frozenset(extra or {})
        self._options = {"system": True, **_STREAM_OPTIONS, **options, **(extra or {})}
        self._has_connected = False
        self._lock = Lock()

    def _new_client(self) -> AsyncOpenAI:
        client: AsyncOpenAI = self._openai.AsyncOpenAI(**self._arguments)
        client.organization = client.project = None  # else taken from the environment, for any server
        return client

    @cached_property
    def _async_client(self) -> AsyncOpenAI:
        """Return the client of streams, all of which run in one event loop, that of the caller."""
        return self._new_client()

    def ask(self, messages_for: Callable[[bool], list[Message]], extra: Mapping[str, Any] | None = None) -> Answer:
        """Return the model's answer.  `messages_for` builds the messages; its argument is whether a schema is sent.

        `extra` has fields of this request that are not OpenAI's own.
        """
        options = {name: value for name, value in self._current_options().items() if name not in _STREAM_OPTIONS}
        sent = set(options)
        while True:
            try:
                structured = "response_format" in options
                reply = self._complete(self._request(messages_for(structured), options, extra or {}))
                break
            except RefusedError as refusal:
                drop_refused_option(refusal, options)
        record_usage(usage_of_reply(reply))
        answer = parse_reply(reply, structured)
        self.drop_options(*(sent - set(options)))
        return answer

    async def stream(self, messages: list[Message]) -> AsyncGenerator[str | StreamEnd, None]:
        """Yield the text as it is written, then a StreamEnd, which also reports errors after the first text.

        Closing the generator cancels the request.  `num_parallel` does not limit streams: callers do.
        """
        options = self._current_options()
        while True:
            try:
                async with aclosing(self._with_retries(self._request(messages, options))) as pieces:
                    async for piece in pieces:
                        self.drop_options(*(self._options.keys() - options.keys()))  # it is accepted without these
                        yield piece
                break
            except TooLongError:
                raise
            except RefusedError as refusal:
                drop_refused_option(refusal, options)

    def _current_options(self) -> dict[str, Any]:
        with self._lock:
            return dict(self._options)

    def drop_options(self, *names: str) -> None:
        """Stop sending these options."""
        with self._lock:
            self._options = {name: value for name, value in self._options.items() if name not in names}

    def _request(
        self, messages: list[Message], options: Mapping[str, Any], extra: Mapping[str, Any] | None = None
    ) -> dict[str, Any]:
        """Return the arguments of the client's call."""
        if "system" not in options:
            messages = without_system(messages)
        own = {name: value for name, value in options.items() if name not in {"system", *self._extra}}
        body = {**{name: value for name, value in options.items() if name in self._extra}, **(extra or {})}
        return {"model": self.model, "messages": messages, **own, **({"extra_body": body} if body else {})}

    def _complete(self, request: dict[str, Any]) -> str:
        with self._translated_errors():
            reply = self._replies.reply_to(request)
        self._has_connected = True
        return reply

    async def _with_retries(self, request: dict[str, Any]) -> AsyncGenerator[str | StreamEnd, None]:
        """Send the request again if the connection breaks before the first text."""
        for number in range(self._retries + 1):
            try:
                async with aclosing(self._chunks(request)) as pieces:
                    async for piece in pieces:
                        yield piece
                return
            except DisconnectedError:
                if number == self._retries:
                    raise
            await asyncio.sleep(_PAUSE * 2**number)

    async def _chunks(self, request: dict[str, Any]) -> AsyncGenerator[str | StreamEnd, None]:
        """Yield the text and its end; raise errors before the first text, report later ones in the StreamEnd."""
        has_text, reason, usage = False, "", None
        try:
            async with aclosing(self._events(request)) as events:
                async for data in events:
                    chunk = parse_chunk(data)
                    reason, usage = reason or chunk.reason, chunk.usage or usage
                    if chunk.text:
                        has_text = True
                        yield chunk.text
            if not reason:
                raise DisconnectedError("the server went away in the middle of the answer")
        except NoAnswerError as failure:
            if not has_text and not reason:
                raise
            yield StreamEnd(reason, "" if reason and isinstance(failure, DisconnectedError) else failure.summary, usage)
        else:
            yield StreamEnd(reason, usage=usage)
        finally:
            record_usage(usage)

    async def _events(self, request: dict[str, Any]) -> AsyncGenerator[str, None]:
        """Yield the data of each event; a server that cannot stream sends its whole reply as the only one."""
        streaming = self._async_client.chat.completions.with_streaming_response.create(**request, stream=True)
        with self._translated_errors():
            async with streaming as reply:
                self._has_connected = True
                if "event-stream" not in reply.headers.get("content-type", ""):
                    yield await reply.text()
                    yield DONE
                    return
                events = event_data(reply.iter_lines())
                data = await self._next(events)
                while data is not None and data != DONE:
                    yield data
                    data = await self._next(events)
                if data:
                    yield data

    async def _next(self, events: AsyncIterator[str]) -> str | None:
        """Return the next event's data, None after the last; keep-alive comments do not reset the timeout."""
        try:
            async with asyncio.timeout(self._timeout):
                return await anext(events, None)
        except Exception as error:  # of whichever transport the client uses, or of decoding
            if "Timeout" in type(error).__name__:
                raise NoAnswerError(f"the server sent nothing for {self._timeout:g} seconds") from error
            raise DisconnectedError("the server went away in the middle of the answer", one_line(str(error))) from error

    @contextmanager
    def _translated_errors(self) -> Iterator[None]:
        """Raise the client's errors as EndpointError or NoAnswerError."""
        try:
            yield
        except self._openai.APIConnectionError as error:
            raise self._connection_error(error) from error
        except self._openai.APIStatusError as error:
            self._has_connected = True
            raise self._status_error(error) from error
        except self._openai.OpenAIError as error:
            raise NoAnswerError("the request failed", one_line(str(error))) from error

    def _connection_error(self, error: APIConnectionError) -> Exception:
        is_unreachable = type(error.__cause__).__name__ in _UNREACHABLE
        if not self._has_connected and is_unreachable:
            return EndpointError(f"no server answers at {self.base_url}: start it or correct the {self._names.url}")
        if is_unreachable:
            return NoAnswerError(f"no server answers at {self.base_url} any more")
        timed_out = isinstance(error, self._openai.APITimeoutError)
        summary = "the request timed out" if timed_out else "the connection broke"
        return NoAnswerError(summary, one_line(f"{error.message} {error.__cause__ or ''}"))

    def _status_error(self, error: APIStatusError) -> Exception:
        code, message = error.status_code, one_line(error.message.removeprefix(f"Error code: {error.status_code} - "))
        if code in (401, 403):
            return EndpointError(f"{self.base_url} refuses the API key ({code}): set the {self._names.key} it expects")
        if code == 404:
            return EndpointError(f"{self.base_url} has no chat model {self.model!r} (404): {self._model_hint()}")
        if code == 429:
            seconds = error.response.headers.get("retry-after", "")
            when = f"in {seconds} seconds" if seconds.isdecimal() else "later"
            return NoAnswerError(f"the server has too many requests (429): try again {when}", message)
        if code == 413 or (code in (400, 422, 500) and is_too_long(error.message)):
            return TooLongError(f"the server answered {code}", message)
        kind = RefusedError if code in (400, 422) else NoAnswerError
        return kind(f"the server answered {code}", message)

    def _model_hint(self) -> str:
        """Return the next step for a user who named a model that the server lacks."""
        try:
            with self._openai.OpenAI(**{**self._arguments, "timeout": 5, "max_retries": 0}) as client:
                client.organization = client.project = None
                names = [model.id for model in client.models.list().data][:5]
        except (self._openai.OpenAIError, AttributeError, TypeError, ValueError):
            names = []
        return f"name one of {', '.join(names)}" if names else f"correct the {self._names.url}, which often ends in /v1"


def _is_url(text: str) -> bool:
    try:
        parts = urlsplit(text)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False


def _without_credentials(url: str) -> str:
    return re.sub(r"//[^/@]*@", "//", url)


def without_system(messages: list[Message]) -> list[Message]:
    """Return the chat with the system message moved into the first user message, for templates without that role."""
    if messages[0]["role"] != "system":
        return messages
    task, first, *others = messages
    return [{"role": "user", "content": f"{task['content']}\n\n{first['content']}"}, *others]
