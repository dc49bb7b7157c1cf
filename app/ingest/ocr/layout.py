"""Recognised lines in reading order, straightened, as the lines of a page."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import median

from propcite.app.ingest.ocr.recogniser import TextLine, Word
from propcite.app.ingest.readers.draft import one_line
from propcite.app.ingest.readers.pdf.columns import rows_in_order
from propcite.app.ingest.readers.pdf.lines import Cell, Line, Part

_MIN_SKEW = 0.2  # degrees from which a page is straightened
_MIN_LONG = 8.0  # width of a line that shows the skew, in letter sizes
_SIZE_STEP = 1.3  # ratio of one letter size to the next smaller one
_WIDE_FORMS = re.compile("[\uff01-\uff5e]")  # Latin letters and punctuation as wide as Chinese letters


@dataclass(frozen=True, slots=True)
class Picture:
    """The picture of a page: its size in pixels when upright, how it was turned for that, and points per pixel."""

    page: int
    width: int
    height: int
    turn: int = 0
    scale: float = 1.0

    def as_shown(self, word: Word) -> tuple[float, float, float, float]:
        """Return the left, top, right and bottom edges of a word in shares of the page as it was before the turn."""
        left, right = word.left / self.width, word.right / self.width
        top, bottom = word.top / self.height, word.bottom / self.height
        match self.turn:
            case 90:
                return 1 - bottom, left, 1 - top, right
            case 180:
                return 1 - right, 1 - bottom, 1 - left, 1 - top
            case 270:
                return top, 1 - right, bottom, 1 - left
        return left, top, right, bottom


@dataclass(frozen=True, slots=True)
class _Piece:
    """A recognised line after straightening, in points from the lower left corner."""

    line: TextLine
    left: float
    right: float
    bottom: float
    top: float
    size: float


def page_lines(found: Sequence[TextLine], picture: Picture) -> list[Line]:
    """Return the lines of a page in reading order."""
    skew = _skew(found)
    pieces = [_straightened(line, skew, picture) for line in found]
    usual = median([piece.size for piece in pieces for _ in piece.line.text]) if pieces else 1.0
    return [_line(row, skew, usual, picture) for row in rows_in_order(pieces)]


def _skew(lines: Sequence[TextLine]) -> float:
    """Return the angle of the long lines in radians, clockwise; 0 if they are level."""
    slopes = []
    for line in lines:
        (left, start), (right, end) = line.words[0].center, line.words[-1].center
        if right - left > _MIN_LONG * line.size:
            slopes.append(math.atan2(end - start, right - left))
    skew = median(slopes) if slopes else 0.0
    return skew if abs(math.degrees(skew)) >= _MIN_SKEW else 0.0


def _straightened(line: TextLine, skew: float, picture: Picture) -> _Piece:
    x, y = picture.width / 2, picture.height / 2
    cos, sin = math.cos(skew), math.sin(skew)
    centers = [(word.center[0] - x, word.center[1] - y) for word in line.words]
    middle = y + median(dy * cos - dx * sin for dx, dy in centers)
    half_widths = [(word.right - word.left) / 2 for word in line.words]
    left = x + centers[0][0] * cos + centers[0][1] * sin - half_widths[0]
    right = x + centers[-1][0] * cos + centers[-1][1] * sin + half_widths[-1]
    half_height = median(word.bottom - word.top for word in line.words) / 2
    bottom, top = picture.height - middle - half_height, picture.height - middle + half_height
    return _Piece(line, *(edge * picture.scale for edge in (left, max(left, right), bottom, top, line.size)))


def _line(row: Sequence[_Piece], skew: float, usual: float, picture: Picture) -> Line:
    parts = [part for piece in row for part in _parts(piece.line, skew, picture)] if skew or picture.turn else []
    cells = tuple(Cell(_normal(piece.line.text), piece.left, piece.right, piece.size) for piece in row)
    return Line(
        text=" ".join(cell.text for cell in cells),
        page=picture.page,
        left=min(piece.left for piece in row),
        right=max(piece.right for piece in row),
        bottom=min(piece.bottom for piece in row),
        top=max(piece.top for piece in row),
        size=_snapped(max(piece.size for piece in row), usual),
        page_height=picture.height * picture.scale,
        page_width=picture.width * picture.scale,
        cells=cells,
        parts=tuple(parts),
    )


def _snapped(size: float, usual: float) -> float:
    """Return the nearest of a few letter sizes around the usual one: measured sizes of equal letters differ."""
    return float(usual * _SIZE_STEP ** round(math.log(size / usual, _SIZE_STEP))) if size > 0 else usual


def _parts(line: TextLine, skew: float, picture: Picture) -> Iterator[Part]:
    """Yield the line in parts, each so short that its rectangle covers no other line although the page is skewed."""
    drift = line.size / 2
    run = [line.words[0]]
    for word in line.words[1:]:
        if abs(math.tan(skew)) * (word.right - run[0].left) > drift:
            yield _part(run, picture)
            run = []
        run.append(word)
    yield _part(run, picture)


def _part(words: Sequence[Word], picture: Picture) -> Part:
    lefts, tops, rights, bottoms = zip(*map(picture.as_shown, words), strict=True)
    text = _normal(" ".join(word.text for word in words))
    return Part(text, min(lefts), min(tops), max(rights), max(bottoms))


def _normal(text: str) -> str:
    """Return the text on one line, with ligatures as letters and wide punctuation as plain in a text without Chinese.

    >>> _normal("the ﬁrst（of two）")
    'the first(of two)'
    """
    text = one_line(re.sub("[ﬀ-ﬆ]", lambda match: unicodedata.normalize("NFKC", match[0]), text))
    if any(unicodedata.east_asian_width(char) in "WF" and char.isalpha() for char in _WIDE_FORMS.sub("", text)):
        return text
    return _WIDE_FORMS.sub(lambda match: unicodedata.normalize("NFKC", match[0]), text)
