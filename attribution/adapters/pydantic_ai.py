"""Cite what a Pydantic AI agent writes over what its tools returned; needs the package `pydantic-ai-slim`."""

from __future__ import annotations

from collections.abc import AsyncIterable, AsyncIterator, Iterable
from typing import Any

from pydantic_ai import AgentRunResult
from pydantic_ai.messages import (
    FunctionToolResultEvent,
    PartDeltaEvent,
    PartStartEvent,
    TextPart,
    TextPartDelta,
    ToolReturnPart,
)

from propcite.attribution.adapters.tools import ToolOutput, answer_text, stream_messages
from propcite.attribution.citations import CitedAnswer
from propcite.attribution.events import Event
from propcite.attribution.propcite import PropCite


def cite_result(
    propcite: PropCite, result: AgentRunResult[Any], *, passages: Iterable[object] = (), question: str = ""
) -> CitedAnswer:
    """Return the text that an agent put out, cited over these passages and over what its tools returned."""
    given = [*passages, *tool_passages(result)]
    return propcite.cite(answer_text(result.output), given, question=question)


async def acite_result(
    propcite: PropCite, result: AgentRunResult[Any], *, passages: Iterable[object] = (), question: str = ""
) -> CitedAnswer:
    given = [*passages, *tool_passages(result)]
    return await propcite.acite(answer_text(result.output), given, question=question)


def tool_passages(result: AgentRunResult[Any]) -> list[object]:
    """Return what the tools returned in this run, and in the messages that it was given."""
    parts = (part for message in result.all_messages() for part in message.parts)
    outputs = (ToolOutput(part.tool_name, part.content) for part in parts if isinstance(part, ToolReturnPart))
    return [passage for output in outputs for passage in output.passages]


def stream_events(
    propcite: PropCite, events: AsyncIterable[Any], *, question: str = "", strip_markers: bool = False
) -> AsyncIterator[Event]:
    """Cite an agent while it writes: give it the events of `agent.run_stream_events(…)`.

    A message before a call of a tool is an answer by itself, and ends with AnswerDone like the last one.
    """
    return stream_messages(propcite, _items(events), question, strip_markers)


async def _items(events: AsyncIterable[Any]) -> AsyncIterator[str | ToolOutput]:
    async for event in events:
        match event:
            case PartStartEvent(part=TextPart(content=text)) | PartDeltaEvent(delta=TextPartDelta(content_delta=text)):
                if text:
                    yield text
            case FunctionToolResultEvent(part=ToolReturnPart() as part):
                yield ToolOutput(part.tool_name, part.content)
