"""A request to the Messages API, and the citations of a whole message."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Mapping, Sequence
from copy import deepcopy
from functools import cached_property
from typing import Any, ClassVar

from propcite.app.server.problems import anthropic_error
from propcite.app.server.proxy.api_request import ApiRequest
from propcite.app.server.proxy.citing import Citer, is_text
from propcite.app.server.proxy.events import Event, encode_event
from propcite.app.server.proxy.messages.documents import (
    GivenSources,
    citable_blocks,
    enables_citations,
    given_sources,
    read_pdfs,
    with_texts,
)
from propcite.app.server.proxy.messages.from_chat import message_of
from propcite.app.server.proxy.messages.from_chat_stream import message_events
from propcite.app.server.proxy.messages.locations import CITATION_TYPES, Locator, is_ours
from propcite.app.server.proxy.messages.messages_relay import MessagesRelay
from propcite.app.server.proxy.messages.to_chat import chat_of
from propcite.app.server.proxy.proxy_request import EXTENSION, check_objects, parts_of, text_of
from propcite.app.server.proxy.sent_pdfs import ReadPdf
from propcite.app.server.proxy.whole_text import sentence_pieces, with_sources
from propcite.app.server.schemas import PassageInput
from propcite.attribution.citations import CitedAnswer
from propcite.retrieval.text import Passage


class MessagesRequest(ApiRequest):
    """A request to /messages."""

    path: ClassVar[str] = "/messages"
    citation_types: ClassVar[frozenset[str]] = frozenset(CITATION_TYPES)

    @property
    def is_json(self) -> bool:
        config = self.body.get("output_config")
        return isinstance(config, Mapping) and bool(config.get("format"))

    def last_words(self) -> str:
        asked = [m for m in self.body["messages"] if m.get("role") == "user"]
        return next((text for m in reversed(asked) if (text := text_of(m.get("content"))).strip()), "")

    @cached_property
    def given(self) -> GivenSources:
        return given_sources(self.body)

    async def read_documents(self, read: ReadPdf) -> None:
        if self.is_cited:
            await read_pdfs(self.given, read)

    def own_passages(self) -> Sequence[PassageInput | Passage]:
        return self.given.passages

    def upstream_body(self, instruction: str) -> bytes:
        """Return the body; where this server can cite all that is to be cited, the model server cites nothing."""
        if not (self.is_cited and self.given.passages and not self.given.has_unread):
            return super().upstream_body(instruction)
        body = self.instructed(instruction) if instruction else self.body
        return json.dumps({**body, "messages": _without_citing(body["messages"])}).encode()

    def instructed(self, instruction: str) -> Mapping[str, Any]:
        own = self.body.get("system")
        blocks = [{"type": "text", "text": own}] if isinstance(own, str) else own
        if not blocks or not isinstance(blocks, list):
            return {**self.body, "system": instruction}
        return {**self.body, "system": [*blocks, {"type": "text", "text": instruction}]}

    def as_chat(self, body: Mapping[str, Any]) -> Mapping[str, Any]:
        return chat_of(with_texts(body, self.given))

    def from_chat(self, completion: Mapping[str, Any]) -> dict[str, Any]:
        return message_of(completion, self.body)

    def from_chat_stream(self, events: AsyncGenerator[Event, None]) -> AsyncGenerator[Event, None]:
        return message_events(events, self.body)

    async def add_citations(self, citer: Citer, answer: dict[str, Any]) -> bool:
        """Split each text of a message where its sentences end, and add their citations; the rest stays as received.

        `propcite` of the message are the cited answers, one for each text.
        """
        blocks, reason = parts_of(answer), answer.get("stop_reason")
        texts = [block for block in blocks if is_cited(block)]
        answers = await asyncio.gather(*(citer.text(block["text"], reason) for block in texts))
        if not texts:
            return False
        content: list[Any] = []
        locator, cited = self.locator(), iter(answers)
        for block in blocks:
            content += _split(block, next(cited), citer, locator) if is_cited(block) else [block]
        answer["content"] = content
        answer[EXTENSION] = [citer.as_json(one) for one in answers]
        return True

    def locator(self) -> Locator:
        return Locator(self.given, self.client, self.extension.citation_type)

    def relay(self, citer: Citer) -> MessagesRelay:
        return MessagesRelay(citer, self.locator())

    @classmethod
    def error_events(cls, status: int, detail: str) -> bytes:
        return encode_event(anthropic_error(status, detail))

    @classmethod
    def check(cls, body: Mapping[str, Any]) -> None:
        check_objects(body, "messages")

    @classmethod
    def without_citations(cls, body: dict[str, Any]) -> bool:
        """Remove this server's citations, which the model server would look for in its documents."""
        is_changed = False
        for block in (part for message in body["messages"] for part in parts_of(message)):
            citations = block.get("citations") if isinstance(block, dict) else None
            if isinstance(citations, list) and any(map(is_ours, citations)):
                block["citations"], is_changed = [c for c in citations if not is_ours(c)] or None, True
        return is_changed


def is_cited(block: Any) -> bool:
    """Return whether a block is a text without citations of the model server."""
    is_own = isinstance(block, dict) and block.get("type") == "text" and not block.get("citations")
    return is_own and is_text(block.get("text"))


def _split(block: Mapping[str, Any], answer: CitedAnswer, citer: Citer, locator: Locator) -> list[dict[str, Any]]:
    if citer.client.sources_as_text:
        return [{**block, "text": with_sources(answer, citer.client)}]
    blocks = []
    for text, sentence in sentence_pieces(answer):
        citations = [locator.locate(c) for c in sentence.citations] if sentence else []
        blocks.append({**block, "text": text, **({"citations": citations} if citations else {})})
    return blocks


def _without_citing(messages: Sequence[Mapping[str, Any]]) -> list[Any]:
    """Return the messages without the wish for citations of their documents and search results."""
    copied = deepcopy(list(messages))
    for block in citable_blocks({"messages": copied}):
        if enables_citations(block):
            del block["citations"]
    return copied
