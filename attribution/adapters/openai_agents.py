"""Cite what an agent of OpenAI's Agents SDK writes over what its tools returned; needs the package `openai-agents`."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from typing import Any

from agents import RunItemStreamEvent, RunResult, RunResultStreaming, ToolCallItem, ToolCallOutputItem
from agents.result import RunResultBase
from agents.stream_events import RawResponsesStreamEvent

from propcite.attribution.adapters.tools import ToolOutput, answer_text, stream_messages
from propcite.attribution.citations import CitedAnswer
from propcite.attribution.events import Event
from propcite.attribution.propcite import PropCite


def cite_result(
    propcite: PropCite, result: RunResult, *, passages: Iterable[object] = (), question: str = ""
) -> CitedAnswer:
    """Return the final output of a run, cited over these passages and over what its tools returned."""
    given = [*passages, *tool_passages(result)]
    return propcite.cite(answer_text(result.final_output), given, question=question)


async def acite_result(
    propcite: PropCite, result: RunResult, *, passages: Iterable[object] = (), question: str = ""
) -> CitedAnswer:
    given = [*passages, *tool_passages(result)]
    return await propcite.acite(answer_text(result.final_output), given, question=question)


def tool_passages(result: RunResultBase) -> list[object]:
    """Return what the tools returned in a run."""
    names = {_call_id(item): _name(item) for item in result.new_items if isinstance(item, ToolCallItem)}
    outputs = (item for item in result.new_items if isinstance(item, ToolCallOutputItem))
    return [p for item in outputs for p in ToolOutput(names.get(_call_id(item), ""), item.output).passages]


def stream_result(
    propcite: PropCite, result: RunResultStreaming, *, question: str = "", strip_markers: bool = False
) -> AsyncIterator[Event]:
    """Cite an agent while it writes: give it the result of `Runner.run_streamed(…)`.

    A message before a call of a tool is an answer by itself, and ends with AnswerDone like the last one.
    """
    return stream_messages(propcite, _items(result), question, strip_markers)


async def _items(result: RunResultStreaming) -> AsyncIterator[str | ToolOutput]:
    names: dict[str, str] = {}
    async for event in result.stream_events():
        if isinstance(event, RawResponsesStreamEvent) and event.data.type == "response.output_text.delta":
            yield event.data.delta
        elif isinstance(event, RunItemStreamEvent) and isinstance(event.item, ToolCallItem):
            names[_call_id(event.item)] = _name(event.item)
        elif isinstance(event, RunItemStreamEvent) and isinstance(event.item, ToolCallOutputItem):
            yield ToolOutput(names.get(_call_id(event.item), ""), event.item.output)


def _call_id(item: Any) -> str:
    raw = item.raw_item
    return str(raw.get("call_id", "") if isinstance(raw, dict) else getattr(raw, "call_id", ""))


def _name(item: Any) -> str:
    raw = item.raw_item
    return str(raw.get("name", "") if isinstance(raw, dict) else getattr(raw, "name", ""))
