"""What a request may be before anything reads it: how large, for which host, from which page."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from propcite.app.server.problems import respond

LOOPBACK = {"localhost", "127.0.0.1", "::1"}
UNREAD = {"Connection": "close"}
MOST_UNREAD, PATIENCE_S = 64 << 20, 5.0  # of a body that is too large, passed over before the refusal
TOO_LARGE = "the request is larger than this server takes: send less, or raise {setting}"


class BodyLimit:
    """Refuses a body that is too large, at once if it says so, else as soon as it is."""

    def __init__(self, app: ASGIApp, limit_of: Callable[[str], tuple[int, str]]) -> None:
        self.app = app
        self.limit_of = limit_of  # a path's limit in bytes, and the setting that holds it

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return await self.app(scope, receive, send)
        most, setting = self.limit_of(scope["path"])
        detail, size = TOO_LARGE.format(setting=setting), 0

        async def limited() -> Message:
            nonlocal size
            message = await receive()
            size += len(message.get("body", b""))
            if size > most:
                await _passed_over(receive)
                raise HTTPException(413, detail, UNREAD)
            return message

        request = Request(scope)
        said = request.headers.get("content-length", "")
        if said.isdecimal() and int(said) > most:
            await _passed_over(receive)
            return await respond(request, 413, detail, headers=UNREAD)(scope, receive, send)
        return await self.app(scope, limited, send)


async def _passed_over(receive: Receive) -> None:
    """Read what still comes, for a while: a client that is cut off while it sends never reads why."""
    size = 0
    with suppress(TimeoutError):
        async with asyncio.timeout(PATIENCE_S):
            while size < MOST_UNREAD:
                message = await receive()
                size += len(message.get("body", b""))
                if not message.get("more_body"):
                    break


class OwnPagesOnly:
    """Refuses what a foreign web page sends through its reader's browser.

    On loopback no key is asked for: there a page could otherwise call under a name that leads here, or post a form.
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
        if self.on_loopback and _name(f"//{host}") not in LOOPBACK:
            return f"this server is for its own machine, not for {host[:100]!r}: call it as localhost"
        if origin is None or origin in self.origins or urlsplit(origin).netloc == host:
            return ""
        return f"the page {origin[:100]!r} may not call this server: PROPCITE_SERVE_ORIGINS names those that may"


def _name(url: str) -> str | None:
    try:
        return urlsplit(url).hostname
    except ValueError:
        return None
