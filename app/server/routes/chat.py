"""Chat completions in OpenAI's format, from the model server in the settings, with citations.

A chatbot keeps its client and changes its `base_url`: to `/v1`, or to `/v1/collections/NAME` if it can change nothing
else.  The body is the model server's, with one more field, `propcite`.
"""

from __future__ import annotations

from fastapi import APIRouter, Request, Response

from propcite.app.server.access import CheckedRoute, ReadAccess
from propcite.app.server.proxy.chat.chat_request import ChatRequest
from propcite.app.server.routes.model_server import COLLECTION, answer, options
from propcite.app.server.schemas import Name

router = APIRouter(tags=["chat"], route_class=CheckedRoute)

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
_OPTIONS = options(
    ["messages"],
    {"messages": {"type": "array", "minItems": 1, "items": {"type": "object"}}},
    {"model": "any", "messages": _MESSAGES, "propcite": {"collection": "harbour"}},
    _ANSWER,
)


@router.post("/v1/chat/completions", **_OPTIONS)
async def complete_chat(request: Request, access: ReadAccess) -> Response:
    """Complete a chat.  Each cited fact has an annotation (`url_citation`); `propcite` of the message is the cited
    answer.  In a stream, a sentence's annotations follow it, and `propcite` comes before the end of its choice."""
    return await answer(request, access, ChatRequest, None)


@router.post(f"{COLLECTION}/chat/completions", **_OPTIONS)
async def complete_chat_over(request: Request, access: ReadAccess, collection: Name) -> Response:
    """Complete a chat over a collection, for a client that can change only its base URL."""
    return await answer(request, access, ChatRequest, collection)
