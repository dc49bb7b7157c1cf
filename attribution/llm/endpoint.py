"""A language model behind any OpenAI-compatible server, asked over the real client; each trouble is told in one line.

A server that is not there, lets nobody in or has no such model is an EndpointError; whatever costs one answer only
is a NoAnswerError, and whoever asked goes on.  `ask` waits for the whole, `stream` tells it while it is written.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator, Mapping
from contextlib import aclosing, contextmanager
from functools import cached_property
from threading import BoundedSemaphore, Lock
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from propcite.attribution.errors import AttributionError, EndpointError
from propcite.attribution.llm.failures import (
    BrokenError,
    NoAnswerError,
    RefusedError,
    TooLongError,
    give_way,
    is_too_long,
    one_line,
)
from propcite.attribution.llm.replies import Answer, answer_in, said_or_trouble
from propcite.attribution.llm.server_events import DONE, Ended, data_of
from propcite.attribution.llm.usage import spend, usage_of

if TYPE_CHECKING:
    from openai import APIConnectionError, APIStatusError, AsyncOpenAI

Message = dict[str, str]

_UNREACHED = {"ConnectError", "ConnectTimeout", "UnsupportedProtocol"}  # of httpx, which openai 3 calls httpx2
_STREAMED = {"stream_options": {"include_usage": True}}  # options of streams alone
_PAUSE = 0.5  # seconds before a stream that broke without a word is asked for again; then twice as long


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
        self._timeout, self._retries = timeout, retries
        self._arguments: dict[str, Any] = {
            "base_url": base_url,
            "api_key": api_key or "none",
            "timeout": timeout,
            "max_retries": retries,
        }
        self._client = openai.OpenAI(**self._arguments)
        self._client.organization = self._client.project = None  # else taken from the environment, for any server
        self._options = {"system": True, **_STREAMED, **options}
        self._reached = False
        self._lock = Lock()
        self._places = BoundedSemaphore(num_parallel)

    @cached_property
    def _beside(self) -> AsyncOpenAI:
        """The client of streams; all of them run in one event loop."""
        client: AsyncOpenAI = self._openai.AsyncOpenAI(**self._arguments)
        client.organization = client.project = None
        return client

    def ask(self, messages_for: Callable[[bool], list[Message]]) -> Answer:
        """The answer to these messages, which are told whether a schema goes with them."""
        options = {name: value for name, value in self._wanted().items() if name not in _STREAMED}
        sent = set(options)
        while True:
            try:
                structured = "response_format" in options
                reply = self._complete(_request(self.model, messages_for(structured), options))
                break
            except RefusedError as refused:
                give_way(refused, options)
        spend(usage_of(reply))
        answer = answer_in(reply, structured)
        self.leave_out(*(sent - set(options)))
        return answer

    async def stream(self, messages: list[Message]) -> AsyncGenerator[str | Ended, None]:
        """The text as it is written, in the end why it ended; what breaks after the first word is told there too.

        Closing it ends the request.  Not limited to `num_parallel`: who asks for many limits them.
        """
        options = self._wanted()
        while True:
            try:
                async with aclosing(self._patiently(_request(self.model, messages, options))) as pieces:
                    async for piece in pieces:
                        yield piece
                break
            except TooLongError:
                raise
            except RefusedError as refused:
                give_way(refused, options)
        self.leave_out(*(self._options.keys() - options.keys()))

    def _wanted(self) -> dict[str, Any]:
        with self._lock:
            return dict(self._options)

    def leave_out(self, *names: str) -> None:
        """These options are sent no more."""
        with self._lock:
            self._options = {name: value for name, value in self._options.items() if name not in names}

    def _complete(self, request: dict[str, Any]) -> str:
        """The server's reply as it came: the client would take a web page for a completion."""
        with self._troubles_told(), self._places:
            reply = self._client.chat.completions.with_raw_response.create(**request)
        self._reached = True
        return reply.http_response.text

    async def _patiently(self, request: dict[str, Any]) -> AsyncGenerator[str | Ended, None]:
        """Asked again where the connection broke before the first word."""
        for number in range(self._retries + 1):
            try:
                async with aclosing(self._written(request)) as pieces:
                    async for piece in pieces:
                        yield piece
                return
            except BrokenError:
                if number == self._retries:
                    raise
            await asyncio.sleep(_PAUSE * 2**number)

    async def _written(self, request: dict[str, Any]) -> AsyncGenerator[str | Ended, None]:
        """Trouble is raised before the first word, and told as the end after it."""
        begun, reason, usage = False, "", None
        try:
            async with aclosing(self._events(request)) as events:
                async for data in events:
                    said = said_or_trouble(data)
                    reason, usage = reason or said.reason, said.usage or usage
                    if said.text:
                        begun = True
                        yield said.text
            if not reason:
                raise BrokenError("the server went away in the middle of the answer")
        except NoAnswerError as failure:
            if not begun and not reason:
                raise
            yield Ended(reason, "" if reason and isinstance(failure, BrokenError) else failure.what, usage)
        else:
            yield Ended(reason, usage=usage)
        finally:
            spend(usage)

    async def _events(self, request: dict[str, Any]) -> AsyncGenerator[str, None]:
        """The data of the server's events; a server that does not stream sends its whole answer as the only one."""
        asked = self._beside.chat.completions.with_streaming_response.create(**request, stream=True)
        with self._troubles_told():
            async with asked as reply:
                self._reached = True
                if "event-stream" not in reply.headers.get("content-type", ""):
                    yield await reply.text()
                    yield DONE
                    return
                events = data_of(reply.iter_lines())
                data = await self._next(events)
                while data is not None and data != DONE:
                    yield data
                    data = await self._next(events)
                if data:
                    yield data

    async def _next(self, events: AsyncIterator[str]) -> str | None:
        """The next event's data, None after the last; only what is data shows that the server is still writing."""
        try:
            async with asyncio.timeout(self._timeout):
                return await anext(events, None)
        except Exception as error:  # of whichever transport the client has, or of an encoding
            if "Timeout" in type(error).__name__:
                raise NoAnswerError(f"the server said nothing for {self._timeout:g} seconds") from error
            raise BrokenError("the server went away in the middle of the answer", one_line(str(error))) from error

    @contextmanager
    def _troubles_told(self) -> Iterator[None]:
        """The client's errors as ours."""
        try:
            yield
        except self._openai.APIConnectionError as error:
            raise self._unreached(error) from error
        except self._openai.APIStatusError as error:
            self._reached = True
            raise self._refused(error) from error
        except self._openai.OpenAIError as error:
            raise NoAnswerError("the request failed", one_line(str(error))) from error

    def _unreached(self, error: APIConnectionError) -> Exception:
        if not self._reached and type(error.__cause__).__name__ in _UNREACHED:
            return EndpointError(f"no server answers at {self.base_url}: start it or correct the base_url")
        timed_out = isinstance(error, self._openai.APITimeoutError)
        what = "the request timed out" if timed_out else "the connection broke"
        return NoAnswerError(what, one_line(f"{error.message} {error.__cause__ or ''}"))

    def _refused(self, error: APIStatusError) -> Exception:
        code, said = error.status_code, one_line(error.message.removeprefix(f"Error code: {error.status_code} - "))
        if code in (401, 403):
            return EndpointError(f"{self.base_url} refuses the API key ({code}): set the api_key it expects")
        if code == 404:
            return EndpointError(f"{self.base_url} has no chat model {self.model!r} (404): {self._known_models()}")
        if code == 429:
            later = error.response.headers.get("retry-after", "")
            when = f"in {later} seconds" if later.isdecimal() else "later"
            return NoAnswerError(f"the server has too many requests (429): try again {when}", said)
        if code == 413 or (code in (400, 422, 500) and is_too_long(error.message)):
            return TooLongError(f"the server answered {code}", said)
        kind = RefusedError if code in (400, 422) else NoAnswerError
        return kind(f"the server answered {code}", said)

    def _known_models(self) -> str:
        try:
            names = [model.id for model in self._client.with_options(max_retries=0, timeout=5).models.list().data][:5]
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


def without_system(messages: list[Message]) -> list[Message]:
    """The same chat where the user says what the system would, for templates that know no system."""
    if messages[0]["role"] != "system":
        return messages
    task, first, *others = messages
    return [{"role": "user", "content": f"{task['content']}\n\n{first['content']}"}, *others]


def _request(model: str, messages: list[Message], options: dict[str, Any]) -> dict[str, Any]:
    if "system" not in options:
        messages = without_system(messages)
    return {"model": model, "messages": messages} | {k: v for k, v in options.items() if k != "system"}
