"""The model's server: one pool of connections, what is passed to it and back, its troubles as statuses.

Its key is never told, nor an error in which it speaks of that key.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import httpx
from fastapi import Request, Response
from starlette.datastructures import Headers

from propcite.app.errors import AppError
from propcite.app.server.errors import RequestError
from propcite.app.server.problems import one_line, openai_error
from propcite.app.settings import Settings

CONNECT_S = 10.0
MOST_BYTES = 64 << 20  # of an answer that is read whole
NO_KEY = "none"
# What belongs to one connection, to this server's own address, or to whoever called.
NOT_SENT = {
    *("connection", "keep-alive", "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade", "expect"),
    *("host", "content-length", "content-type", "content-encoding", "accept-encoding"),
    *("authorization", "proxy-authorization", "cookie", "api-key", "x-api-key"),
    *("origin", "referer", "forwarded", "via", "x-real-ip"),
}
NOT_SENT_FROM = ("x-forwarded-", "sec-", "access-control-")
TOLD = {"retry-after", "retry-after-ms", "x-should-retry", "openai-processing-ms", "openai-version"}
TOLD_FROM = "x-ratelimit-"


class Upstream:
    """One model server.  `lends_key`: the client's own key goes there, since neither side has one of ours."""

    def __init__(self, settings: Settings, *, lends_key: bool) -> None:
        self.url, self._key = settings.llm_url.rstrip("/"), settings.llm_key
        self.is_set = bool(self.url)
        self._own = self._key not in ("", NO_KEY)
        self._lends = lends_key and not self._own
        self._wait_s = settings.llm_timeout
        self._check()
        timeout = httpx.Timeout(self._wait_s, connect=min(CONNECT_S, self._wait_s), pool=None)
        limits = httpx.Limits(max_connections=None, max_keepalive_connections=settings.serve_streams)
        self._client = httpx.AsyncClient(timeout=timeout, limits=limits, follow_redirects=False)

    async def send(self, request: Request, path: str, body: bytes | None = None) -> httpx.Response:
        """Its answer, whose body is still to be read; trouble on the way is a RequestError."""
        headers = self._headers(request.headers, has_body=body is not None)
        try:
            sent = self._client.build_request("GET" if body is None else "POST", self.url + path, content=body)
            sent.headers.update(headers)
            return await self._client.send(sent, stream=True)
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise self.trouble(error) from error

    async def whole(self, response: httpx.Response) -> bytes:
        """The rest of its answer."""
        body = bytearray()
        try:
            async for piece in response.aiter_bytes():
                body += piece
                if len(body) > MOST_BYTES:
                    raise RequestError(502, f"the model's server sent more than {MOST_BYTES >> 20} MB")
        except httpx.HTTPError as error:
            raise self.trouble(error) from error
        return bytes(body)

    def trouble(self, error: Exception) -> RequestError:
        """What went wrong between this server and the model's."""
        if isinstance(error, httpx.ConnectError | httpx.ConnectTimeout):
            return RequestError(502, "the model's server does not answer: start it, or correct PROPCITE_LLM_URL")
        if isinstance(error, httpx.TimeoutException):
            return RequestError(504, f"the model's server was silent for {self._wait_s:g} s (PROPCITE_LLM_TIMEOUT)")
        return RequestError(502, f"the model's server broke off ({type(error).__name__}): try again")

    def refusal(self, request: Request, response: httpx.Response, body: bytes) -> Response:
        """An answer that is none, for the client: in OpenAI's form, with the status that says whose fault it is."""
        status, told = response.status_code, _error(body)
        said = one_line(self._hushed(str(told.get("message") or "")))[:500]
        headers = kept_headers(response)
        if response.is_redirect or status < 400:
            status, told = 502, {}
            said = f"the model's server answered {response.status_code}, not an answer: correct PROPCITE_LLM_URL"
        elif status in (401, 403) and not self._lends:
            headers["x-should-retry"] = "false"
            said = f"the model's server refuses this server's key ({status}): correct PROPCITE_LLM_KEY"
            status, told = 502, {}
        elif status >= 500:
            status, told = status if status in (503, 504) else 502, {}
            request.state.refusal = f"the model's server answered {response.status_code}: {said}"
            said = ""  # how it is made inside
        said = said or f"the model's server answered {response.status_code}"
        shape = openai_error(status, said)["error"]
        kept = {k: told[k] for k in ("type", "param", "code") if isinstance(told.get(k), str | int)}
        body = self._hushed(json.dumps({"error": {**shape, **kept}})).encode()
        request.state.refusal = getattr(request.state, "refusal", said)
        return Response(body, status, headers, "application/json")

    def _hushed(self, text: str) -> str:
        return text.replace(self._key, "…") if self._own else text

    def _headers(self, given: Headers, *, has_body: bool) -> dict[str, str]:
        named = {name.strip().lower() for name in given.get("connection", "").split(",")}
        sent = {
            name: value
            for name, value in given.items()
            if name not in NOT_SENT and name not in named and not name.startswith(NOT_SENT_FROM)
        }
        sent["accept-encoding"] = "identity"
        if has_body:
            sent["content-type"] = "application/json"
        if self._own:
            sent["authorization"] = f"Bearer {self._key}"
        elif self._lends and "authorization" in given:
            sent["authorization"] = given["authorization"]
        return sent

    def _check(self) -> None:
        try:
            url = httpx.URL(self.url)
        except httpx.InvalidURL as error:
            raise AppError(f"PROPCITE_LLM_URL cannot be used: {error}") from error
        if self.is_set and (url.scheme not in ("http", "https") or not url.host):
            raise AppError("PROPCITE_LLM_URL cannot be used: it begins with http:// or https://, often it ends in /v1")
        if not (self._key.isascii() and self._key.isprintable()):
            raise AppError("PROPCITE_LLM_KEY cannot be used: a key is printable ASCII")

    async def close(self) -> None:
        await self._client.aclose()


def kept_headers(response: httpx.Response) -> dict[str, str]:
    """What a client needs of the model server's headers; its own id of the request has a name of its own here."""
    kept = {n: v for n, v in response.headers.items() if n in TOLD or n.startswith(TOLD_FROM)}
    id_ = response.headers.get("x-request-id")
    return {**kept, "x-upstream-request-id": id_} if id_ else kept


def is_stream(response: httpx.Response) -> bool:
    return "text/event-stream" in response.headers.get("content-type", "")


def _error(body: bytes) -> Mapping[str, Any]:
    """What an error says, in whichever of the usual forms."""
    try:
        told = json.loads(body)
    except (ValueError, RecursionError):
        return {}
    error = told.get("error") if isinstance(told, dict) else None
    if isinstance(error, dict):
        return error
    message = (error or told.get("message") or told.get("detail")) if isinstance(told, dict) else None
    return {"message": message} if isinstance(message, str) else {}
