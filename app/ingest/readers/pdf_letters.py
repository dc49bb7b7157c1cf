"""The lines of one PDF page as pdfium knows its letters: their words, places and sizes."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from itertools import accumulate
from typing import Any

from propcite.app.ingest.readers.draft import one_line
from propcite.app.ingest.readers.pdf_lines import Line

# pdfium writes U+FFFE or U+0002 for a hyphen at a line's end, and no line end.
_PIECE = re.compile("[^\r\n\ufffe\x02]+[\ufffe\x02]?")
_GAP = re.compile(r"(?<=\S)\s+(?=\S)")
_SIGNS = str.maketrans(
    {"ﬀ": "ff", "ﬁ": "fi", "ﬂ": "fl", "ﬃ": "ffi", "ﬄ": "ffl", "ﬅ": "st", "ﬆ": "st", "\ufffe": "-", "\x02": "-"}
)
_INNER_SOFT_HYPHEN = re.compile("\u00ad(?!\\s*$)")
# In letter sizes; a space of justified text is narrower.
_BETWEEN_CELLS = 1.5


def page_lines(page: Any, number: int) -> list[Line]:
    text_page = page.get_textpage()
    try:
        return list(_lines(_Letters(page, text_page), number))
    finally:
        text_page.close()


class _Letters:
    """A page's text, and where each of its characters is seen: measured as a viewer turns the page."""

    def __init__(self, page: Any, text_page: Any) -> None:
        self.text: str = text_page.get_text_range()
        self._page = text_page
        self._turn = page.get_rotation() % 360
        self._left, self._bottom, right, top = page.get_bbox()  # with what the page inherits, which its crop box lacks
        self._width, self._height = right - self._left, top - self._bottom
        # pdfium counts UTF-16 units.
        self._units = list(accumulate((1 + (char > "\uffff") for char in self.text), initial=0))

    @property
    def page_height(self) -> float:
        return float(self._width if self._turn in (90, 270) else self._height)

    @property
    def page_width(self) -> float:
        return float(self._height if self._turn in (90, 270) else self._width)

    def box(self, place: int) -> tuple[float, float, float, float]:
        """Left, bottom, right and top of a character; zeros where pdfium knows none."""
        from pypdfium2 import raw

        box = raw.FS_RECTF()
        if not raw.FPDFText_GetLooseCharBox(self._page.raw, self._index(place), box):
            return 0.0, 0.0, 0.0, 0.0
        left, right = box.left - self._left, box.right - self._left
        bottom, top = box.bottom - self._bottom, box.top - self._bottom
        match self._turn:
            case 90:
                return bottom, self._width - right, top, self._width - left
            case 180:
                return self._width - right, self._height - top, self._width - left, self._height - bottom
            case 270:
                return self._height - top, left, self._height - bottom, right
        return left, bottom, right, top

    def size(self, place: int) -> float:
        """The size that is seen: many programs write size 1 and scale it."""
        from pypdfium2 import raw

        matrix = raw.FS_MATRIX()
        scaled = raw.FPDFText_GetMatrix(self._page.raw, self._index(place), matrix)
        size = abs(float(raw.FPDFText_GetFontSize(self._page.raw, self._index(place))))
        return size * math.hypot(matrix.c, matrix.d) if scaled else size

    def _index(self, place: int) -> int:
        from pypdfium2 import raw

        return int(raw.FPDFText_GetCharIndexFromTextIndex(self._page.raw, self._units[place]))


def _lines(letters: _Letters, page: int) -> Iterator[Line]:
    for piece in _PIECE.finditer(letters.text):
        words = _normal(piece[0])
        if not words.strip("\u00ad"):
            continue
        start = piece.start() + len(piece[0]) - len(piece[0].lstrip())
        end = piece.start() + max(len(piece[0].rstrip("\ufffe\x02 \t")), 1)
        places = start, (start + end) // 2, max(start, end - 1)
        lefts, bottoms, rights, tops = zip(*map(letters.box, places), strict=True)
        # The middle of three, so that one large first letter does not make a heading.
        size = sorted(map(letters.size, places))[1] or max(tops) - min(bottoms) or 1.0
        cells, room = _cells(letters, piece, size)
        yield Line(
            text=words,
            page=page,
            left=min(lefts),
            right=max(rights),
            bottom=min(bottoms),
            top=max(tops),
            size=size,
            page_height=letters.page_height,
            page_width=letters.page_width,
            cells=cells,
            room=room,
        )


def _cells(letters: _Letters, piece: re.Match[str], size: float) -> tuple[tuple[str, ...], float | None]:
    """The words between wide gaps, and, where all gaps are equal, how much wider they are than a space."""
    gaps = list(_GAP.finditer(piece[0]))
    widths = [
        letters.box(piece.start() + gap.end())[0] - letters.box(piece.start() + gap.start() - 1)[2] for gap in gaps
    ]
    cells, start = [], 0
    for gap, width in zip(gaps, widths, strict=True):
        if width > _BETWEEN_CELLS * size:
            cells.append(piece[0][start : gap.start()])
            start = gap.end()
    words = tuple(filter(None, map(_normal, [*cells, piece[0][start:]])))
    is_even = bool(widths) and max(widths) - min(widths) < 0.25 * size
    return words, sum(widths) - 0.3 * size * len(widths) if is_even else None


def _normal(piece: str) -> str:
    """The words without ligatures and soft hyphens; one at the line's end stays, it tells how the line goes on."""
    return one_line(_INNER_SOFT_HYPHEN.sub("", piece.translate(_SIGNS)))
