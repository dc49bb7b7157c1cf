"""The real files of the readers' tests, and checks that hold for every Document."""

from __future__ import annotations

from itertools import pairwise

from paths import REAL_FILES

from propcite.app.ingest.readers import document_from_bytes
from propcite.retrieval.text import Document

FOLDER = REAL_FILES


def real(name: str) -> Document:
    return checked(document_from_bytes(name, (FOLDER / name).read_bytes(), name))


def read_text(name: str, data: str | bytes) -> str:
    """Return what is read of a file."""
    return checked(document_from_bytes(name, data.encode() if isinstance(data, str) else data, "")).text


def checked(document: Document) -> Document:
    """Check that headings and places cover text, in order and without overlap; return the document."""
    for heading in document.headings:
        words = heading.span.of(document.text)
        assert words.strip() == words != ""
        assert "\n" not in words
    places = sorted(document.places, key=lambda place: place.span)
    for place in places:
        words = place.span.of(document.text)
        assert place.name
        assert words.strip() == words != ""
    assert all(place.span.end <= after.span.start for place, after in pairwise(places))
    return document


def headings(document: Document) -> list[tuple[int, str]]:
    return [(heading.level, heading.span.of(document.text)) for heading in document.headings]


def places(document: Document) -> dict[str, str]:
    return {place.name: place.span.of(document.text) for place in document.places}
