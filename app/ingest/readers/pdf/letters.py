"""Read the lines of one PDF page from pdfium: their text, positions and letter sizes."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Iterator
from itertools import accumulate
from typing import Any

from pypdfium2 import raw

from propcite.app.ingest.readers.draft import one_line
from propcite.app.ingest.readers.pdf.glyphs import PUBLIC
from propcite.app.ingest.readers.pdf.lines import Line

LOST = "\ufffd"  # stands for a character that cannot be read

# pdfium writes U+FFFE or U+0002 instead of a hyphen and the line end after it.
_PIECE = re.compile("[^\r\n\ufffe\x02]+[\ufffe\x02]?")
_GAP = re.compile(r"(?<=\S)\s+(?=\S)")
_REPLACED = str.maketrans(
    {"ﬀ": "ff", "ﬁ": "fi", "ﬂ": "fl", "ﬃ": "ffi", "ﬄ": "ffl", "ﬅ": "st", "ﬆ": "st", "\ufffe": "-", "\x02": "-"}
)
_NOT_TEXT = re.compile("[\x00\x01\x03-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\ue000-\uf8ff\U000f0000-\U0010fffd]")
_OVERSTRUCK = re.compile("\u0338\\s?(\\S)")  # TeX writes the stroke of an unequal sign before the equal sign
_INNER_SOFT_HYPHEN = re.compile("\u00ad(?!\\s*$)")
# Width of a gap between table cells, in letter sizes; spaces in justified text are narrower.
_CELL_GAP = 1.5


def page_lines(page: Any, number: int) -> list[Line]:
    """Return the lines of a page, in the order of its text; U+FFFD stands for each character that cannot be read."""
    text_page = page.get_textpage()
    try:
        return list(_lines(_Letters(page, text_page), number))
    finally:
        text_page.close()


class _Letters:
    """A page's text, with the position of each character as a viewer shows the page, rotated if it says so."""

    def __init__(self, page: Any, text_page: Any) -> None:
        self.text: str = text_page.get_text_range()
        self._page = text_page.raw
        self._num_chars: int = text_page.count_chars()
        self._turn = page.get_rotation() % 360
        self._left, self._bottom, right, top = page.get_bbox()  # unlike the crop box it includes inherited values
        self._width, self._height = right - self._left, top - self._bottom
        # pdfium indexes text by UTF-16 units, and has characters that are not in the text.
        self._units = list(accumulate((1 + (char > "\uffff") for char in self.text), initial=0))
        self._is_direct = self._num_chars == len(self.text)
        self.text = _NOT_TEXT.sub(LOST, self._without_unmapped().translate(PUBLIC))

    def _without_unmapped(self) -> str:
        """Return the text with U+FFFD for the characters that have no Unicode, for which pdfium writes their code."""
        has_error, page = raw.FPDFText_HasUnicodeMapError, self._page
        unmapped = [index for index in range(self._num_chars) if has_error(page, index)]
        if not unmapped:
            return self.text
        chars, number = list(self.text), {unit: index for index, unit in enumerate(self._units)}
        for index in unmapped:
            place = number.get(raw.FPDFText_GetTextIndexFromCharIndex(page, index))
            if place is not None and place < len(chars) and not chars[place].isspace():
                chars[place] = LOST
        return "".join(chars)

    @property
    def page_height(self) -> float:
        return float(self._width if self._turn in (90, 270) else self._height)

    @property
    def page_width(self) -> float:
        return float(self._height if self._turn in (90, 270) else self._width)

    def box(self, index: int) -> tuple[float, float, float, float]:
        """Return left, bottom, right and top of a character; zeros if pdfium knows no box."""
        box = raw.FS_RECTF()
        if not raw.FPDFText_GetLooseCharBox(self._page, self._pdfium_index(index), box):
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

    def size(self, index: int) -> float:
        """Return the visible font size: many programs write size 1 and scale it."""
        matrix = raw.FS_MATRIX()
        scaled = raw.FPDFText_GetMatrix(self._page, self._pdfium_index(index), matrix)
        size = abs(float(raw.FPDFText_GetFontSize(self._page, self._pdfium_index(index))))
        return size * math.hypot(matrix.c, matrix.d) if scaled else size

    def _pdfium_index(self, index: int) -> int:
        if self._is_direct:
            return index
        return int(raw.FPDFText_GetCharIndexFromTextIndex(self._page, self._units[index]))


def _lines(letters: _Letters, page: int) -> Iterator[Line]:
    for piece in _PIECE.finditer(letters.text):
        words = _normal(piece[0])
        if not words.strip("\u00ad"):
            continue
        start = piece.start() + len(piece[0]) - len(piece[0].lstrip())
        end = piece.start() + max(len(piece[0].rstrip("\ufffe\x02 \t")), 1)
        sampled = start, (start + end) // 2, max(start, end - 1)
        lefts, bottoms, rights, tops = zip(*map(letters.box, sampled), strict=True)
        # The median of three letters, so that one large initial does not make a heading.
        size = sorted(map(letters.size, sampled))[1] or max(tops) - min(bottoms) or 1.0
        cells, stretch = _cells(letters, piece, size)
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
            stretch=stretch,
        )


def _cells(letters: _Letters, piece: re.Match[str], size: float) -> tuple[tuple[str, ...], float | None]:
    """Return the texts between wide gaps and, if all gaps are equal, their total width beyond that of spaces."""
    gaps = list(_GAP.finditer(piece[0]))
    widths = [
        letters.box(piece.start() + gap.end())[0] - letters.box(piece.start() + gap.start() - 1)[2] for gap in gaps
    ]
    cells, start = [], 0
    for gap, width in zip(gaps, widths, strict=True):
        if width > _CELL_GAP * size:
            cells.append(piece[0][start : gap.start()])
            start = gap.end()
    words = tuple(filter(None, map(_normal, [*cells, piece[0][start:]])))
    is_even = bool(widths) and max(widths) - min(widths) < 0.25 * size
    return words, sum(widths) - 0.3 * size * len(widths) if is_even else None


def _normal(piece: str) -> str:
    """Replace ligatures and remove soft hyphens, except at the line's end, where one shows that a word continues."""
    words = _INNER_SOFT_HYPHEN.sub("", piece.translate(_REPLACED))
    return one_line(_OVERSTRUCK.sub(lambda found: unicodedata.normalize("NFC", found[1] + "\u0338"), words))
