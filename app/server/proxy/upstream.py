"""The model server: one pool of connections, what is sent to it and returned, and its errors as statuses.

Its key never appears in a response, nor does an error in which the server quotes the key.
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
from propcite.app.server.problems import ANTHROPIC_ERRORS, api_error, one_line, openai_error
from propcite.app.server.proxy.write_step import WriteStep
from propcite.app.settings import Settings

CONNECT_S = 10.0
MAX_BODY_BYTES = 64 << 20
NO_KEY = "none"
# Headers that belong to one connection, to this server's address, or to the caller.
NOT_SENT = {
    *("connection", "keep-alive", "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade", "expect"),
    *("host", "content-length", "content-type", "content-encoding", "accept-encoding"),
    *("authorization", "proxy-authorization", "cookie", "api-key", "x-api-key"),
    *("origin", "referer", "forwarded", "via", "x-real-ip"),
}
OF_ACCOUNT = {"openai-organization", "openai-project"}  # they choose among what this server's own key opens
NOT_SENT_PREFIXES = ("x-forwarded-", "sec-", "access-control-", "propcite-")
RETURNED = {"retry-after", "retry-after-ms", "x-should-retry", "openai-processing-ms", "openai-version"}
RETURNED_PREFIXES = ("x-ratelimit-", "anthropic-ratelimit-")
NO_ROUTE = {404, 405, 501}  # what a model server answers to a route that it does not have


class Upstream:
    """A model server.  With `forwards_key` it gets the client's key if it has no key of its own.

    That is allowed only if this server requires no keys, since a client's key is then meant for the model server.
    """

    def __init__(self, settings: Settings, *, forwards_key: bool) -> None:
        self.url, self._key = settings.llm_url.rstrip("/"), settings.llm_key
        self.is_set = bool(self.url)
        self._has_key = self._key not in ("", NO_KEY)
        self._forwards_key = forwards_key and not self._has_key
        self._timeout_s = settings.llm_timeout
        self._check()
        timeout = httpx.Timeout(self._timeout_s, connect=min(CONNECT_S, self._timeout_s), pool=None)
        limits = httpx.Limits(max_connections=None, max_keepalive_connections=settings.serve_streams)
        self._client = httpx.AsyncClient(timeout=timeout, limits=limits, follow_redirects=False)

    @property
    def is_openai(self) -> bool:
        """Return whether the newest models there refuse `max_tokens`."""
        return self._is_at("openai.com", "openai.azure.com")

    async def send(
        self,
        request: Request,
        path: str,
        body: bytes | None = None,
        *,
        method: str = "",
        media_type: str = "application/json",
        step: WriteStep | None = None,
    ) -> httpx.Response:
        """Return the response, whose body is still to be read; raise RequestError if there is none."""
        headers = self._headers(request.headers, path, media_type if body is not None else "")
        method = method or ("GET" if body is None else "POST")
        try:
            upstream = self._client.build_request(method, self.url + path, content=body)
            upstream.headers.update({**headers, **(step.headers if step else {})})
            return await self._client.send(upstream, stream=True)
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise self.connection_error(error) from error

    async def write(self, request: Request, path: str, body: bytes) -> httpx.Response:
        """Return the response to what has the model write, as `send` does; a step of the trace."""
        step = WriteStep()
        try:
            response = await self.send(request, path, body, step=step)
        except BaseException:
            step.end()
            raise
        step.end_with(response)
        return response

    async def read_body(self, response: httpx.Response) -> bytes:
        body = bytearray()
        try:
            async for piece in response.aiter_bytes():
                body += piece
                if len(body) > MAX_BODY_BYTES:
                    raise RequestError(502, f"the model server sent more than {MAX_BODY_BYTES >> 20} MB")
        except httpx.HTTPError as error:
            raise self.connection_error(error) from error
        return bytes(body)

    def connection_error(self, error: Exception) -> RequestError:
        """Return the error of a connection that failed or broke off."""
        if isinstance(error, httpx.ConnectError | httpx.ConnectTimeout):
            return RequestError(502, "the model server does not answer: start it, or correct PROPCITE_LLM_URL")
        if isinstance(error, httpx.TimeoutException):
            return RequestError(504, f"the model server was silent for {self._timeout_s:g} s (PROPCITE_LLM_TIMEOUT)")
        return RequestError(502, f"the model server broke off ({type(error).__name__}): try again")

    def error_response(self, request: Request, response: httpx.Response, body: bytes) -> Response:
        """Return an error of the model server in the client's form, with the status that says whose fault it is."""
        status, error = response.status_code, _error(body)
        detail = one_line(self._without_key(str(error.get("message") or "")))[:500]
        headers = returned_headers(response)
        if response.is_redirect or status < 400:
            status, error = 502, {}
            detail = f"the model server's status is {response.status_code}, not an answer: correct PROPCITE_LLM_URL"
        elif status in (401, 403) and not self._forwards_key:
            headers["x-should-retry"] = "false"
            detail = f"the model server refuses this server's key ({status}): correct PROPCITE_LLM_KEY"
            status, error = 502, {}
        elif status >= 500:
            status, error = status if status in (503, 504) else 502, {}
            request.state.refusal = f"the model server answered {response.status_code}: {detail}"
            detail = ""  # internals of the model server are for the log only
        detail = detail or f"the model server answered {response.status_code}"
        shape = api_error(request.url.path, request.headers, status, detail) or openai_error(status, detail)
        fields = {k: error[k] for k in shape["error"] if k != "message" and isinstance(error.get(k), str | int)}
        if shape.get("type") == "error" and fields.get("type") not in ANTHROPIC_ERRORS:
            fields = {}  # it comes from a server that has another API
        content = self._without_key(json.dumps({**shape, "error": {**shape["error"], **fields}})).encode()
        request.state.refusal = getattr(request.state, "refusal", detail)
        return Response(content, status, headers, "application/json")

    def _without_key(self, text: str) -> str:
        return text.replace(self._key, "…") if self._has_key else text

    def _headers(self, headers: Headers, path: str, media_type: str) -> dict[str, str]:
        connection = {name.strip().lower() for name in headers.get("connection", "").split(",")}
        sent = {
            name: value
            for name, value in headers.items()
            if name not in NOT_SENT and name not in connection and not name.startswith(NOT_SENT_PREFIXES)
        }
        sent["accept-encoding"] = "identity"
        if media_type:
            sent["content-type"] = media_type
        if self._has_key:
            own = {name: value for name, value in sent.items() if name not in OF_ACCOUNT}
            return {**own, **self._key_headers(path)}
        if self._forwards_key:
            sent |= {name: headers[name] for name in ("authorization", "x-api-key") if name in headers}
        return sent

    def _key_headers(self, path: str) -> dict[str, str]:
        """Return the key in the headers that the route reads; Anthropic's refuse one that they do not."""
        bearer, own = {"authorization": f"Bearer {self._key}"}, {"x-api-key": self._key}
        if path.startswith("/chat"):
            return bearer
        if self._is_at("anthropic.com"):
            return own
        return {**bearer, **own} if path.startswith("/messages") else bearer

    def _is_at(self, *domains: str) -> bool:
        host = httpx.URL(self.url).host
        return any(host == domain or host.endswith(f".{domain}") for domain in domains)

    def _check(self) -> None:
        try:
            url = httpx.URL(self.url)
        except httpx.InvalidURL as error:
            raise AppError(f"PROPCITE_LLM_URL is not a URL ({error}): correct it") from error
        if self.is_set and (url.scheme not in ("http", "https") or not url.host):
            raise AppError("PROPCITE_LLM_URL is not a URL: it begins with http:// or https://, and often ends in /v1")
        if not (self._key.isascii() and self._key.isprintable()):
            raise AppError("PROPCITE_LLM_KEY is not a key: use printable ASCII characters")

    async def close(self) -> None:
        await self._client.aclose()


def returned_headers(response: httpx.Response) -> dict[str, str]:
    """Return the headers that a client needs; the model server's request id is renamed."""
    headers = {n: v for n, v in response.headers.items() if n in RETURNED or n.startswith(RETURNED_PREFIXES)}
    id_ = response.headers.get("x-request-id")
    return {**headers, "x-upstream-request-id": id_} if id_ else headers


def is_stream(response: httpx.Response) -> bool:
    return "text/event-stream" in response.headers.get("content-type", "")


def comes_in_pieces(response: httpx.Response) -> bool:
    """Return whether a client uses the beginning of a response before its end has come."""
    return is_stream(response) or response.headers.get("content-type", "").startswith("audio/")


def _error(body: bytes) -> Mapping[str, Any]:
    """Return the fields of an error in any of the usual formats; empty if there are none."""
    try:
        content = json.loads(body)
    except (ValueError, RecursionError):
        return {}
    error = content.get("error") if isinstance(content, dict) else None
    if isinstance(error, dict):
        return error
    message = (error or content.get("message") or content.get("detail")) if isinstance(content, dict) else None
    return {"message": message} if isinstance(message, str) else {}
