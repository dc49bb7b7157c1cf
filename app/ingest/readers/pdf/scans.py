"""Find the pages of a PDF whose text is only in a picture, and read them."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from typing import Any

from propcite.app.ingest.ocr.scans import Scans
from propcite.app.ingest.readers.pdf.characters import LOST
from propcite.app.ingest.readers.pdf.lines import Line

_DOTS_PER_INCH = 200
_MAX_SIDE = 6000  # pixels
_FEW_LETTERS = 200  # a stamp on a scan, rather than the text of a page
_MIN_SHARE = 0.5  # of the page that the picture of a stamped scan covers
_MAX_LOST = 0.2  # share of the letters that may be lost before the page is better read as a picture


def with_scan(scans: Scans, pdf: Any, index: int, lines: list[Line], *, is_layer: bool) -> list[Line]:
    """Return the lines of a page, read from its picture if it has no text, only a stamp, or mostly lost letters.

    Lines that are a layer of text over the picture are compared with it.
    """
    if lines and not is_layer and not _is_lost(lines) and sum(len(line.text) for line in lines) > _FEW_LETTERS:
        return lines
    with closing(pdf[index]) as page:
        if lines and is_layer and not _is_lost(lines):
            return scans.layer_lines(lines, _picture(page), index + 1, page.get_width())
        if lines and not (_is_covered(page) or (_is_lost(lines) and scans.recogniser)):
            return lines
        return scans.lines(_picture(page), index + 1, page.get_width()) or lines


def _is_lost(lines: Sequence[Line]) -> bool:
    text = "".join(line.text for line in lines)
    return text.count(LOST) > _MAX_LOST * len(text)


def _is_covered(page: Any) -> bool:
    """Whether one picture covers most of the page."""
    from pypdfium2 import raw

    width, height = page.get_size()
    bounds = [image.get_bounds() for image in page.get_objects(filter=(raw.FPDF_PAGEOBJ_IMAGE,))]
    return any((right - left) * (top - bottom) > _MIN_SHARE * width * height for left, bottom, right, top in bounds)


def _picture(page: Any) -> Any:
    width, height = page.get_size()
    scale = min(_DOTS_PER_INCH / 72, _MAX_SIDE / max(width, height))
    return page.render(scale=scale, rev_byteorder=True).to_pil().convert("RGB")
