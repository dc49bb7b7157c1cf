"""The Responses API, from the model server in the settings, with citations.

A model server without it gets chat completions instead.  The body is OpenAI's, with one more field, `propcite`.
"""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request, Response

from propcite.app.server.access import CheckedRoute, ReadAccess
from propcite.app.server.proxy.responses.responses_request import ResponsesRequest
from propcite.app.server.routes.model_server import COLLECTION, answer, options
from propcite.app.server.schemas import Name

router = APIRouter(tags=["chat"], route_class=CheckedRoute)

_TEXT: dict[str, Any] = {
    "type": "output_text",
    "text": "It cost 410 million euros.",
    "annotations": [
        {
            "type": "url_citation",
            "start_index": 0,
            "end_index": 26,
            "title": "audit.pdf",
            "url": "urn:propcite:passage:5c1d#char=0,35",
        }
    ],
    "propcite": {"schema": "propcite/answer/6", "coverage": 1.0, "sentences": ["…"]},
}
_OPTIONS = options(
    [],
    {"input": {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "object"}}]}},
    {"model": "any", "input": "What did the barrier cost?", "propcite": {"collection": "harbour"}},
    {
        "id": "resp_1",
        "object": "response",
        "status": "completed",
        "output": [{"type": "message", "id": "msg_1", "role": "assistant", "content": [_TEXT]}],
    },
)


@router.post("/v1/responses", **_OPTIONS)
async def create_response(request: Request, access: ReadAccess) -> Response:
    """Respond.  Each text has `annotations` (`url_citation`, or `file_citation`) and `propcite`, the cited answer.  In
    a stream, `response.output_text.annotation.added` follows a sentence."""
    return await answer(request, access, ResponsesRequest, None)


@router.post(f"{COLLECTION}/responses", **_OPTIONS)
async def create_response_over(request: Request, access: ReadAccess, collection: Name) -> Response:
    """Respond over a collection, for a client that can change only its base URL."""
    return await answer(request, access, ResponsesRequest, collection)
