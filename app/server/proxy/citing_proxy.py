"""Handle a request to a model server: send it there, and pass the response on, with or without citations."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import AsyncExitStack, aclosing

import httpx
from fastapi import Request, Response
from fastapi.exceptions import RequestValidationError

from propcite.app.library.store import Action
from propcite.app.server.access import Access
from propcite.app.server.errors import RequestError
from propcite.app.server.problems import openai_error
from propcite.app.server.proxy.api_request import ApiRequest
from propcite.app.server.proxy.citing import BROKEN_OFF, Citer
from propcite.app.server.proxy.events import (
    DONE,
    Event,
    OutOfTimeError,
    encode_chunk,
    out_of_time,
    parse_events,
    within,
)
from propcite.app.server.proxy.local_generator import (
    MODELS,
    NO_MODEL_SERVER,
    LocalCiter,
    local_completion,
    local_stream,
    open_local_pipeline,
)
from propcite.app.server.proxy.outcome import Outcome, ResourceStream
from propcite.app.server.proxy.returned import CHAT, answer_headers, raw, relayed, whole
from propcite.app.server.proxy.sent_pdfs import SentPdfs
from propcite.app.server.proxy.sources import choose_sources
from propcite.app.server.proxy.upstream import NO_ROUTE, Upstream, comes_in_pieces, is_stream, returned_headers
from propcite.app.server.routes.shared import cancel_on_disconnect
from propcite.app.server.service import Service
from propcite.app.server.writing import Writing
from propcite.app.turns.costs import Kind
from propcite.app.turns.workers import Asking

MAX_STREAMED_CHOICES = 16  # that are cited in one stream
NO_ROUTE_S = 600.0  # after which a model server is asked again for a route that it did not have
END_BYTES, ENDS = 200, (b"[DONE]", b"message_stop")  # how streams end that are passed on


class CitingProxy:
    """The model server, with a limit on the requests that it works on at once."""

    def __init__(self, service: Service) -> None:
        settings = service.settings
        self.upstream = Upstream(settings, forwards_key=not service.requires_keys)
        self.slots, self.seconds = service.chats, settings.serve_stream_seconds
        self.longest = self.seconds + settings.serve_idle_seconds  # for a client to read the last event
        self._pdfs = SentPdfs(service)
        self._translate = settings.proxy_translate
        self._no_route: dict[str, float] = {}  # when the model server did not have a route

    async def answer(self, request: Request, access: Access, call: ApiRequest) -> Response:
        await cancel_on_disconnect(request, call.read_documents(self._pdfs.reader(access)))
        if not self.upstream.is_set:
            return await self._local_answer(request, access, call)
        sources = await cancel_on_disconnect(request, choose_sources(access, call))
        if sources and sources.name:
            await asyncio.to_thread(access.record, Action.ASKED, sources.name)
        citer = Citer.of(access, call, sources) if sources and call.is_cited else None
        if citer and call.is_stream and call.num_texts > MAX_STREAMED_CHOICES:
            raise RequestError(
                422, f"n: at most {MAX_STREAMED_CHOICES} answers are cited in one stream; or set propcite.cite to false"
            )
        instruction = sources.instruction(is_cited=citer is not None) if sources else ""
        outcome = Outcome(access.service, is_cited=citer is not None)
        async with AsyncExitStack() as resources:
            resources.callback(outcome.count)
            await self._begin(request, access.asking, Kind.CHAT, resources)
            sending = self._send(request, call, instruction, resources)
            response, is_chat = await cancel_on_disconnect(request, sending)
            if is_stream(response) and response.status_code == 200:
                return self._stream(request, call, response, citer, outcome, resources.pop_all(), is_chat=is_chat)
            content = await cancel_on_disconnect(request, self._body(response))
            if response.status_code != 200:
                outcome.name = "refused"
                return self.upstream.error_response(request, response, content)
            outcome.name = "done"
        content = await cancel_on_disconnect(request, whole(call, citer, content, is_chat=is_chat))
        media_type = response.headers.get("content-type", "application/json")
        return Response(content, headers=answer_headers(response, citer), media_type=media_type)

    async def passed(
        self, request: Request, asking: Asking, path: str, body: bytes | None, kind: Kind = Kind.CHAT
    ) -> Response:
        """Pass a request on as it is, and its response as it comes."""
        if not self.upstream.is_set:
            raise RequestError(404, f"{NO_MODEL_SERVER}, so there is no {path}")
        query = f"?{request.url.query}" if request.url.query else ""
        outcome = Outcome(request.app.state.service, is_cited=False)
        async with AsyncExitStack() as resources:
            resources.callback(outcome.count)
            await self._begin(request, asking, kind, resources)
            media_type = request.headers.get("content-type", "application/json")
            sending = self.upstream.send(request, path + query, body, method=request.method, media_type=media_type)
            response = await cancel_on_disconnect(request, sending)
            resources.push_async_callback(response.aclose)
            if response.is_success and comes_in_pieces(response):
                outcome.name = "left"
                passed = self._bytes(request, response, outcome, _openai_end)
                return ResourceStream(passed, resources.pop_all(), response, self.longest)
            content = await cancel_on_disconnect(request, self._body(response))
            outcome.name = "done" if response.is_success else "refused"
        if not response.is_success:
            return self.upstream.error_response(request, response, content)
        media_type = response.headers.get("content-type", "application/json")
        return Response(content, response.status_code, returned_headers(response), media_type)

    async def models(self, request: Request, asking: Asking) -> Response:
        if not self.upstream.is_set:
            return Response(json.dumps(MODELS), media_type="application/json")
        return await self.passed(request, asking, "/models", None, Kind.MODELS)

    async def close(self) -> None:
        await self.upstream.close()

    async def _begin(self, request: Request, asking: Asking, kind: Kind, resources: AsyncExitStack) -> None:
        """Wait for a slot, which is released with `resources`."""
        slot = self.slots.request(asking, kind)
        resources.callback(slot.release)
        await cancel_on_disconnect(request, slot.begun())

    async def _body(self, response: httpx.Response) -> bytes:
        try:
            async with asyncio.timeout(self.seconds):
                return await self.upstream.read_body(response)
        except TimeoutError:
            raise RequestError(504, out_of_time(self.seconds)) from None

    async def _send(
        self, request: Request, call: ApiRequest, instruction: str, resources: AsyncExitStack
    ) -> tuple[httpx.Response, bool]:
        """Return the model server's response, and whether it is one of Chat Completions.

        A route that the model server does not have is one that it refuses while it has the model itself.
        """
        own: httpx.Response | None = None
        if call.path == CHAT or not self._translates(call.path):
            own = await self.upstream.write(request, call.path, call.upstream_body(instruction))
            resources.push_async_callback(own.aclose)
            may_lack = call.path != CHAT and self._translate == "auto" and own.status_code in NO_ROUTE
            if not may_lack:
                return own, call.path == CHAT
        try:
            body = self._chat_body(call, instruction)
        except RequestValidationError:
            if own is None:
                raise
            return own, False
        chat = await self.upstream.write(request, CHAT, body)
        resources.push_async_callback(chat.aclose)
        if own is not None and chat.status_code in NO_ROUTE:
            return own, False
        if chat.status_code == 200:
            self._no_route.setdefault(call.path, time.monotonic())
        return chat, True

    def _translates(self, path: str) -> bool:
        """Return whether requests to a route become chat completions at once."""
        if self._translate == "auto" and time.monotonic() - self._no_route.get(path, -NO_ROUTE_S) >= NO_ROUTE_S:
            self._no_route.pop(path, None)
        return self._translate == "always" or path in self._no_route

    def _chat_body(self, call: ApiRequest, instruction: str) -> bytes:
        body = call.chat_body(instruction)
        if self.upstream.is_openai and "max_tokens" in body:
            body["max_completion_tokens"] = body.pop("max_tokens")
        return json.dumps(body).encode()

    def _stream(
        self,
        request: Request,
        call: ApiRequest,
        response: httpx.Response,
        citer: Citer | None,
        outcome: Outcome,
        resources: AsyncExitStack,
        *,
        is_chat: bool,
    ) -> Response:
        outcome.name = "left"  # until its end is reached
        is_translated = is_chat and call.path != CHAT
        if citer is None and not is_translated:
            passed = self._bytes(request, response, outcome, call.error_events)
            return ResourceStream(passed, resources, response, self.longest)
        events = parse_events(within(response.aiter_bytes(), self.seconds))
        source = call.from_chat_stream(events) if is_translated else events
        if citer is None:
            stream = self._uncited(request, source, call, outcome)
        else:
            relay = call.relay(citer)
            resources.push_async_callback(relay.close)
            stream = relayed(request, source, relay, outcome)
        return ResourceStream(stream, resources, response, self.longest, answer_headers(response, citer))

    async def _bytes(
        self, request: Request, response: httpx.Response, outcome: Outcome, error_events: Callable[[int, str], bytes]
    ) -> AsyncIterator[bytes]:
        """Yield a body unchanged; if a stream breaks off, add an error, so that no client takes it for complete."""
        last = b""
        try:
            async for piece in within(response.aiter_bytes(), self.seconds):
                last = (last + piece)[-END_BYTES:]
                yield piece
            outcome.name = "done"
        except (httpx.HTTPError, OutOfTimeError) as error:
            status, why = self._why(error)
            outcome.name, request.state.refusal = "broken", why
            if is_stream(response) and not any(end in last for end in ENDS):
                yield b"\n\n" + error_events(status, why)

    def _why(self, error: Exception) -> tuple[int, str]:
        """Return the status and the text of an error that ended a stream."""
        if isinstance(error, OutOfTimeError):
            return 504, str(error)
        return 502, str(self.upstream.connection_error(error))

    async def _uncited(
        self, request: Request, source: AsyncGenerator[Event, None], call: ApiRequest, outcome: Outcome
    ) -> AsyncIterator[bytes]:
        """Yield translated events; if they break off, add an error."""
        kind, status = "", 502
        try:
            async with aclosing(source) as events:
                async for event in events:
                    kind = (event.content or {}).get("type") or kind
                    yield event.raw
        except (httpx.HTTPError, OutOfTimeError) as error:
            status, request.state.refusal = self._why(error)
        outcome.name = "done"
        if not kind.endswith((".completed", ".incomplete", "message_stop", "error")):
            outcome.name = "broken"
            yield call.error_events(status, getattr(request.state, "refusal", BROKEN_OFF))

    async def _local_answer(self, request: Request, access: Access, call: ApiRequest) -> Response:
        """Answer by this server's own generator, whose chat completion takes the way of a model server's."""
        pipeline = await cancel_on_disconnect(request, open_local_pipeline(access, call))
        writing = Writing(access.service, access.asking)
        citer = LocalCiter.beside(access, call, pipeline.collection.name)
        outcome = Outcome(access.service, is_cited=call.is_cited)
        if not call.is_stream:
            content = await cancel_on_disconnect(request, local_completion(call, pipeline, writing, citer))
            cited = await whole(call, citer if call.is_cited else None, content, is_chat=True)
            return Response(cited, headers=answer_headers(None, citer), media_type="application/json")
        resources = AsyncExitStack()
        resources.callback(outcome.count)
        resources.callback(writing.leave)
        source = call.from_chat_stream(local_stream(call, pipeline, writing, citer))
        if not call.is_cited:
            return ResourceStream(raw(source), resources, None, self.longest)
        relay = call.relay(citer)
        resources.push_async_callback(relay.close)
        stream = relayed(request, source, relay, outcome)
        return ResourceStream(stream, resources, None, self.longest, answer_headers(None, citer))


def _openai_end(status: int, detail: str) -> bytes:
    return encode_chunk(openai_error(status, detail)) + DONE
