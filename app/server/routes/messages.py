"""The Messages API, from the model server in the settings, with citations.

A model server without it gets chat completions instead.  The body is Anthropic's, with one more field, `propcite`.
"""

from __future__ import annotations

from fastapi import APIRouter, Request, Response

from propcite.app.server.access import CheckedRoute, ReadAccess
from propcite.app.server.proxy.messages.messages_request import MessagesRequest
from propcite.app.server.routes.model_server import COLLECTION, answer, options
from propcite.app.server.schemas import Name

router = APIRouter(tags=["chat"], route_class=CheckedRoute)

_CITATION = {
    "type": "search_result_location",
    "cited_text": "The barrier cost 410 million euros.",
    "search_result_index": 0,
    "source": "urn:propcite:passage:5c1d#char=0,35",
    "title": "audit.pdf",
    "start_block_index": 0,
    "end_block_index": 1,
}
_ASKED = [{"role": "user", "content": "What did the barrier cost?"}]
_OPTIONS = options(
    ["messages"],
    {
        "max_tokens": {"type": "integer"},
        "messages": {"type": "array", "minItems": 1, "items": {"type": "object"}},
    },
    {"model": "any", "max_tokens": 1024, "messages": _ASKED, "propcite": {"collection": "harbour"}},
    {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "stop_reason": "end_turn",
        "content": [{"type": "text", "text": "It cost 410 million euros.", "citations": [_CITATION]}],
        "propcite": [{"schema": "propcite/answer/6", "coverage": 1.0, "sentences": ["…"]}],
    },
    anthropic=True,
)


@router.post("/v1/messages", **_OPTIONS)
async def create_message(request: Request, access: ReadAccess) -> Response:
    """Write a message.  Texts are divided where sentences end, each with its `citations`; `propcite` are the cited
    answers, one for each text of the model.  In a stream, `citations_delta` follows a sentence."""
    return await answer(request, access, MessagesRequest, None)


@router.post(f"{COLLECTION}/v1/messages", include_in_schema=False)  # Anthropic's SDKs add /v1 to their base URL
@router.post(f"{COLLECTION}/messages", **_OPTIONS)
async def create_message_over(request: Request, access: ReadAccess, collection: Name) -> Response:
    """Write a message over a collection, for a client that can change only its base URL."""
    return await answer(request, access, MessagesRequest, collection)
