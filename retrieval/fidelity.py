"""How much of a source the text of its document holds: what is missing, and what was recognised in pictures."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

PAGE, BLOCK = 2000, 300  # characters of a usual page and of a usual block
PERCENTS = ("ocr_confidence", "layer_agreement")  # the figures that are percents rather than numbers of things
_UNKNOWN = 90.0  # percent of right characters where nothing says how many are


@dataclass(frozen=True, slots=True)
class Fidelity:
    """Figures of a document's text, all zero where nothing is known to be missing or recognised.

    `ocr_confidence` is the mean confidence of the recognised words, from 0 to 100, and 0 where it is not known.  An OCR
    layer is text that another program recognised in a page and laid invisibly over it: `layer_pages` have one of whose
    words `layer_agreement` percent were found in the picture, `unchecked_layers` one that was not compared, and
    `wrong_layers` had one that said something else than the page, which was recognised again.

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
    layer_pages: int = 0
    layer_agreement: float = 0.0
    unchecked_layers: int = 0
    wrong_layers: int = 0

    @classmethod
    def of(cls, metadata: Mapping[str, Any]) -> Fidelity:
        """Read the figures in a document's metadata; what is no number counts as 0."""
        figures: dict[str, Any] = {field.name: _number(metadata.get(field.name)) for field in fields(cls)}
        for name, figure in figures.items():
            figures[name] = min(figure, 100.0) if name in PERCENTS else int(figure)
        return cls(**figures)

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
        layers = self._layer_line, self._unchecked_line, self._wrong_line
        return ", ".join(filter(None, [self._lost_line, self._recognised_line, *layers]))

    @property
    def loss(self) -> int:
        """Estimate how many characters are missing or wrong, to find the worst documents."""
        wrong = _wrong(self.ocr_pages, self.ocr_confidence) + _wrong(self.layer_pages, self.layer_agreement)
        wrong += _wrong(self.unchecked_layers + self.wrong_layers)
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

    @property
    def _layer_line(self) -> str:
        if not self.layer_pages:
            return ""
        found = f" ({int(self.layer_agreement)}% of its words found in the pictures)" if self.layer_agreement else ""
        return f"the text of {self._of_pages(self.layer_pages)} is an OCR layer{found}"

    @property
    def _unchecked_line(self) -> str:
        number = self.unchecked_layers
        return f"the text of {self._of_pages(number)} is an OCR layer that was not checked" if number else ""

    @property
    def _wrong_line(self) -> str:
        number = self.wrong_layers
        return f"the OCR layer of {self._of_pages(number)} said something else than the page" if number else ""

    def _of_pages(self, number: int) -> str:
        return f"{number:,} of {_counted(self.pages, 'page')}" if self.pages > 1 else _counted(number, "page")


WHOLE = Fidelity()
LOSSES = tuple(field.name for field in fields(Fidelity) if field.name not in ("pages", *PERCENTS))


def _wrong(pages: int, percent: float = 0.0) -> float:
    """Estimate how many characters of recognised pages are wrong."""
    return (100 - (percent or _UNKNOWN)) / 100 * PAGE * pages


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
