"""The documents and search results of a request to the Messages API that ask to be cited."""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from propcite.app.server.errors import RequestError
from propcite.app.server.proxy.proxy_request import parts_of
from propcite.app.server.proxy.sent_pdfs import ReadPdf
from propcite.app.server.schemas import PassageInput
from propcite.app.storable_text import storable
from propcite.retrieval.text import Passage


class ResultPlace(NamedTuple):
    """A block of a search result: the number of the result, of the block, and the result's source."""

    result: int
    block: int
    source: str


class BlockPlace(NamedTuple):
    """A block of a document that is given in blocks: the number of the document, and of the block."""

    document: int
    block: int


class Pdf(NamedTuple):
    """A PDF inside the request: the number of its document, its title and its base64."""

    document: int
    title: str
    base64: object


@dataclass
class GivenSources:
    """What a request gives to be cited, and where each passage of it stands; `num_…` count all blocks of a kind.

    `pages` has the documents of passages with pages, `texts` the text by document of the PDFs that were read.
    """

    passages: list[PassageInput | Passage] = field(default_factory=list)
    documents: dict[str, int] = field(default_factory=dict)
    blocks: dict[str, BlockPlace] = field(default_factory=dict)
    pdfs: list[Pdf] = field(default_factory=list)
    pages: dict[str, int] = field(default_factory=dict)
    texts: dict[int, str] = field(default_factory=dict)
    results: dict[str, ResultPlace] = field(default_factory=dict)
    num_documents: int = 0
    num_results: int = 0
    has_unread: bool = False  # a document that only the model server can read


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


async def read_pdfs(given: GivenSources, read: ReadPdf) -> None:
    """Read the PDFs, and add their passages; refuse what is no base64."""
    for index, title, data in given.pdfs:
        name = f"document-{index + 1}.pdf"
        passages = await read(f"document-{index}", name, title, _decoded(name, data))
        given.passages += passages
        given.pages |= {passage.id: index for passage in passages}
        given.texts[index] = "".join(passage.text for passage in passages)


def with_texts(body: Mapping[str, Any], given: GivenSources) -> Mapping[str, Any]:
    """Return the body with the text of each PDF that was read in its place."""
    if not given.texts:
        return body
    messages = deepcopy(body["messages"])
    documents = (block for block in citable_blocks({"messages": messages}) if block["type"] == "document")
    for index, block in enumerate(documents):
        if index in given.texts:
            block["source"] = {"type": "text", "media_type": "text/plain", "data": given.texts[index]}
    return {**body, "messages": messages}


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


def _add(given: GivenSources, block: Mapping[str, Any], index: int) -> None:
    if block["type"] == "document":
        _add_document(given, block, index)
        return
    for number, part in enumerate(parts_of(block)):
        text = part.get("text") if isinstance(part, Mapping) else None
        if isinstance(text, str) and text.strip():
            id_, source = f"search-result-{index}-{number}", _name(block, "source")
            given.results[id_] = ResultPlace(index, number, source)
            title = _name(block, "title")
            given.passages.append(PassageInput(id=id_, text=storable(text), title=title, document_id=source))


def _add_document(given: GivenSources, block: Mapping[str, Any], index: int) -> None:
    source, title = block.get("source"), _name(block, "title")
    match source:
        case {"type": "text", "data": str(text)}:
            if text.strip():
                id_ = f"document-{index}"
                given.documents[id_] = index
                given.passages.append(PassageInput(id=id_, text=storable(text), title=title))
        case {"type": "content", "content": str() | list() as content}:
            blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
            for number, part in enumerate(blocks):
                words = part.get("text") if isinstance(part, Mapping) else None
                if isinstance(words, str) and words.strip():
                    id_ = f"document-{index}-{number}"
                    given.blocks[id_] = BlockPlace(index, number)
                    given.passages.append(PassageInput(id=id_, text=storable(words), title=title))
        case {"type": "base64", "media_type": "application/pdf", **rest}:
            given.pdfs.append(Pdf(index, title, rest.get("data")))
        case _:
            given.has_unread = True


def _decoded(name: str, data: object) -> bytes:
    try:
        if isinstance(data, str):
            return b64decode("".join(data.split()), validate=True)
    except ValueError:
        pass
    raise RequestError(422, f"{name} is no base64: send the file's bytes in standard base64 as source.data")


def _name(block: Mapping[str, Any], field_name: str) -> str:
    value = block.get(field_name)
    return storable(value) if isinstance(value, str) else ""
