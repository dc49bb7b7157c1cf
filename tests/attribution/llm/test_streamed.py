"""Server-sent events of chat completions are read as every kind of server writes them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Sequence

import pytest

from propcite.attribution.llm.failures import is_too_long
from propcite.attribution.llm.server_events import Said, data_of, said_in


def read(lines: Sequence[str]) -> list[str]:
    async def given() -> AsyncIterator[str]:
        for line in lines:
            yield line

    async def all_of_it() -> list[str]:
        return [data async for data in data_of(given())]

    return asyncio.run(all_of_it())


def test_events_are_told_by_their_data() -> None:
    lines = ["event: message", "data: one", "id: 3", "", ": still here", "", "data:two", "data: three", "", "data: [DO"]
    assert read(lines) == ["one", "two\nthree", "[DO"]


@pytest.mark.parametrize(
    ("event", "said"),
    [
        ({"choices": [{"delta": {"role": "assistant", "content": ""}}]}, Said()),
        ({"choices": [{"delta": {"content": "It"}, "finish_reason": None}]}, Said("It")),
        ({"choices": [{"delta": {}, "finish_reason": "length"}]}, Said(reason="length")),
        ({"choices": [{"delta": None, "finish_reason": "stop"}]}, Said(reason="stop")),
        ({"choices": [], "usage": {}}, Said()),
        ({"choices": [{"message": {"content": "It"}, "finish_reason": "stop"}]}, Said("It", "stop")),
        ({"choices": [{"delta": {"content": [{"type": "text", "text": "It"}]}}]}, Said("It")),
        ({"choices": [{"delta": {"reasoning_content": "Hm"}}]}, Said()),
        ({"choices": [{"delta": {"refusal": "No."}}]}, Said(refusal="No.")),
        ({"error": {"message": "gone", "code": 500}}, Said(complaint="gone")),
        ({"error": "gone"}, Said(complaint="gone")),
    ],
)
def test_what_an_event_says(event: object, said: Said) -> None:
    assert said_in(json.dumps(event)) == said


@pytest.mark.parametrize(
    "data", ["5", "{", "[]", "{}", '{"choices": 5}', '{"choices": ["a"]}', '{"choices": {"a": 1}}']
)
def test_what_is_no_event_is_told(data: str) -> None:
    with pytest.raises(ValueError):
        said_in(data)


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
def test_every_way_to_say_that_a_prompt_is_too_long_is_known(complaint: str) -> None:
    assert is_too_long(complaint)


@pytest.mark.parametrize(
    "complaint", ["'seed' is not supported", "System role not supported", "max_tokens must be > 0"]
)
def test_other_complaints_are_others(complaint: str) -> None:
    assert not is_too_long(complaint)
