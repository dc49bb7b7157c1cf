"""Translate a chat completion to a response of the Responses API."""

from __future__ import annotations

from collections.abc import Mapping
from secrets import token_hex
from typing import Any

from propcite.app.server.proxy.chat.chunks import choices_of

REASONS = {"length": "max_output_tokens", "content_filter": "content_filter"}
_DEFAULTS: dict[str, Any] = {  # the fields of a response that repeat its request
    "instructions": None,
    "max_output_tokens": None,
    "metadata": {},
    "parallel_tool_calls": True,
    "reasoning": {"effort": None, "summary": None},
    "temperature": None,
    "text": {"format": {"type": "text"}},
    "tool_choice": "auto",
    "tools": [],
    "top_p": None,
    "truncation": "disabled",
    "user": None,
}


def response_of(completion: Mapping[str, Any], body: Mapping[str, Any]) -> dict[str, Any]:
    """Return the response; `body` is the request."""
    choice = next(iter(choices_of(completion)), {})
    message = choice.get("message")
    message = message if isinstance(message, Mapping) else {}
    output = []
    if thought := reasoning_in(message):
        output.append(reasoning_item(thought))
    if parts := _parts(message):
        output.append(message_item(parts))
    output += [call_item(call) for call in calls_in(message)]
    ended = ending(choice.get("finish_reason"))
    return {**new_response(completion, body), "output": output, **ended, "usage": usage_of(completion)}


def new_response(completion: Mapping[str, Any], body: Mapping[str, Any]) -> dict[str, Any]:
    """Return a response without output; `completion` is a whole one or a chunk."""
    repeated = {k: body.get(k) if body.get(k) is not None else default for k, default in _DEFAULTS.items()}
    return {
        "id": f"resp_{token_hex(16)}",
        "object": "response",
        "created_at": completion.get("created") or 0,
        "status": "in_progress",
        "error": None,
        "incomplete_details": None,
        "model": completion.get("model") or body.get("model"),
        "output": [],
        "previous_response_id": None,
        "store": False,
        "usage": None,
        **repeated,
    }


def ending(reason: object) -> dict[str, Any]:
    """Return the fields that say how a response has ended."""
    if reason in REASONS:
        return {"status": "incomplete", "incomplete_details": {"reason": REASONS[str(reason)]}}
    return {"status": "completed", "incomplete_details": None}


def message_item(parts: list[dict[str, Any]], status: str = "completed") -> dict[str, Any]:
    return {"id": f"msg_{token_hex(12)}", "type": "message", "role": "assistant", "status": status, "content": parts}


def text_part(text: str) -> dict[str, Any]:
    return {"type": "output_text", "text": text, "annotations": [], "logprobs": []}


def reasoning_item(text: str) -> dict[str, Any]:
    content = [{"type": "reasoning_text", "text": text}] if text else []
    return {"id": f"rs_{token_hex(12)}", "type": "reasoning", "summary": [], "content": content}


def call_item(call: Mapping[str, Any], status: str = "completed") -> dict[str, Any]:
    function = call.get("function") or {}
    return {
        "id": f"fc_{token_hex(12)}",
        "type": "function_call",
        "status": status,
        "call_id": call.get("id") or f"call_{token_hex(12)}",
        "name": function.get("name") or "",
        "arguments": function.get("arguments") or "",
    }


def reasoning_in(message: Mapping[str, Any]) -> str:
    """Return the model's thoughts, which servers put in one of two fields; empty if there are none."""
    thought = message.get("reasoning_content") or message.get("reasoning")
    return thought if isinstance(thought, str) else ""


def calls_in(message: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    calls = message.get("tool_calls")
    return [c for c in calls if isinstance(c, Mapping)] if isinstance(calls, list) else []


def usage_of(completion: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the tokens that were counted; None if none were."""
    usage = completion.get("usage")
    if not isinstance(usage, Mapping):
        return None
    read, written = usage.get("prompt_tokens") or 0, usage.get("completion_tokens") or 0
    cached = (usage.get("prompt_tokens_details") or {}).get("cached_tokens") or 0
    thought = (usage.get("completion_tokens_details") or {}).get("reasoning_tokens") or 0
    return {
        "input_tokens": read,
        "input_tokens_details": {"cached_tokens": cached, "cache_write_tokens": 0},
        "output_tokens": written,
        "output_tokens_details": {"reasoning_tokens": thought},
        "total_tokens": usage.get("total_tokens") or read + written,
    }


def _parts(message: Mapping[str, Any]) -> list[dict[str, Any]]:
    parts = []
    if isinstance(text := message.get("content"), str) and text:
        parts.append(text_part(text))
    if isinstance(refusal := message.get("refusal"), str) and refusal:
        parts.append({"type": "refusal", "refusal": refusal})
    return parts
