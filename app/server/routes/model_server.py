"""Requests that go to the model server in the settings: what their routes share, and those that pass uncited."""

from __future__ import annotations

import asyncio
import re
from typing import Any

from fastapi import APIRouter, Request, Response
from starlette.requests import ClientDisconnect

from propcite.app.server.access import Access, CheckedRoute, ReadAccess
from propcite.app.server.errors import RequestError, no_collection
from propcite.app.server.proxy.api_request import ApiRequest
from propcite.app.server.proxy.citing_proxy import CitingProxy
from propcite.app.server.proxy.proxy_request import Extension
from propcite.app.server.schemas import Name

router = APIRouter(tags=["chat"], route_class=CheckedRoute)

COLLECTION = "/v1/collections/{collection}"
STATUSES = (
    (400, "The body is not JSON, or the model server refuses it"),
    (401, "No key, or an unknown one"),
    (403, "The key does not allow this"),
    (404, "No such collection, model or route"),
    (413, "The request is too large"),
    (422, "A field is missing or wrong"),
    (429, "Too many requests, here or at the model server; Retry-After is passed on"),
    (502, "The model server does not answer, breaks off, refuses this server's key, or sends no JSON"),
    (503, "Too busy, or still loading"),
    (504, "The model server is silent"),
)
# What passes as it is: routes that answer at once, and stored responses by their id.  What lists, changes or removes
# things of the model server's account does not, because everybody who may read here would share it.
PASSED = (
    (("POST",), "/completions"),
    (("POST",), "/embeddings"),
    (("POST",), "/moderations"),
    (("POST",), "/rerank"),
    (("POST",), "/score"),
    (("POST",), "/audio/{rest:path}"),
    (("POST",), "/images/{rest:path}"),
    (("POST",), "/messages/count_tokens"),
    (("POST",), "/responses/{rest:path}"),
    (("GET",), "/responses/{rest:path}"),
    (("DELETE",), "/responses/{rest:path}"),
    (("GET",), "/models/{rest:path}"),
)
_SEGMENT = re.compile(r"(?!\.+$)[\w.:@~+=-]+")
_OPENAI_SCHEMA = {
    "type": "object",
    "required": ["error"],
    "properties": {"error": {"type": "object", "required": ["message", "type", "param", "code"]}},
}
_ANTHROPIC_SCHEMA = {
    "type": "object",
    "required": ["type", "error"],
    "properties": {"type": {"const": "error"}, "error": {"type": "object", "required": ["message", "type"]}},
}


def errors(*, anthropic: bool = False) -> dict[int | str, dict[str, Any]]:
    """Return the descriptions of errors in the form of an API."""
    schema = _ANTHROPIC_SCHEMA if anthropic else _OPENAI_SCHEMA
    content = {"application/json": {"schema": schema}}
    return {status: {"description": description, "content": content} for status, description in STATUSES}


def options(
    required: list[str], properties: dict[str, Any], example: dict[str, Any], answer: Any, *, anthropic: bool = False
) -> dict[str, Any]:
    """Return how a route is described; the fields of the body that are not named are the model server's."""
    schema = Extension.model_json_schema(ref_template="#/components/schemas/{model}")
    extension = {k: v for k, v in schema.items() if k != "$defs"}
    body = {
        "type": "object",
        "required": required,
        "properties": {
            "model": {"type": "string", "description": "its name at the model server"},
            "stream": {"type": "boolean"},
            **properties,
            "propcite": extension,
        },
        "additionalProperties": True,
        "examples": [example],
    }
    described = {
        "description": "The answer; with `stream`, its events",
        "content": {"application/json": {"example": answer}, "text/event-stream": {}},
    }
    return {
        "responses": {**errors(anthropic=anthropic), 200: described},
        "response_class": Response,
        "openapi_extra": {"requestBody": {"required": True, "content": {"application/json": {"schema": body}}}},
    }


async def answer(request: Request, access: Access, kind: type[ApiRequest], collection: str | None) -> Response:
    """Answer a request of that API."""
    sources = access.service.settings.proxy_sources
    call = kind.parse(await _body(request), collection, request.headers, sources)
    return await proxy(request).answer(request, access, call)


async def require_collection(access: Access, collection: str) -> None:
    name = access.collection_name(collection)
    if await asyncio.to_thread(access.service.parts.library.collection_id, name) is None:
        raise no_collection(name)


def proxy(request: Request) -> CitingProxy:
    citing_proxy: CitingProxy = request.app.state.proxy
    return citing_proxy


async def _body(request: Request) -> bytes:
    try:
        return await request.body()
    except ClientDisconnect as error:
        raise RequestError(499, "the client hung up") from error


async def passed(request: Request, access: ReadAccess) -> Response:
    """Pass a request on to the model server."""
    return await _pass(request, access, request.url.path.removeprefix("/v1"))


async def passed_over(request: Request, access: ReadAccess, collection: Name) -> Response:
    """Pass a request on, for a client whose base URL names a collection."""
    await require_collection(access, collection)
    return await _pass(request, access, "/" + request.url.path.split("/", 4)[4].removeprefix("v1/"))


async def _pass(request: Request, access: Access, path: str) -> Response:
    if not all(map(_SEGMENT.fullmatch, path.removeprefix("/").split("/"))):
        raise RequestError(404, "this is not the name of a model or a route")
    body = await _body(request) if request.method == "POST" else None
    return await proxy(request).passed(request, access.asking, path, body)


for _methods, _path in PASSED:
    _described: dict[str, Any] = {"methods": list(_methods), "include_in_schema": False, "response_class": Response}
    router.add_api_route(f"/v1{_path}", passed, **_described)
    router.add_api_route(f"{COLLECTION}{_path}", passed_over, **_described)
    router.add_api_route(f"{COLLECTION}/v1{_path}", passed_over, **_described)


_MODELS_OPTIONS: dict[str, Any] = {
    "responses": {s: one for s, one in errors().items() if s in (401, 403, 404, 422, 429, 502, 503, 504)},
    "response_class": Response,
}


@router.get("/v1/models", **_MODELS_OPTIONS)
async def list_models(request: Request, access: ReadAccess) -> Response:
    """List the models of the model server; without one, `propcite`, this server's own generator."""
    return await proxy(request).models(request, access.asking)


@router.get(f"{COLLECTION}/v1/models", include_in_schema=False)
@router.get(f"{COLLECTION}/models", **_MODELS_OPTIONS)
async def list_models_over(request: Request, access: ReadAccess, collection: Name) -> Response:
    """List the models, for a client whose base URL names a collection."""
    await require_collection(access, collection)
    return await proxy(request).models(request, access.asking)
