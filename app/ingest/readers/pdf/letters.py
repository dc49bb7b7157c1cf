"""Read the lines of one PDF page from pdfium: their text, positions and letter sizes."""

from __future__ import annotations

import ctypes
import math
import re
import unicodedata
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from pypdfium2 import raw

from propcite.app.ingest.readers.draft import one_line
from propcite.app.ingest.readers.pdf.accents import with_accents
from propcite.app.ingest.readers.pdf.glyphs import PUBLIC
from propcite.app.ingest.readers.pdf.lines import Cell, Line, is_right_to_left
from propcite.app.ingest.readers.pdf.rules import Rectangle, Rules

LOST = "\ufffd"  # stands for a character that cannot be read

# pdfium writes U+FFFE or U+0002 instead of a hyphen and the line end after it.
_PIECE = re.compile("[^\r\n\ufffe\x02]+[\ufffe\x02]?")
_GAP = re.compile(r"(?<=\S)\s+(?=\S)")
_REPLACED = str.maketrans(
    {
        "ﬀ": "ff",
        "ﬁ": "fi",
        "ﬂ": "fl",
        "ﬃ": "ffi",
        "ﬄ": "ffl",
        "ﬅ": "st",
        "ﬆ": "st",
        "\ufffe": "-",
        "\x02": "-",
        "\x03": "",
    }
)
# Halves of a character beyond U+FFFF become the character and U+0003, so that positions in the text stay.
_HALVES = re.compile("[\ud800-\udbff][\udc00-\udfff]")
_NOT_TEXT = re.compile("[\x00\x01\x04-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\ue000-\uf8ff\U000f0000-\U0010fffd]")
# macOS gives ligatures their place in its own encoding, which in symbol fonts is that of arrows.
_MAC_LIGATURES = re.compile("(?<=[^\\W\\d_])[\uf0de\uf0df]|[\uf0de\uf0df](?=[^\\W\\d_])")
_OVERSTRUCK = re.compile("\u0338\\s?(\\S)")  # TeX writes the stroke of an unequal sign before the equal sign
_INNER_SOFT_HYPHEN = re.compile("\u00ad(?!\\s*$)")
_CELL_GAP = 0.8  # width of a gap between cells, in letter sizes; most spaces in justified text are narrower
_SAMPLES = 60  # characters by which the direction of a page is judged
_MAX_SLANT = 20  # degrees by which a line may lean and still be level
_NUMBER = re.compile(r"(\d{1,5})(\s+)(?=\S)")


def page_lines(page: Any, number: int) -> list[Line]:
    """Return the lines of a page, in the order of its text; U+FFFD stands for each character that cannot be read."""
    text_page = page.get_textpage()
    try:
        return list(_lines(_Letters(page, text_page), number))
    finally:
        text_page.close()


class _Letters:
    """A page's text, with the position of each character as it is read: most lines of the page are level.

    `turn` are the degrees by which the page must be turned clockwise to be as a viewer shows it.
    """

    def __init__(self, page: Any, text_page: Any) -> None:
        self._page = text_page.raw
        self._turn = page.get_rotation() % 360
        shown = self._turn
        self._left, self._bottom, right, top = page.get_bbox()  # unlike the crop box it includes inherited values
        self._width, self._height = right - self._left, top - self._bottom
        self.text = self._text(text_page)
        self._is_vertical = self._goes_down()
        # Seen from its right side, vertical text has level lines from top to bottom.
        self._turn = (shown + 270) % 360 if self._is_vertical else self._usual_angle(shown)
        self.turn = (shown - self._turn) % 360
        self.text = with_accents(self.text, self.box)
        self.rules = Rules(page, self.place)

    def _text(self, text_page: Any) -> str:
        """Return one character for each of pdfium's; U+FFFD where it has no Unicode but writes the character's code."""
        indexes, page = range(text_page.count_chars()), self._page
        text: str = text_page.get_text_range()
        if len(text) != len(indexes):  # it lacks characters beyond U+FFFF
            text = "".join(chr(raw.FPDFText_GetUnicode(page, index)) for index in indexes)
            text = "".join(char if char != "\0" or self._has_ink(at) else " " for at, char in enumerate(text))
            text = _HALVES.sub(lambda found: _joined(found[0]), text)
        has_error = raw.FPDFText_HasUnicodeMapError
        if unmapped := [index for index in indexes if has_error(page, index)]:
            chars = list(text)
            for index in unmapped:
                chars[index] = chars[index] if chars[index].isspace() else LOST
            text = "".join(chars)
        text = _MAC_LIGATURES.sub(lambda found: "ﬁ" if found[0] == "\uf0de" else "ﬂ", text)
        return _NOT_TEXT.sub(LOST, text.translate(PUBLIC))

    def _has_ink(self, index: int) -> bool:
        left, right, bottom, top = (ctypes.c_double() for _ in range(4))
        found = raw.FPDFText_GetCharBox(self._page, index, left, right, bottom, top)
        return bool(found) and right.value - left.value > 0.1 and top.value - bottom.value > 0.1

    def _goes_down(self) -> bool:
        """Whether most Chinese or Japanese letters have the next one below them."""
        wide = [at for at, char in enumerate(self.text) if unicodedata.east_asian_width(char) in "WF"]
        pairs = [(at, after) for at, after in pairwise(wide) if after == at + 1]
        pairs = pairs[:: max(1, len(pairs) // _SAMPLES)]
        boxes = [(self.box(at), self.box(after)) for at, after in pairs]
        below = sum(after[3] < (top + bottom) / 2 and after[0] < right for (_, bottom, right, top), after in boxes)
        return 2 * below > len(pairs)

    def _usual_angle(self, shown: int) -> int:
        """Return the angle of most text on the sheet; that of a level line as shown if no angle has most."""
        step = max(1, len(self.text) // _SAMPLES)
        angles = Counter(self.angle(at) for at in range(0, len(self.text), step) if self.text[at].isalnum())
        ((usual, times),) = angles.most_common(1) or [(shown, 0)]
        return usual if usual is not None and 2 * times > angles.total() else shown

    def angle(self, index: int) -> int | None:
        """Return the angle of a character on the sheet, counterclockwise; None if it is slanting."""
        matrix = raw.FS_MATRIX()
        if not raw.FPDFText_GetMatrix(self._page, index, matrix):
            return 0
        degrees = math.degrees(math.atan2(matrix.b, matrix.a)) % 360
        nearest = round(degrees / 90)
        return 90 * (nearest % 4) if abs(degrees - 90 * nearest) < _MAX_SLANT else None

    def is_level(self, index: int) -> bool:
        return self._is_vertical or self.angle(index) in (self._turn, None)

    @property
    def page_height(self) -> float:
        return float(self._width if self._turn in (90, 270) else self._height)

    @property
    def page_width(self) -> float:
        return float(self._height if self._turn in (90, 270) else self._width)

    def box(self, index: int) -> Rectangle:
        """Return the rectangle of a character; zeros if pdfium knows none."""
        box = raw.FS_RECTF()
        if not raw.FPDFText_GetLooseCharBox(self._page, index, box):
            return 0.0, 0.0, 0.0, 0.0
        return self.place((box.left, box.bottom, box.right, box.top))

    def place(self, box: Rectangle) -> Rectangle:
        """Return where a rectangle of the sheet is on the page as it is read."""
        left, right = box[0] - self._left, box[2] - self._left
        bottom, top = box[1] - self._bottom, box[3] - self._bottom
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
        scaled = raw.FPDFText_GetMatrix(self._page, index, matrix)
        size = abs(float(raw.FPDFText_GetFontSize(self._page, index)))
        return size * math.hypot(matrix.c, matrix.d) if scaled else size


def _lines(letters: _Letters, page: int) -> Iterator[Line]:
    for piece in _PIECE.finditer(letters.text):
        if not _normal(piece[0]).strip("\u00ad"):
            continue
        for start, end in _rows(letters, piece):
            yield _line(letters, start, end, page)


def _rows(letters: _Letters, piece: re.Match[str]) -> Iterator[tuple[int, int]]:
    """Yield the first character and the end of each row: pdfium may take short words below each other for a line."""
    start = piece.start() + len(piece[0]) - len(piece[0].lstrip())
    for gap in _GAP.finditer(piece[0]):
        before, after = letters.box(piece.start() + gap.start() - 1), letters.box(piece.start() + gap.end())
        if after[0] < before[0] and (after[3] <= before[1] or before[3] <= after[1]):
            yield start, piece.start() + gap.start()
            start = piece.start() + gap.end()
    yield start, piece.end()


def _line(letters: _Letters, start: int, end: int, page: int) -> Line:
    text = letters.text[start:end]
    last = start + max(len(text.rstrip("\ufffe\x02 \t")), 1) - 1
    sampled = start, (start + last + 1) // 2, last
    lefts, bottoms, rights, tops = zip(*map(letters.box, sampled), strict=True)
    # The median of three letters, so that one large initial does not make a heading.
    size = sorted(map(letters.size, sampled))[1] or max(tops) - min(bottoms) or 1.0
    words = _normal(text)
    cells, stretch = _cells(letters, start, text, size, min(bottoms), max(tops))
    if (
        len(cells) > 1
        and (ordered := sorted(cells, key=lambda cell: cell.left)) != cells
        and not is_right_to_left(words)
    ):
        cells, words = ordered, " ".join(cell.text for cell in ordered)  # pdfium turns the words of a turned line
    return Line(
        text=words,
        page=page,
        left=min(*lefts, *(cell.left for cell in cells)),
        right=max(*rights, *(cell.right for cell in cells)),
        bottom=min(bottoms),
        top=max(tops),
        size=size,
        page_height=letters.page_height,
        page_width=letters.page_width,
        turn=letters.turn,
        is_apart=not letters.is_level(start),
        cells=tuple(cells),
        stretch=stretch,
        number_end=_number_end(letters, start, text),
    )


def _cells(
    letters: _Letters, first: int, text: str, size: float, bottom: float, top: float
) -> tuple[list[Cell], float | None]:
    """Return the words between wide gaps and, if all gaps are equal, their total width beyond that of spaces."""
    gaps = list(_GAP.finditer(text))
    edges = [(letters.box(first + gap.start() - 1)[2], letters.box(first + gap.end())[0]) for gap in gaps]
    widths = [after - before for before, after in edges]
    ends = [(gap.start(), gap.end()) for gap, width in zip(gaps, widths, strict=True) if abs(width) > _CELL_GAP * size]
    cells, start = [], 0
    for end, after in (*ends, (len(text.rstrip("\ufffe\x02 \t")), 0)):
        if words := _normal(text[start:end] if after else text[start:]):
            left, right = letters.box(first + start)[0], letters.box(first + max(end, start + 1) - 1)[2]
            frame = letters.rules.frame((left, bottom, right, top))
            cells.append(Cell(words, left, right, letters.size(first + start) if ends else size, frame))
        start = after
    is_even = bool(widths) and max(widths) - min(widths) < 0.25 * size
    return cells, sum(widths) - 0.3 * size * len(widths) if is_even else None


def _number_end(letters: _Letters, first: int, text: str) -> tuple[float, float] | None:
    """Return where the number ends with which a line begins, and where the next word begins."""
    found = _NUMBER.match(text)
    if not found:
        return None
    return letters.box(first + found.end(1) - 1)[2], letters.box(first + found.end())[0]


def _joined(halves: str) -> str:
    return halves.encode("utf-16", "surrogatepass").decode("utf-16") + "\x03"


def _normal(piece: str) -> str:
    """Replace ligatures and remove soft hyphens, except at the line's end, where one shows that a word continues."""
    words = _INNER_SOFT_HYPHEN.sub("", piece.translate(_REPLACED))
    return one_line(_OVERSTRUCK.sub(lambda found: unicodedata.normalize("NFC", found[1] + "\u0338"), words))
