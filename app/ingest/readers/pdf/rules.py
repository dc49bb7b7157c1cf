"""The ruling lines of a PDF page, and the rectangle of them around each cell."""

from __future__ import annotations

import ctypes
import math
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from pypdfium2 import raw

_MAX_PATHS = 3000  # on a page; one with more is a drawing or a map
_MAX_POINTS = 500  # of a path; one with more is a curve
_MAX_WIDTH = 2.5  # points, of a line that is drawn as a filled rectangle
_MIN_LENGTH = 6.0  # points; shorter lines are ticks and strokes of letters
_TOUCH = 0.5  # points by which a line, whose place is rounded, may reach into the letters beside it
_SLACK = 2.0  # points by which lines that meet may miss each other
_DOUBLE = 3  # points between the borders of two cells side by side, at most

Rectangle = tuple[float, float, float, float]  # left, bottom, right, top
Ruling = tuple[int, float, float]  # the place of a line, where it starts and ends


class Frame(NamedTuple):
    """The nearest ruling lines on each side of some words; infinite where there is none."""

    left: float = -math.inf
    bottom: float = -math.inf
    right: float = math.inf
    top: float = math.inf

    @property
    def is_closed(self) -> bool:
        return all(map(math.isfinite, self))


OPEN = Frame()


class Rules:
    """The horizontal and vertical lines of a page, where `place` shows them."""

    def __init__(self, page: Any, place: Callable[[Rectangle], Rectangle]) -> None:
        lines = [place(line) for line in _thin(page)]
        level = [(round((b + t) / 2), left, right) for left, b, right, t in lines if right - left >= t - b]
        upright = [(round((left + r) / 2), b, t) for left, b, r, t in lines if r - left < t - b]
        if _are_double(level) and _are_double(upright):  # each cell has borders of its own
            level, upright = _single(level), _single(upright)
        self._level, self._upright = _merged(level), _merged(upright)

    def frame(self, box: Rectangle) -> Frame:
        """Return the lines around a box."""
        if not len(self._level) and not len(self._upright):
            return OPEN
        left, bottom, right, top = box
        x, y = (left + right) / 2, (bottom + top) / 2
        below, above = _nearest(self._level, x, y)
        before, after = _nearest(self._upright, y, x)
        return Frame(before, below, after, above)

    def divide(self, before: Rectangle, after: Rectangle) -> bool:
        """Whether a line stands between two letters of a line of text."""
        if not len(self._upright):
            return False
        y = (before[1] + before[3]) / 2
        x, start, end = self._upright.T
        return bool(((before[2] - _TOUCH <= x) & (x <= after[0] + _TOUCH) & (start <= y) & (y <= end)).any())


def _nearest(lines: npt.NDArray[np.float64], along: float, across: float) -> tuple[float, float]:
    """Return where the nearest lines that pass this place lie, before and after it."""
    if not len(lines):
        return -math.inf, math.inf
    passing = lines[(lines[:, 1] <= along) & (along <= lines[:, 2]), 0]
    before, after = passing[passing <= across], passing[passing > across]
    return float(before.max(initial=-math.inf)), float(after.min(initial=math.inf))


def _merged(lines: list[Ruling]) -> npt.NDArray[np.float64]:
    """Return the lines (place, start, end) with those joined that continue each other, as the edges of cells do."""
    joined: list[list[float]] = []
    for place, start, end in sorted(lines):
        if joined and joined[-1][0] == place and start <= joined[-1][2] + _SLACK:
            joined[-1][2] = max(joined[-1][2], end)
        else:
            joined.append([float(place), start, end])
    return np.array([line for line in joined if line[2] - line[1] >= _MIN_LENGTH]).reshape(-1, 3)


def _are_double(lines: list[Ruling]) -> bool:
    """Whether half of the lines or more have another one close beside them: the outermost of two columns have none."""
    places = sorted({place for place, _, _ in lines})
    close = {place for pair in pairwise(places) if pair[1] - pair[0] <= _DOUBLE for place in pair}
    return bool(lines) and 2 * sum(place in close for place, _, _ in lines) >= len(lines)


def _single(lines: list[Ruling]) -> list[Ruling]:
    """Return the lines with those that are close side by side at one place."""
    places: dict[int, int] = {}
    first: int | None = None
    for place in sorted({place for place, _, _ in lines}):
        if first is None or place - first > _DOUBLE:
            first = place
        places[place] = first
    return [(places[place], start, end) for place, start, end in lines]


def _thin(page: Any) -> Iterator[Rectangle]:
    """Yield the straight lines that are drawn on a page, as rectangles; none of a page that is a drawing."""
    paths = []
    for index in range(raw.FPDFPage_CountObjects(page)):
        drawn = raw.FPDFPage_GetObject(page, index)
        if raw.FPDFPageObj_GetType(drawn) == raw.FPDF_PAGEOBJ_PATH:
            paths.append(drawn)
    if len(paths) > _MAX_PATHS:
        return
    fill, stroke = ctypes.c_int(), ctypes.c_int()
    for path in paths:
        if not raw.FPDFPath_GetDrawMode(path, fill, stroke):
            continue
        box = _bounds(path)
        if min(box[2] - box[0], box[3] - box[1]) <= _MAX_WIDTH:
            yield box
        elif stroke.value and raw.FPDFPath_CountSegments(path) <= _MAX_POINTS:
            yield from _sides(path)
        elif fill.value and 5 < raw.FPDFPath_CountSegments(path) <= _MAX_POINTS:
            yield from _bars(path)


def _bounds(path: Any) -> Rectangle:
    left, bottom, right, top = (ctypes.c_float() for _ in range(4))
    if not raw.FPDFPageObj_GetBounds(path, left, bottom, right, top):
        return 0.0, 0.0, 0.0, 0.0
    return left.value, bottom.value, right.value, top.value


def _parts(path: Any) -> Iterator[list[tuple[float, float]]]:
    """Yield the corners of each part of a path; none of a part with curves."""
    matrix = raw.FS_MATRIX()
    raw.FPDFPageObj_GetMatrix(path, matrix)
    x, y = ctypes.c_float(), ctypes.c_float()
    corners: list[tuple[float, float]] = []
    is_straight = True
    for index in range(raw.FPDFPath_CountSegments(path)):
        segment = raw.FPDFPath_GetPathSegment(path, index)
        kind = raw.FPDFPathSegment_GetType(segment)
        if kind == raw.FPDF_SEGMENT_MOVETO:
            if is_straight and len(corners) > 1:
                yield corners
            corners, is_straight = [], True
        is_straight = is_straight and kind != raw.FPDF_SEGMENT_BEZIERTO
        raw.FPDFPathSegment_GetPoint(segment, x, y)
        corners.append(
            (matrix.a * x.value + matrix.c * y.value + matrix.e, matrix.b * x.value + matrix.d * y.value + matrix.f)
        )
        if raw.FPDFPathSegment_GetClose(segment):
            corners.append(corners[0])
    if is_straight and len(corners) > 1:
        yield corners


def _sides(path: Any) -> Iterator[Rectangle]:
    """Yield the level and upright sides of a stroked path."""
    for corners in _parts(path):
        for (x, y), (x2, y2) in pairwise(corners):
            if min(abs(x - x2), abs(y - y2)) <= 0.5:
                yield min(x, x2), min(y, y2), max(x, x2), max(y, y2)


def _bars(path: Any) -> Iterator[Rectangle]:
    """Yield the thin parts of a filled path: a program may draw all lines of a table at once."""
    for corners in _parts(path):
        xs, ys = zip(*corners, strict=True)
        box = min(xs), min(ys), max(xs), max(ys)
        if min(box[2] - box[0], box[3] - box[1]) <= _MAX_WIDTH:
            yield box
