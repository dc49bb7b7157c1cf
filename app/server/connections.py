"""How the server listens: a limit of connections, and none that is idle, half-sent, or never reads its response."""

from __future__ import annotations

import asyncio
import ipaddress
import socket

import h11
import uvicorn
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from propcite.app.errors import AppError
from propcite.app.server.limits import CLOSE
from propcite.app.server.problems import respond
from propcite.app.settings import Settings

GRACE_S = 10  # time for running answers to finish when the server stops
REST_S = 5.0  # for the rest of a body that was not read: a client that is cut off while it sends sees no response
TOO_MANY = b"HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"


def server_config(app: ASGIApp, settings: Settings) -> uvicorn.Config:
    """Return the configuration of uvicorn; requests of WebSockets are answered as plain ones, since there are none."""

    class Connection(LimitedConnection):
        max_connections, seconds = settings.serve_connections, settings.serve_idle_seconds

    return uvicorn.Config(
        Framing(app),
        http=Connection,
        ws="none",
        loop="asyncio",  # whatever else is installed
        log_config=None,
        access_log=False,
        timeout_graceful_shutdown=GRACE_S,
    )


def listen(host: str, port: int) -> socket.socket:
    """Bind the socket before any model loads, so that a port in use is reported at once."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        listening = socket.socket(family, kind, protocol)  # asyncio sends at once only where TCP is named (TCP_NODELAY)
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(address)
    except OSError as error:
        raise AppError(
            f"{host}:{port} cannot be listened on ({error.strerror or error}): give another --port or --host"
        ) from error
    return listening


def is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def shown_address(host: str, port: int) -> str:
    """Return the address of a server as a URL.

    >>> shown_address("::1", 8600)
    'http://[::1]:8600'
    """
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


class Framing:
    """Middleware for what a proxy in front may read otherwise: where a request ends and the next one begins."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = Headers(scope=scope) if scope["type"] == "http" else {}
        if "content-length" in headers and "transfer-encoding" in headers:
            refusal = "the request has two lengths: send Content-Length or Transfer-Encoding"
            return await respond(Request(scope), 400, refusal, headers=CLOSE)(scope, receive, send)
        return await self.app(scope, receive, send)


class LimitedConnection(H11Protocol):
    """A connection that is closed if it sends no whole head of a request, or reads nothing, for some seconds.

    A body that was not read when its response was sent is discarded for a while.
    """

    max_connections: int
    seconds: float

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._timers: dict[str, asyncio.TimerHandle] = {}
        if len(self.connections) > self.max_connections:
            transport.write(TOO_MANY)
            transport.close()
        else:
            self._begin("head", self.seconds)

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self.conn.their_state is not h11.SEND_BODY:
            self._end("rest")
        if self.cycle and not self.cycle.response_complete:
            self._end("head")
        else:
            self._begin("head", self.seconds)

    def on_response_complete(self) -> None:
        is_unread = self.conn.their_state is h11.SEND_BODY
        super().on_response_complete()
        if is_unread and any(name == b"expect" for name, _ in self.headers):
            self.transport.close()  # the client may leave the body out, so what follows could be either
        elif is_unread:
            self._begin("rest", REST_S)

    def pause_writing(self) -> None:
        super().pause_writing()
        self._begin("write", self.seconds)

    def resume_writing(self) -> None:
        super().resume_writing()
        self._end("write")

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        for what in list(self._timers):
            self._end(what)

    def _begin(self, what: str, seconds: float) -> None:
        """Close the connection after some seconds, unless this ends before."""
        if what not in self._timers:
            self._timers[what] = self.loop.call_later(seconds, self.transport.abort)

    def _end(self, what: str) -> None:
        if timer := self._timers.pop(what, None):
            timer.cancel()
