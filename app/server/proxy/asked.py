"""A chat completion as it was asked for: the body is the model server's, but for one field that is ours."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NoReturn

from fastapi.exceptions import RequestValidationError
from pydantic import Field, ValidationError

from propcite.app.server.shapes import GivenPassage, Narrowed, Text, Words, cleaned

OURS = "propcite"
MOST_ASKED = 1000  # characters of a question that are looked for


class Extension(Narrowed):
    """The field `propcite` of a request; the model's server never sees it."""

    retrieve: bool | None = Field(
        None,
        description="hand the model passages of the collection; none: where one is named (PROPCITE_PROXY_RETRIEVE)",
    )
    passages: list[Words | GivenPassage] = Field(
        [], max_length=1000, description="what the answer is made from: cited first, the collection after"
    )
    strip_markers: bool = Field(False, description="take out the markers that the model types itself, as [1]")
    cite: bool = Field(True, description="false: only passed on")
    question: Text = Field("", description="what is asked, for retrieval; none: the last message of the user")


@dataclass(frozen=True)
class Asked:
    """A request: its bytes as they came, its body without our field, and that field."""

    raw: bytes
    body: Mapping[str, Any]
    extension: Extension
    collection: str | None = None
    has_extension: bool = False

    @property
    def streams(self) -> bool:
        return self.body.get("stream") is True

    @property
    def num(self) -> int:
        """How many answers are asked for."""
        n = self.body.get("n")
        return n if isinstance(n, int) else 1

    @property
    def wants_json(self) -> bool:
        form = self.body.get("response_format")
        return isinstance(form, Mapping) and form.get("type") in ("json_object", "json_schema")

    @property
    def cites(self) -> bool:
        """JSON that a program asked for is no prose."""
        return self.extension.cite and not self.wants_json

    @cached_property
    def question(self) -> str:
        """What is asked; behind a text that somebody pasted, the end of it."""
        said = (_text(m.get("content")) for m in reversed(self.body["messages"]) if m.get("role") == "user")
        question = self.extension.question.strip() or cleaned(next(said, "")).strip()
        return question[-MOST_ASKED:]

    def sent(self, message: Mapping[str, str] | None) -> bytes:
        """The body for the model's server: the client's own bytes where nothing of it is ours."""
        if message is None and not self.has_extension:
            return self.raw
        messages: Sequence[Mapping[str, Any]] = self.body["messages"]
        if message is not None:
            first = next((n for n, m in enumerate(messages) if m.get("role") not in ("system", "developer")), 0)
            messages = [*messages[:first], message, *messages[first:]]
        return json.dumps({**self.body, "messages": messages}).encode()


def read_asked(raw: bytes, collection: str | None) -> Asked:
    """The request in these bytes; `collection` is the one that the address names."""
    body = _body(raw)
    messages = body.get("messages")
    if not isinstance(messages, list) or not messages or not all(isinstance(m, Mapping) for m in messages):
        _refuse("missing" if messages is None else "value_error", ("messages",), "wanted a list of messages")
    has_extension, given = OURS in body, body.pop(OURS, None)
    try:
        extension = Extension.model_validate({} if given is None else given)
    except ValidationError as error:
        raise RequestValidationError([{**e, "loc": ("body", OURS, *e["loc"])} for e in error.errors()]) from error
    if collection and extension.collection not in (None, collection):
        _refuse("value_error", (OURS, "collection"), f"the address names another collection, {collection!r}")
    return Asked(raw, body, extension, collection or extension.collection, has_extension)


def _body(raw: bytes) -> dict[str, Any]:
    try:
        body = json.loads(raw.decode(), parse_constant=_no_number)
    except RecursionError:
        _refuse("json_invalid", (), "it is nested too deep")
    except ValueError as error:  # UnicodeDecodeError is one
        _refuse("json_invalid", (), str(error)[:200])
    if not isinstance(body, dict):
        _refuse("dict_type", (), "wanted an object")
    return body


def _no_number(name: str) -> NoReturn:
    raise ValueError(f"{name} is no number")


def _refuse(kind: str, place: tuple[str, ...], what: str) -> NoReturn:
    raise RequestValidationError([{"type": kind, "loc": ("body", *place), "msg": what, "ctx": {"error": what}}])


def _text(content: object) -> str:
    """The words of a message, which may be a list of parts."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    return "\n".join(p["text"] for p in parts if isinstance(p, Mapping) and isinstance(p.get("text"), str))
