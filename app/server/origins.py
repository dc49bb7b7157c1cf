"""Protection against foreign web pages: the hosts and origins that may call, and headers that browsers obey."""

from __future__ import annotations

import re
from collections.abc import Iterable
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from propcite.app.server.problems import respond
from propcite.app.settings import Settings

LOOPBACK = {"localhost", "127.0.0.1", "[::1]"}
DATA_POLICY = (  # of responses that are no page, or an answer written as one
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none';"
    " frame-ancestors 'none'"
)
_HOST = re.compile(r"(\[[0-9a-f:.]+\]|[^\[\]:@/?#\\\s]+)(?::[0-9]{1,5})?", re.IGNORECASE)


class OriginCheck:
    """Middleware that refuses requests of foreign web pages, which a user's browser would send.

    On loopback no key is required, so any page could otherwise post a form, open a WebSocket, or call a host name that
    resolves to here.  `any_host` allows every name by which the server is reached.
    """

    def __init__(self, app: ASGIApp, settings: Settings, *, any_host: bool = False) -> None:
        self.app = app
        self.origins = {origin.rstrip("/") for origin in settings.serve_origins}
        self.netlocs = {host.lower() for host in settings.hosts}
        self.names = None if any_host and not self.netlocs else LOOPBACK | set(map(_name, self.netlocs))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        refusal = self._refusal(Headers(scope=scope)) if scope["type"] in ("http", "websocket") else ""
        if not refusal:
            if scope["type"] in ("http", "websocket"):
                self._name_as_browsers_do(MutableHeaders(scope=scope))
            return await self.app(scope, receive, send)
        if scope["type"] == "websocket":
            return await send({"type": "websocket.close", "code": 1008, "reason": refusal[:100]})
        return await respond(Request(scope), 403, refusal)(scope, receive, send)

    def _refusal(self, headers: Headers) -> str:
        host, origin = headers.get("host", "").lower(), headers.get("origin")
        if self.names is not None and _name(host) not in self.names:
            named = "localhost" if not self.netlocs else f"localhost or {', '.join(sorted(self.netlocs))}"
            return f"this server is reachable as {named} only, not as {host[:100]!r}: add the name to PROPCITE_HOSTS"
        if origin is None:
            foreign = headers.get("sec-fetch-site") in ("cross-site", "same-site")
            if foreign and headers.get("sec-fetch-mode") != "navigate":
                return "another web page may not call this server: open it in a tab of its own"
        elif origin not in self.origins and not self._is_own(origin, host):
            return f"the page {origin[:100]!r} may not call this server: add it to PROPCITE_SERVE_ORIGINS"
        return ""

    def _is_own(self, origin: str, host: str) -> bool:
        """Return whether a page comes from this server, which a proxy may call by another name than browsers do."""
        try:
            netloc = urlsplit(origin).netloc.lower()
        except ValueError:
            return False
        return netloc in {host, *self.netlocs}

    def _name_as_browsers_do(self, headers: MutableHeaders) -> None:
        """Put the name of the browser's page in place of another one by which a proxy calls."""
        netloc = headers.get("origin", "").partition("://")[2].lower()
        if netloc in self.netlocs:
            headers["host"] = netloc


def _name(host: str) -> str:
    """Return a host without its port; empty if it is none."""
    match = _HOST.fullmatch(host)
    return match[1] if match else ""


class SafeHeaders:
    """Middleware that adds headers against foreign pages, sniffed types and scripts in content, unless they are set."""

    def __init__(self, app: ASGIApp, policy: str = DATA_POLICY, more: Iterable[tuple[str, str]] = ()) -> None:
        self.app = app
        self.headers = {
            "Content-Security-Policy": policy,
            "X-Content-Type-Options": "nosniff",
            "Referrer-Policy": "no-referrer",
            **dict(more),
        }

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def send_with_headers(message: Message) -> None:
            if message["type"] in ("http.response.start", "websocket.http.response.start"):
                headers = MutableHeaders(scope=message)
                for name, value in self.headers.items():
                    headers.setdefault(name, value)
            await send(message)

        await self.app(scope, receive, send_with_headers)
