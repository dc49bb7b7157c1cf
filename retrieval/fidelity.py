"""How much of a source the text of its document holds: what is missing, and what was recognised in pictures."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

PAGE, BLOCK = 2000, 300  # characters of a usual page and of a usual block


@dataclass(frozen=True, slots=True)
class Fidelity:
    """Figures of a document's text, all zero where nothing is known to be missing or recognised.

    `ocr_confidence` is the mean confidence of the recognised words, from 0 to 100, and 0 where it is not known.

    >>> Fidelity.of({"pages": "10", "pages_without_text": "3", "lost_characters": "1"}).line
    '3 of 10 pages have no text, 1 character could not be read'
    """

    pages: int = 0
    pages_without_text: int = 0
    pages_left_out: int = 0
    lost_characters: int = 0
    dropped_blocks: int = 0
    ocr_pages: int = 0
    ocr_confidence: float = 0.0

    @classmethod
    def of(cls, metadata: Mapping[str, Any]) -> Fidelity:
        """Read the figures in a document's metadata; what is no number counts as 0."""
        figures = {field.name: _number(metadata.get(field.name)) for field in fields(cls)}
        confidence = figures.pop("ocr_confidence")
        return cls(**{name: int(figure) for name, figure in figures.items()}, ocr_confidence=min(confidence, 100.0))

    @property
    def is_whole(self) -> bool:
        """Whether nothing is known to be missing or recognised."""
        return not self.line

    @property
    def line(self) -> str:
        """Say in one line what is missing and what was recognised; empty for a whole document."""
        return ", ".join(filter(None, [self._pages_line, self._left_out_line, self._blocks_line, self.doubt]))

    @property
    def doubt(self) -> str:
        """Say why the words of a quote may differ from the source; empty where no reason is known.

        >>> Fidelity(pages=9, ocr_pages=2, ocr_confidence=91.3).doubt
        'the text of 2 of 9 pages was recognised in pictures (91% sure)'
        """
        return ", ".join(filter(None, [self._lost_line, self._recognised_line]))

    @property
    def loss(self) -> int:
        """Estimate how many characters are missing or wrong, to find the worst documents."""
        wrong = (100 - (self.ocr_confidence or 90)) / 100 * PAGE * self.ocr_pages
        pages = self.pages_without_text + self.pages_left_out
        return PAGE * pages + BLOCK * self.dropped_blocks + self.lost_characters + round(wrong)

    @property
    def _pages_line(self) -> str:
        number = self.pages_without_text
        return f"{self._of_pages(number)} {_have(number)} no text" if number else ""

    @property
    def _left_out_line(self) -> str:
        number = self.pages_left_out
        return f"the last {_counted(number, 'page')} {_were(number)} not read" if number else ""

    @property
    def _lost_line(self) -> str:
        return f"{_counted(self.lost_characters, 'character')} could not be read" if self.lost_characters else ""

    @property
    def _blocks_line(self) -> str:
        number = self.dropped_blocks
        return f"{_counted(number, 'block')} {_were(number)} left out" if number else ""

    @property
    def _recognised_line(self) -> str:
        if not self.ocr_pages:
            return ""
        sure = f" ({int(self.ocr_confidence)}% sure)" if self.ocr_confidence else ""
        return f"the text of {self._of_pages(self.ocr_pages)} was recognised in pictures{sure}"

    def _of_pages(self, number: int) -> str:
        return f"{number:,} of {_counted(self.pages, 'page')}" if self.pages > 1 else _counted(number, "page")


WHOLE = Fidelity()
LOSSES = tuple(field.name for field in fields(Fidelity) if field.name not in ("pages", "ocr_confidence"))


def _number(value: object) -> float:
    """Return a figure of metadata; 0 if it is none.

    >>> _number("12"), _number(None), _number("many"), _number("-1"), _number("nan")
    (12.0, 0.0, 0.0, 0.0, 0.0)
    """
    try:
        number = float(str(value))
    except ValueError:
        return 0.0
    return number if 0 <= number < 1e12 else 0.0


def _counted(number: int, thing: str) -> str:
    return f"{number:,} {thing}{'s' * (number != 1)}"


def _have(number: int) -> str:
    return "has" if number == 1 else "have"


def _were(number: int) -> str:
    return "was" if number == 1 else "were"
