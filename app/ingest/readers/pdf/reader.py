"""Read a PDF: its pages' lines, without running headers, become paragraphs, headings and boxes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from io import BytesIO
from threading import Lock
from typing import Any

from propcite.app.errors import ReadError
from propcite.app.ingest.ocr.choosing import way_to_read
from propcite.app.ingest.ocr.scans import Scans
from propcite.app.ingest.readers.draft import Draft, one_line
from propcite.app.ingest.readers.pdf.fonts import with_unicode_maps
from propcite.app.ingest.readers.pdf.garbled import is_garbled
from propcite.app.ingest.readers.pdf.layout import in_reading_order
from propcite.app.ingest.readers.pdf.letters import LOST, page_lines
from propcite.app.ingest.readers.pdf.lines import Cell, Line, without_running_lines
from propcite.app.ingest.readers.pdf.paragraphs import Paragraph, paragraphs
from propcite.app.ingest.readers.pdf.scans import with_scan
from propcite.retrieval.text import Box, Document, Heading, Page, Span

# pdfium is not thread-safe: all callers of it must hold this lock.
PDFIUM_LOCK = Lock()

_MAX_PAGES = 10_000  # about three minutes; further pages are counted but not read
_PASSWORD_ERROR = 4  # FPDF_ERR_PASSWORD
_PLACEHOLDER = re.compile(
    r"\W*(?:untitled|unspecified|anonymous|none)\W*|\S+\.(?:docx?|pptx?|xlsx?|od[tp]|rtf|tex|dvi|indd|qxd|pdf|txt)",
    re.IGNORECASE,
)


def read_pdf(name: str, data: bytes) -> Document:
    # pdfium repairs some truncated files, but silently loses pages.
    if b"%%EOF" not in data.rstrip(b"\0\r\n\t ")[-4096:]:
        raise _damaged(name)
    scans = Scans()
    with PDFIUM_LOCK:
        lines, fields, num_pages = _extract(name, data, scans)
    if not lines:
        scanned = f", only pictures of pages: {way_to_read()} and add it again" if scans.unread else ""
        raise ReadError(f"{name} has no text{scanned}")
    draft = Draft()
    pages, boxes = write_pages(draft, lines)
    draft.places += scans.places(pages)
    metadata = {"kind": "pdf", "pages": str(num_pages), "author": fields.get("Author", ""), **scans.metadata}
    metadata["pages_left_out"] = str(num_pages - _MAX_PAGES) if num_pages > _MAX_PAGES else ""
    metadata["pages_without_text"] = str(len(scans.unread) or "")
    metadata["lost_characters"] = str(draft.text.count(LOST) or "")
    return draft.document(name, fields.get("Title", ""), metadata, pages, boxes)


def _damaged(name: str) -> ReadError:
    return ReadError(f"{name} is damaged or not a PDF: get it again, or print it to a new PDF")


def _extract(name: str, data: bytes, scans: Scans) -> tuple[list[Line], dict[str, str], int]:
    import pypdfium2

    try:
        pdf = pypdfium2.PdfDocument(data)
    except pypdfium2.PdfiumError as error:
        if error.err_code == _PASSWORD_ERROR:
            raise ReadError(f"{name} is encrypted: save it without a password and add it again") from error
        raise _damaged(name) from error
    try:
        fields = {key: _property(value) for key, value in pdf.get_metadata_dict().items()}
        pages = _read_pages(pdf, range(min(len(pdf), _MAX_PAGES)))
        for is_suspect, trusts_names in ((_has_lost, False), (_is_garbled, True)):
            suspect = [number for number, lines in pages.items() if is_suspect(lines)]
            if suspect and (mended := _mended(pdf, trusts_names)):
                with closing(pypdfium2.PdfDocument(mended)) as better:
                    pages |= _read_pages(better, suspect)
        garbled = {number for number, lines in pages.items() if _is_garbled(lines)}
        scans.num_pages = len(pdf)
        lines = [
            line for index in pages for line in with_scan(scans, pdf, index, [] if index in garbled else pages[index])
        ]
        scans.unread += sorted({index + 1 for index in garbled} - {*scans.read, *scans.unread})
        return lines, fields, len(pdf)
    except pypdfium2.PdfiumError as error:
        raise _damaged(name) from error
    finally:
        pdf.close()


def _property(value: str) -> str:
    """Clean a property of the PDF; empty if it is a placeholder such as `untitled`, `(anonymous)` or `thesis.dvi`."""
    value = re.sub(r"^Microsoft (?:Word|PowerPoint|Excel) - ", "", one_line(value))
    return "" if _PLACEHOLDER.fullmatch(value) else value


def _read_pages(pdf: Any, indexes: Iterable[int]) -> dict[int, list[Line]]:
    """Return the lines of these pages by the pages' indexes."""
    lines = {}
    for index in indexes:
        with closing(pdf[index]) as page:
            lines[index] = page_lines(page, index + 1)
    return lines


def _has_lost(lines: list[Line]) -> bool:
    return any(LOST in line.text for line in lines)


def _is_garbled(lines: list[Line]) -> bool:
    return is_garbled("\n".join(line.text for line in lines))


def _mended(pdf: Any, trusts_names: bool) -> bytes | None:
    """Return the PDF, saved without its encryption or damage, with the Unicode maps that its fonts lack."""
    from pypdfium2 import raw

    saved = BytesIO()
    pdf.save(saved, flags=raw.FPDF_REMOVE_SECURITY)
    try:
        return with_unicode_maps(saved.getvalue(), trusts_names=trusts_names)
    except Exception:  # pypdf raises errors of all kinds; the text stays as pdfium read it
        return None


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
    left, top, right, bottom = (round(min(max(edge, 0.0), 1.0), 4) for edge in edges)
    if span and left < right and top < bottom:
        yield Box(page, span, left, top, right, bottom)
