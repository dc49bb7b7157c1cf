"""Translate a request of the Responses API to one of Chat Completions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from propcite.app.server.proxy.chat.translating import shared_fields
from propcite.app.server.proxy.proxy_request import refuse

_OWN = {  # what Chat Completions has in another form or not at all; all else passes, as fields of one server alone
    *("input", "instructions", "max_output_tokens", "text", "reasoning", "tools", "tool_choice", "stream_options"),
    *("include", "store", "background", "truncation", "max_tool_calls", "top_logprobs", "context_management"),
}
_STORED = ("previous_response_id", "conversation", "prompt")  # what only the model server itself could know
_ONLY_THERE = "this works only where the model server has /responses itself"


def chat_of(body: Mapping[str, Any]) -> dict[str, Any]:
    """Return the request for Chat Completions; refuse what that API cannot do."""
    chat = shared_fields(body, _OWN, _STORED, _ONLY_THERE)
    chat["messages"] = _messages(body)
    if body.get("max_output_tokens") is not None:
        chat["max_tokens"] = body["max_output_tokens"]
    if tools := body.get("tools"):
        chat["tools"] = [_tool(tool, number) for number, tool in enumerate(_listed(tools))]
    if (choice := body.get("tool_choice")) is not None:
        chat["tool_choice"] = _tool_choice(choice)
    reasoning = body.get("reasoning")
    if isinstance(reasoning, Mapping) and reasoning.get("effort"):
        chat["reasoning_effort"] = reasoning["effort"]
    return {**chat, **_written(body.get("text"))}


def _messages(body: Mapping[str, Any]) -> list[dict[str, Any]]:
    messages: list[dict[str, Any]] = []
    if instructions := body.get("instructions"):
        messages.append({"role": "system", "content": instructions})
    asked = body.get("input")
    items = [{"role": "user", "content": asked}] if isinstance(asked, str) else _listed(asked)
    for number, item in enumerate(items):
        _add(messages, item, number)
    return messages


def _add(messages: list[dict[str, Any]], item: Mapping[str, Any], number: int) -> None:
    """Add an item; calls of tools belong to the message of the assistant before them."""
    match item.get("type", "message"):
        case "message":
            role = "system" if item.get("role") == "developer" else item.get("role")
            messages.append({"role": role, "content": _content(item.get("content"), role == "assistant", number)})
        case "function_call":
            function = {"name": item.get("name"), "arguments": item.get("arguments") or "{}"}
            call = {"id": item.get("call_id"), "type": "function", "function": function}
            if not (messages and messages[-1]["role"] == "assistant"):
                messages.append({"role": "assistant", "content": None})
            messages[-1].setdefault("tool_calls", []).append(call)
        case "function_call_output":
            content = _content(item.get("output"), True, number)
            messages.append({"role": "tool", "tool_call_id": item.get("call_id"), "content": content})
        case "reasoning":  # what the model thought before belongs to no message
            pass
        case other:
            refuse("value_error", ("input", number, "type"), f"{other!r}: {_ONLY_THERE}")


def _content(content: Any, as_text: bool, number: int) -> Any:
    """Return the content of a message; `as_text` where Chat Completions accepts no parts."""
    if not isinstance(content, list):
        return content if isinstance(content, str) or content is None else str(content)
    parts = [_part(part, number) for part in content if isinstance(part, Mapping)]
    if as_text or all(part["type"] == "text" for part in parts):
        return "".join(part.get("text", "") for part in parts)
    return parts


def _part(part: Mapping[str, Any], number: int) -> dict[str, Any]:
    match part.get("type"):
        case "input_text" | "output_text" | "text":
            return {"type": "text", "text": part.get("text") or ""}
        case "refusal":
            return {"type": "text", "text": part.get("refusal") or ""}
        case "input_image" if part.get("image_url"):
            detail = {"detail": part["detail"]} if part.get("detail") else {}
            return {"type": "image_url", "image_url": {"url": part["image_url"], **detail}}
        case "input_file" if part.get("file_data"):
            return {"type": "file", "file": {k: part[k] for k in ("filename", "file_data") if k in part}}
        case "input_audio":
            return {"type": "input_audio", "input_audio": part.get("input_audio")}
        case other:
            return refuse("value_error", ("input", number, "content"), f"{other!r}: {_ONLY_THERE}")


def _tool(tool: Mapping[str, Any], number: int) -> dict[str, Any]:
    if tool.get("type") != "function":
        refuse("value_error", ("tools", number, "type"), f"{tool.get('type')!r}: {_ONLY_THERE}")
    fields = ("name", "description", "parameters", "strict")
    return {"type": "function", "function": {k: tool[k] for k in fields if tool.get(k) is not None}}


def _tool_choice(choice: Any) -> Any:
    if not isinstance(choice, Mapping):
        return choice
    if choice.get("type") == "function":
        return {"type": "function", "function": {"name": choice.get("name")}}
    return refuse("value_error", ("tool_choice", "type"), f"{choice.get('type')!r}: {_ONLY_THERE}")


def _written(text: Any) -> dict[str, Any]:
    """Return the form in which the answer is written."""
    form = text.get("format") if isinstance(text, Mapping) else None
    verbosity = {"verbosity": text["verbosity"]} if isinstance(text, Mapping) and text.get("verbosity") else {}
    if not isinstance(form, Mapping) or form.get("type") in (None, "text"):
        return verbosity
    if form["type"] != "json_schema":
        return {**verbosity, "response_format": {"type": form["type"]}}
    schema = {k: form[k] for k in ("name", "description", "schema", "strict") if form.get(k) is not None}
    return {**verbosity, "response_format": {"type": "json_schema", "json_schema": schema}}


def _listed(items: Any) -> Iterable[Mapping[str, Any]]:
    return [item for item in items if isinstance(item, Mapping)] if isinstance(items, list) else []
