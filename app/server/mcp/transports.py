"""How agents reach the server: the route /mcp, and the standard streams of a process that their client starts."""

from __future__ import annotations

import asyncio
import threading
import time
from collections import defaultdict
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial
from secrets import token_hex

from fastapi import APIRouter, Request, Response
from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken
from mcp.server.stdio import stdio_server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from propcite.app.library.store import Via
from propcite.app.parts import Parts
from propcite.app.server.access import Access, ReadAccess, UncountedRoute
from propcite.app.server.errors import RequestError
from propcite.app.server.mcp.server import Context, make_server
from propcite.app.server.problems import AGENTS_PATH
from propcite.app.server.service import Service
from propcite.app.turns.workers import Asking

SESSION, VERSION = "mcp-session-id", "mcp-protocol-version"
IDLE_S = 1800.0  # after which a session that nobody uses ends
SHARE = 8  # the part of all sessions that one key may have open


class _AppResponse(Response):
    """A response that an ASGI application sends."""

    def __init__(self, app: ASGIApp, responded: Callable[[Message], None] = lambda _: None) -> None:
        self.app, self.responded = app, responded
        self.background = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        is_open = False

        async def watched(message: Message) -> None:
            nonlocal is_open
            if message["type"] == "http.response.start":
                self.responded(message)
            is_open = message["type"] == "http.response.start" or message.get("more_body", False)
            await send(message)

        await self.app(scope, receive, watched)
        if is_open:  # a stream that ends because the server stops
            await send({"type": "http.response.body"})


class _OpenSessions:
    """The sessions that keys have open, of which each may have a share, and when each was used last."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._used: dict[str, dict[str, float]] = defaultdict(dict)

    def begin(self, key: str, request: Request) -> Callable[[Message], None]:
        """Count a request, and return what gets its response; RequestError if it would open one session too many."""
        now, session, opening = time.monotonic(), request.headers.get(SESSION), token_hex(8)
        used = self._used[key]
        for ended in [id_ for id_, at in used.items() if now - at >= IDLE_S]:
            del used[ended]
        if session in used:
            used[session] = now
        opens = session is None and request.headers.get(VERSION) in (None, *HANDSHAKE_PROTOCOL_VERSIONS)
        if opens and len(used) >= self._most:
            raise RequestError(
                429, f"this key has {len(used)} sessions open: end some with DELETE, or wait", Retry_After="60"
            )
        if opens:
            used[opening] = now

        def responded(message: Message) -> None:
            used.pop(opening, None)
            if message["status"] >= 400:
                return
            if request.method == "DELETE":
                used.pop(session or "", None)
            elif opens and (opened := Headers(raw=message["headers"]).get(SESSION)):
                used[opened] = now

        return responded


class HttpTransport:
    """The route /mcp of one server.  A session belongs to the key that began it."""

    def __init__(self, service: Service) -> None:
        settings = service.settings
        self._sessions = StreamableHTTPSessionManager(
            make_server(_access_of_request),
            session_idle_timeout=IDLE_S,
            max_request_body_size=settings.serve_body_mb * 2**20,
            max_sessions=settings.serve_connections,
        )
        self._open = _OpenSessions(max(1, settings.serve_connections // SHARE))

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        async with self._sessions.run():
            yield

    def router(self) -> APIRouter:
        router = APIRouter(tags=["mcp"], route_class=UncountedRoute)

        @router.api_route(AGENTS_PATH, methods=["GET", "POST", "DELETE"], include_in_schema=False)
        async def mcp(request: Request, access: ReadAccess) -> Response:
            """Serve the Model Context Protocol as streamable HTTP."""
            if access.key is None:
                return _AppResponse(self._sessions.handle_request)
            token = AccessToken(token="", client_id=access.key.id, scopes=[access.key.scope])
            request.scope["user"] = AuthenticatedUser(token)
            return _AppResponse(self._sessions.handle_request, self._open.begin(access.key.id, request))

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
