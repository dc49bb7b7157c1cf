"""Every error as JSON: RFC 9457 problem details, and OpenAI's form where its clients call.  One log line each."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException

from propcite.app.errors import GeneratorError, InUseError, NotFoundError, ReadError, StoreError
from propcite.app.server.errors import RequestError
from propcite.attribution.errors import AttributionError, EndpointError, NotInAnswerError
from propcite.retrieval.errors import PropCiteError, RetrievalError

log = logging.getLogger("propcite.server")

PROBLEM = "application/problem+json"
# A client of OpenAI's knows these kinds.
KINDS = {401: "authentication_error", 403: "permission_error", 404: "not_found_error", 429: "rate_limit_error"}
TITLES = {499: "Client Closed Request"}
OWN_FAULT = "this is a fault of PropCite's own: the server's log tells more"


def status_of(error: PropCiteError) -> int:
    if isinstance(error, RequestError):
        return error.status
    if isinstance(error, NotFoundError | NotInAnswerError):
        return 404
    if isinstance(error, InUseError):
        return 409
    if isinstance(error, StoreError | RetrievalError):  # what is kept here cannot be used: no other request mends it
        return 503
    if isinstance(error, GeneratorError | EndpointError):
        return 502
    return 422 if isinstance(error, AttributionError | ReadError) else 400


def problem(status: int, detail: str, errors: Sequence[Mapping[str, Any]] = ()) -> dict[str, Any]:
    """Problem details.

    >>> problem(404, "no collection 'x'")["title"]
    'Not Found'
    """
    told: dict[str, Any] = {
        "type": "about:blank",
        "title": TITLES.get(status) or HTTPStatus(status).phrase,
        "status": status,
        "detail": detail,
    }
    return {**told, "errors": list(errors)} if errors else told


def openai_error(status: int, detail: str, param: str | None = None, code: str | None = None) -> dict[str, Any]:
    kind = KINDS.get(status, "invalid_request_error" if status < 500 else "server_error")
    return {"error": {"message": detail, "type": kind, "param": param, "code": code}}


def is_openai(path: str) -> bool:
    """Whether a path is one that OpenAI's clients call.

    >>> is_openai("/v1/collections/x/chat/completions"), is_openai("/v1/models"), is_openai("/v1/cite")
    (True, True, False)
    """
    return path.endswith(("/chat/completions", "/models")) or "/models/" in path


def add_handlers(app: FastAPI) -> None:
    @app.exception_handler(PropCiteError)
    async def refused(request: Request, error: PropCiteError) -> Response:
        headers = error.headers if isinstance(error, RequestError) else {}
        return respond(request, status_of(error), one_line(str(error)), headers=headers)

    @app.exception_handler(RequestValidationError)
    async def invalid(request: Request, error: RequestValidationError) -> Response:
        errors = [_named(one) for one in error.errors()]
        first = errors[0]
        status = 400 if first["type"] == "json_invalid" else 422
        detail = f"{first['field']}: {first['detail']}" if first["field"] else first["detail"]
        return respond(request, status, detail, errors, param=first["field"] or None)

    @app.exception_handler(HTTPException)
    async def stopped(request: Request, error: HTTPException) -> Response:
        return respond(request, error.status_code, _told(request, error), headers=dict(error.headers or {}))

    @app.exception_handler(Exception)
    async def failed(request: Request, error: Exception) -> Response:
        log.error("%s %s failed", request.method, request.url.path, exc_info=error)
        return respond(request, 500, OWN_FAULT)


def respond(
    request: Request,
    status: int,
    detail: str,
    errors: Sequence[Mapping[str, Any]] = (),
    *,
    headers: Mapping[str, str] | None = None,
    param: str | None = None,
) -> Response:
    request.state.refusal = detail  # the request's line in the log tells it
    compatible = is_openai(request.url.path)
    body = openai_error(status, detail, param) if compatible else problem(status, detail, errors)
    return Response(
        json.dumps(body).encode(),
        status,
        dict(headers or {}),
        media_type="application/json" if compatible else PROBLEM,
    )


def one_line(text: str) -> str:
    return " ".join(text.split())


def _told(request: Request, error: HTTPException) -> str:
    if error.status_code == 400 and "parsing the body" in str(error.detail):
        return "the body cannot be read: send JSON in UTF-8"
    if error.status_code == 404:
        return f"there is nothing at {request.url.path}: /docs shows what is there"
    if error.status_code == 405:
        return f"{request.url.path} does not take {request.method}: /docs shows what it takes"
    return one_line(str(error.detail))


def _named(error: Mapping[str, Any]) -> dict[str, Any]:
    """One wrong value: where, what, and how it began."""
    place = [str(part) for part in error["loc"] if part not in ("body", "query", "path", "header")]
    if error["type"] == "json_invalid":
        return {"type": "json_invalid", "field": "", "detail": f"the body is no JSON: {error['ctx']['error']}"}
    return {
        "type": error["type"],
        "field": ".".join(place),
        "detail": one_line(str(error["msg"]).removeprefix("Value error, "))[:300],
    }
