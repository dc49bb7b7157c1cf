"""Every error as JSON: problem details (RFC 9457), the form of the API whose clients call a route, JSON-RPC at /mcp."""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException

from propcite.app.errors import (
    BusyError,
    GeneratorError,
    InUseError,
    LeftError,
    NotFoundError,
    ReadError,
    StoreError,
    TooLongError,
    without_commands,
)
from propcite.app.server.errors import RequestError
from propcite.attribution.errors import AttributionError, EndpointError, NotInAnswerError
from propcite.retrieval.errors import PropCiteError, RetrievalError

log = logging.getLogger("propcite.server")

PROBLEM_TYPE = "application/problem+json"
AGENTS_PATH, LINKS = "/mcp", "/reading"
# The error types that OpenAI's clients know.
OPENAI_TYPES = {401: "authentication_error", 403: "permission_error", 404: "not_found_error", 429: "rate_limit_error"}
ANTHROPIC_TYPES = {
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    503: "overloaded_error",
    504: "timeout_error",
    529: "overloaded_error",
}
ANTHROPIC_ERRORS = {*ANTHROPIC_TYPES.values(), "invalid_request_error", "api_error", "billing_error"}
TITLES = {499: "Client Closed Request"}
INTERNAL_ERROR = "an internal error of PropCite: see the server's log"


def status_of(error: PropCiteError) -> int:
    if isinstance(error, RequestError):
        return error.status
    if isinstance(error, NotFoundError | NotInAnswerError):
        return 404
    if isinstance(error, LeftError | TooLongError | BusyError):
        return {LeftError: 499, TooLongError: 413, BusyError: 503}[type(error)]
    if isinstance(error, InUseError):
        return 409
    if isinstance(error, StoreError | RetrievalError):  # stored data or a model is unusable, whatever the request
        return 503
    if isinstance(error, GeneratorError | EndpointError):
        return 502
    return 422 if isinstance(error, AttributionError | ReadError) else 400


def problem(status: int, detail: str, errors: Sequence[Mapping[str, Any]] = ()) -> dict[str, Any]:
    """Return problem details.

    >>> problem(404, "no collection 'x'")["title"]
    'Not Found'
    """
    fields: dict[str, Any] = {
        "type": "about:blank",
        "title": TITLES.get(status) or HTTPStatus(status).phrase,
        "status": status,
        "detail": detail,
    }
    return {**fields, "errors": list(errors)} if errors else fields


def openai_error(status: int, detail: str, param: str | None = None, code: str | None = None) -> dict[str, Any]:
    error_type = OPENAI_TYPES.get(status, "invalid_request_error" if status < 500 else "server_error")
    return {"error": {"message": detail, "type": error_type, "param": param, "code": code}}


def anthropic_error(status: int, detail: str) -> dict[str, Any]:
    error_type = ANTHROPIC_TYPES.get(status, "invalid_request_error" if status < 500 else "api_error")
    return {"type": "error", "error": {"type": error_type, "message": detail}, "request_id": None}


_MODEL_ROUTE = re.compile(
    r"/v1(?:/collections/[^/]+(?:/v1)?)?/(?:chat/completions|completions|responses|messages|models|embeddings|moderations"
    r"|rerank|score|audio|images"
    r"|files|uploads|batches|fine_tuning|vector_stores|conversations|assistants|threads|realtime)(?:/.*)?"  # refused
)
_MESSAGES_ROUTE = re.compile(r"/v1(?:/collections/[^/]+(?:/v1)?)?/messages(?:/.*)?")


def api_error(
    path: str, headers: Mapping[str, str], status: int, detail: str, param: str | None = None
) -> dict[str, Any] | None:
    """Return an error as the clients of a model server read it; None on routes that are none of a model server's.

    >>> api_error("/v1/collections/x/embeddings", {}, 404, "no model m")["error"]["type"]
    'not_found_error'
    >>> api_error("/v1/messages", {}, 503, "wait")["type"], api_error("/v1/cite", {}, 503, "wait")
    ('error', None)
    """
    if not _MODEL_ROUTE.fullmatch(path):
        return None
    if _MESSAGES_ROUTE.fullmatch(path) or "anthropic-version" in headers:
        return anthropic_error(status, detail)
    return openai_error(status, detail, param)


def json_rpc_error(status: int, detail: str) -> dict[str, Any]:
    code = -32600 if status < 500 else -32603  # a request that is wrong, or a server that fails
    return {"jsonrpc": "2.0", "id": None, "error": {"code": code, "message": detail}}


def add_handlers(app: FastAPI) -> None:
    @app.exception_handler(PropCiteError)
    async def refused(request: Request, error: PropCiteError) -> Response:
        return respond(request, status_of(error), one_line(without_commands(error)), headers=_headers_of(error))

    @app.exception_handler(RequestValidationError)
    async def invalid(request: Request, error: RequestValidationError) -> Response:
        errors = [_field_error(one) for one in error.errors()]
        first = errors[0]
        status = 400 if first["type"] == "json_invalid" else 422
        detail = f"{first['field']}: {first['detail']}" if first["field"] else first["detail"]
        return respond(request, status, detail, errors, param=first["field"] or None)

    @app.exception_handler(HTTPException)
    async def http_error(request: Request, error: HTTPException) -> Response:
        return respond(request, error.status_code, _http_detail(request, error), headers=dict(error.headers or {}))

    @app.exception_handler(Exception)
    async def failed(request: Request, error: Exception) -> Response:
        log.error("%s %s failed", request.method, logged_path(request), exc_info=error)
        return respond(request, 500, INTERNAL_ERROR)


def _headers_of(error: PropCiteError) -> Mapping[str, str]:
    if isinstance(error, BusyError):
        return {"Retry-After": str(error.seconds)}
    return error.headers if isinstance(error, RequestError) else {}


def respond(
    request: Request,
    status: int,
    detail: str,
    errors: Sequence[Mapping[str, Any]] = (),
    *,
    headers: Mapping[str, str] | None = None,
    param: str | None = None,
) -> Response:
    request.state.refusal = detail  # for the request's line in the log
    path, media_type = request.url.path, "application/json"
    body = json_rpc_error(status, detail) if path == AGENTS_PATH else None
    body = body or api_error(path, request.headers, status, detail, param)
    if body is None:
        body, media_type = problem(status, detail, errors), PROBLEM_TYPE
    return Response(json.dumps(body).encode(), status, dict(headers or {}), media_type=media_type)


def one_line(text: str) -> str:
    """Return a text for a log or an error: without line breaks, and without what a terminal would obey.

    >>> one_line("a\\nb\\x1b[2Jc")
    'a b [2Jc'
    """
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())


def logged_path(request: Request) -> str:
    """Return a request's path for a log, without what would open a document."""
    path = one_line(request.url.path)
    return f"{LINKS}/…" if path.startswith(f"{LINKS}/") else path


def _http_detail(request: Request, error: HTTPException) -> str:
    if error.status_code == 400 and "parsing the body" in str(error.detail):
        return "cannot read the body: send JSON in UTF-8"
    if error.status_code == 404:
        return f"there is nothing at {one_line(request.url.path)}: /docs lists the routes"
    if error.status_code == 405:
        return f"{one_line(request.url.path)} does not accept {request.method}: /docs lists the routes"
    return one_line(str(error.detail))


def _field_error(error: Mapping[str, Any]) -> dict[str, Any]:
    """Return one error of pydantic with its field and a short detail."""
    path = [str(part) for part in error["loc"] if part not in ("body", "query", "path", "header")]
    if error["type"] == "json_invalid":
        return {"type": "json_invalid", "field": "", "detail": f"the body is not JSON: {error['ctx']['error']}"}
    return {
        "type": error["type"],
        "field": ".".join(path),
        "detail": one_line(str(error["msg"]).removeprefix("Value error, "))[:300],
    }
