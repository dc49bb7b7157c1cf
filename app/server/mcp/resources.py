"""Documents, kept answers, drafts and notes as resources: listed page by page, and read by their address."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from mcp_types import (
    Annotations,
    Resource,
    ResourceTemplate,
    TextResourceContents,
)

from propcite.app.errors import NotFoundError
from propcite.app.library.store import CollectionInfo, DocumentQuery, SortKey
from propcite.app.notes.notebook import notebook_answer
from propcite.app.reviewing.exports import ReviewFormat, export_review
from propcite.app.server.access import Access
from propcite.app.server.errors import RequestError
from propcite.app.server.mcp.addresses import (
    ANSWER,
    CITED,
    COLLECTIONS,
    DOCUMENT,
    NOTES,
    PART,
    REVIEW,
    Address,
    answer_address,
    document_address,
    notes_address,
    parse_address,
    review_address,
)
from propcite.app.server.mcp.running import Call
from propcite.app.server.routes.reviews import find_draft
from propcite.app.viewing.document_html import EMPTY
from propcite.attribution.formats import FORMATS
from propcite.attribution.formats.json import to_json
from propcite.attribution.formats.links import source_link
from propcite.retrieval.text import Passage

PAGE = 100  # resources in a page of the list
MAX_JSON = 500_000  # characters of an answer as JSON; of a longer one there is the text alone
PART_CHARS = 50_000  # of a document that are read at once
CONTEXT_CHARS = 1500  # before and after cited words
TEXT, MARKDOWN, JSON = "text/plain", "text/markdown", "application/json"

TEMPLATES = (
    ResourceTemplate(
        name="document",
        title="Document",
        uri_template=DOCUMENT,
        description="The text of a document. A long one ends with the address of what follows.",
        mime_type=TEXT,
    ),
    ResourceTemplate(
        name="document_part",
        title="Document, from a character on",
        uri_template=PART,
        description="The text of a document from one of its characters on, counted from 0.",
        mime_type=TEXT,
    ),
    ResourceTemplate(
        name="cited_words",
        title="Cited words in their document",
        uri_template=CITED,
        description="Words of a document, as START-END in its characters, with the text before and after them. The"
        " results of tools have these addresses.",
        mime_type=JSON,
    ),
    ResourceTemplate(
        name="answer",
        title="Kept answer",
        uri_template=ANSWER,
        description="A kept answer: as text with footnotes that quote the cited words, and whole as JSON.",
    ),
    ResourceTemplate(
        name="review",
        title="Draft under review",
        uri_template=REVIEW,
        description="A draft with a footnote at each fact: verdict, quote, source and decision.",
        mime_type=MARKDOWN,
    ),
    ResourceTemplate(
        name="notes",
        title="Notes of a collection",
        uri_template=NOTES,
        description="What people pinned and wrote, as one text with all its references.",
        mime_type=MARKDOWN,
    ),
)


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a page of the list begins: a collection and a kind of its resources by number, and how many to skip."""

    collection: int = 0
    kind: int = 0
    first: int = 0

    @property
    def cursor(self) -> str:
        return f"{self.collection}.{self.kind}.{self.first}"

    @classmethod
    def of(cls, cursor: str | None) -> _Place:
        if cursor is None:
            return cls()
        parts = cursor.split(".")
        if len(parts) != 3 or not all(part.isdecimal() and len(part) < 10 for part in parts):
            raise RequestError(400, "the cursor is none of this list's: list the resources from the start")
        return cls(int(parts[0]), min(int(parts[1]), len(LISTED) - 1), int(parts[2]))


def list_resources(access: Access, cursor: str | None) -> tuple[list[Resource], str | None]:
    """Return a page of the resources that the caller may read, and the cursor of the next page; None at the end."""
    place, resources = _Place.of(cursor), []
    if cursor is None:
        resources.append(
            Resource(
                name="collections",
                title="Collections",
                uri=COLLECTIONS,
                description="The collections that can be searched, with the numbers of their documents.",
                mime_type=JSON,
            )
        )
    infos = sorted(access.collections(), key=lambda info: info.name)
    while place.collection < len(infos) and len(resources) < PAGE:
        info, left = infos[place.collection], PAGE - len(resources)
        page, total = LISTED[place.kind](access, info, place, left)
        resources += page
        first = place.first + len(page)
        if page and first < total:
            place = _Place(place.collection, place.kind, first)
        else:
            following = place.kind + 1
            place = _Place(place.collection + following // len(LISTED), following % len(LISTED))
    return resources, place.cursor if place.collection < len(infos) else None


Lister = Callable[[Access, CollectionInfo, _Place, int], tuple[list[Resource], int]]


def _documents(access: Access, info: CollectionInfo, place: _Place, limit: int) -> tuple[list[Resource], int]:
    query = DocumentQuery(order=SortKey.SOURCE, first=place.first, limit=limit)
    found = access.service.parts.library.find_documents(info, query)
    return [
        Resource(
            name=document.title or document.source or document.id,
            uri=document_address(info.name, document.id),
            description=f"Document in {info.name!r}: {document.source}",
            mime_type=TEXT,
            annotations=Annotations(last_modified=document.added_at.isoformat()),
        )
        for document in found.items
    ], found.total


def _answers(access: Access, info: CollectionInfo, place: _Place, limit: int) -> tuple[list[Resource], int]:
    found = access.service.parts.library.find_answers(info, first=place.first, limit=limit)
    return [
        Resource(
            name=answer.question or f"Cited text {answer.id}",
            uri=answer_address(info.name, answer.id),
            description=f"Kept answer in {info.name!r}: {answer.num_cited} of {answer.num_facts} facts have support",
            mime_type=MARKDOWN,
            annotations=Annotations(last_modified=answer.asked_at.isoformat()),
        )
        for answer in found.items
    ], found.total


def _drafts(access: Access, info: CollectionInfo, place: _Place, limit: int) -> tuple[list[Resource], int]:
    every = access.service.parts.reviews.all([info])
    return [
        Resource(
            name=draft.name,
            uri=review_address(info.name, draft.id),
            description=f"Draft under review in {info.name!r}: {draft.num_decided} of {draft.num_facts} facts decided",
            mime_type=MARKDOWN,
            annotations=Annotations(last_modified=draft.begun_at.isoformat()),
        )
        for draft in every[place.first : place.first + limit]
    ], len(every)


def _notes(access: Access, info: CollectionInfo, place: _Place, _: int) -> tuple[list[Resource], int]:
    """Return the collection's one notebook; nothing where it has no notes."""
    if place.first or not (num_notes := len(access.service.parts.notes.all(info))):
        return [], 0
    about = f"Notes on {info.name!r}: {num_notes}"
    return [Resource(name="Notes", uri=notes_address(info.name), description=about, mime_type=MARKDOWN)], 1


LISTED: tuple[Lister, ...] = (_documents, _answers, _drafts, _notes)


def read_resource(call: Call, uri: str) -> list[TextResourceContents]:
    """Return the contents of an address; NotFoundError where there is nothing that the caller may read."""
    address = parse_address(uri)
    if address is None:
        raise NotFoundError(f"there is no resource {uri[:100]!r}: addresses begin with {COLLECTIONS}")
    if address.kind == "collections":
        return [TextResourceContents(uri=uri, mime_type=JSON, text=_collections(call.access))]
    call.collection(address.collection)
    if address.kind == "answers":
        return list(_answer(call, address, uri))
    if address.kind == "reviews":
        return [_draft(call, address, uri)]
    if address.kind == "notes":
        return [_notebook(call, address, uri)]
    return [_document(call, address, uri)]


def _collections(access: Access) -> str:
    listed = [
        {"name": info.name, "num_documents": info.num_documents, "num_passages": info.num_passages}
        for info in access.collections()
    ]
    return json.dumps({"default": access.service.settings.collection, "collections": listed}, ensure_ascii=False)


def _answer(call: Call, address: Address, uri: str) -> Iterator[TextResourceContents]:
    answer, library = call.kept_answer(address.id), call.service.parts.library
    if answer.collection != address.collection:
        raise NotFoundError(f"no kept answer {address.id[:40]!r} in {address.collection[:100]!r}")
    documents = library.cited_documents(answer)
    text = FORMATS["markdown"].write(answer, documents=documents).decode()
    yield TextResourceContents(uri=uri, mime_type=MARKDOWN, text=text)
    if len(whole := to_json(answer)) <= MAX_JSON:
        yield TextResourceContents(uri=uri, mime_type=JSON, text=whole)


def _draft(call: Call, address: Address, uri: str) -> TextResourceContents:
    info = find_draft(call.access, address.id, "list_reviews")
    if info.collection != address.collection:
        raise NotFoundError(f"no draft {address.id[:40]!r} in {address.collection[:100]!r}")
    text = export_review(call.service.parts, info, ReviewFormat.MARKDOWN).data.decode()
    return TextResourceContents(uri=uri, mime_type=MARKDOWN, text=text)


def _notebook(call: Call, address: Address, uri: str) -> TextResourceContents:
    parts = call.service.parts
    found = parts.notes.all(parts.library.collection(address.collection))
    if not found:
        raise NotFoundError(f"{address.collection!r} has no notes: add_note adds one")
    whole = notebook_answer(address.collection, found)
    text = FORMATS["markdown"].write(whole, documents=parts.library.cited_documents(whole)).decode()
    return TextResourceContents(uri=uri, mime_type=MARKDOWN, text=text)


def _whole(document_id: str, text: str) -> Passage:
    """Return a document's text as its one passage."""
    return Passage(f"{document_id}:0", text, document_id=document_id)


def _document(call: Call, address: Address, uri: str) -> TextResourceContents:
    library = call.service.parts.library
    info = library.collection(address.collection)
    known = library.documents(info, [address.id])
    if not known:
        raise NotFoundError(f"no document {address.id[:40]!r} in {info.name!r}: it may have been replaced since")
    document, text = known[0], library.document(address.id).text
    if address.cited != EMPTY:
        cited = address.cited
        if cited.end > len(text):
            raise NotFoundError(f"the document has {len(text)} characters: {uri[:200]!r} names others")
        shown = {
            "title": document.title,
            "source": document.source,
            "before": text[max(0, cited.start - CONTEXT_CHARS) : cited.start],
            "words": cited.of(text),
            "after": text[cited.end : cited.end + CONTEXT_CHARS],
            "link": source_link(document.source, _whole(address.id, text), cited),
        }
        return TextResourceContents(uri=uri, mime_type=JSON, text=json.dumps(shown, ensure_ascii=False))
    end = address.start + PART_CHARS
    rest = document_address(info.name, document.id, start=end) if end < len(text) else ""
    part = text[address.start : end] + (f"\n\n[It goes on at {rest}]" if rest else "")
    return TextResourceContents(uri=uri, mime_type=TEXT, text=part)
