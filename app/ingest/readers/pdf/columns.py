"""The reading order that the places of a page's lines show: rows from top to bottom, one column after the other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from statistics import median
from typing import Protocol, TypeVar

import numpy as np

_GUTTER = 0.8  # width of the gap between columns, in letter sizes
_MIN_COLUMN = 8.0  # width of half of the lines of a column of text, in letter sizes; cells of tables are narrower
_MIN_LINES = 3  # of a column
_MAX_CROSSING = 0.3  # share of the lines that may cross a gutter, as headings do
_JITTER = 0.25  # letter sizes between the left edges of lines of one column; those of scans are never the same
_SAME_ROW = 0.4  # of the letter size, by which the middles of lines side by side may differ
_NEXT_LINE = 2.2  # letter sizes from a line to the one below it, at most
_NEXT_WORD = 1.5  # letter sizes to the next word of a row, at most


class Placed(Protocol):
    @property
    def left(self) -> float: ...
    @property
    def right(self) -> float: ...
    @property
    def bottom(self) -> float: ...
    @property
    def top(self) -> float: ...
    @property
    def size(self) -> float: ...


P = TypeVar("P", bound=Placed)


def rows_in_order(pieces: Sequence[P]) -> Iterator[list[P]]:
    """Yield the rows of a page, one column after the other; rows across a gutter stand between columns."""
    gutter = _gutter(pieces)
    if gutter is None:
        yield from rows(pieces)
        return
    left: list[P] = []
    right: list[P] = []
    across: list[P] = []
    for piece in sorted(pieces, key=_middle, reverse=True):
        is_left, is_right = piece.right <= gutter, piece.left >= gutter
        if (is_left or is_right) and across:
            yield from rows(across)
            across = []
        if is_left or is_right:
            (left if is_left else right).append(piece)
            continue
        yield from rows_in_order(left)
        yield from rows_in_order(right)
        left, right = [], []
        across.append(piece)
    yield from rows(across)
    yield from rows_in_order(left)
    yield from rows_in_order(right)


def rows(pieces: Sequence[P]) -> Iterator[list[P]]:
    """Yield the pieces that are side by side, from top to bottom, each row from left to right.

    The widest piece of a row shows its height: the marks of a plot, one a little below the other, are no row.
    """
    row: list[P] = []
    widest: P | None = None
    for piece in sorted(pieces, key=_middle, reverse=True):
        if widest and _middle(widest) - _middle(piece) > _SAME_ROW * min(piece.size, widest.size):
            yield sorted(row, key=lambda piece: piece.left)
            row, widest = [], None
        row.append(piece)
        if widest is None or piece.right - piece.left > widest.right - widest.left:
            widest = piece
    if row:
        yield sorted(row, key=lambda piece: piece.left)


def neighbours(pieces: Sequence[P]) -> float:
    """Return the width of the pieces that stand below or beside the one before them: the more, the better is the order.

    A pair has the width of its narrower piece, so that the marks of a plot count less than the text beside it.
    """
    return sum(_width(one, other) for one, other in pairwise(pieces) if _is_next(one, other))


def most_neighbours(pieces: Sequence[P]) -> float:
    """Return what `neighbours` would be if each piece stood below or beside the one before."""
    return sum(_width(one, other) for one, other in pairwise(pieces))


def _is_next(one: Placed, other: Placed) -> bool:
    size = max(one.size, other.size)
    if abs(_middle(one) - _middle(other)) <= _SAME_ROW * size:
        return -0.5 * size <= other.left - one.right <= _NEXT_WORD * size
    is_below = 0 < one.bottom - other.bottom <= _NEXT_LINE * size
    return is_below and other.left < one.right and one.left < other.right


def _width(one: Placed, other: Placed) -> float:
    return min(one.right - one.left, other.right - other.left)


def _middle(piece: Placed) -> float:
    return (piece.top + piece.bottom) / 2


def _gutter(pieces: Sequence[Placed]) -> float | None:
    """Return where a strip without words divides columns of text; None if there is one column or a table."""
    if len(pieces) < 2 * _MIN_LINES:
        return None
    lefts, rights = (np.array([getattr(piece, side) for piece in pieces]) for side in ("left", "right"))
    tops, bottoms = (np.array([getattr(piece, side) for piece in pieces]) for side in ("top", "bottom"))
    size = median(piece.size for piece in pieces)
    best, fewest = None, _MAX_CROSSING * len(pieces)
    ordered = np.sort(lefts)
    shared = ordered[:-1][np.diff(ordered) <= _JITTER * size]  # edges at which more than one piece begins
    for start in np.unique(shared.round()).tolist():
        is_left, is_right = rights <= start - _GUTTER * size, lefts >= start - 1
        crossing = len(pieces) - int(is_left.sum()) - int(is_right.sum())
        if crossing >= fewest or min(is_left.sum(), is_right.sum()) < _MIN_LINES:
            continue
        widths = [float(np.median((rights - lefts)[side])) for side in (is_left, is_right)]
        beside = min(tops[is_left].max(), tops[is_right].max()) - max(bottoms[is_left].min(), bottoms[is_right].min())
        if min(widths) >= _MIN_COLUMN * size and beside > _MIN_LINES * size:
            best, fewest = start - _GUTTER * size / 2, crossing
    return best
