"""A request to a model server: the body is the model server's, except for the extension field `propcite`."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Literal, NoReturn, Self

from fastapi.exceptions import RequestValidationError
from pydantic import Field, ValidationError

from propcite.app.server.proxy.client import Client, SourceForm, client_of
from propcite.app.server.proxy.sent_pdfs import ReadPdf
from propcite.app.server.schemas import DocumentSelection, NonBlankText, PassageInput, Text
from propcite.app.storable_text import storable
from propcite.attribution.formats.offsets import Unit
from propcite.retrieval.text import Passage

EXTENSION = "propcite"
MAX_QUESTION_CHARS = 1000  # of a question that are searched for
CitationType = Literal[
    "url_citation",
    "file_citation",
    "char_location",
    "page_location",
    "search_result_location",
    "web_search_result_location",
]


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
    cite: bool = Field(True, description="false: pass the answer on without citations")
    question: Text = Field("", description="the question for retrieval; default: the last message of the user")
    offsets: Unit | None = Field(
        None, description="the unit that offsets count; default: PropCite-Offsets, else utf-16 for JavaScript SDKs"
    )
    sources: SourceForm | None = Field(
        None, description="text: markers in the text and a list behind it; default: PropCite-Sources, else the setting"
    )
    citation_type: CitationType | None = Field(
        None, description="file_citation on /v1/responses; a location on /v1/messages; default: what the client reads"
    )


@dataclass(frozen=True)
class ProxyRequest(ABC):
    """A request: its bytes as received, its body without the extension, and the extension."""

    raw: bytes
    body: Mapping[str, Any]
    extension: Extension
    client: Client
    collection: str | None = None
    is_changed: bool = False  # the body is not what `raw` says

    path: ClassVar[str]  # at the model server
    citation_types: ClassVar[frozenset[str]]  # that a request may name

    @property
    def is_stream(self) -> bool:
        return self.body.get("stream") is True

    @property
    def num_texts(self) -> int:
        """Return how many answers are requested at once."""
        return 1

    @property
    def is_cited(self) -> bool:
        """Return whether the answer is cited; JSON for a program is not prose."""
        return self.extension.cite and not self.is_json

    @cached_property
    def question(self) -> str:
        """Return the question, cut to its end, which follows any text that the user pasted."""
        question = self.extension.question.strip() or storable(self.last_words()).strip()
        return question[-MAX_QUESTION_CHARS:]

    @cached_property
    def passages(self) -> list[str | PassageInput | Passage]:
        """Return what the answer is written from, as far as the request says; documents must have been read before."""
        return [*self.extension.passages, *self.own_passages()]

    def upstream_body(self, instruction: str) -> bytes:
        """Return the body for the model server with an instruction added; without changes, the client's own bytes."""
        if not instruction and not self.is_changed:
            return self.raw
        return json.dumps(self.instructed(instruction) if instruction else self.body).encode()

    def chat_body(self, instruction: str) -> dict[str, Any]:
        """Return the request as one for Chat Completions; refuse what that API cannot do."""
        return dict(self.as_chat(self.instructed(instruction) if instruction else self.body))

    @property
    @abstractmethod
    def is_json(self) -> bool: ...

    @abstractmethod
    def last_words(self) -> str:
        """Return the text of the user's last message; empty if it has none."""

    async def read_documents(self, read: ReadPdf) -> None:  # noqa: B027 - only one API has such documents
        """Read the documents of the request that it asks to cite, and that are no text."""

    def own_passages(self) -> Sequence[PassageInput | Passage]:
        """Return the documents that the request asks to cite."""
        return ()

    @abstractmethod
    def instructed(self, instruction: str) -> Mapping[str, Any]:
        """Return the body with an instruction after the client's own."""

    @abstractmethod
    def as_chat(self, body: Mapping[str, Any]) -> Mapping[str, Any]: ...

    @abstractmethod
    def from_chat(self, completion: Mapping[str, Any]) -> dict[str, Any]:
        """Return a chat completion as an answer of this API."""

    @classmethod
    @abstractmethod
    def error_events(cls, status: int, detail: str) -> bytes:
        """Return what ends a stream with an error."""

    @classmethod
    @abstractmethod
    def check(cls, body: Mapping[str, Any]) -> None:
        """Refuse a body that this server cannot read."""

    @classmethod
    def without_citations(cls, body: dict[str, Any]) -> bool:
        """Remove what this server added to earlier answers, in place; return whether there was anything."""
        return strip_answers(body.get("messages"))

    @classmethod
    def parse(
        cls, raw: bytes, collection: str | None, headers: Mapping[str, str], sources: SourceForm = "annotations"
    ) -> Self:
        """Parse a request; `collection` is the one that the URL names, `sources` the setting."""
        body = json_object(raw)
        cls.check(body)
        has_extension, fields = EXTENSION in body, body.pop(EXTENSION, None)
        try:
            extension = Extension.model_validate({} if fields is None else fields)
        except ValidationError as error:
            errors = [{**e, "loc": ("body", EXTENSION, *e["loc"])} for e in error.errors()]
            raise RequestValidationError(errors) from error
        if collection and extension.collection not in (None, collection):
            refuse("value_error", (EXTENSION, "collection"), f"the URL names another collection, {collection!r}")
        if extension.citation_type not in (None, *cls.citation_types):
            known = " or ".join(sorted(cls.citation_types))
            refuse("value_error", (EXTENSION, "citation_type"), f"this route has {known}")
        client = client_of(headers, extension.offsets, extension.sources, sources)
        is_changed = cls.without_citations(body) or has_extension
        return cls(raw, body, extension, client, collection or extension.collection, is_changed)


def strip_answers(messages: Any) -> bool:
    """Remove `propcite` and the annotations beside it from messages and their parts, in place."""
    is_changed = False
    for message in messages if isinstance(messages, list) else ():
        for part in (message, *parts_of(message)):
            if isinstance(part, dict) and EXTENSION in part:
                is_changed = True
                del part[EXTENSION]
                if part.pop("annotations", None) is not None and part.get("type") == "output_text":
                    part["annotations"] = []  # that API requires the field
    return is_changed


def parts_of(message: Any) -> list[Any]:
    """Return the parts of a message's content; empty for a text and for anything else."""
    content = message.get("content") if isinstance(message, Mapping) else None
    return content if isinstance(content, list) else []


def text_of(content: object) -> str:
    """Return the text of a message, which may be a list of parts."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    return "\n".join(p["text"] for p in parts if isinstance(p, Mapping) and isinstance(p.get("text"), str))


def check_objects(body: Mapping[str, Any], field: str) -> None:
    """Refuse a body whose field is not a list of objects with at least one."""
    value = body.get(field)
    if not isinstance(value, list) or not value or not all(isinstance(m, Mapping) for m in value):
        refuse("missing" if value is None else "value_error", (field,), f"expected a list of {field}")


def json_object(raw: bytes) -> dict[str, Any]:
    try:
        body = json.loads(raw.decode(), parse_constant=_reject_constant)
    except RecursionError:
        refuse("json_invalid", (), "it is nested too deep")
    except ValueError as error:  # UnicodeDecodeError is one
        refuse("json_invalid", (), str(error)[:200])
    if not isinstance(body, dict):
        refuse("dict_type", (), "expected an object")
    return body


def _reject_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a JSON number")


def refuse(error_type: str, path: tuple[str | int, ...], what: str) -> NoReturn:
    error = {"type": error_type, "loc": ("body", *path), "msg": what, "ctx": {"error": what}}
    raise RequestValidationError([error])
