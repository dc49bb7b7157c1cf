"""The skew of a scanned page: the angle at which its lines of text are level."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from propcite.app.ingest.ocr.recogniser import TextLine, Word

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from PIL.Image import Image

_MAX_SKEW = 8.0  # degrees
_STEPS = (1.0, 0.25, 0.05)  # degrees between the angles that are tried, each around the best so far
_SIDE = 1200  # pixels of the longer side of the picture in which the skew is measured


def skew_of(picture: Image) -> float:
    """Return the degrees, counterclockwise, by which the picture is to be turned to be level; 0 without ink.

    At the right angle the ink lies in rows with gaps between them, so that the number of dark pixels changes most from
    one row to the next.
    """
    small = picture.convert("L")
    small.thumbnail((_SIDE, _SIDE))
    gray = np.asarray(small)
    rows, columns = np.nonzero(gray < (int(gray.min()) + int(np.median(gray))) / 2)
    if not len(rows):
        return 0.0
    best, around = 0.0, _MAX_SKEW
    for step in _STEPS:
        best = max(_angles(best, around, step), key=lambda angle: _contrast(rows, columns, angle))
        around = step
    return best


def _angles(middle: float, around: float, step: float) -> Iterable[float]:
    number = round(around / step)
    return sorted((middle + step * place for place in range(-number, number + 1)), key=abs)


def _contrast(rows: NDArray[np.int64], columns: NDArray[np.int64], angle: float) -> float:
    """Return how much the ink of adjacent rows differs once the picture is turned by the angle."""
    level = np.rint(rows - columns * math.tan(math.radians(angle))).astype(np.int64)
    return float(np.square(np.diff(np.bincount(level - level.min()))).sum())


def levelled(picture: Image, angle: float) -> Image:
    """Return the picture turned by the angle, as large as it needs to be, on white."""
    from PIL.Image import Resampling

    return picture.rotate(angle, Resampling.BICUBIC, expand=True, fillcolor="white")


def turned_back(lines: Sequence[TextLine], level: Image, angle: float, picture: Image) -> list[TextLine]:
    """Return the lines of a picture that was levelled, with their words where they are in the picture."""
    x, y = picture.width / 2, picture.height / 2
    cos, sin = math.cos(math.radians(angle)), math.sin(math.radians(angle))

    def back(word: Word) -> Word:
        dx, dy = word.center[0] - level.width / 2, word.center[1] - level.height / 2
        across, down = x + dx * cos - dy * sin, y + dx * sin + dy * cos
        width, height = (word.right - word.left) / 2, (word.bottom - word.top) / 2
        return replace(word, left=across - width, top=down - height, right=across + width, bottom=down + height)

    return [replace(line, words=tuple(map(back, line.words))) for line in lines]
