"""Find the pages of a PDF whose text is only in a picture, and read them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from propcite.app.ingest.ocr import Scans
from propcite.app.ingest.readers.pdf.lines import Line

_DOTS_PER_INCH = 200
_MAX_SIDE = 6000  # pixels
_FEW_LETTERS = 200  # a stamp on a scan, rather than the text of a page
_MIN_SHARE = 0.5  # of the page that the picture of a stamped scan covers


def with_scan(scans: Scans, page: Any, number: int, lines: list[Line]) -> list[Line]:
    """Return the lines of a page, read from its picture if it has no text, or no more than a stamp."""
    if lines and not _is_stamped_scan(page, lines):
        return lines
    return scans.lines(_picture(page), number, page.get_width()) or lines


def _is_stamped_scan(page: Any, lines: Sequence[Line]) -> bool:
    from pypdfium2 import raw

    if sum(len(line.text) for line in lines) > _FEW_LETTERS:
        return False
    width, height = page.get_size()
    for image in page.get_objects(filter=(raw.FPDF_PAGEOBJ_IMAGE,)):
        left, bottom, right, top = image.get_bounds()
        if (right - left) * (top - bottom) > _MIN_SHARE * width * height:
            return True
    return False


def _picture(page: Any) -> Any:
    width, height = page.get_size()
    scale = min(_DOTS_PER_INCH / 72, _MAX_SIDE / max(width, height))
    return page.render(scale=scale, rev_byteorder=True).to_pil().convert("RGB")
