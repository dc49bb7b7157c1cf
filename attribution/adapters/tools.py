"""Cite what agents write over what their tools returned."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping
from dataclasses import asdict, dataclass, is_dataclass
from typing import Any

from pydantic import BaseModel

from propcite.attribution.errors import AttributionError
from propcite.attribution.events import Event
from propcite.attribution.propcite import PropCite

TEXTS = ("text", "page_content", "content")


@dataclass(frozen=True, slots=True)
class ToolOutput:
    """What a tool returned."""

    tool: str
    value: object

    @property
    def passages(self) -> list[object]:
        """Return its texts: one text, each entry of a list, or the JSON of others; their title is the tool's name.

        >>> ToolOutput("search", ["It rained.", {"id": "b", "text": "It snowed."}]).passages
        [{'title': 'search', 'text': 'It rained.'}, {'title': 'search', 'id': 'b', 'text': 'It snowed.'}]
        """
        value = _plain(self.value)
        entries = value if isinstance(value, list | tuple) else [value]
        return [passage for entry in entries if (passage := self._passage(_plain(entry)))]

    def _passage(self, value: Any) -> dict[str, Any] | None:
        if isinstance(value, Mapping) and any(isinstance(value.get(name), str) for name in TEXTS):
            return {"title": self.tool, **value}
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
        return {"title": self.tool, "text": text} if value and text.strip() else None


def _plain(value: object) -> Any:
    """Return a value without its class, and a text that is a list or an object of JSON as that."""
    if isinstance(value, BaseModel):
        return value.model_dump()
    if is_dataclass(value) and not isinstance(value, type):
        return asdict(value)
    if isinstance(value, str) and value.lstrip()[:1] in ("[", "{"):
        try:
            return json.loads(value)
        except ValueError:
            return value
    return value


def answer_text(output: object) -> str:
    """Return an agent's final output; AttributionError if it is no text."""
    if isinstance(output, str):
        return output
    raise AttributionError(f"the agent's output is a {type(output).__name__}: cite the text in it by PropCite.cite")


async def stream_messages(
    propcite: PropCite, items: AsyncIterator[str | ToolOutput], question: str, strip_markers: bool
) -> AsyncIterator[Event]:
    """Yield the events of each message that an agent writes, over all that its tools returned before."""
    passages: list[object] = []
    following: ToolOutput | None = None

    async def words(first: str) -> AsyncIterator[str]:
        nonlocal following
        yield first
        async for item in items:
            if isinstance(item, ToolOutput):
                following = item
                return
            yield item

    async for item in items:
        if isinstance(item, ToolOutput):
            passages += item.passages
            continue
        following = None
        stream = propcite.astream(words(item), [*passages], question=question, strip_markers=strip_markers)
        async with stream:
            async for event in stream:
                yield event
        passages += following.passages if following else []
