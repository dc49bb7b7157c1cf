"""How agents reach the server: the route /mcp, and the standard streams of a process that their client starts."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial

from fastapi import APIRouter, Request, Response
from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken
from mcp.server.stdio import stdio_server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from propcite.app.library.store import Via
from propcite.app.parts import Parts
from propcite.app.server.access import Access, ReadAccess, UncountedRoute
from propcite.app.server.mcp.server import Context, make_server
from propcite.app.server.problems import AGENTS_PATH
from propcite.app.server.service import Service
from propcite.app.turns.workers import Asking


class _AppResponse(Response):
    """A response that an ASGI application sends."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app
        self.background = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        is_open = False

        async def watched(message: Message) -> None:
            nonlocal is_open
            is_open = message["type"] == "http.response.start" or message.get("more_body", False)
            await send(message)

        await self.app(scope, receive, watched)
        if is_open:  # a stream that ends because the server stops
            await send({"type": "http.response.body"})


class HttpTransport:
    """The route /mcp of one server.  A session belongs to the key that began it."""

    def __init__(self, service: Service) -> None:
        settings = service.settings
        self._sessions = StreamableHTTPSessionManager(
            make_server(_access_of_request),
            max_request_body_size=settings.serve_body_mb * 2**20,
            max_sessions=settings.serve_connections,
        )

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        async with self._sessions.run():
            yield

    def router(self) -> APIRouter:
        router = APIRouter(tags=["mcp"], route_class=UncountedRoute)

        @router.api_route(AGENTS_PATH, methods=["GET", "POST", "DELETE"], include_in_schema=False)
        async def mcp(request: Request, access: ReadAccess) -> Response:
            """Serve the Model Context Protocol as streamable HTTP."""
            if access.key:
                token = AccessToken(token="", client_id=access.key.id, scopes=[access.key.scope])
                request.scope["user"] = AuthenticatedUser(token)
            return _AppResponse(self._sessions.handle_request)

        return router


def _access_of_request(context: Context) -> Access:
    assert context.request is not None, "the transport hands over its request"
    access: Access = context.request.state.access
    return access


async def serve_stdio(parts: Parts, account: str) -> None:
    """Serve one client over standard input and output until it closes them; this account may do everything."""
    service = Service(parts, requires_keys=False)
    access = Access(service, Asking(account, AGENTS_PATH), via=Via.COMMAND, account=account)
    server = make_server(lambda _: access)
    load = partial(service.load, uploads=False)
    threading.Thread(target=load, name="propcite-load", daemon=True).start()
    try:
        async with stdio_server() as (incoming, outgoing):
            await server.run(incoming, outgoing, server.create_initialization_options())
    finally:
        await asyncio.to_thread(service.close)
