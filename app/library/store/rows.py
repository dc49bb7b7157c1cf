"""Convert passages to table rows and back; spans and boxes are stored as short lists of numbers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from propcite.app.library.store.tables import DocumentRow, PassageRow
from propcite.retrieval.text import Box, Document, Heading, Page, Passage, Place, Sentence, Span

BOX_UNITS = 10_000  # per page width and height: a unit is less than a tenth of a point


def passage_values(passage: Passage) -> dict[str, Any]:
    """Return the columns of a passage, without its document."""
    return {
        "id": passage.id,
        "title": passage.title,
        "start": passage.start,
        "text": passage.text,
        "sentences": [[s.span.start, s.span.end, int(s.is_heading)] for s in passage.sentences],
        "pages": [[p.number, p.span.start, p.span.end] for p in passage.pages],
        "boxes": [_box_row(box) for box in passage.boxes],
        "places": [[p.name, p.span.start, p.span.end] for p in passage.places],
    }


def _box_row(box: Box) -> list[int]:
    edges = (box.left, box.top, box.right, box.bottom)
    return [box.page, box.span.start, box.span.end, *(round(BOX_UNITS * edge) for edge in edges)]


def passage_of(row: PassageRow) -> Passage:
    return Passage(
        id=row.id,
        text=row.text,
        title=row.title,
        document_id=row.document_id,
        start=row.start,
        sentences=tuple(Sentence(Span(start, end), bool(heading)) for start, end, heading in row.sentences),
        pages=tuple(Page(number, Span(start, end)) for number, start, end in row.pages),
        boxes=tuple(_box(numbers) for numbers in row.boxes),
        places=tuple(Place(name, Span(start, end)) for name, start, end in row.places),
    )


def _box(numbers: list[int]) -> Box:
    page, start, end, *edges = numbers
    left, top, right, bottom = (edge / BOX_UNITS for edge in edges)
    return Box(page, Span(start, end), left, top, right, bottom)


def heading_values(headings: Iterable[Heading]) -> list[list[int]]:
    """Return each heading's level and span, and where the text under it ends if that is known."""
    return [
        [h.level, h.span.start, h.span.end] if h.until is None else [h.level, h.span.start, h.span.end, h.until]
        for h in headings
    ]


def headings_of(row: DocumentRow) -> list[Heading]:
    """Return the headings of a document in order; empty if it has none."""
    return [Heading(Span(start, end), level, *until) for level, start, end, *until in row.headings]


def document_of(row: DocumentRow) -> Document:
    """Return the document, its text joined from its passages."""
    return Document(
        id=row.id,
        text="".join(p.text for p in row.passages),
        title=row.title,
        source=row.source,
        pages=tuple(Page(n, Span(start, end)) for n, start, end in row.pages),
        places=tuple(_places(row)),
        metadata=row.details,
    )


def _places(row: DocumentRow) -> Iterator[Place]:
    """Return the places of all passages, joining a place that a passage boundary splits."""
    spans = ((name, Span(start + p.start, end + p.start)) for p in row.passages for name, start, end in p.places)
    last: Place | None = None
    for name, span in spans:
        if last and last.name == name and last.span.end == span.start:
            last = Place(name, Span(last.span.start, span.end))
            continue
        if last:
            yield last
        last = Place(name, span)
    if last:
        yield last
