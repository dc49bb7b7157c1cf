"""The application: routes, limits, errors and a log line a request."""

from __future__ import annotations

import logging
import secrets
import threading
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from importlib.metadata import version

from fastapi import FastAPI
from fastapi.middleware.cors import CORSMiddleware
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from propcite.app.parts import Parts
from propcite.app.server.limits import BodyLimit, OwnPagesOnly
from propcite.app.server.problems import add_handlers, one_line
from propcite.app.server.proxy.conversation import Proxy
from propcite.app.server.routes import answers, asking, chat, citing, collections, documents, health, searching, sources
from propcite.app.server.service import Service
from propcite.app.settings import Settings

log = logging.getLogger("propcite.server")
MULTIPART = 1 << 20  # what a form adds to its files


def create_app(parts: Parts, *, on_loopback: bool = True, asks_for_keys: bool | None = None) -> FastAPI:
    """The server's application.  Keys are asked for wherever others than this machine can call."""
    service = Service(parts, asks_for_keys=not on_loopback if asks_for_keys is None else asks_for_keys)
    proxy = Proxy(service)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        threading.Thread(target=service.load, name="propcite-load", daemon=True).start()
        yield
        await proxy.close()
        service.close()

    app = FastAPI(
        title="PropCite",
        version=version("propcite"),
        summary="Answers over your own documents in which every fact shows the words that support it.",
        lifespan=lifespan,
    )
    app.state.service, app.state.proxy = service, proxy
    for routes in (chat, citing, asking, searching, answers, documents, sources, collections, health):
        app.include_router(routes.router)
    add_handlers(app)
    settings = parts.settings
    app.add_middleware(BodyLimit, limit_of=_limits(settings))
    if settings.serve_origins:
        app.add_middleware(
            CORSMiddleware, allow_origins=settings.serve_origins, allow_methods=["*"], allow_headers=["*"]
        )
    app.add_middleware(
        OwnPagesOnly, origins=settings.serve_origins, on_loopback=on_loopback and not service.asks_for_keys
    )
    app.add_middleware(Observed, service=service)
    return app


def _limits(settings: Settings) -> Callable[[str], tuple[int, str]]:
    usual = settings.serve_body_mb * 2**20, "PROPCITE_SERVE_BODY_MB"
    files = settings.max_file_mb * 2**20 + MULTIPART, "PROPCITE_MAX_FILE_MB"
    return lambda path: files if path == "/v1/documents" else usual


class Observed:
    """Each request has an id, is counted, and leaves one line in the log when its answer has ended."""

    def __init__(self, app: ASGIApp, service: Service) -> None:
        self.app = app
        self.metrics = service.metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return await self.app(scope, receive, send)
        start, status, id_ = time.perf_counter(), 500, secrets.token_hex(8)

        async def noted(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = [*message.get("headers", []), (b"x-request-id", id_.encode())]
            await send(message)

        try:
            await self.app(scope, receive, noted)
        finally:
            self._count(Request(scope), status, time.perf_counter() - start, id_)

    def _count(self, request: Request, status: int, seconds: float, id_: str) -> None:
        route = getattr(request.scope.get("route"), "path", "none")
        self.metrics.requests.labels(request.method, route, str(status)).inc()
        self.metrics.seconds.labels(route).observe(seconds)
        key, refusal = getattr(request.state, "key", "-"), getattr(request.state, "refusal", "")
        said = request.method, one_line(request.url.path), status, 1000 * seconds, key, id_, refusal
        log.log(logging.WARNING if refusal else logging.INFO, "%s %s %d %.0f ms key=%s id=%s %s", *said)
