"""Recognised lines in reading order, straightened, as the lines of a page."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import median

import numpy as np

from propcite.app.ingest.ocr.recogniser import TextLine, Word
from propcite.app.ingest.readers.draft import one_line
from propcite.app.ingest.readers.pdf.lines import Cell, Line, Part

_MIN_SKEW = 0.2  # degrees from which a page is straightened
_GUTTER = 0.8  # width of the gap between columns, in letter sizes
_MIN_COLUMN = 8.0  # width of half of the lines of a column of text, in letter sizes; cells of tables are narrower
_MIN_LINES = 3  # of a column
_MAX_CROSSING = 0.3  # share of the lines that may cross a gutter, as headings do
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
    """A recognised line after straightening, in pixels from the upper left corner."""

    line: TextLine
    left: float
    right: float
    top: float
    bottom: float
    size: float

    @property
    def middle(self) -> float:
        return (self.top + self.bottom) / 2


def page_lines(found: Sequence[TextLine], picture: Picture) -> list[Line]:
    """Return the lines of a page in reading order."""
    skew = _skew(found)
    pieces = [_straightened(line, skew, picture) for line in found]
    usual = median([piece.size for piece in pieces for _ in piece.line.text]) if pieces else 1.0
    return [_line(row, skew, usual, picture) for row in _rows_in_order(pieces)]


def _skew(lines: Sequence[TextLine]) -> float:
    """Return the angle of the long lines in radians, clockwise; 0 if they are level."""
    slopes = []
    for line in lines:
        (left, start), (right, end) = line.words[0].center, line.words[-1].center
        if right - left > _MIN_COLUMN * line.size:
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
    return _Piece(line, left, max(left, right), middle - half_height, middle + half_height, line.size)


def _rows_in_order(pieces: Sequence[_Piece]) -> Iterator[list[_Piece]]:
    """Yield the rows of the page, one column after the other; lines across the gutter stand between columns."""
    gutter = _gutter(pieces)
    if gutter is None:
        yield from _rows(pieces)
        return
    left: list[_Piece] = []
    right: list[_Piece] = []
    across: list[_Piece] = []
    for piece in sorted(pieces, key=lambda piece: piece.middle):
        is_left, is_right = piece.right <= gutter, piece.left >= gutter
        if (is_left or is_right) and across:
            yield from _rows(across)
            across = []
        if is_left or is_right:
            (left if is_left else right).append(piece)
            continue
        yield from _rows_in_order(left)
        yield from _rows_in_order(right)
        left, right = [], []
        across.append(piece)
    yield from _rows(across)
    yield from _rows_in_order(left)
    yield from _rows_in_order(right)


def _gutter(pieces: Sequence[_Piece]) -> float | None:
    """Return where a strip without words divides columns of text; None if there is one column or a table."""
    if len(pieces) < 2 * _MIN_LINES:
        return None
    lefts, rights = (np.array([getattr(piece, side) for piece in pieces]) for side in ("left", "right"))
    tops, bottoms = (np.array([getattr(piece, side) for piece in pieces]) for side in ("top", "bottom"))
    size = median(piece.size for piece in pieces)
    best, fewest = None, _MAX_CROSSING * len(pieces)
    for start in np.unique(lefts.round()):
        is_left, is_right = rights <= start - _GUTTER * size, lefts >= start - 1
        crossing = len(pieces) - int(is_left.sum()) - int(is_right.sum())
        if crossing >= fewest or min(is_left.sum(), is_right.sum()) < _MIN_LINES:
            continue
        widths = [float(np.median((rights - lefts)[side])) for side in (is_left, is_right)]
        beside = min(bottoms[is_left].max(), bottoms[is_right].max()) - max(tops[is_left].min(), tops[is_right].min())
        if min(widths) >= _MIN_COLUMN * size and beside > _MIN_LINES * size:
            best, fewest = float(start) - _GUTTER * size / 2, crossing
    return best


def _rows(pieces: Sequence[_Piece]) -> Iterator[list[_Piece]]:
    """Yield the pieces that are side by side, from top to bottom, each row from left to right."""
    row: list[_Piece] = []
    for piece in sorted(pieces, key=lambda piece: piece.middle):
        if row and piece.middle - row[-1].middle > 0.4 * min(piece.size, row[-1].size):
            yield sorted(row, key=lambda piece: piece.left)
            row = []
        row.append(piece)
    if row:
        yield sorted(row, key=lambda piece: piece.left)


def _line(row: Sequence[_Piece], skew: float, usual: float, picture: Picture) -> Line:
    scale, size = picture.scale, _snapped(max(piece.size for piece in row), usual)
    cells = [Cell(_normal(piece.line.text), piece.left * scale, piece.right * scale, size * scale) for piece in row]
    parts = [part for piece in row for part in _parts(piece.line, skew, picture)] if skew or picture.turn else []
    return Line(
        text=" ".join(cell.text for cell in cells),
        page=picture.page,
        left=min(piece.left for piece in row) * scale,
        right=max(piece.right for piece in row) * scale,
        bottom=(picture.height - max(piece.bottom for piece in row)) * scale,
        top=(picture.height - min(piece.top for piece in row)) * scale,
        size=size * scale,
        page_height=picture.height * scale,
        page_width=picture.width * scale,
        cells=tuple(cells),
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
