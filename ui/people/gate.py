"""The gate before the page: nothing but the sign-in is served to somebody who is not signed in or has no role."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from html import escape
from urllib.parse import quote

from starlette.datastructures import MutableHeaders
from starlette.requests import HTTPConnection
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from streamlit.auth_util import encode_provider_token
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from propcite.app.library.store import Action, Rights, SignInState, Via
from propcite.app.parts import Parts
from propcite.retrieval.errors import PropCiteError
from propcite.ui.people.sign_in import NOT_SIGNED_IN, NOT_VERIFIED, SignIn, SignInMethod
from propcite.ui.people.visitor import PERSON_HEADER

log = logging.getLogger("propcite.page")

SIGN_IN, SIGN_OUT = "/sign-in", "/auth/logout"
OPEN = {"/_stcore/health", "/auth/login", "/oauth2callback"}  # served to everybody
ENDED = "Your sign-in has ended: sign in again."
LOOK_S = 5.0  # between two looks at the rights of somebody who has the page open
PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark"><title>PropCite</title>
<style>body {{ font: 1rem/1.6 system-ui, sans-serif; margin: 20vh auto; max-width: 32rem; padding: 0 1rem }}</style>
</head><body><main><h1>PropCite</h1><p>{line}</p>{link}</main></body></html>
"""


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why somebody is not let in, in one line, and what they can do: a link and its words, if any."""

    status: int
    line: str
    link: str = ""
    deed: str = ""

    def response(self, connection: HTTPConnection) -> Response:
        headers = {"Cache-Control": "no-store"}
        if "text/html" not in connection.headers.get("accept", ""):
            return PlainTextResponse(self.line, self.status, headers)
        link = f'<p><a href="{self.link}">{self.deed}</a></p>' if self.link else ""
        return HTMLResponse(PAGE.format(line=escape(self.line), link=link), self.status, headers)


@dataclass(frozen=True, slots=True)
class Admitted:
    """A person with a role."""

    sign_in: SignIn
    rights: Rights


class Gate:
    """Middleware that asks every request, those of WebSockets too, who it comes from."""

    def __init__(self, app: ASGIApp, method: SignInMethod, parts: Callable[[], Parts]) -> None:
        self.app, self.method, self.parts = app, method, parts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            return await self.app(scope, receive, send)
        del MutableHeaders(scope=scope)[PERSON_HEADER]
        connection, path = HTTPConnection(scope), scope["path"]
        if scope["type"] == "http" and path == SIGN_IN:
            return await self._to_provider()(scope, receive, send)
        if scope["type"] == "http" and path == SIGN_OUT:
            await asyncio.to_thread(self._sign_out, connection)
        elif scope["type"] == "websocket" or path not in OPEN:
            found = await asyncio.to_thread(self.look, connection)
            if isinstance(found, Refusal):
                return await self._refuse(found, connection, receive, send)
            MutableHeaders(scope=scope)[PERSON_HEADER] = quote(found.sign_in.person)
            if scope["type"] == "websocket":
                return await _Watched(self, connection, found, receive, send).run()
        return await self.app(scope, receive, _cookies_over_tls(send) if self._has_tls() else send)

    def _to_provider(self) -> Response:
        if self.parts().settings.page_sign_in != "openid":
            return RedirectResponse("/")
        return RedirectResponse(f"/auth/login?provider={encode_provider_token('default')}")

    def _has_tls(self) -> bool:
        return self.parts().settings.page_address.startswith("https://")

    def _sign_out(self, connection: HTTPConnection) -> None:
        """End the sign-in for good: copies of its cookie are refused too."""
        found, parts = self.method.person_of(connection), self.parts()
        if isinstance(found, SignIn) and found.id:
            parts.sign_ins.end(found.id, found.person)
            parts.audit.record(found.person, Via.PAGE, Action.SIGNED_OUT)

    def look(self, connection: HTTPConnection, *, used: bool = True) -> Admitted | Refusal:
        """Return who asks with their present rights, or why they are refused; nobody passes when that is not known."""
        try:
            return self._admitted(connection, used=used)
        except PropCiteError as error:
            log.warning("nobody can be let in: %s", error)
            return Refusal(503, "PropCite cannot tell now who you are: try again in a moment.")

    def _admitted(self, connection: HTTPConnection, *, used: bool) -> Admitted | Refusal:
        found, parts = self.method.person_of(connection), self.parts()
        if isinstance(found, str):
            if found == NOT_VERIFIED:
                return Refusal(403, found, SIGN_OUT, "Sign out")
            return Refusal(401, found, *((SIGN_IN, "Sign in") if found == NOT_SIGNED_IN else ()))
        if found.started is not None:
            state = parts.sign_ins.use(found.id, found.person, found.started, used=used)
            if state is SignInState.ENDED:
                return Refusal(401, ENDED, SIGN_IN, "Sign in")
            if state is SignInState.BEGUN:
                parts.audit.record(found.person, Via.PAGE, Action.SIGNED_IN)
        if rights := parts.people.rights(found.person):
            return Admitted(found, rights)
        line = f"{found.person} has no role here: ask whoever runs this page for one."
        return Refusal(403, line, *((SIGN_OUT, "Sign out") if found.id else ()))

    async def _refuse(self, refusal: Refusal, connection: HTTPConnection, receive: Receive, send: Send) -> None:
        if connection.scope["type"] == "websocket":
            return await send({"type": "websocket.close", "code": 1008, "reason": refusal.line[:100]})
        return await refusal.response(connection)(connection.scope, receive, send)


class _Watched:
    """A WebSocket that ends with the sign-in, or when a right is taken away; the browser then opens the page again."""

    def __init__(
        self, gate: Gate, connection: HTTPConnection, admitted: Admitted, receive: Receive, send: Send
    ) -> None:
        self.gate, self.connection, self.admitted = gate, connection, admitted
        self.receive, self.send = receive, send
        self.accepted = self.over = False
        self.began = self.used = time.monotonic()

    async def run(self) -> None:
        looking = asyncio.create_task(self._look_again())
        try:
            await self.gate.app(self.connection.scope, self._receive, self._send)
        finally:
            looking.cancel()
            with suppress(asyncio.CancelledError):
                await looking

    async def _receive(self) -> Message:
        message = await self.receive()
        if message["type"] == "websocket.receive" and not await self._may_stay(used=_is_use(message)):
            await self._leave()
            return {"type": "websocket.disconnect", "code": 1008}
        return message

    async def _send(self, message: Message) -> None:
        if not self.over:
            self.accepted = self.accepted or message["type"] == "websocket.accept"
            await self.send(message)

    async def _look_again(self) -> None:
        await asyncio.sleep(LOOK_S)
        while await self._may_stay(used=False):
            await asyncio.sleep(LOOK_S)
        await self._leave()

    async def _may_stay(self, *, used: bool) -> bool:
        if self.over:
            return False
        now = time.monotonic()
        if not self.admitted.sign_in.id and self._is_late(now):
            return False
        if used:
            self.used = now
        found = await asyncio.to_thread(self.gate.look, self.connection, used=used)
        if isinstance(found, Refusal) or not found.rights.include(self.admitted.rights):
            return False
        self.admitted = found
        return True

    def _is_late(self, now: float) -> bool:
        """Return whether a person whom the proxy named has to be named again."""
        settings = self.gate.parts().settings
        return (
            now - self.used > 60 * settings.page_idle_minutes or now - self.began > 3600 * settings.page_sign_in_hours
        )

    async def _leave(self) -> None:
        """Send the browser to the first page, which says what is the matter, and close."""
        if self.over:
            return
        self.over = True
        away = ForwardMsg()
        away.auth_redirect.url = "/"
        with suppress(Exception):  # the browser is gone already
            if self.accepted:
                await self.send({"type": "websocket.send", "bytes": away.SerializeToString()})
            await self.send({"type": "websocket.close", "code": 1008})


def _is_use(message: Message) -> bool:
    """Return whether a person did something; a page that refreshes itself does not count."""
    sent = BackMsg()
    try:
        sent.ParseFromString(message.get("bytes") or b"")
    except Exception:  # Streamlit refuses it
        return False
    return bool(sent.HasField("rerun_script") and not sent.rerun_script.is_auto_rerun)


def _cookies_over_tls(send: Send) -> Send:
    """Let browsers send Streamlit's cookies by https alone."""

    async def send_secure(message: Message) -> None:
        if message["type"] == "http.response.start":
            message["headers"] = [
                (
                    name,
                    value + b"; Secure" if name.lower() == b"set-cookie" and b"secure" not in value.lower() else value,
                )
                for name, value in message.get("headers", [])
            ]
        await send(message)

    return send_secure
