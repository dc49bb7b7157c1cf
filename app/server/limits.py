"""Limits that are checked before a request is processed: body size, host, origin and rate."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from threading import Lock
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from propcite.app.server.errors import RequestError
from propcite.app.server.problems import respond

LOOPBACK = {"localhost", "127.0.0.1", "::1"}
CLOSE = {"Connection": "close"}
MAX_DRAINED_BYTES, DRAIN_S = 64 << 20, 5.0  # of a body that is too large, read before the refusal is sent
TOO_LARGE = "the request is larger than this server accepts: send less, or raise {setting}"
MINUTE_S = 60.0


class BodyLimit:
    """Middleware that refuses a body that is too large: at once if its length is announced, else while it comes."""

    def __init__(self, app: ASGIApp, limit_of: Callable[[str], tuple[int, str]]) -> None:
        self.app = app
        self.limit_of = limit_of  # returns a path's limit in bytes and the name of its setting

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return await self.app(scope, receive, send)
        limit, setting = self.limit_of(scope["path"])
        detail, size = TOO_LARGE.format(setting=setting), 0

        async def receive_limited() -> Message:
            nonlocal size
            message = await receive()
            size += len(message.get("body", b""))
            if size > limit:
                await _drain(receive)
                raise HTTPException(413, detail, CLOSE)
            return message

        request = Request(scope)
        length = request.headers.get("content-length", "")
        if length.isdecimal() and int(length) > limit:
            await _drain(receive)
            return await respond(request, 413, detail, headers=CLOSE)(scope, receive, send)
        return await self.app(scope, receive_limited, send)


async def _drain(receive: Receive) -> None:
    """Read the rest of a body for a while: a client that is cut off while it sends never reads the refusal."""
    size = 0
    with suppress(TimeoutError):
        async with asyncio.timeout(DRAIN_S):
            while size < MAX_DRAINED_BYTES:
                message = await receive()
                size += len(message.get("body", b""))
                if not message.get("more_body"):
                    break


class OriginCheck:
    """Middleware that refuses requests of foreign web pages, which a user's browser would send.

    On loopback no key is required, so any page could otherwise post a form, or call a host name that resolves to here.
    """

    def __init__(self, app: ASGIApp, origins: Sequence[str], *, on_loopback: bool) -> None:
        self.app = app
        self.origins = {origin.rstrip("/") for origin in origins}
        self.on_loopback = on_loopback

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        refusal = self._refusal(Headers(scope=scope)) if scope["type"] == "http" else ""
        if not refusal:
            return await self.app(scope, receive, send)
        response = respond(Request(scope), 403, refusal)
        return await response(scope, receive, send)

    def _refusal(self, headers: Headers) -> str:
        host, origin = headers.get("host", ""), headers.get("origin")
        if self.on_loopback and _hostname(f"//{host}") not in LOOPBACK:
            return f"this server is reachable as localhost only, not as {host[:100]!r}: call it as localhost"
        if origin is None or origin in self.origins or urlsplit(origin).netloc == host:
            return ""
        return f"the page {origin[:100]!r} may not call this server: add it to PROPCITE_SERVE_ORIGINS"


def _hostname(url: str) -> str | None:
    try:
        return urlsplit(url).hostname
    except ValueError:
        return None


class RateLimiter:
    """Counts the requests of each client in the last minute; a maximum of 0 sets no limit."""

    def __init__(self, max_per_minute: int, clock: Callable[[], float] = time.monotonic) -> None:
        self.max_per_minute = max_per_minute
        self._clock = clock
        self._times: dict[str, deque[float]] = {}
        self._lock = Lock()

    def count(self, client: str) -> None:
        """Count a request; raise RequestError with the time to wait if it is one too many."""
        if not self.max_per_minute:
            return
        now = self._clock()
        with self._lock:
            times = self._times.setdefault(client, deque())
            while times and now - times[0] >= MINUTE_S:
                times.popleft()
            if len(times) >= self.max_per_minute:
                wait = max(1, round(MINUTE_S - (now - times[0])))
                raise RequestError(
                    429,
                    f"more than {self.max_per_minute} requests per minute: try again in {wait} s",
                    Retry_After=str(wait),
                )
            times.append(now)
