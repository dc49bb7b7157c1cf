"""A chat completion request: the body is the model server's, except for the extension field `propcite`."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NoReturn

from fastapi.exceptions import RequestValidationError
from pydantic import Field, ValidationError

from propcite.app.server.schemas import DocumentSelection, NonBlankText, PassageInput, Text, clean

EXTENSION = "propcite"
MAX_QUESTION_CHARS = 1000  # of a question that are searched for


class Extension(DocumentSelection):
    """The field `propcite` of a request; the model server never sees it."""

    retrieve: bool | None = Field(
        None,
        description="show the model passages of the collection; default: if one is named (PROPCITE_PROXY_RETRIEVE)",
    )
    passages: list[NonBlankText | PassageInput] = Field(
        [], max_length=1000, description="what the answer is written from: cited first, before the collection"
    )
    strip_markers: bool = Field(False, description="remove the markers that the model writes itself, as [1]")
    cite: bool = Field(True, description="false: pass the completion on without citations")
    question: Text = Field("", description="the question for retrieval; default: the last message of the user")


@dataclass(frozen=True)
class ChatRequest:
    """A request: its bytes as received, its body without the extension, and the extension."""

    raw: bytes
    body: Mapping[str, Any]
    extension: Extension
    collection: str | None = None
    has_extension: bool = False

    @property
    def is_stream(self) -> bool:
        return self.body.get("stream") is True

    @property
    def num_choices(self) -> int:
        n = self.body.get("n")
        return n if isinstance(n, int) else 1

    @property
    def is_json(self) -> bool:
        response_format = self.body.get("response_format")
        return isinstance(response_format, Mapping) and response_format.get("type") in ("json_object", "json_schema")

    @property
    def is_cited(self) -> bool:
        """Return whether the answer is cited; JSON for a program is not prose."""
        return self.extension.cite and not self.is_json

    @cached_property
    def question(self) -> str:
        """Return the question, cut to its end, which follows any text that the user pasted."""
        messages = (_text(m.get("content")) for m in reversed(self.body["messages"]) if m.get("role") == "user")
        question = self.extension.question.strip() or clean(next(messages, "")).strip()
        return question[-MAX_QUESTION_CHARS:]

    def upstream_body(self, message: Mapping[str, str] | None) -> bytes:
        """Return the body for the model server with a message added; without changes, the client's own bytes."""
        if message is None and not self.has_extension:
            return self.raw
        messages: Sequence[Mapping[str, Any]] = self.body["messages"]
        if message is not None:  # after the client's own system messages
            first = next((n for n, m in enumerate(messages) if m.get("role") not in ("system", "developer")), 0)
            messages = [*messages[:first], message, *messages[first:]]
        return json.dumps({**self.body, "messages": messages}).encode()


def parse_chat_request(raw: bytes, collection: str | None) -> ChatRequest:
    """Parse a request; `collection` is the one that the URL names."""
    body = _json_object(raw)
    messages = body.get("messages")
    if not isinstance(messages, list) or not messages or not all(isinstance(m, Mapping) for m in messages):
        _refuse("missing" if messages is None else "value_error", ("messages",), "expected a list of messages")
    has_extension, fields = EXTENSION in body, body.pop(EXTENSION, None)
    try:
        extension = Extension.model_validate({} if fields is None else fields)
    except ValidationError as error:
        raise RequestValidationError([{**e, "loc": ("body", EXTENSION, *e["loc"])} for e in error.errors()]) from error
    if collection and extension.collection not in (None, collection):
        _refuse("value_error", (EXTENSION, "collection"), f"the URL names another collection, {collection!r}")
    return ChatRequest(raw, body, extension, collection or extension.collection, has_extension)


def _json_object(raw: bytes) -> dict[str, Any]:
    try:
        body = json.loads(raw.decode(), parse_constant=_reject_constant)
    except RecursionError:
        _refuse("json_invalid", (), "it is nested too deep")
    except ValueError as error:  # UnicodeDecodeError is one
        _refuse("json_invalid", (), str(error)[:200])
    if not isinstance(body, dict):
        _refuse("dict_type", (), "expected an object")
    return body


def _reject_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a JSON number")


def _refuse(error_type: str, path: tuple[str, ...], what: str) -> NoReturn:
    error = {"type": error_type, "loc": ("body", *path), "msg": what, "ctx": {"error": what}}
    raise RequestValidationError([error])


def _text(content: object) -> str:
    """Return the text of a message, which may be a list of parts."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    return "\n".join(p["text"] for p in parts if isinstance(p, Mapping) and isinstance(p.get("text"), str))
