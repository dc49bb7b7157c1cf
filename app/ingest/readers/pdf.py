"""PDF to text with its pages: pdfium reads the letters, their places say what a line and a heading is."""

from __future__ import annotations

import re
from collections.abc import Iterator
from threading import Lock
from typing import Any

from propcite.app.errors import ReadError
from propcite.app.ingest.readers.draft import Draft, one_line
from propcite.app.ingest.readers.pdf_letters import page_lines
from propcite.app.ingest.readers.pdf_lines import Line, with_rows, without_furniture
from propcite.app.ingest.readers.pdf_paragraphs import Paragraph, paragraphs
from propcite.retrieval.text import Box, Document, Heading, Page, Span

# pdfium is not thread-safe: whoever else calls it takes this lock too.
PDFIUM_LOCK = Lock()

_MOST_PAGES = 10_000  # about three minutes; what stands behind them is told, not read
_PASSWORD_ERROR = 4  # FPDF_ERR_PASSWORD
_FILLED_IN = re.compile(
    r"\W*(?:untitled|unspecified|anonymous|none)\W*|\S+\.(?:docx?|pptx?|xlsx?|od[tp]|rtf|tex|dvi|indd|qxd|pdf|txt)",
    re.IGNORECASE,
)


def read_pdf(name: str, data: bytes) -> Document:
    # pdfium mends some files whose end is missing, without the pages that were in it.
    if b"%%EOF" not in data.rstrip(b"\0\r\n\t ")[-4096:]:
        raise _damaged(name)
    with PDFIUM_LOCK:
        lines, fields, num_pages = _extract(name, data)
    if not lines:
        raise ReadError(f"{name} has no text (scanned pages?): run OCR on it first")
    draft = Draft()
    pages, boxes = _write(draft, paragraphs(with_rows(without_furniture(lines) or lines)))
    metadata = {"kind": "pdf", "pages": str(num_pages), "author": fields.get("Author", "")}
    metadata["pages_left_out"] = str(num_pages - _MOST_PAGES) if num_pages > _MOST_PAGES else ""
    without_text = min(num_pages, _MOST_PAGES) - len({line.page for line in lines})
    metadata["pages_without_text"] = str(without_text) if without_text else ""
    return draft.document(name, fields.get("Title", ""), metadata, pages, boxes)


def _damaged(name: str) -> ReadError:
    return ReadError(f"{name} is damaged or no PDF: get it again, or print it to a new PDF")


def _extract(name: str, data: bytes) -> tuple[list[Line], dict[str, str], int]:
    import pypdfium2

    try:
        pdf = pypdfium2.PdfDocument(data)
    except pypdfium2.PdfiumError as error:
        if error.err_code == _PASSWORD_ERROR:
            raise ReadError(f"{name} is encrypted: save it without a password and add it again") from error
        raise _damaged(name) from error
    try:
        fields = {key: _stated(value) for key, value in pdf.get_metadata_dict().items()}
        return list(_lines(pdf)), fields, len(pdf)
    except pypdfium2.PdfiumError as error:
        raise _damaged(name) from error
    finally:
        pdf.close()


def _stated(value: str) -> str:
    """A field of the PDF, empty where a program only filled it in: `untitled`, `(anonymous)`, `thesis.dvi`."""
    value = re.sub(r"^Microsoft (?:Word|PowerPoint|Excel) - ", "", one_line(value))
    return "" if _FILLED_IN.fullmatch(value) else value


def _lines(pdf: Any) -> Iterator[Line]:
    for index in range(min(len(pdf), _MOST_PAGES)):
        page = pdf[index]
        try:
            yield from page_lines(page, index + 1)
        finally:
            page.close()


def _write(draft: Draft, parts: list[Paragraph]) -> tuple[tuple[Page, ...], tuple[Box, ...]]:
    """Write the paragraphs; each page spans from its first word to its last, each line has its box."""
    pages: dict[int, Span] = {}
    boxes: list[Box | None] = []
    for part in parts:
        spans = []
        for number, piece in enumerate(part.pieces):
            before = piece.before if number else "\n" if part.tight else "\n\n"
            span = draft.write(piece.words, before=before)
            spans.append(span)
            pages[piece.page] = Span(pages.get(piece.page, span).start, span.end)
            boxes += [_box(line, place.shifted(span.start)) for place, line in piece.placed()]
        if part.level:
            draft.headings.append(Heading(Span(spans[0].start, spans[-1].end), part.level))
    return tuple(Page(number, span) for number, span in sorted(pages.items())), tuple(filter(None, boxes))


def _box(line: Line, span: Span) -> Box | None:
    """The line in shares of its page; none for what cannot be seen on it."""
    if not line.page_width or not line.page_height:
        return None
    edges = (
        line.left / line.page_width,
        1 - line.top / line.page_height,
        line.right / line.page_width,
        1 - line.bottom / line.page_height,
    )
    left, top, right, bottom = (round(min(max(edge, 0.0), 1.0), 4) for edge in edges)
    return Box(line.page, span, left, top, right, bottom) if span and left < right and top < bottom else None
