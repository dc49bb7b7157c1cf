"""The characters of one PDF page from pdfium, with their places, sizes and the gaps between words."""

from __future__ import annotations

import ctypes
import math
import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections import Counter
from itertools import compress, pairwise, repeat
from typing import Any, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt
from pypdfium2 import raw

from propcite.app.ingest.readers.draft import one_line
from propcite.app.ingest.readers.pdf.glyphs import PUBLIC
from propcite.app.ingest.readers.pdf.marks import with_accents, with_numbers
from propcite.app.ingest.readers.pdf.rules import Rectangle, Rules

N = TypeVar("N", float, npt.NDArray[np.float64])
LOST = "\ufffd"  # stands for a character that cannot be read

_GAP = re.compile(r"(?<=[^\s\ufffe\x02])[^\S\r\n]+(?=\S)")
_LETTER = r"[^\W_\u0590-\u1dff\u2000-\ufaff\ufb07-\uffff]"  # in Latin, Greek or Cyrillic
_ENDS_WORD = re.compile(rf"(?:{_LETTER}|[.,;:!?)\]])(?:{_LETTER}|[(\[$])")
_DIGITS = re.compile("[0-9][0-9]")
_MIN_SPACE = 0.2  # of the letters' height, from which level letters are words apart
_MIN_LEAP = 0.5  # the same for letters that are not level, as those of TeX's name
_JITTER = 0.05  # of the letters' height, between the left edges of letters one above the other
_LEVEL = 0.1  # of the letters' height, by which the bottoms of level ones may differ
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
_WIDE = re.compile("[\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe10-\ufe6f\uff01-\uff60\U00020000-\U0003fffd]")
_LEFTWARDS = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff]")  # letters of scripts from right to left
_VOWEL_SIGN = re.compile("[\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06ed]")
_SAMPLES = 60  # characters by which the direction of a page is judged
_MAX_SLANT = 20  # degrees by which a line may lean and still be level

# Writes the rectangle of a character to an address: pypdfium2's function needs an object for each.
_write_box = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p)(
    ctypes.cast(raw.FPDFText_GetLooseCharBox, ctypes.c_void_p).value or 0
)


class Gap(NamedTuple):
    """The characters between two words, from `start` to before `end`; none where a space is missing.

    `is_turn` is set where the next word is to the left of the one before, and above or below it.
    """

    start: int
    end: int
    width: float
    is_turn: bool


class Letters:
    """A page's text, with the position of each character as it is read: most lines of the page are level.

    `turn` are the degrees by which the page must be turned clockwise to be as a viewer shows it.
    """

    def __init__(self, page: Any, text_page: Any) -> None:
        self._page = text_page.raw
        self._sheet, self._turn = page, page.get_rotation() % 360
        self._left, self._bottom, right, top = page.get_bbox()  # unlike the crop box it includes inherited values
        self._width, self._height = right - self._left, top - self._bottom
        self.text = self._text(text_page)

    def measure(self) -> None:
        """Find where the characters and the ruling lines are."""
        shown, on_sheet = self._turn, self._rectangles()
        self._place_all(on_sheet)
        self._is_vertical = self._goes_down()
        # Seen from its right side, vertical text has level lines from top to bottom.
        self._turn = (shown + 270) % 360 if self._is_vertical else self._usual_angle(shown)
        self.turn = (shown - self._turn) % 360
        if self.turn:
            self._place_all(on_sheet)
        self.text = with_numbers(with_accents(self.text, self.box), self.box, self.size)
        self._gaps = self._all_gaps()
        self._starts = [gap.start for gap in self._gaps]
        self._lacks_spaces = any(gap.start == gap.end for gap in self._gaps)
        self.rules = Rules(self._sheet, self.place)

    def _text(self, text_page: Any) -> str:
        """Return one character for each of pdfium's; U+FFFD where it has no Unicode but writes the character's code."""
        indexes, page = range(text_page.count_chars()), self._page
        text: str = text_page.get_text_range()
        if len(text) != len(indexes):  # it lacks characters beyond U+FFFF
            text = "".join(chr(raw.FPDFText_GetUnicode(page, index)) for index in indexes)
            text = "".join(char if char != "\0" or self._has_ink(at) else " " for at, char in enumerate(text))
            text = _HALVES.sub(lambda found: _joined(found[0]), text)
        if unmapped := list(compress(indexes, map(raw.FPDFText_HasUnicodeMapError, repeat(page), indexes))):
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
        wide = [char.start() for char in _WIDE.finditer(self.text)]
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
        return self._is_vertical or self.angle(index) == self._turn

    @property
    def page_height(self) -> float:
        return float(self._width if self._turn in (90, 270) else self._height)

    @property
    def page_width(self) -> float:
        return float(self._height if self._turn in (90, 270) else self._width)

    def box(self, index: int) -> Rectangle:
        """Return the rectangle of a character; zeros if pdfium knows none."""
        return self._boxes[index]

    def _rectangles(self) -> npt.NDArray[np.float64]:
        """Return the left, bottom, right and top edge of each character on the sheet; NaN if pdfium knows none."""
        number = len(self.text)
        edges = np.zeros((number, 4), np.float32)  # left, top, right, bottom
        first, step = edges.ctypes.data, 4 * edges.itemsize
        addresses = range(first, first + number * step, step)
        is_found = list(map(_write_box, repeat(ctypes.cast(self._page, ctypes.c_void_p)), range(number), addresses))
        edges[np.array(is_found, int) == 0] = np.nan
        return edges[:, [0, 3, 2, 1]].astype(float)

    def _place_all(self, on_sheet: npt.NDArray[np.float64]) -> None:
        left, bottom, right, top = on_sheet.T
        self._edges = np.nan_to_num(np.stack(self.place((left, bottom, right, top)), axis=1))
        self._boxes: list[Rectangle] = list(map(tuple, self._edges.tolist()))

    def words(self, start: int, end: int) -> str:
        """Return what is written from one character to before another, on one line."""
        if not self._lacks_spaces:
            return _normal(self.text[start:end])
        missing = [gap.start for gap in self.gaps_in(start, end) if gap.start == gap.end]
        return " ".join(_normal(self.text[one:other]) for one, other in pairwise((start, *missing, end)))

    def gaps_in(self, start: int, end: int) -> list[Gap]:
        """Return the gaps between words from one character to before another."""
        return self._gaps[bisect_right(self._starts, start) : bisect_left(self._starts, end)]

    def _all_gaps(self) -> list[Gap]:
        """Return the gaps within lines, those without a space too, where two letters or digits are apart."""
        spans = [gap.span() for gap in _GAP.finditer(self.text)]
        missing = self._apart()
        if missing:
            spans = sorted([*spans, *zip(missing, missing, strict=True)])
        if not spans:
            return []
        starts, ends = np.array(spans).T
        before, after = self._edges[starts - 1], self._edges[ends]
        is_turn = (after[:, 0] < before[:, 0]) & ((after[:, 3] <= before[:, 1]) | (before[:, 3] <= after[:, 1]))
        widths = after[:, 0] - before[:, 2]
        if _LEFTWARDS.search(self.text):
            for place, (start, end) in enumerate(spans):
                beside = self.text[start - 1 : end + 1]
                if _VOWEL_SIGN.search(beside):  # whose box is anywhere
                    widths[place], is_turn[place] = 0.0, False
                elif after[place, 0] < before[place, 0] and _LEFTWARDS.search(beside):
                    widths[place] = before[place, 0] - after[place, 2]
        return list(map(Gap, starts.tolist(), ends.tolist(), widths.tolist(), is_turn.tolist()))

    def _apart(self) -> list[int]:
        """Return the letters and digits that are not beside the one before them, although there is no space between.

        pdfium leaves out spaces where one font follows another, and between numbers beside a plot, which may even be
        one above the other.
        """
        (left, bottom, right, top), (left2, bottom2, right2, top2) = self._edges[:-1].T, self._edges[1:].T
        height = np.maximum(top - bottom, top2 - bottom2)
        apart = np.maximum.reduce([left2 - right, left - right2, bottom2 - top, bottom - top2])
        is_level = np.abs(bottom2 - bottom) < _LEVEL * height
        is_apart = apart > np.where(is_level, _MIN_SPACE, _MIN_LEAP) * height
        # Digits on the way up, of a turned label, do not overlap.
        overlap = np.minimum(top, top2) - np.maximum(bottom, bottom2)
        goes_back = ~is_level & (left2 < left + _JITTER * height) & (overlap > _MIN_SPACE * height)
        return [
            at
            for at in (np.flatnonzero(is_apart | goes_back) + 1).tolist()
            if (_ENDS_WORD if is_apart[at - 1] else _DIGITS).match(self.text, at - 1)
        ]

    def place(self, box: tuple[N, N, N, N]) -> tuple[N, N, N, N]:
        """Return where a rectangle of the sheet, or the edges of many, are on the page as it is read."""
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


def _joined(halves: str) -> str:
    return halves.encode("utf-16", "surrogatepass").decode("utf-16") + "\x03"


def _normal(piece: str) -> str:
    """Replace ligatures and remove soft hyphens, except at the line's end, where one shows that a word continues."""
    if piece.isascii() and piece.isprintable():
        return " ".join(piece.split())
    words = _INNER_SOFT_HYPHEN.sub("", piece.translate(_REPLACED))
    return one_line(_OVERSTRUCK.sub(lambda found: unicodedata.normalize("NFC", found[1] + "\u0338"), words))
