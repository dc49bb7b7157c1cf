"""Translate a chat completion to a message of the Messages API."""

from __future__ import annotations

import json
from collections.abc import Mapping
from secrets import token_hex
from typing import Any

from propcite.app.server.proxy.chat.chunks import choices_of
from propcite.app.server.proxy.responses.from_chat import calls_in, reasoning_in

REASONS = {
    "stop": "end_turn",
    "length": "max_tokens",
    "tool_calls": "tool_use",
    "function_call": "tool_use",
    "content_filter": "refusal",
}


def message_of(completion: Mapping[str, Any], body: Mapping[str, Any]) -> dict[str, Any]:
    """Return the message; `body` is the request."""
    choice = next(iter(choices_of(completion)), {})
    written = choice.get("message")
    written = written if isinstance(written, Mapping) else {}
    content: list[dict[str, Any]] = []
    if thought := reasoning_in(written):
        content.append({"type": "thinking", "thinking": thought, "signature": ""})
    content += [{"type": "text", "text": text} for text in _texts(written)]
    content += [tool_use(call, _arguments(call)) for call in calls_in(written)]
    reason = stop_reason(choice.get("finish_reason"))
    return {**new_message(completion, body), "content": content, "stop_reason": reason, "usage": usage_of(completion)}


def new_message(completion: Mapping[str, Any], body: Mapping[str, Any]) -> dict[str, Any]:
    """Return a message without content; `completion` is a whole one or a chunk."""
    return {
        "id": f"msg_{token_hex(12)}",
        "type": "message",
        "role": "assistant",
        "model": completion.get("model") or body.get("model"),
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": {"input_tokens": 0, "output_tokens": 0},
    }


def stop_reason(reason: object) -> str:
    return REASONS.get(str(reason), "end_turn")


def tool_use(call: Mapping[str, Any], arguments: Any) -> dict[str, Any]:
    name = (call.get("function") or {}).get("name") or ""
    return {"type": "tool_use", "id": call.get("id") or f"toolu_{token_hex(12)}", "name": name, "input": arguments}


def usage_of(completion: Mapping[str, Any]) -> dict[str, int]:
    """Return the tokens that were counted; zeros if none were."""
    usage = completion.get("usage")
    usage = usage if isinstance(usage, Mapping) else {}
    cached = (usage.get("prompt_tokens_details") or {}).get("cached_tokens") or 0
    return {
        "input_tokens": max(0, (usage.get("prompt_tokens") or 0) - cached),
        "output_tokens": usage.get("completion_tokens") or 0,
        "cache_read_input_tokens": cached,
        "cache_creation_input_tokens": 0,
    }


def _texts(written: Mapping[str, Any]) -> list[str]:
    return [text for field in ("content", "refusal") if isinstance(text := written.get(field), str) and text]


def _arguments(call: Mapping[str, Any]) -> Any:
    """Return the arguments of a call; a text that is no JSON object is kept in one."""
    text = (call.get("function") or {}).get("arguments") or "{}"
    try:
        arguments = json.loads(text)
    except (TypeError, ValueError, RecursionError):
        arguments = None
    return arguments if isinstance(arguments, dict) else {"arguments": text}
