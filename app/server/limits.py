"""Limits of requests: the size of a body, the time that it may take, and how many come per minute."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable
from threading import Lock

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from propcite.app.server.errors import RequestError
from propcite.app.server.problems import respond

CLOSE = {"Connection": "close"}
MIN_BYTES_PER_S = 32 << 10  # of a body, beside the seconds of the setting
TOO_SLOW = "the request comes too slowly: send it again, or raise PROPCITE_SERVE_IDLE_SECONDS"
TOO_LARGE = "the request is larger than this server accepts: send less, or raise {setting}"
MINUTE_S = 60.0


class BodyLimit:
    """Middleware that refuses a body that is too large, at once if its length is announced, or too slow."""

    def __init__(self, app: ASGIApp, limit_of: Callable[[str], tuple[int, str]], seconds: float) -> None:
        self.app = app
        self.limit_of = limit_of  # returns a path's limit in bytes and the name of its setting
        self.seconds = seconds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return await self.app(scope, receive, send)
        request = Request(scope)
        limit, setting = self.limit_of(scope["path"])
        length, too_large = request.headers.get("content-length", "0"), TOO_LARGE.format(setting=setting)
        start, size, is_read = time.monotonic(), 0, length == "0" and "transfer-encoding" not in request.headers

        async def receive_limited() -> Message:
            nonlocal size, is_read
            if is_read:  # the client may take its time to leave
                return await receive()
            try:
                async with asyncio.timeout(start + self.seconds + size / MIN_BYTES_PER_S - time.monotonic()):
                    message = await receive()
            except TimeoutError:
                raise HTTPException(408, TOO_SLOW, CLOSE) from None
            size += len(message.get("body", b""))
            is_read = not message.get("more_body")
            if size > limit:
                raise HTTPException(413, too_large)
            return message

        if length.isdecimal() and int(length) > limit:
            return await respond(request, 413, too_large)(scope, receive, send)
        return await self.app(scope, receive_limited, send)


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
