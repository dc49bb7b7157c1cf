"""Passages as rows of a table and back; places are kept as short lists of numbers."""

from __future__ import annotations

from collections.abc import Iterator

from propcite.app.library.store.tables import DocumentRow, PassageRow
from propcite.retrieval.text import Box, Document, Page, Passage, Place, Sentence, Span

PARTS = 10_000  # of a page's width and height: a tenth of a point


def passage_row(passage: Passage) -> PassageRow:
    return PassageRow(
        id=passage.id,
        title=passage.title,
        start=passage.start,
        text=passage.text,
        sentences=[[s.span.start, s.span.end, int(s.is_heading)] for s in passage.sentences],
        pages=[[p.number, p.span.start, p.span.end] for p in passage.pages],
        boxes=[_box_row(box) for box in passage.boxes],
        places=[[p.name, p.span.start, p.span.end] for p in passage.places],
    )


def _box_row(box: Box) -> list[int]:
    edges = (box.left, box.top, box.right, box.bottom)
    return [box.page, box.span.start, box.span.end, *(round(PARTS * edge) for edge in edges)]


def passage_of(row: PassageRow) -> Passage:
    return Passage(
        id=row.id,
        text=row.text,
        title=row.title,
        document_id=row.document_id,
        start=row.start,
        sentences=tuple(Sentence(Span(start, end), bool(heading)) for start, end, heading in row.sentences),
        pages=tuple(Page(number, Span(start, end)) for number, start, end in row.pages),
        boxes=tuple(_box(told) for told in row.boxes),
        places=tuple(Place(name, Span(start, end)) for name, start, end in row.places),
    )


def _box(told: list[int]) -> Box:
    page, start, end, *edges = told
    left, top, right, bottom = (edge / PARTS for edge in edges)
    return Box(page, Span(start, end), left, top, right, bottom)


def document_of(row: DocumentRow) -> Document:
    """With its text joined from its passages."""
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
    """Those of its passages; one that a passage's end cuts is whole again."""
    told = ((name, Span(start + p.start, end + p.start)) for p in row.passages for name, start, end in p.places)
    last: Place | None = None
    for name, span in told:
        if last and last.name == name and last.span.end == span.start:
            last = Place(name, Span(last.span.start, span.end))
            continue
        if last:
            yield last
        last = Place(name, span)
    if last:
        yield last
