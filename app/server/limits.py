"""What a request may be before anything reads it: how large, for which host, from which page."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.server.problems import respond

LOOPBACK = {"localhost", "127.0.0.1", "::1"}
TOO_LARGE = "the request is larger than this server takes: send less, or raise {setting}"


class _TooLargeError(Exception):
    """The body went on beyond its limit."""


class BodyLimit:
    """Refuses a body that is too large, at once if it says so, else as soon as it is."""

    def __init__(self, app: ASGIApp, limit_of: Callable[[str], tuple[int, str]]) -> None:
        self.app = app
        self.limit_of = limit_of  # a path's limit in bytes, and the setting that holds it

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return await self.app(scope, receive, send)
        most, setting = self.limit_of(scope["path"])
        request, size, has_begun = Request(scope), 0, False

        async def limited() -> Message:
            nonlocal size
            message = await receive()
            size += len(message.get("body", b""))
            if size > most:
                raise _TooLargeError
            return message

        async def watched(message: Message) -> None:
            nonlocal has_begun
            has_begun = True
            await send(message)

        try:
            if int(request.headers.get("content-length") or 0) > most:
                raise _TooLargeError
            return await self.app(scope, limited, watched)
        except _TooLargeError:
            if has_begun:
                raise
            closing = {"connection": "close"}  # what is still coming is not read
            response = respond(request, 413, TOO_LARGE.format(setting=setting), headers=closing)
            return await response(scope, receive, send)


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
