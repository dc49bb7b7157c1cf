"""The FastAPI application: routes, limits, error handlers, and one log line per request."""

from __future__ import annotations

import logging
import secrets
import threading
import time
from collections.abc import AsyncIterator, Callable, MutableMapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from functools import cache, partial
from importlib.metadata import version
from importlib.util import find_spec
from typing import Any, Protocol

from fastapi import APIRouter, FastAPI
from fastapi.middleware.cors import CORSMiddleware
from fastapi.routing import APIRoute
from starlette.requests import Request
from starlette.routing import BaseRoute
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from propcite.app.parts import Parts
from propcite.app.server.docs_page import add_docs
from propcite.app.server.errors import RequestError
from propcite.app.server.limits import BodyLimit
from propcite.app.server.links import Linking
from propcite.app.server.logs import request_id
from propcite.app.server.origins import OriginCheck, SafeHeaders
from propcite.app.server.problems import AGENTS_PATH, LINKS, add_handlers, logged_path
from propcite.app.server.proxy.citing_proxy import CitingProxy
from propcite.app.server.routes import (
    answers,
    ask,
    audit,
    chat,
    cite,
    collections,
    compare,
    documents,
    health,
    messages,
    model_server,
    notes,
    overviews,
    responses,
    reviews,
    search,
    sources,
)
from propcite.app.server.service import Service
from propcite.app.settings import Settings
from propcite.retrieval.extras import install_command

log = logging.getLogger("propcite.server")
METHODS = {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"}  # a client may send any word as one
MULTIPART_BYTES = 1 << 20  # what a multipart form may add to its files
ROUTES = (
    *(chat, responses, messages, model_server, cite, ask, compare, search, answers, documents, sources),
    *(overviews, notes, reviews, collections, audit, health),
)
EXPOSED = ("Location", "PropCite-Offsets", "Retry-After", "X-PropCite-Answer", "X-Request-Id")  # to other pages
UNTRACED = {"/healthz", "/readyz", "/metrics"}


def create_app(
    parts: Parts, *, on_loopback: bool = True, requires_keys: bool | None = None, only_agents: bool = False
) -> FastAPI:
    """Build the application.  By default it requires keys if other machines can reach it.

    `only_agents` leaves out all routes but /mcp, health and the documents that links lead to.
    """
    service = Service(parts, requires_keys=not on_loopback if requires_keys is None else requires_keys)
    proxy, agents = CitingProxy(service), _agents(service)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        load = partial(service.load, uploads=not only_agents)
        threading.Thread(target=load, name="propcite-load", daemon=True).start()
        async with agents.running():
            yield
        await proxy.close()
        service.close()

    app = FastAPI(
        title="PropCite",
        version=version("propcite"),
        summary="Answers over your own documents in which every fact shows the words that support it.",
        lifespan=lifespan,
        generate_unique_id_function=_operation_id,
        redirect_slashes=False,  # a redirect would name the host that the request names
        docs_url=None,
        redoc_url=None,
        telemetry={"auto_configure": True, "logs": False, "operation_spans": False, "exclude": _untraced},
        routes=[*_shared_routes(only_agents)],
    )
    app.state.service, app.state.proxy = service, proxy
    app.include_router(agents.router())
    add_docs(app)
    add_handlers(app)
    settings = parts.settings
    app.add_middleware(Linking, links=service.links)
    app.add_middleware(BodyLimit, limit_of=_body_limits(settings), seconds=settings.serve_idle_seconds)
    if settings.serve_origins:
        app.add_middleware(
            CORSMiddleware,
            allow_origins=settings.serve_origins,
            allow_methods=["*"],
            allow_headers=["*"],
            expose_headers=EXPOSED,
        )
    app.add_middleware(OriginCheck, settings=settings, any_host=not on_loopback or service.requires_keys)
    app.add_middleware(SafeHeaders, more=(("Cache-Control", "no-store"),))
    app.add_middleware(RequestLog, service=service)
    return app


@cache
def _shared_routes(only_agents: bool) -> tuple[BaseRoute, ...]:
    """Return the routes of every application in this process: FastAPI takes 0.3 s to build them."""
    router = APIRouter(generate_unique_id_function=_operation_id)
    for routes in (sources, health) if only_agents else ROUTES:
        router.include_router(routes.router)
    return tuple(router.routes)


def _operation_id(route: APIRoute) -> str:
    """Return the name of a route's function; clients are generated from it, so it must not change."""
    return route.name


class Agents(Protocol):
    """The route of agents, and what runs while it is served."""

    def running(self) -> AbstractAsyncContextManager[None]: ...
    def router(self) -> APIRouter: ...


def has_agents() -> bool:
    """Return whether the extra `mcp` is installed."""
    return find_spec("mcp") is not None


def _agents(service: Service) -> Agents:
    if not has_agents():
        return NoAgents()
    from propcite.app.server.mcp.transports import HttpTransport

    return HttpTransport(service)


class NoAgents:
    """The route without the SDK: it names the extra."""

    def running(self) -> AbstractAsyncContextManager[None]:
        return nullcontext()

    def router(self) -> APIRouter:
        router = APIRouter()

        @router.api_route(AGENTS_PATH, methods=["GET", "POST", "DELETE"], include_in_schema=False)
        def missing() -> None:
            raise RequestError(501, f"/mcp needs the extra mcp on the server: {install_command('mcp')}")

        return router


def _untraced(scope: MutableMapping[str, Any]) -> bool:
    """Return whether a request is not traced: a check of health, and a link, whose path opens a document."""
    path: str = scope.get("path", "")
    return path in UNTRACED or path.startswith(f"{LINKS}/")


def _body_limits(settings: Settings) -> Callable[[str], tuple[int, str]]:
    default = settings.serve_body_mb * 2**20, "PROPCITE_SERVE_BODY_MB"
    uploads = settings.max_file_mb * 2**20 + MULTIPART_BYTES, "PROPCITE_MAX_FILE_MB"
    return lambda path: uploads if path in ("/v1/documents", "/v1/reviews") else default


class RequestLog:
    """Middleware that gives each request an id, counts it, and logs one line when its response has ended."""

    def __init__(self, app: ASGIApp, service: Service) -> None:
        self.app = app
        self.metrics = service.metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return await self.app(scope, receive, send)
        start, status, id_ = time.perf_counter(), 500, secrets.token_hex(8)

        async def send_with_id(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = [*message.get("headers", []), (b"x-request-id", id_.encode())]
            await send(message)

        token = request_id.set(id_)
        try:
            await self.app(scope, receive, send_with_id)
        finally:
            self._record(Request(scope), status, time.perf_counter() - start, id_)
            request_id.reset(token)

    def _record(self, request: Request, status: int, seconds: float, id_: str) -> None:
        route = getattr(request.scope.get("route"), "path", "none")
        method = request.method if request.method in METHODS else "other"
        self.metrics.requests.labels(method, route, str(status)).inc()
        self.metrics.seconds.labels(route).observe(seconds)
        key, refusal = getattr(request.state, "key", "-"), getattr(request.state, "refusal", "")
        path = logged_path(request)
        line = request.method, path, status, 1000 * seconds, key, id_, refusal
        names = "method", "path", "status", "ms", "key", "request_id", "refusal"
        fields = {**dict(zip(names, line, strict=True)), "route": route, "ms": round(1000 * seconds, 1)}
        level = logging.WARNING if refusal else logging.INFO
        log.log(level, "%s %s %d %.0f ms key=%s id=%s %s", *line, extra={"fields": fields})
