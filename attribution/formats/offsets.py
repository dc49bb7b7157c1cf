"""Places in a text counted in code points, in UTF-16 code units, or in bytes of UTF-8; and back."""

from __future__ import annotations

from enum import StrEnum

import numpy as np
import numpy.typing as npt

from propcite.retrieval.text import Span


class Unit(StrEnum):
    """What an offset counts: Python's characters, JavaScript's and Java's, or the bytes of a file."""

    CODE_POINTS = "code-points"
    UTF_16 = "utf-16"
    BYTES = "bytes"


class Offsets:
    """The places of one text in another unit; one pass over the text, then each is a look-up.

    Half a character (a lone surrogate) counts as the � that is written for it: one code unit, three bytes.

    >>> Offsets("a😀b", Unit.UTF_16).of(2), Offsets("a😀b", Unit.BYTES).of(2), Offsets("a😀b", Unit.BYTES).back(5)
    (3, 5, 2)
    """

    def __init__(self, text: str, unit: Unit) -> None:
        self.length = len(text)
        self.unit = unit
        self._places = None if unit is Unit.CODE_POINTS or text.isascii() else _places(text, unit)

    def of(self, point: int) -> int:
        """The offset of a code point's place; the text's end is a place too."""
        if not 0 <= point <= self.length:
            raise ValueError(f"{point} does not lie in a text of {self.length} characters")
        return point if self._places is None else int(self._places[point])

    def back(self, offset: int) -> int:
        """The code point's place of an offset; one inside a character is an error, never rounded."""
        point = offset if self._places is None else int(np.searchsorted(self._places, offset))
        if not 0 <= point <= self.length or self.of(point) != offset:
            raise ValueError(f"no character begins or ends at offset {offset} ({self.unit})")
        return point

    def pair(self, span: Span) -> tuple[int, int]:
        return self.of(span.start), self.of(span.end)

    def span(self, start: int, end: int) -> Span:
        return Span(self.back(start), self.back(end))


def _places(text: str, unit: Unit) -> npt.NDArray[np.int64]:
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype="<u4")
    steps = (0x10000,) if unit is Unit.UTF_16 else (0x80, 0x800, 0x10000)
    places = np.zeros(len(codes) + 1, dtype=np.int64)
    np.cumsum(1 + sum((codes >= step).astype(np.int64) for step in steps), out=places[1:])
    return places
