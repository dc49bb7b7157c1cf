"""One request on its way: to the model's server and back, passed on or cited."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from dataclasses import dataclass

import httpx
from fastapi import Request, Response
from fastapi.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from propcite.app.server.access import Access
from propcite.app.server.errors import RequestError
from propcite.app.server.problems import openai_error
from propcite.app.server.proxy.asked import Asked
from propcite.app.server.proxy.chunks import DONE, encoded
from propcite.app.server.proxy.citing import Citing
from propcite.app.server.proxy.own import own_completion, own_models, own_pipeline, own_stream
from propcite.app.server.proxy.passing import Passing
from propcite.app.server.proxy.places import Places
from propcite.app.server.proxy.sources import sources_of
from propcite.app.server.proxy.upstream import Upstream, is_stream, kept_headers
from propcite.app.server.proxy.whole import NO_JSON, cited_completion
from propcite.app.server.routes.asking import UNBUFFERED
from propcite.app.server.routes.shared import unless_gone
from propcite.app.server.service import Service

EVENTS = "text/event-stream"
MOST_CHOICES = 16  # texts of one stream that are cited beside each other


class Proxy:
    """The model's server, and the places of those who have their answers from it."""

    def __init__(self, service: Service) -> None:
        settings = service.settings
        self.upstream = Upstream(settings, lends_key=not service.asks_for_keys)
        self.places = Places(settings.serve_streams, settings.serve_waiting)
        service.metrics.watch("proxy", self.places)

    async def completion(self, request: Request, access: Access, asked: Asked) -> Response:
        if not self.upstream.is_set:
            return await _own(request, access, asked)
        sources = await unless_gone(request, sources_of(access, asked))
        citing = Citing(access.service, asked, sources) if sources and asked.cites else None
        if citing and asked.streams and asked.num > MOST_CHOICES:
            raise RequestError(422, f"n: at most {MOST_CHOICES} answers are cited in one stream; or send propcite.cite")
        message = sources.message(cites=citing is not None) if sources else None
        tally = Tally(access.service, is_cited=citing is not None)
        async with AsyncExitStack() as held:
            held.callback(tally.count)
            response = await unless_gone(request, self._sent(request, held, "/chat/completions", asked.sent(message)))
            if is_stream(response) and response.status_code == 200:
                return self._stream(request, response, citing, tally, held.pop_all())
            body = await unless_gone(request, self.upstream.whole(response))
            if response.status_code != 200:
                tally.outcome = "refused"
                return self.upstream.refusal(request, response, body)
            tally.outcome = "done"
        if citing:
            return _passed_on(response, await unless_gone(request, cited_completion(body, citing)))
        if not body.lstrip().startswith(b"{"):
            raise RequestError(502, NO_JSON)
        return _passed_on(response, body)

    async def models(self, request: Request) -> Response:
        if not self.upstream.is_set:
            return Response(json.dumps(own_models()), media_type="application/json")
        async with AsyncExitStack() as held:
            response = await unless_gone(request, self._sent(request, held, "/models"))
            body = await unless_gone(request, self.upstream.whole(response))
        if response.status_code != 200:
            return self.upstream.refusal(request, response, body)
        return _passed_on(response, body)

    async def _sent(
        self, request: Request, held: AsyncExitStack, path: str, body: bytes | None = None
    ) -> httpx.Response:
        """The model server's answer; its connection and the place are given back with `held`."""
        await self.places.take()
        held.callback(self.places.leave)
        response = await self.upstream.send(request, path, body)
        held.push_async_callback(response.aclose)
        return response

    def _stream(
        self, request: Request, response: httpx.Response, citing: Citing | None, tally: Tally, held: AsyncExitStack
    ) -> Response:
        tally.outcome = "left"  # until its end is reached
        if citing is None:
            return Streamed(self._bare(request, response, tally), held, response)
        passing = Passing(citing)
        held.push_async_callback(passing.close)
        return Streamed(_cited(request, response, passing, tally), held, response)

    async def _bare(self, request: Request, response: httpx.Response, tally: Tally) -> AsyncIterator[bytes]:
        """The very bytes; where they break off an error is added, so that no client takes them for the whole."""
        last = b""
        try:
            async for piece in response.aiter_bytes():
                last = (last + piece)[-len(DONE) :]
                yield piece
            tally.outcome = "done"
        except httpx.HTTPError as error:
            tally.outcome, request.state.refusal = "broken", str(self.upstream.trouble(error))
            if b"[DONE]" not in last:
                yield b"\n\n" + encoded(openai_error(502, request.state.refusal)) + DONE

    async def close(self) -> None:
        await self.upstream.close()


@dataclass
class Tally:
    """What becomes of a request, counted once."""

    service: Service
    is_cited: bool
    outcome: str = "failed"

    def count(self) -> None:
        self.service.metrics.proxied.labels("yes" if self.is_cited else "no", self.outcome).inc()


class Streamed(StreamingResponse):
    """A stream with what it holds, which is given back when it ended or its reader left."""

    def __init__(
        self, events: AsyncIterator[bytes], held: AsyncExitStack, response: httpx.Response | None = None
    ) -> None:
        headers = {**UNBUFFERED, **kept_headers(response)} if response else UNBUFFERED
        media_type = response.headers["content-type"] if response else EVENTS
        super().__init__(events, headers=headers, media_type=media_type)
        self._held = held

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async with self._held:
            await super().__call__(scope, receive, send)


async def _cited(request: Request, response: httpx.Response, passing: Passing, tally: Tally) -> AsyncIterator[bytes]:
    async for event in passing.events(response.aiter_bytes()):
        yield event
    tally.outcome = "broken" if passing.trouble else "done"
    if passing.trouble:
        request.state.refusal = passing.trouble


async def _own(request: Request, access: Access, asked: Asked) -> Response:
    pipeline = await unless_gone(request, own_pipeline(access, asked))
    if asked.streams:
        return StreamingResponse(own_stream(access, asked, pipeline), headers=UNBUFFERED, media_type=EVENTS)
    body = await unless_gone(request, own_completion(access, asked, pipeline))
    return Response(body, media_type="application/json")


def _passed_on(response: httpx.Response, body: bytes) -> Response:
    media_type = response.headers.get("content-type", "application/json")
    return Response(body, headers=kept_headers(response), media_type=media_type)
