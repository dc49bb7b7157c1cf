"""A chat completion in OpenAI's form, from the model's server that is set, with its citations.

A chatbot keeps its client and changes its `base_url`: to `/v1`, or to `/v1/collections/NAME` where it can change
nothing else.  The body is the model server's own, with one field more, `propcite`.
"""

from __future__ import annotations

import asyncio
from typing import Any

from fastapi import APIRouter, Request, Response
from starlette.requests import ClientDisconnect

from propcite.app.server.access import Access, Reader
from propcite.app.server.errors import RequestError, hidden
from propcite.app.server.proxy.asked import Extension, read_asked
from propcite.app.server.proxy.conversation import Proxy
from propcite.app.server.shapes import Name

router = APIRouter(tags=["chat"])

_ERROR = {
    "type": "object",
    "required": ["error"],
    "properties": {"error": {"type": "object", "required": ["message", "type", "param", "code"]}},
}
_TROUBLES: dict[int | str, dict[str, Any]] = {
    status: {"description": what, "content": {"application/json": {"schema": _ERROR}}}
    for status, what in (
        (400, "A body that is no JSON, or what the model's server refuses"),
        (401, "No key, or one that is not known"),
        (403, "A key that may not do this"),
        (404, "No such collection or model"),
        (413, "Too large a request"),
        (422, "A field that is missing or wrong"),
        (429, "Too many requests, here or at the model's server; Retry-After is passed on"),
        (502, "The model's server does not answer, breaks off, refuses this server's key, or answers with no JSON"),
        (503, "Too busy, or still loading"),
        (504, "The model's server says nothing"),
    )
}
_MESSAGES = [{"role": "user", "content": "What did the barrier cost?"}]
_ANSWER = {
    "id": "chatcmpl-1",
    "object": "chat.completion",
    "created": 1,
    "model": "any",
    "choices": [
        {
            "index": 0,
            "finish_reason": "stop",
            "message": {
                "role": "assistant",
                "content": "It cost 410 million euros.",
                "annotations": [
                    {
                        "type": "url_citation",
                        "url_citation": {
                            "start_index": 0,
                            "end_index": 26,
                            "title": "audit.pdf",
                            "url": "urn:propcite:passage:5c1d#char=0,35",
                        },
                    }
                ],
                "propcite": {"schema": "propcite/answer/5", "coverage": 1.0, "sentences": ["…"]},
            },
        }
    ],
}
_BODY = {
    "type": "object",
    "required": ["messages"],
    "properties": {
        "model": {"type": "string", "description": "as the model's server names it"},
        "messages": {"type": "array", "minItems": 1, "items": {"type": "object"}},
        "stream": {"type": "boolean"},
        "propcite": {
            k: v
            for k, v in Extension.model_json_schema(ref_template="#/components/schemas/{model}").items()
            if k != "$defs"
        },
    },
    "additionalProperties": True,
    "examples": [{"model": "any", "messages": _MESSAGES, "propcite": {"collection": "harbour"}}],
}
_DESCRIBED: dict[str, Any] = {
    "responses": {
        **_TROUBLES,
        200: {
            "description": "The completion; with `stream` its chunks as server-sent events",
            "content": {"application/json": {"example": _ANSWER}, "text/event-stream": {}},
        },
    },
    "response_class": Response,
    "openapi_extra": {"requestBody": {"required": True, "content": {"application/json": {"schema": _BODY}}}},
}


@router.post("/v1/chat/completions", **_DESCRIBED)
async def complete(request: Request, access: Reader) -> Response:
    """Complete a chat.  Each cited fact has an annotation (`url_citation`), `propcite` of the message is the cited
    answer.  In a stream a sentence's annotations follow it, `propcite` comes before the end of its choice."""
    return await _completed(request, access, None)


@router.post("/v1/collections/{collection}/chat/completions", **_DESCRIBED)
async def complete_over(request: Request, access: Reader, collection: Name) -> Response:
    """The same over a collection, for a client that can change its address alone."""
    return await _completed(request, access, collection)


_LISTED: dict[str, Any] = {
    "responses": {**{s: _TROUBLES[s] for s in (401, 403, 404, 422, 429, 502, 503, 504)}},
    "response_class": Response,
}


@router.get("/v1/models", **_LISTED)
async def models(request: Request, access: Reader) -> Response:  # noqa: ARG001 - who may not read is refused
    """The models that the model's server has; without one `propcite`, this server's own generator."""
    return await _proxy(request).models(request)


@router.get("/v1/collections/{collection}/models", **_LISTED)
async def models_over(request: Request, access: Reader, collection: Name) -> Response:
    """The same, for a client whose address names a collection."""
    name = access.name(collection)
    if await asyncio.to_thread(access.service.parts.library.collection_id, name) is None:
        raise hidden(name)
    return await _proxy(request).models(request)


async def _completed(request: Request, access: Access, collection: str | None) -> Response:
    try:
        asked = read_asked(await request.body(), collection)
    except ClientDisconnect as error:
        raise RequestError(499, "the client hung up") from error
    return await _proxy(request).completion(request, access, asked)


def _proxy(request: Request) -> Proxy:
    proxy: Proxy = request.app.state.proxy
    return proxy
