"""Read a PDF: its pages' lines, without running headers, become paragraphs, headings and boxes."""

from __future__ import annotations

import re
from collections.abc import Iterable
from contextlib import closing
from io import BytesIO
from threading import Lock
from typing import Any

from propcite.app.errors import ReadError
from propcite.app.ingest.readers.draft import Draft, one_line
from propcite.app.ingest.readers.pdf.fonts import with_unicode_maps
from propcite.app.ingest.readers.pdf.garbled import is_garbled
from propcite.app.ingest.readers.pdf.letters import LOST, page_lines
from propcite.app.ingest.readers.pdf.lines import Line, mark_rows, without_running_lines
from propcite.app.ingest.readers.pdf.paragraphs import Paragraph, paragraphs
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
    with PDFIUM_LOCK:
        lines, fields, num_pages = _extract(name, data)
    if not lines:
        raise ReadError(f"{name} has no text (scanned pages?): run OCR on it first")
    draft = Draft()
    pages, boxes = _write(draft, paragraphs(mark_rows(without_running_lines(lines) or lines)))
    metadata = {"kind": "pdf", "pages": str(num_pages), "author": fields.get("Author", "")}
    metadata["pages_left_out"] = str(num_pages - _MAX_PAGES) if num_pages > _MAX_PAGES else ""
    without_text = min(num_pages, _MAX_PAGES) - len({line.page for line in lines})
    metadata["pages_without_text"] = str(without_text) if without_text else ""
    lost = draft.text.count(LOST)
    metadata["lost_characters"] = str(lost) if lost else ""
    return draft.document(name, fields.get("Title", ""), metadata, pages, boxes)


def _damaged(name: str) -> ReadError:
    return ReadError(f"{name} is damaged or not a PDF: get it again, or print it to a new PDF")


def _extract(name: str, data: bytes) -> tuple[list[Line], dict[str, str], int]:
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
        pages |= {number: [] for number, lines in pages.items() if _is_garbled(lines)}
        return [line for lines in pages.values() for line in lines], fields, len(pdf)
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
    """Return the PDF, saved anew without its encryption or damage, with the Unicode maps that its fonts lack."""
    from pypdfium2 import raw

    saved = BytesIO()
    pdf.save(saved, flags=raw.FPDF_REMOVE_SECURITY)
    try:
        return with_unicode_maps(saved.getvalue(), trusts_names=trusts_names)
    except Exception:  # pypdf raises errors of all kinds; the text stays as pdfium read it
        return None


def _write(draft: Draft, all_paragraphs: list[Paragraph]) -> tuple[tuple[Page, ...], tuple[Box, ...]]:
    """Write the paragraphs.  Return the span of each page's text, and the box of each line on its page."""
    pages: dict[int, Span] = {}
    boxes: list[Box | None] = []
    for paragraph in all_paragraphs:
        spans = []
        for number, piece in enumerate(paragraph.pieces):
            before = piece.before if number else "\n" if paragraph.tight else "\n\n"
            span = draft.write(piece.words, before=before)
            spans.append(span)
            pages[piece.page] = Span(pages.get(piece.page, span).start, span.end)
            boxes += [_box(line, inner.shifted(span.start)) for inner, line in piece.line_spans()]
        if paragraph.level:
            draft.headings.append(Heading(Span(spans[0].start, spans[-1].end), paragraph.level))
    return tuple(Page(number, span) for number, span in sorted(pages.items())), tuple(filter(None, boxes))


def _box(line: Line, span: Span) -> Box | None:
    """Return the line's box in shares of its page; None if it is not visible on it."""
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
