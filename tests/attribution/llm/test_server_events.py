"""Server-sent events of chat completions are parsed in every form that servers send them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Sequence

import pytest

from propcite.attribution.llm.failures import is_too_long
from propcite.attribution.llm.server_events import ModelChunk, event_data, parse_event


def data_of(lines: Sequence[str]) -> list[str]:
    async def source() -> AsyncIterator[str]:
        for line in lines:
            yield line

    async def collect() -> list[str]:
        return [data async for data in event_data(source())]

    return asyncio.run(collect())


def test_each_event_yields_its_data() -> None:
    lines = ["event: message", "data: one", "id: 3", "", ": still here", "", "data:two", "data: three", "", "data: [DO"]
    assert data_of(lines) == ["one", "two\nthree", "[DO"]


@pytest.mark.parametrize(
    ("event", "chunk"),
    [
        ({"choices": [{"delta": {"role": "assistant", "content": ""}}]}, ModelChunk()),
        ({"choices": [{"delta": {"content": "It"}, "finish_reason": None}]}, ModelChunk("It")),
        ({"choices": [{"delta": {}, "finish_reason": "length"}]}, ModelChunk(reason="length")),
        ({"choices": [{"delta": None, "finish_reason": "stop"}]}, ModelChunk(reason="stop")),
        ({"choices": [], "usage": {}}, ModelChunk()),
        ({"choices": [{"message": {"content": "It"}, "finish_reason": "stop"}]}, ModelChunk("It", "stop")),
        ({"choices": [{"delta": {"content": [{"type": "text", "text": "It"}]}}]}, ModelChunk("It")),
        ({"choices": [{"delta": {"reasoning_content": "Hm"}}]}, ModelChunk()),
        ({"choices": [{"delta": {"refusal": "No."}}]}, ModelChunk(refusal="No.")),
        ({"error": {"message": "gone", "code": 500}}, ModelChunk(complaint="gone")),
        ({"error": "gone"}, ModelChunk(complaint="gone")),
    ],
)
def test_an_event_is_parsed(event: object, chunk: ModelChunk) -> None:
    assert parse_event(json.dumps(event)) == chunk


@pytest.mark.parametrize(
    "data", ["5", "{", "[]", "{}", '{"choices": 5}', '{"choices": ["a"]}', '{"choices": {"a": 1}}']
)
def test_invalid_events_raise(data: str) -> None:
    with pytest.raises(ValueError):
        parse_event(data)


@pytest.mark.parametrize(
    "complaint",
    [
        "'max_tokens' or 'max_completion_tokens' is too large: 2048. This model's maximum context length is 2048",
        "This model's maximum context length is 1024 tokens. However, your prompt contains 4200 input tokens",
        "the request exceeds the available context size, try increasing it",
        "prompt is too long: 210000 tokens > 200000 maximum",
        "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
        "Trying to keep the first 5000 tokens when context the overflows: the number of tokens to keep is greater",
        "Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context length",
    ],
)
def test_complaints_about_a_too_long_prompt_are_recognised(complaint: str) -> None:
    assert is_too_long(complaint)


@pytest.mark.parametrize(
    "complaint", ["'seed' is not supported", "System role not supported", "max_tokens must be > 0"]
)
def test_other_complaints_are_not_about_length(complaint: str) -> None:
    assert not is_too_long(complaint)
