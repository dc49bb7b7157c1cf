"""Addresses of resources: `propcite://collections/NAME/documents/ID`, `…/answers/ID`, `…/reviews/ID`, `…/notes`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal
from urllib.parse import quote, unquote, urlsplit

from propcite.app.viewing.document_html import EMPTY
from propcite.app.viewing.viewer import parse_span
from propcite.retrieval.text import Span

COLLECTIONS = "propcite://collections"
DOCUMENT = f"{COLLECTIONS}/{{collection}}/documents/{{document_id}}"
CITED = f"{DOCUMENT}?cited={{cited}}"
PART = f"{DOCUMENT}?from={{from}}"
ANSWER = f"{COLLECTIONS}/{{collection}}/answers/{{answer_id}}"
REVIEW = f"{COLLECTIONS}/{{collection}}/reviews/{{review_id}}"
NOTES = f"{COLLECTIONS}/{{collection}}/notes"
MAX_LENGTH = 2000
Kind = Literal["collections", "documents", "answers", "reviews", "notes"]


@dataclass(frozen=True, slots=True)
class Address:
    """What an address names: the list of collections, a document, an answer, a draft, or a collection's notes.

    Of a document, `cited` are words, or `start` is where to begin; both count characters of the document.
    """

    kind: Kind
    collection: str = ""
    id: str = ""
    cited: Span = EMPTY
    start: int = 0


def document_address(collection: str, document_id: str, cited: Span | None = None, start: int = 0) -> str:
    """Return the address of a document, of words in it, or of what follows a character.

    >>> document_address("my papers", "d1", Span(4, 9))
    'propcite://collections/my%20papers/documents/d1?cited=4-9'
    """
    address = f"{COLLECTIONS}/{_quoted(collection)}/documents/{_quoted(document_id)}"
    if cited is not None:
        return f"{address}?cited={cited.start}-{cited.end}"
    return f"{address}?from={start}" if start else address


def answer_address(collection: str, answer_id: str) -> str:
    return f"{COLLECTIONS}/{_quoted(collection)}/answers/{_quoted(answer_id)}"


def review_address(collection: str, review_id: str) -> str:
    return f"{COLLECTIONS}/{_quoted(collection)}/reviews/{_quoted(review_id)}"


def notes_address(collection: str) -> str:
    return f"{COLLECTIONS}/{_quoted(collection)}/notes"


def parse_address(text: str) -> Address | None:
    """Return what an address names; None if it is none of ours.

    >>> parse_address("propcite://collections/my%20papers/documents/d1?cited=4-9")
    Address(kind='documents', collection='my papers', id='d1', cited=Span(start=4, end=9), start=0)
    >>> parse_address("propcite://collections/x/documents/"), parse_address("https://collections/x/answers/1")
    (None, None)
    """
    if len(text) > MAX_LENGTH:
        return None
    try:
        parts = urlsplit(text)
    except ValueError:
        return None
    if parts.scheme != "propcite" or parts.netloc != "collections":
        return None
    names = [unquote(name) for name in parts.path.strip("/").split("/")]
    if names == [""]:
        return Address("collections")
    if not all(names):
        return None
    match names:
        case [collection, "notes"]:
            return Address("notes", collection)
        case [collection, "answers", id_]:
            return Address("answers", collection, id_)
        case [collection, "reviews", id_]:
            return Address("reviews", collection, id_)
        case [collection, "documents", id_]:
            return _document(collection, id_, parts.query)
        case _:
            return None


def _document(collection: str, id_: str, query: str) -> Address | None:
    name, _, value = query.partition("=")
    if not query:
        return Address("documents", collection, id_)
    if name == "cited" and (cited := parse_span(value)) != EMPTY:
        return Address("documents", collection, id_, cited)
    if name == "from" and value.isdecimal() and len(value) <= 12:
        return Address("documents", collection, id_, start=int(value))
    return None


def _quoted(name: str) -> str:
    return quote(name, safe="", errors="replace")
