"""Convert offsets in a text between code points, UTF-16 code units and bytes of UTF-8."""

from __future__ import annotations

from enum import StrEnum

import numpy as np
import numpy.typing as npt

from propcite.retrieval.text import Span


class Unit(StrEnum):
    """The unit of an offset: characters of Python, characters of JavaScript and Java, or bytes of a file."""

    CODE_POINTS = "code-points"
    UTF_16 = "utf-16"
    BYTES = "bytes"


class Offsets:
    """The offsets of one text in another unit: one pass over the text, then a lookup per offset.

    A lone surrogate counts as the � that is written in its place: one code unit, three bytes.

    >>> Offsets("a😀b", Unit.UTF_16).of(2), Offsets("a😀b", Unit.BYTES).of(2), Offsets("a😀b", Unit.BYTES).back(5)
    (3, 5, 2)
    """

    def __init__(self, text: str, unit: Unit) -> None:
        self.length = len(text)
        self.unit = unit
        self._by_point = None if unit is Unit.CODE_POINTS or text.isascii() else _offsets(text, unit)

    def of(self, point: int) -> int:
        """Return the offset of a code point; the end of the text has one too."""
        if not 0 <= point <= self.length:
            raise ValueError(f"{point} does not lie in a text of {self.length} characters")
        return point if self._by_point is None else int(self._by_point[point])

    def back(self, offset: int) -> int:
        """Return the code point of an offset; raise ValueError for an offset inside a character."""
        point = offset if self._by_point is None else int(np.searchsorted(self._by_point, offset))
        if not 0 <= point <= self.length or self.of(point) != offset:
            raise ValueError(f"no character begins or ends at offset {offset} ({self.unit})")
        return point

    def pair(self, span: Span) -> tuple[int, int]:
        return self.of(span.start), self.of(span.end)

    def span(self, start: int, end: int) -> Span:
        return Span(self.back(start), self.back(end))


def _offsets(text: str, unit: Unit) -> npt.NDArray[np.int64]:
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype="<u4")
    # A code point needs one unit more from each of these values on.
    steps = (0x10000,) if unit is Unit.UTF_16 else (0x80, 0x800, 0x10000)
    offsets = np.zeros(len(codes) + 1, dtype=np.int64)
    np.cumsum(1 + sum((codes >= step).astype(np.int64) for step in steps), out=offsets[1:])
    return offsets
