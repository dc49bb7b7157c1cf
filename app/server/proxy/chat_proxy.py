"""Handle a chat completion: send it to the model server, and pass the response on, with or without citations."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterable, AsyncIterator
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass

import httpx
from fastapi import Request, Response
from fastapi.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from propcite.app.library.store import Action
from propcite.app.server.access import Access
from propcite.app.server.errors import RequestError
from propcite.app.server.problems import openai_error
from propcite.app.server.proxy.chat_request import ChatRequest
from propcite.app.server.proxy.chunks import DONE, OutOfTimeError, encode_chunk, out_of_time, within
from propcite.app.server.proxy.citing import NOT_JSON, CompletionCiter
from propcite.app.server.proxy.local_generator import MODELS, local_completion, local_stream, open_local_pipeline
from propcite.app.server.proxy.sources import choose_sources
from propcite.app.server.proxy.stream_relay import StreamRelay
from propcite.app.server.proxy.upstream import Upstream, is_stream, returned_headers
from propcite.app.server.routes.shared import cancel_on_disconnect
from propcite.app.server.service import Service
from propcite.app.server.streaming import UNBUFFERED
from propcite.app.turns.costs import Kind
from propcite.app.turns.workers import Asking

MAX_STREAMED_CHOICES = 16  # that are cited in one stream


class ChatProxy:
    """The model server, with a limit on the requests that it works on at once."""

    def __init__(self, service: Service) -> None:
        settings = service.settings
        self.upstream = Upstream(settings, forwards_key=not service.requires_keys)
        self.slots, self.seconds = service.chats, settings.serve_stream_seconds
        self.grace = settings.serve_idle_seconds

    async def completion(self, request: Request, access: Access, chat: ChatRequest) -> Response:
        if not self.upstream.is_set:
            return await _local_response(request, access, chat)
        sources = await cancel_on_disconnect(request, choose_sources(access, chat))
        if sources and sources.name:
            await asyncio.to_thread(access.record, Action.ASKED, sources.name)
        citer = CompletionCiter.of(access, chat, sources) if sources and chat.is_cited else None
        if citer and chat.is_stream and chat.num_choices > MAX_STREAMED_CHOICES:
            raise RequestError(
                422, f"n: at most {MAX_STREAMED_CHOICES} answers are cited in one stream; or set propcite.cite to false"
            )
        message = sources.message(is_cited=citer is not None) if sources else None
        body = chat.upstream_body(message)
        outcome = Outcome(access.service, is_cited=citer is not None)
        async with AsyncExitStack() as resources:
            resources.callback(outcome.count)
            sending = self._send(request, access.asking, Kind.CHAT, resources, "/chat/completions", body)
            response = await cancel_on_disconnect(request, sending)
            if is_stream(response) and response.status_code == 200:
                return self._stream(request, response, citer, outcome, resources.pop_all())
            content = await cancel_on_disconnect(request, self._body(response))
            if response.status_code != 200:
                outcome.name = "refused"
                return self.upstream.error_response(request, response, content)
            outcome.name = "done"
        if citer:
            return _passed_on(response, await cancel_on_disconnect(request, citer.completion(content)))
        if not content.lstrip().startswith(b"{"):
            raise RequestError(502, NOT_JSON)
        return _passed_on(response, content)

    async def models(self, request: Request, asking: Asking) -> Response:
        if not self.upstream.is_set:
            return Response(json.dumps(MODELS), media_type="application/json")
        async with AsyncExitStack() as resources:
            response = await cancel_on_disconnect(
                request, self._send(request, asking, Kind.MODELS, resources, "/models")
            )
            content = await cancel_on_disconnect(request, self._body(response))
        if response.status_code != 200:
            return self.upstream.error_response(request, response, content)
        return _passed_on(response, content)

    async def _send(
        self,
        request: Request,
        asking: Asking,
        kind: Kind,
        resources: AsyncExitStack,
        path: str,
        body: bytes | None = None,
    ) -> httpx.Response:
        """Return the model server's response; its slot and connection are released with `resources`."""
        slot = self.slots.request(asking, kind)
        resources.callback(slot.release)
        await slot.begun()
        response = await self.upstream.send(request, path, body)
        resources.push_async_callback(response.aclose)
        return response

    async def _body(self, response: httpx.Response) -> bytes:
        try:
            async with asyncio.timeout(self.seconds):
                return await self.upstream.read_body(response)
        except TimeoutError:
            raise RequestError(504, out_of_time(self.seconds)) from None

    def _stream(
        self,
        request: Request,
        response: httpx.Response,
        citer: CompletionCiter | None,
        outcome: Outcome,
        resources: AsyncExitStack,
    ) -> Response:
        outcome.name = "left"  # until its end is reached
        longest = self.seconds + self.grace  # for a client to read the last event
        if citer is None:
            return _ResourceStream(self._relay_bytes(request, response, outcome), resources, response, longest)
        relay = StreamRelay(citer)
        resources.push_async_callback(relay.close)
        events = _relay_cited(request, within(response.aiter_bytes(), self.seconds), relay, outcome)
        return _ResourceStream(events, resources, response, longest)

    async def _relay_bytes(self, request: Request, response: httpx.Response, outcome: Outcome) -> AsyncIterator[bytes]:
        """Yield the stream unchanged; if it breaks off, add an error, so that no client takes it for complete."""
        last = b""
        try:
            async for piece in within(response.aiter_bytes(), self.seconds):
                last = (last + piece)[-len(DONE) :]
                yield piece
            outcome.name = "done"
        except (httpx.HTTPError, OutOfTimeError) as error:
            is_late = isinstance(error, OutOfTimeError)
            why = str(error if is_late else self.upstream.connection_error(error))
            outcome.name, request.state.refusal = "broken", why
            if b"[DONE]" not in last:
                yield b"\n\n" + encode_chunk(openai_error(504 if is_late else 502, why)) + DONE

    async def close(self) -> None:
        await self.upstream.close()


@dataclass
class Outcome:
    """The outcome of a request, counted once."""

    service: Service
    is_cited: bool
    name: str = "failed"

    def count(self) -> None:
        self.service.metrics.proxied.labels("yes" if self.is_cited else "no", self.name).inc()


class _ResourceStream(StreamingResponse):
    """A stream that releases its resources when it has ended, its client has left, or reads too slowly."""

    def __init__(
        self, events: AsyncIterator[bytes], resources: AsyncExitStack, response: httpx.Response, seconds: float
    ) -> None:
        headers = {**UNBUFFERED, **returned_headers(response)}
        super().__init__(events, headers=headers, media_type=response.headers["content-type"])
        self._resources, self._seconds = resources, seconds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async with self._resources:
            with suppress(TimeoutError):
                async with asyncio.timeout(self._seconds):
                    await super().__call__(scope, receive, send)


async def _relay_cited(
    request: Request, pieces: AsyncIterable[bytes], relay: StreamRelay, outcome: Outcome
) -> AsyncIterator[bytes]:
    async for event in relay.events(pieces):
        yield event
    outcome.name = "broken" if relay.error else "done"
    if relay.error:
        request.state.refusal = relay.error


async def _local_response(request: Request, access: Access, chat: ChatRequest) -> Response:
    pipeline = await cancel_on_disconnect(request, open_local_pipeline(access, chat))
    if chat.is_stream:
        return local_stream(access, chat, pipeline)
    content = await cancel_on_disconnect(request, local_completion(access, chat, pipeline))
    return Response(content, media_type="application/json")


def _passed_on(response: httpx.Response, body: bytes) -> Response:
    media_type = response.headers.get("content-type", "application/json")
    return Response(body, headers=returned_headers(response), media_type=media_type)
