"""Chat completions in OpenAI's format, from the model server in the settings, with citations.

A chatbot keeps its client and changes its `base_url`: to `/v1`, or to `/v1/collections/NAME` if it can change nothing
else.  The body is the model server's, with one more field, `propcite`.
"""

from __future__ import annotations

import asyncio
from typing import Any

from fastapi import APIRouter, Request, Response
from starlette.requests import ClientDisconnect

from propcite.app.server.access import Access, CheckedRoute, ReadAccess
from propcite.app.server.errors import RequestError, no_collection
from propcite.app.server.proxy.chat_proxy import ChatProxy
from propcite.app.server.proxy.chat_request import Extension, parse_chat_request
from propcite.app.server.schemas import Name

router = APIRouter(tags=["chat"], route_class=CheckedRoute)

_ERROR_SCHEMA = {
    "type": "object",
    "required": ["error"],
    "properties": {"error": {"type": "object", "required": ["message", "type", "param", "code"]}},
}
_ERRORS: dict[int | str, dict[str, Any]] = {
    status: {"description": description, "content": {"application/json": {"schema": _ERROR_SCHEMA}}}
    for status, description in (
        (400, "The body is not JSON, or the model server refuses it"),
        (401, "No key, or an unknown one"),
        (403, "The key does not allow this"),
        (404, "No such collection or model"),
        (413, "The request is too large"),
        (422, "A field is missing or wrong"),
        (429, "Too many requests, here or at the model server; Retry-After is passed on"),
        (502, "The model server does not answer, breaks off, refuses this server's key, or sends no JSON"),
        (503, "Too busy, or still loading"),
        (504, "The model server is silent"),
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
                "propcite": {"schema": "propcite/answer/6", "coverage": 1.0, "sentences": ["…"]},
            },
        }
    ],
}
_BODY = {
    "type": "object",
    "required": ["messages"],
    "properties": {
        "model": {"type": "string", "description": "its name at the model server"},
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
_COMPLETION_OPTIONS: dict[str, Any] = {
    "responses": {
        **_ERRORS,
        200: {
            "description": "The completion; with `stream`, its chunks as server-sent events",
            "content": {"application/json": {"example": _ANSWER}, "text/event-stream": {}},
        },
    },
    "response_class": Response,
    "openapi_extra": {"requestBody": {"required": True, "content": {"application/json": {"schema": _BODY}}}},
}


@router.post("/v1/chat/completions", **_COMPLETION_OPTIONS)
async def complete(request: Request, access: ReadAccess) -> Response:
    """Complete a chat.  Each cited fact has an annotation (`url_citation`); `propcite` of the message is the cited
    answer.  In a stream, a sentence's annotations follow it, and `propcite` comes before the end of its choice."""
    return await _complete(request, access, None)


@router.post("/v1/collections/{collection}/chat/completions", **_COMPLETION_OPTIONS)
async def complete_over(request: Request, access: ReadAccess, collection: Name) -> Response:
    """Complete a chat over a collection, for a client that can change only its base URL."""
    return await _complete(request, access, collection)


_MODELS_OPTIONS: dict[str, Any] = {
    "responses": {**{s: _ERRORS[s] for s in (401, 403, 404, 422, 429, 502, 503, 504)}},
    "response_class": Response,
}


@router.get("/v1/models", **_MODELS_OPTIONS)
async def models(request: Request, access: ReadAccess) -> Response:
    """List the models of the model server; without one, `propcite`, this server's own generator."""
    return await _proxy(request).models(request, access.asking)


@router.get("/v1/collections/{collection}/models", **_MODELS_OPTIONS)
async def models_over(request: Request, access: ReadAccess, collection: Name) -> Response:
    """List the models, for a client whose base URL names a collection."""
    name = access.collection_name(collection)
    if await asyncio.to_thread(access.service.parts.library.collection_id, name) is None:
        raise no_collection(name)
    return await _proxy(request).models(request, access.asking)


async def _complete(request: Request, access: Access, collection: str | None) -> Response:
    try:
        chat = parse_chat_request(await request.body(), collection)
    except ClientDisconnect as error:
        raise RequestError(499, "the client hung up") from error
    return await _proxy(request).completion(request, access, chat)


def _proxy(request: Request) -> ChatProxy:
    proxy: ChatProxy = request.app.state.proxy
    return proxy
