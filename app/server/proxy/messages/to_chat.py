"""Translate a request of the Messages API to one of Chat Completions."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from propcite.app.server.proxy.chat.translating import shared_fields
from propcite.app.server.proxy.proxy_request import refuse, text_of

_OWN = {  # what Chat Completions has in another form or not at all; all else passes, as fields of one server alone
    *("messages", "system", "stop_sequences", "metadata", "tools", "tool_choice", "output_config", "thinking"),
    *("cache_control", "service_tier", "inference_geo", "context_management", "diagnostics", "speed"),
}
_SERVED = ("mcp_servers", "container")  # what only the model server itself could use
_ONLY_THERE = "this works only where the model server has /messages itself"
_CHOICES = {"auto": "auto", "any": "required", "none": "none"}
Block = Mapping[str, Any]


def chat_of(body: Mapping[str, Any]) -> dict[str, Any]:
    """Return the request for Chat Completions; refuse what that API cannot do."""
    chat = shared_fields(body, _OWN, _SERVED, _ONLY_THERE)
    chat["messages"] = _messages(body)
    if stops := body.get("stop_sequences"):
        chat["stop"] = stops
    metadata = body.get("metadata")
    if isinstance(metadata, Mapping) and metadata.get("user_id"):
        chat["user"] = metadata["user_id"]
    if tools := body.get("tools"):
        chat["tools"] = [_tool(tool, number) for number, tool in enumerate(_listed(tools))]
    return {**chat, **_tool_choice(body.get("tool_choice")), **_written(body.get("output_config"))}


def _messages(body: Mapping[str, Any]) -> list[dict[str, Any]]:
    messages: list[dict[str, Any]] = []
    if system := text_of(body.get("system")):
        messages.append({"role": "system", "content": system})
    for number, message in enumerate(body["messages"]):
        content = message.get("content")
        if not isinstance(content, list):
            messages.append({"role": message.get("role"), "content": content})
        elif message.get("role") == "assistant":
            messages.append(_assistant(_listed(content), number))
        else:
            messages += _user(_listed(content), message.get("role"), number)
    return messages


def _assistant(blocks: list[Block], number: int) -> dict[str, Any]:
    """Return the assistant's message; what it thought before is not sent again."""
    texts, calls = [], []
    for block in blocks:
        match block.get("type"):
            case "text":
                texts.append(block.get("text") or "")
            case "tool_use":
                function = {"name": block.get("name"), "arguments": json.dumps(block.get("input") or {})}
                calls.append({"id": block.get("id"), "type": "function", "function": function})
            case "thinking" | "redacted_thinking":
                pass
            case other:
                _refuse_block(other, number)
    message: dict[str, Any] = {"role": "assistant", "content": "".join(texts) or None}
    return {**message, "tool_calls": calls} if calls else message


def _user(blocks: list[Block], role: Any, number: int) -> list[dict[str, Any]]:
    """Return the results of tools, each a message of its own, then what the user says and shows."""
    results, parts = [], []
    for block in blocks:
        if block.get("type") == "tool_result":
            inner = block.get("content")
            shown = [_part(one, number) for one in _listed(inner)]
            text = inner if isinstance(inner, str) else "\n\n".join(p["text"] for p in shown if p["type"] == "text")
            text = f"Error: {text}" if block.get("is_error") else text
            results.append({"role": "tool", "tool_call_id": block.get("tool_use_id"), "content": text})
            parts += [p for p in shown if p["type"] != "text"]  # a tool's message accepts text alone
        else:
            parts.append(_part(block, number))
    if not parts:
        return results
    only_text = all(part["type"] == "text" for part in parts)
    return [*results, {"role": role, "content": "\n\n".join(p["text"] for p in parts) if only_text else parts}]


def _part(block: Block, number: int) -> dict[str, Any]:
    source = block.get("source")
    match block.get("type"):
        case "text":
            return {"type": "text", "text": block.get("text") or ""}
        case "image" if isinstance(source, Mapping) and (url := _url(source)):
            return {"type": "image_url", "image_url": {"url": url}}
        case "document" if isinstance(source, Mapping):
            return _document(block, source, number)
        case "search_result":
            about = f"title: {block.get('title') or ''}\nsource: {source or ''}"
            return {
                "type": "text",
                "text": f"<search_result>\n{about}\n{text_of(block.get('content'))}\n</search_result>",
            }
        case other:
            return _refuse_block(other, number)


def _document(block: Block, source: Mapping[str, Any], number: int) -> dict[str, Any]:
    title = block.get("title")
    match source.get("type"):
        case "text":
            text = source.get("data") or ""
        case "content":
            text = text_of(source.get("content"))
        case "base64":
            name = title if isinstance(title, str) and title else "document.pdf"
            return {"type": "file", "file": {"filename": name, "file_data": _url(source)}}
        case other:
            return _refuse_block(f"document of type {other}", number)
    heading = f"title: {title}\n" if title else ""
    return {"type": "text", "text": f"<document>\n{heading}{text}\n</document>"}


def _url(source: Mapping[str, Any]) -> str:
    if source.get("type") == "base64":
        return f"data:{source.get('media_type')};base64,{source.get('data')}"
    return str(source.get("url") or "")


def _tool(tool: Mapping[str, Any], number: int) -> dict[str, Any]:
    if tool.get("type") not in (None, "custom"):
        refuse("value_error", ("tools", number, "type"), f"{tool.get('type')!r}: {_ONLY_THERE}")
    about = {"description": tool["description"]} if tool.get("description") else {}
    parameters = tool.get("input_schema") or {"type": "object"}
    return {"type": "function", "function": {"name": tool.get("name"), **about, "parameters": parameters}}


def _tool_choice(choice: Any) -> dict[str, Any]:
    if not isinstance(choice, Mapping):
        return {}
    kind = choice.get("type")
    if kind == "tool":
        named: Any = {"type": "function", "function": {"name": choice.get("name")}}
    elif kind in _CHOICES:
        named = _CHOICES[kind]
    else:
        refuse("value_error", ("tool_choice", "type"), f"{kind!r}: {_ONLY_THERE}")
    parallel = {"parallel_tool_calls": False} if choice.get("disable_parallel_tool_use") else {}
    return {"tool_choice": named, **parallel}


def _written(config: Any) -> dict[str, Any]:
    """Return the form in which the answer is written."""
    form = config.get("format") if isinstance(config, Mapping) else None
    if not isinstance(form, Mapping) or form.get("type") != "json_schema":
        return {}
    return {"response_format": {"type": "json_schema", "json_schema": {"name": "answer", "schema": form.get("schema")}}}


def _refuse_block(kind: Any, number: int) -> dict[str, Any]:
    return refuse("value_error", ("messages", number, "content"), f"{kind!r}: {_ONLY_THERE}")


def _listed(items: Any) -> list[Block]:
    return [item for item in items if isinstance(item, Mapping)] if isinstance(items, list) else []
