"""What a client gets of an answer: the whole or its stream, with citations, and the headers."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from typing import Any

import httpx
from fastapi import Request

from propcite.app.server.errors import RequestError
from propcite.app.server.proxy.api_request import ApiRequest
from propcite.app.server.proxy.citing import NOT_JSON, Citer
from propcite.app.server.proxy.events import Event
from propcite.app.server.proxy.outcome import Outcome
from propcite.app.server.proxy.relay import StreamRelay
from propcite.app.server.proxy.upstream import returned_headers

CHAT = "/chat/completions"


async def whole(call: ApiRequest, citer: Citer | None, content: bytes, *, is_chat: bool) -> bytes:
    """Return a whole answer in the client's form, with citations; what is not changed stays as received."""
    is_translated = is_chat and call.path != CHAT
    if citer is None and not is_translated:
        if not content.lstrip().startswith(b"{"):
            raise RequestError(502, NOT_JSON)
        return content
    try:
        answer: Any = json.loads(content)
    except (ValueError, RecursionError):
        answer = None
    if not isinstance(answer, dict):
        raise RequestError(502, NOT_JSON)
    answer = call.from_chat(answer) if is_translated else answer
    has_citations = citer is not None and await call.add_citations(citer, answer)
    return json.dumps(answer).encode() if is_translated or has_citations else content


async def relayed(
    request: Request, source: AsyncGenerator[Event, None], relay: StreamRelay, outcome: Outcome
) -> AsyncIterator[bytes]:
    async for event in relay.events(source):
        yield event
    outcome.name = "broken" if relay.error else "done"
    if relay.error:
        request.state.refusal = relay.error


async def raw(source: AsyncGenerator[Event, None]) -> AsyncIterator[bytes]:
    async with aclosing(source) as events:
        async for event in events:
            yield event.raw


def answer_headers(response: httpx.Response | None, citer: Citer | None) -> dict[str, str]:
    """Return the headers of the model server that a client needs, and the unit of the offsets."""
    headers = returned_headers(response) if response is not None else {}
    return {**headers, "PropCite-Offsets": citer.client.unit} if citer else headers
