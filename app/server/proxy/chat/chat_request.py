"""A chat completion: its request, and the citations of a whole one."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Mapping, Sequence
from typing import Any, ClassVar

from propcite.app.server.problems import openai_error
from propcite.app.server.proxy.api_request import ApiRequest
from propcite.app.server.proxy.chat.chat_relay import ChatRelay
from propcite.app.server.proxy.chat.chunks import choices_of
from propcite.app.server.proxy.citing import Citer, is_text
from propcite.app.server.proxy.events import DONE, Event, encode_chunk
from propcite.app.server.proxy.proxy_request import EXTENSION, check_objects, text_of
from propcite.app.server.proxy.whole_text import with_sources
from propcite.attribution.formats.openai import chat_annotations


class ChatRequest(ApiRequest):
    """A request to /chat/completions."""

    path: ClassVar[str] = "/chat/completions"
    citation_types: ClassVar[frozenset[str]] = frozenset({"url_citation"})

    @property
    def num_texts(self) -> int:
        n = self.body.get("n")
        return n if isinstance(n, int) else 1

    @property
    def is_json(self) -> bool:
        response_format = self.body.get("response_format")
        return isinstance(response_format, Mapping) and response_format.get("type") in ("json_object", "json_schema")

    def last_words(self) -> str:
        messages = (text_of(m.get("content")) for m in reversed(self.body["messages"]) if m.get("role") == "user")
        return next(messages, "")

    def instructed(self, instruction: str) -> Mapping[str, Any]:
        messages: Sequence[Mapping[str, Any]] = self.body["messages"]
        first = next((n for n, m in enumerate(messages) if m.get("role") not in ("system", "developer")), 0)
        message = {"role": "system", "content": instruction}  # after the client's own system messages
        return {**self.body, "messages": [*messages[:first], message, *messages[first:]]}

    def as_chat(self, body: Mapping[str, Any]) -> Mapping[str, Any]:
        return body

    def from_chat(self, completion: Mapping[str, Any]) -> dict[str, Any]:
        return dict(completion)

    def from_chat_stream(self, events: AsyncGenerator[Event, None]) -> AsyncGenerator[Event, None]:
        return events

    async def add_citations(self, citer: Citer, answer: dict[str, Any]) -> bool:
        """Add `annotations` and the cited answer to each choice's message; all else stays as received."""
        messages = [(c["message"], c.get("finish_reason")) for c in choices_of(answer) if _has_text(c)]
        await asyncio.gather(*(_cite(citer, message, reason) for message, reason in messages))
        return bool(messages)

    def relay(self, citer: Citer) -> ChatRelay:
        return ChatRelay(citer)

    @classmethod
    def error_events(cls, status: int, detail: str) -> bytes:
        return encode_chunk(openai_error(status, detail)) + DONE

    @classmethod
    def check(cls, body: Mapping[str, Any]) -> None:
        check_objects(body, "messages")


def _has_text(choice: Mapping[str, Any]) -> bool:
    return isinstance(choice.get("message"), dict) and is_text(choice["message"].get("content"))


async def _cite(citer: Citer, message: dict[str, Any], reason: str | None) -> None:
    answer = await citer.text(message["content"], reason)
    message["content"] = with_sources(answer, citer.client)
    if not citer.client.sources_as_text:
        message["annotations"] = [
            *(message.get("annotations") or []),
            *chat_annotations(answer, citer.client.unit),
        ]
    message[EXTENSION] = citer.as_json(answer)
