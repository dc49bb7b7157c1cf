"""Requests to a scripted model server, and its replies in the forms of three APIs."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from scripted_apis import message, message_events, response, response_events


@dataclass(frozen=True)
class Request:
    """A client's request: the headers by lower-case name, the body as JSON."""

    headers: Mapping[str, str]
    body: dict[str, Any]
    path: str = "/v1/chat/completions"
    raw: bytes = b""

    @property
    def messages(self) -> list[dict[str, Any]]:
        messages: list[dict[str, Any]] = self.body.get("messages", [])
        return messages

    @property
    def prompt(self) -> str:
        """Return the last message, the one that the model answers."""
        return str(self.messages[-1]["content"])


@dataclass(frozen=True)
class Reply:
    """The model's text, or with `body` any response.  `items` come with it: of a response before, of a message behind.

    `chunks` are the pieces of a stream (by default the words of `content`); a dict is sent as the whole delta.
    `breaks_after` disconnects after this many chunks of a stream or bytes of a body; `stalls_after` pauses after this
    many chunks until the server's `resume` is set.  `raw` is a stream as bytes.  Delays are in seconds.
    """

    content: str | None = ""
    status: int = 200
    body: str | bytes | None = None
    finish_reason: str = "stop"
    chunks: Sequence[str | dict[str, Any]] | None = None
    raw: Sequence[bytes] | None = None
    delay: float = 0.0
    chunk_delay: float = 0.0
    breaks_after: int | None = None
    stalls_after: int | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    items: Sequence[dict[str, Any]] = ()
    media_type: str = "application/json"

    @property
    def stop_reason(self) -> str:
        """Return the finish reason as the Messages API names it."""
        return {"stop": "end_turn", "length": "max_tokens", "tool_calls": "tool_use"}[self.finish_reason]

    @property
    def pieces(self) -> list[str]:
        return [p for p in self.chunks if isinstance(p, str)] if self.chunks is not None else _words(self.content)


def _words(text: str | None) -> list[str]:
    return re.findall(r"\s*\S+|\s+$", text or "")


def error(status: int, message: str, **headers: str) -> Reply:
    """Build an error reply in OpenAI's form; `retry_after_ms="1"` becomes the header retry-after-ms."""
    body = json.dumps({"error": {"message": message, "type": "scripted", "param": None, "code": None}})
    return Reply(status=status, body=body, headers={name.replace("_", "-"): value for name, value in headers.items()})


def whole_of(request: Request, reply: Reply) -> bytes:
    model, text = str(request.body.get("model")), reply.content or ""
    if request.path.endswith("/responses"):
        return json.dumps(response(model, text, reply.items)).encode()
    if request.path.endswith("/messages"):
        return json.dumps(message(model, text, reply.stop_reason, reply.items)).encode()
    return _completion(request, reply)


def events_of(request: Request, reply: Reply) -> Iterator[bytes]:
    model = str(request.body.get("model"))
    if request.path.endswith("/responses"):
        return response_events(model, reply.pieces, reply.items)
    if request.path.endswith("/messages"):
        return message_events(model, reply.pieces, reply.stop_reason, reply.items)
    return (f"data: {event}\n\n".encode() for event in _events(request, reply))


def _completion(request: Request, reply: Reply) -> bytes:
    message = {"role": "assistant", "content": reply.content}
    choice = {"index": 0, "message": message, "finish_reason": reply.finish_reason}
    return json.dumps(_frame(request, "chat.completion", [choice]) | {"usage": _usage(request, reply)}).encode()


def _events(request: Request, reply: Reply) -> Iterator[str]:
    """Yield the data of a stream's events: the role, the pieces, the end, and the usage if requested."""
    pieces = reply.chunks if reply.chunks is not None else _words(reply.content)
    deltas = [{"content": piece} if isinstance(piece, str) else piece for piece in pieces]
    for number, delta in enumerate([*deltas, {}]):
        role = {"role": "assistant"} if number == 0 else {}
        reason = None if number < len(deltas) else reply.finish_reason
        yield json.dumps(
            _frame(request, "chat.completion.chunk", [{"index": 0, "delta": role | delta, "finish_reason": reason}])
        )
    if (request.body.get("stream_options") or {}).get("include_usage"):
        yield json.dumps(_frame(request, "chat.completion.chunk", []) | {"usage": _usage(request, reply)})
    yield "[DONE]"


def _frame(request: Request, kind: str, choices: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "id": "chatcmpl-scripted",
        "object": kind,
        "created": 0,
        "model": request.body.get("model"),
        "choices": choices,
    }


def _usage(request: Request, reply: Reply) -> dict[str, int]:
    """Count words as tokens."""
    read = sum(len(str(message.get("content") or "").split()) for message in request.messages)
    written = len((reply.content or "").split())
    return {"prompt_tokens": read, "completion_tokens": written, "total_tokens": read + written}
