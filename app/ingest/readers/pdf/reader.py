"""Read a PDF: its pages' lines, without running headers, become paragraphs, headings and boxes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import islice
from math import inf
from typing import Any

from propcite.app.errors import ReadError
from propcite.app.ingest.ocr.choosing import way_to_read
from propcite.app.ingest.ocr.scans import Scans
from propcite.app.ingest.readers.draft import Draft, one_line
from propcite.app.ingest.readers.pdf.characters import LOST
from propcite.app.ingest.readers.pdf.layout import in_reading_order
from propcite.app.ingest.readers.pdf.lines import Cell, Line, without_running_lines
from propcite.app.ingest.readers.pdf.pages import PDFIUM_LOCK, lines_of_pages
from propcite.app.ingest.readers.pdf.paragraphs import Paragraph, paragraphs
from propcite.app.ingest.readers.pdf.tables.writing import Tables
from propcite.retrieval.text import Box, Document, Heading, Page, Span

PAGES_PER_PART = 50
_CONTEXT = 2  # pages after and before a part that show which of its lines are running headers
_MAX_PAGES = 50_000  # further pages are counted but not read
_PASSWORD_ERROR = 4  # FPDF_ERR_PASSWORD
_PLACEHOLDER = re.compile(
    r"\W*(?:untitled|unspecified|anonymous|none)\W*|\S+\.(?:docx?|pptx?|xlsx?|od[tp]|rtf|tex|dvi|indd|qxd|pdf|txt)",
    re.IGNORECASE,
)


def read_pdf(name: str, data: bytes) -> Document:
    return next(pdf_parts(name, data, _MAX_PAGES))


def pdf_parts(name: str, data: bytes, num_pages: int = PAGES_PER_PART) -> Iterator[Document]:
    """Yield a PDF in parts of about `num_pages` pages, without those that have no text."""
    # pdfium repairs some truncated files, but silently loses pages.
    if b"%%EOF" not in data.rstrip(b"\0\r\n\t ")[-4096:]:
        raise _damaged(name)
    with _opened(name, data) as pdf:
        with PDFIUM_LOCK:
            total = len(pdf)
            fields = {key: _property(value) for key, value in pdf.get_metadata_dict().items()}
        title, num_lost, scans = fields.get("Title", ""), 0, Scans()
        metadata = {"kind": "pdf", "pages": str(total), "author": fields.get("Author", "")}
        metadata["pages_left_out"] = str(total - _MAX_PAGES) if total > _MAX_PAGES else ""
        is_first = True
        for lines, is_last in _parts(lines_of_pages(pdf, scans, min(total, _MAX_PAGES)), num_pages):
            if not lines and (is_first or not is_last):
                continue
            draft = Draft()
            pages, boxes = _write(draft, lines if is_first else list(map(_below_title, lines)))
            if not is_last:
                draft.write("", before="\n\n")
            draft.places += scans.places(pages)
            num_lost += draft.text.count(LOST)
            losses = {"pages_without_text": str(len(scans.unread) or ""), "lost_characters": str(num_lost or "")}
            document = draft.document(name, title, {**metadata, **scans.metadata, **losses}, pages, boxes)
            title, is_first = document.title, False
            yield document
    if is_first:
        scanned = f", only pictures of pages: {way_to_read()} and add it again" if scans.unread else ""
        raise ReadError(f"{name} has no text{scanned}")


def _parts(pages: Iterator[list[Line]], num_pages: int) -> Iterator[tuple[list[Paragraph], bool]]:
    """Yield the paragraphs of about `num_pages` pages at a time, and whether they are the last.

    Those that reach the last page wait for the next part, because they may go on there.
    """
    waiting: list[Line] = []
    tables = Tables()
    for own, is_last in _without_running_lines(pages, num_pages):
        lines = in_reading_order(own, tables)
        found = paragraphs([*waiting, *lines]) if waiting or lines else []
        last = lines[-1].page if lines and not is_last else inf
        ready = [one for one in found if one.pieces[-1].page < last]
        late = [one for one in found if one.pieces[-1].page >= last] if ready else []
        waiting = [line for one in late for piece in one.pieces for _, line in piece.line_spans()]
        yield ready or found, is_last


def _below_title(paragraph: Paragraph) -> Paragraph:
    """Return a paragraph of a later part, whose largest heading is not the title of the document."""
    return replace(paragraph, level=2) if paragraph.level == 1 else paragraph


def _without_running_lines(pages: Iterator[list[Line]], num_pages: int) -> Iterator[tuple[list[Line], bool]]:
    """Yield the lines of `num_pages` pages at a time, without running headers, and whether they are the last."""
    before: list[list[Line]] = []
    ahead: list[list[Line]] = []
    is_last = False
    while not is_last:
        ahead += islice(pages, num_pages + _CONTEXT - len(ahead))
        is_last = len(ahead) < num_pages + _CONTEXT
        own = ahead if is_last else ahead[:num_pages]
        lines = [line for page in (*before, *ahead) for line in page]
        kept = without_running_lines(lines) or lines
        numbers = {line.page for page in own for line in page}
        yield [line for line in kept if line.page in numbers], is_last
        before, ahead = own[-_CONTEXT:], ahead[len(own) :]


def _damaged(name: str) -> ReadError:
    return ReadError(f"{name} is damaged or not a PDF: get it again, or print it to a new PDF")


@contextmanager
def _opened(name: str, data: bytes) -> Iterator[Any]:
    """Open a PDF.  Any error of pdfium inside becomes a ReadError."""
    import pypdfium2

    try:
        with PDFIUM_LOCK:
            pdf = pypdfium2.PdfDocument(data)
            pdf.init_forms()  # draws the values of fields that the file has without their look
    except pypdfium2.PdfiumError as error:
        if error.err_code == _PASSWORD_ERROR:
            raise ReadError(f"{name} is encrypted: save it without a password and add it again") from error
        raise _damaged(name) from error
    try:
        yield pdf
    except pypdfium2.PdfiumError as error:
        raise _damaged(name) from error
    finally:
        with PDFIUM_LOCK:
            pdf.close()


def _property(value: str) -> str:
    """Clean a property of the PDF; empty if it is a placeholder such as `untitled`, `(anonymous)` or `thesis.dvi`."""
    value = re.sub(r"^Microsoft (?:Word|PowerPoint|Excel) - ", "", one_line(value))
    return "" if _PLACEHOLDER.fullmatch(value) else value


def write_pages(draft: Draft, lines: Sequence[Line]) -> tuple[tuple[Page, ...], tuple[Box, ...]]:
    """Write lines as paragraphs.  Return the span of each page's text, and the boxes of the lines."""
    return _write(draft, paragraphs(in_reading_order(without_running_lines(lines) or lines)))


def _write(draft: Draft, all_paragraphs: list[Paragraph]) -> tuple[tuple[Page, ...], tuple[Box, ...]]:
    """Write the paragraphs.  Return the span of each page's text, and the boxes of each line on its page."""
    pages: list[Page] = []
    boxes: list[Box] = []
    for paragraph in all_paragraphs:
        spans = []
        for number, piece in enumerate(paragraph.pieces):
            before = piece.before if number else "\n" if paragraph.tight else "\n\n"
            span = draft.write(piece.words, before=before)
            spans.append(span)
            # The notes of a page may follow words of the next one.
            start = pages.pop().span.start if pages and pages[-1].number == piece.page else span.start
            pages.append(Page(piece.page, Span(start, span.end)))
            for inner, line in piece.line_spans():
                boxes += _boxes(line, inner.of(piece.words), span.start + inner.start)
        if paragraph.level:
            draft.headings.append(Heading(Span(spans[0].start, spans[-1].end), paragraph.level))
    return tuple(pages), tuple(boxes)


def _boxes(line: Line, words: str, start: int) -> Iterator[Box]:
    """Yield the boxes of a line whose words begin at `start`: one, or one for each part that is found in the words."""
    if not line.parts:
        if line.page_width and line.page_height:
            part = line.part(Cell(words, line.left, line.right))
            yield from _box(line.page, Span(start, start + len(words)), part.left, part.top, part.right, part.bottom)
        return
    end = 0
    for part in line.parts:
        text = part.text if part.text in words else part.text[:-1]  # a line may have lost its hyphen
        if text and (found := words.find(text, end)) >= 0:
            end = found + len(text)
            yield from _box(line.page, Span(start + found, start + end), part.left, part.top, part.right, part.bottom)


def _box(page: int, span: Span, *edges: float) -> Iterator[Box]:
    """Yield the box, in shares of the page, unless it is not visible."""
    left, top, right, bottom = [round(edge if 0 < edge < 1 else float(edge > 0), 4) for edge in edges]
    if span and left < right and top < bottom:
        yield Box(page, span, left, top, right, bottom)
