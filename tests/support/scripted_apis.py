"""Scripted replies in the forms of the Responses API and of the Messages API, whole and as events."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

Json = dict[str, Any]
USAGE = {
    "input_tokens": 3,
    "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
    "output_tokens": 5,
    "output_tokens_details": {"reasoning_tokens": 0},
    "total_tokens": 8,
}
REASONING = {"id": "rs_1", "type": "reasoning", "summary": [], "encrypted_content": "c2VjcmV0"}
CALL = {
    "id": "fc_1",
    "type": "function_call",
    "status": "completed",
    "call_id": "call_1",
    "name": "cost",
    "arguments": '{"of": "it"}',
}


def response(model: str, text: str, items: Sequence[Json] = ()) -> Json:
    """Return a whole response: the items, then a message with the text, if it has words."""
    part = {"type": "output_text", "text": text, "annotations": [], "logprobs": []}
    message = {"id": "msg_1", "type": "message", "role": "assistant", "status": "completed", "content": [part]}
    return {
        **_frame(model),
        "status": "completed",
        "output": [*items, *([message] if text else [])],
        "usage": USAGE,
    }


def response_events(model: str, pieces: Sequence[str], items: Sequence[Json] = ()) -> Iterator[bytes]:
    """Yield the events of a response, each with its number."""
    for number, content in enumerate(_response_events(model, pieces, items)):
        yield _event({**content, "sequence_number": number})


def _response_events(model: str, pieces: Sequence[str], items: Sequence[Json]) -> Iterator[Json]:
    whole = response(model, "".join(pieces), items)
    yield {"type": "response.created", "response": {**_frame(model), "status": "in_progress"}}
    yield {"type": "response.in_progress", "response": {**_frame(model), "status": "in_progress"}}
    for index, item in enumerate(whole["output"]):
        begun = {**item, "content": [], "status": "in_progress"} if "content" in item else item
        yield {"type": "response.output_item.added", "output_index": index, "item": begun}
        if item["type"] == "message":
            place = {"item_id": item["id"], "output_index": index, "content_index": 0}
            part = item["content"][0]
            yield {"type": "response.content_part.added", **place, "part": {**part, "text": ""}}
            for piece in pieces:
                yield {"type": "response.output_text.delta", **place, "delta": piece, "logprobs": []}
            yield {"type": "response.output_text.done", **place, "text": part["text"], "logprobs": []}
            yield {"type": "response.content_part.done", **place, "part": part}
        yield {"type": "response.output_item.done", "output_index": index, "item": item}
    yield {"type": "response.completed", "response": whole}


def message(model: str, text: str, reason: str = "end_turn", blocks: Sequence[Json] = ()) -> Json:
    """Return a whole message: a text, if it has words, then the blocks."""
    texts = [{"type": "text", "text": text}] if text else []
    return {**_message_frame(model), "content": [*texts, *blocks], "stop_reason": reason}


def message_events(
    model: str, pieces: Sequence[str], reason: str = "end_turn", blocks: Sequence[Json] = ()
) -> Iterator[bytes]:
    yield _event({"type": "message_start", "message": {**_message_frame(model), "stop_reason": None}})
    yield _event({"type": "ping"})
    index = 0
    if pieces:
        yield _event({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}})
        for piece in pieces:
            delta = {"type": "text_delta", "text": piece}
            yield _event({"type": "content_block_delta", "index": 0, "delta": delta})
        yield _event({"type": "content_block_stop", "index": 0})
        index = 1
    for number, block in enumerate(blocks, start=index):
        yield _event({"type": "content_block_start", "index": number, "content_block": {**block, "input": {}}})
        delta = {"type": "input_json_delta", "partial_json": json.dumps(block.get("input", {}))}
        yield _event({"type": "content_block_delta", "index": number, "delta": delta})
        yield _event({"type": "content_block_stop", "index": number})
    ended = {"stop_reason": reason, "stop_sequence": None}
    yield _event({"type": "message_delta", "delta": ended, "usage": {"output_tokens": 5}})
    yield _event({"type": "message_stop"})


def _frame(model: str) -> Json:
    return {
        "id": "resp_1",
        "object": "response",
        "created_at": 1,
        "error": None,
        "incomplete_details": None,
        "instructions": None,
        "metadata": {},
        "model": model,
        "output": [],
        "parallel_tool_calls": True,
        "temperature": 1.0,
        "tool_choice": "auto",
        "tools": [],
        "top_p": 1.0,
    }


def _message_frame(model: str) -> Json:
    usage = {"input_tokens": 3, "output_tokens": 1}
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": [],
        "stop_sequence": None,
        "usage": usage,
    }


def _event(content: Json) -> bytes:
    return f"event: {content['type']}\ndata: {json.dumps(content)}\n\n".encode()
