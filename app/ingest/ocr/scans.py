"""The scanned pages of one document: read one by one, with how surely they were read."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from propcite.app.ingest.ocr.choosing import recogniser
from propcite.app.ingest.ocr.layout import Picture, page_lines
from propcite.app.ingest.ocr.recogniser import Recogniser
from propcite.retrieval.text import Page, Place

if TYPE_CHECKING:
    from PIL.Image import Image

    from propcite.app.ingest.readers.pdf.lines import Line

PLACE = "recognised text"  # the name of places whose words were recognised in a picture
MAX_PIXELS = 12_000_000  # of a picture in which text is recognised; larger ones are made smaller
_MIN_CONFIDENCE = 0.5  # of a line
_MIN_INK = 20  # pixels that differ from the background, on a page that is not blank


@dataclass(slots=True)
class Scans:
    """Reads scanned pages.  `read` are the numbers of the pages with recognised text, `unread` of those left unread."""

    recogniser: Recogniser | None = field(default_factory=recogniser)
    read: list[int] = field(default_factory=list)
    unread: list[int] = field(default_factory=list)
    _confidences: list[float] = field(default_factory=list)

    def lines(self, picture: Image, page: int, width: float) -> list[Line]:
        """Return the lines of a page whose width is given in points.

        A blank page has none.  A page without a line that is sure enough is noted as unread.
        """
        if _is_blank(picture):
            return []
        if self.recogniser is None:
            self.unread.append(page)
            return []
        scale = width / picture.width
        if (shrink := (MAX_PIXELS / (picture.width * picture.height)) ** 0.5) < 1:
            size = max(1, int(picture.width * shrink)), max(1, int(picture.height * shrink))
            picture, scale = picture.resize(size), scale / shrink
        turn = self.recogniser.turn(picture)
        upright = picture.rotate(turn, expand=True) if turn else picture
        found = list(self.recogniser.lines(upright))
        sure = [line for line in found if line.confidence >= _MIN_CONFIDENCE]
        if not any(char.isalnum() for line in found for char in line.text):
            sure, found = [], []  # a black square is recognised as ■
        if sure:
            self.read.append(page)
            self._confidences += [word.confidence for line in sure for word in line.words]
        elif found:
            self.unread.append(page)
        return page_lines(sure, Picture(page, upright.width, upright.height, turn, scale))

    def places(self, pages: Iterable[Page]) -> list[Place]:
        """Return a place for each page whose words were recognised, so that a citation from it says so."""
        return [Place(PLACE, page.span) for page in pages if page.number in self.read]

    @property
    def metadata(self) -> dict[str, str]:
        """Return how many pages were recognised and how surely; empty if none was."""
        if not self._confidences:
            return {}
        mean = sum(self._confidences) / len(self._confidences)
        return {"ocr_pages": str(len(self.read)), "ocr_confidence": f"{100 * mean:.1f}"}


def _is_blank(picture: Image) -> bool:
    """Whether a picture has one colour only, apart from a few specks."""
    gray = np.asarray(picture.convert("L"))
    return int((np.abs(gray.astype(np.int16) - int(np.median(gray))) > 32).sum()) < _MIN_INK
