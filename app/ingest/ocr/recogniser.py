"""What recognisers return: lines of words, in pixels of the picture."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from PIL.Image import Image

CELL_GAP = 1.5  # width of a gap that divides a line, in letter sizes


@dataclass(frozen=True, slots=True)
class Word:
    """A word, its rectangle in pixels from the picture's upper left corner, and its confidence from 0 to 1."""

    text: str
    left: float
    top: float
    right: float
    bottom: float
    confidence: float

    @property
    def center(self) -> tuple[float, float]:
        return (self.left + self.right) / 2, (self.top + self.bottom) / 2


@dataclass(frozen=True, slots=True)
class TextLine:
    """Words side by side without wide gaps, and the size of their letters in pixels."""

    words: tuple[Word, ...]
    size: float

    @property
    def text(self) -> str:
        return " ".join(word.text for word in self.words)

    @property
    def confidence(self) -> float:
        """Return the mean confidence of the letters."""
        weights = [len(word.text) for word in self.words]
        pairs = zip(self.words, weights, strict=True)
        return sum(word.confidence * weight for word, weight in pairs) / max(sum(weights), 1)


class Recogniser(Protocol):
    @property
    def name(self) -> str: ...

    def knows(self, letter: str) -> bool:
        """Whether it reads letters of this script."""

    def turn(self, picture: Image) -> int:
        """Return the degrees, counterclockwise, by which the picture must be turned to stand upright."""

    def lines(self, picture: Image) -> Sequence[TextLine]:
        """Return the lines of an upright picture in any order."""
