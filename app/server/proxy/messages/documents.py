"""The documents and search results of a request to the Messages API that ask to be cited."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from propcite.app.server.proxy.proxy_request import parts_of
from propcite.app.server.schemas import PassageInput
from propcite.app.storable_text import storable


class ResultPlace(NamedTuple):
    """A block of a search result: the number of the result, of the block, and the result's source."""

    result: int
    block: int
    source: str


@dataclass
class GivenSources:
    """What a request gives to be cited, and where each passage of it stands; `num_…` count all blocks of a kind."""

    passages: list[PassageInput] = field(default_factory=list)
    documents: dict[str, int] = field(default_factory=dict)
    results: dict[str, ResultPlace] = field(default_factory=dict)
    num_documents: int = 0
    num_results: int = 0
    has_unread: bool = False  # a document whose text only the model server can read


def given_sources(body: Mapping[str, Any]) -> GivenSources:
    """Return the documents and search results for which a request enables citations."""
    given = GivenSources()
    for block in citable_blocks(body):
        index = given.num_documents if block["type"] == "document" else given.num_results
        if block["type"] == "document":
            given.num_documents += 1
        else:
            given.num_results += 1
        if enables_citations(block):
            _add(given, block, index)
    return given


def citable_blocks(body: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the documents and search results of all messages, those in the results of tools included, in order."""
    messages = body.get("messages")
    for message in messages if isinstance(messages, list) else ():
        for part in parts_of(message):
            for block in (part, *parts_of(part)):
                if isinstance(block, dict) and block.get("type") in ("document", "search_result"):
                    yield block


def enables_citations(block: Mapping[str, Any]) -> bool:
    citations = block.get("citations")
    return isinstance(citations, Mapping) and citations.get("enabled") is True


def text_in(document: Mapping[str, Any]) -> str | None:
    """Return the text of a document block; None if only the model server can read it."""
    source = document.get("source")
    if isinstance(source, Mapping) and source.get("type") == "text" and isinstance(source.get("data"), str):
        return str(source["data"])
    return None


def _add(given: GivenSources, block: Mapping[str, Any], index: int) -> None:
    if block["type"] == "document":
        text = text_in(block)
        if text is None:
            given.has_unread = True
        elif text.strip():
            id_ = f"document-{index}"
            given.documents[id_] = index
            given.passages.append(PassageInput(id=id_, text=storable(text), title=_name(block, "title")))
        return
    for number, part in enumerate(parts_of(block)):
        text = part.get("text") if isinstance(part, Mapping) else None
        if isinstance(text, str) and text.strip():
            id_, source = f"search-result-{index}-{number}", _name(block, "source")
            given.results[id_] = ResultPlace(index, number, source)
            title = _name(block, "title")
            given.passages.append(PassageInput(id=id_, text=storable(text), title=title, document_id=source))


def _name(block: Mapping[str, Any], field_name: str) -> str:
    value = block.get(field_name)
    return storable(value) if isinstance(value, str) else ""
