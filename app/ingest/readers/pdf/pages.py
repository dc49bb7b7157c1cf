"""Read the pages of a PDF one after the other: their lines, from better fonts or from pictures where that is needed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import closing
from io import BytesIO
from threading import RLock
from typing import Any

from propcite.app.ingest.ocr.scans import Scans
from propcite.app.ingest.readers.pdf.fonts import with_unicode_maps
from propcite.app.ingest.readers.pdf.forms import has_words_over_it, put_on_page, ticks, with_values
from propcite.app.ingest.readers.pdf.garbled import is_garbled
from propcite.app.ingest.readers.pdf.letters import page_lines, readable_lines
from propcite.app.ingest.readers.pdf.lines import Line
from propcite.app.ingest.readers.pdf.scans import with_scan
from propcite.app.ingest.readers.pdf.text_layers import is_text_layer
from propcite.app.processes import report_step

# pdfium is not thread-safe: all callers of it must hold this lock.
PDFIUM_LOCK = RLock()

_AT_ONCE = 50  # pages whose fonts are mended together


def lines_of_pages(pdf: Any, scans: Scans, num_pages: int) -> Iterator[list[Line]]:
    """Yield the lines of each of the first pages; no line for a page without text."""
    for first in range(0, num_pages, _AT_ONCE):
        indexes = range(first, min(first + _AT_ONCE, num_pages))
        with PDFIUM_LOCK:
            pages, garbled, layers = _read(pdf, indexes)
        for index in indexes:
            with PDFIUM_LOCK:
                lines = [] if index in garbled else pages[index]
                lines = with_scan(scans, pdf, index, lines, is_layer=index in layers)
            if index in garbled and index + 1 not in {*scans.read, *scans.unread}:
                scans.unread.append(index + 1)
            report_step(f"page {index + 1:,} of {num_pages:,}")
            yield lines


def _read(pdf: Any, indexes: Iterable[int]) -> tuple[dict[int, list[Line]], set[int], set[int]]:
    """Return the lines of pages by the pages' indexes, the pages that stay garbled, and those with a layer of text.

    A page whose fonts lack Unicode maps or have wrong ones is read with better fonts, as far as they can be made.
    """
    readable, layers = {}, set()
    for index in indexes:
        readable[index], is_layer = _as_shown(pdf, index)
        if is_layer:
            layers.add(index)
    lost = [index for index, lines in readable.items() if lines is None]
    mended = _with_better_fonts(pdf, lost, trusts_names=False)
    pages = {}
    for index, lines in readable.items():
        lines = mended.get(index, lines)
        pages[index] = _lines(pdf, index) if lines is None else lines
    garbled = [index for index, lines in pages.items() if _is_garbled(lines)]
    mended = _with_better_fonts(pdf, garbled, trusts_names=True)
    still_garbled = {index for index in garbled if index not in mended or _is_garbled(mended[index])}
    return pages | mended, still_garbled, layers


def _as_shown(pdf: Any, index: int) -> tuple[list[Line] | None, bool]:
    """Return the lines of a page with the words over it, and whether its own ones are a layer over a scan.

    None stands for the lines if a character cannot be read.
    """
    with closing(pdf[index]) as page:
        own = readable_lines(page, index + 1)
        is_layer = own != [] and is_text_layer(page)
        if not has_words_over_it(page):
            return own, is_layer
        ticked = list(ticks(pdf, page, index + 1))
        put_on_page(page)
    with closing(pdf[index]) as page:
        lines = readable_lines(page, index + 1)
    return (with_values(lines, own, ticked) if lines and own else lines), is_layer


def _lines(pdf: Any, index: int) -> list[Line]:
    with closing(pdf[index]) as page:
        return page_lines(page, index + 1)


def _with_better_fonts(pdf: Any, indexes: list[int], *, trusts_names: bool) -> dict[int, list[Line]]:
    """Return the lines of pages as they are with the Unicode maps that their fonts lack; empty where none is added."""
    import pypdfium2

    if not indexes:
        return {}
    saved = BytesIO()
    with closing(pypdfium2.PdfDocument.new()) as copy:  # of these pages, without encryption and damage
        copy.import_pages(pdf, indexes)
        copy.save(saved)
    try:
        mended = with_unicode_maps(saved.getvalue(), trusts_names=trusts_names)
    except Exception:  # pypdf raises errors of all kinds; the text stays as pdfium read it
        return {}
    if not mended:
        return {}
    lines = {}
    with closing(pypdfium2.PdfDocument(mended)) as better:
        for place, index in enumerate(indexes):
            with closing(better[place]) as page:
                lines[index] = page_lines(page, index + 1)
    return lines


def _is_garbled(lines: list[Line]) -> bool:
    return is_garbled("\n".join(line.text for line in lines))
