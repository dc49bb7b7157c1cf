"""A request to the Responses API, and the citations of a whole response."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Mapping
from typing import Any, ClassVar

from propcite.app.server.proxy.api_request import ApiRequest
from propcite.app.server.proxy.citing import Citer, is_text
from propcite.app.server.proxy.events import Event, encode_event
from propcite.app.server.proxy.proxy_request import (
    EXTENSION,
    parts_of,
    refuse,
    strip_answers,
    text_of,
)
from propcite.app.server.proxy.responses.annotations import annotations_of
from propcite.app.server.proxy.responses.from_chat import response_of
from propcite.app.server.proxy.responses.from_chat_stream import response_events
from propcite.app.server.proxy.responses.responses_relay import ResponsesRelay
from propcite.app.server.proxy.responses.stream_error import stream_error
from propcite.app.server.proxy.responses.to_chat import chat_of
from propcite.app.server.proxy.whole_text import with_sources


class ResponsesRequest(ApiRequest):
    """A request to /responses."""

    path: ClassVar[str] = "/responses"
    citation_types: ClassVar[frozenset[str]] = frozenset({"url_citation", "file_citation"})

    @property
    def is_json(self) -> bool:
        text = self.body.get("text")
        written = text.get("format") if isinstance(text, Mapping) else None
        return isinstance(written, Mapping) and written.get("type") in ("json_object", "json_schema")

    def last_words(self) -> str:
        asked = self.body.get("input")
        if isinstance(asked, str):
            return asked
        items = (text_of(item.get("content")) for item in reversed(asked or ()) if item.get("role") == "user")
        return next(items, "")

    def instructed(self, instruction: str) -> Mapping[str, Any]:
        own = self.body.get("instructions")
        return {**self.body, "instructions": f"{own}\n\n{instruction}" if own else instruction}

    def as_chat(self, body: Mapping[str, Any]) -> Mapping[str, Any]:
        return chat_of(body)

    def from_chat(self, completion: Mapping[str, Any]) -> dict[str, Any]:
        return response_of(completion, self.body)

    def from_chat_stream(self, events: AsyncGenerator[Event, None]) -> AsyncGenerator[Event, None]:
        return response_events(events, self.body)

    async def add_citations(self, citer: Citer, answer: dict[str, Any]) -> bool:
        """Add annotations and the cited answer to each text of a response; all else stays as received."""
        details = answer.get("incomplete_details")
        reason = details.get("reason") if isinstance(details, Mapping) else None
        output = answer.get("output")
        parts = [p for item in (output if isinstance(output, list) else ()) for p in parts_of(item) if is_cited(p)]
        await asyncio.gather(*(_cite(citer, part, reason) for part in parts))
        return bool(parts)

    def relay(self, citer: Citer) -> ResponsesRelay:
        return ResponsesRelay(citer)

    @classmethod
    def error_events(cls, status: int, detail: str) -> bytes:
        return encode_event({**stream_error(detail, status), "sequence_number": 0})

    @classmethod
    def check(cls, body: Mapping[str, Any]) -> None:
        asked = body.get("input")
        is_list = isinstance(asked, list) and all(isinstance(item, Mapping) for item in asked)
        if not (asked is None or isinstance(asked, str) or is_list):
            refuse("value_error", ("input",), "expected a text or a list of items")

    @classmethod
    def without_citations(cls, body: dict[str, Any]) -> bool:
        return strip_answers(body.get("input"))


def is_cited(part: Any) -> bool:
    """Return whether a part of a message is a text that can be cited."""
    return isinstance(part, dict) and part.get("type") == "output_text" and is_text(part.get("text"))


async def _cite(citer: Citer, part: dict[str, Any], reason: str | None) -> None:
    answer = await citer.text(part["text"], reason)
    part["text"] = with_sources(answer, citer.client)
    part["annotations"] = [*(part.get("annotations") or []), *annotations_of(answer, citer)]
    part[EXTENSION] = citer.as_json(answer)
