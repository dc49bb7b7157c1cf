"""The scanned pages of one document: read one by one, with how surely they were read, and layers of text compared."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from statistics import fmean as mean
from typing import TYPE_CHECKING

import numpy as np

from propcite.app.ingest.ocr.choosing import recogniser
from propcite.app.ingest.ocr.layout import Picture, page_lines
from propcite.app.ingest.ocr.recogniser import Recogniser, TextLine
from propcite.app.ingest.ocr.text_layers import agreement, can_be_compared, is_alike, sample_agreement
from propcite.retrieval.text import Page, Place

if TYPE_CHECKING:
    from PIL.Image import Image

    from propcite.app.ingest.readers.pdf.lines import Line

PLACE = "recognised text"  # the name of places whose words were recognised in a picture
MAX_PIXELS = 12_000_000  # of a picture in which text is recognised; larger ones are made smaller
_MIN_CONFIDENCE = 0.5  # of a line
_SURE = 0.85  # confidence of a page whose words are better than those of its layer
_FEW_LETTERS = 200  # of a layer that may have a small part of its page only
_MUCH_MORE = 1.5  # letters on such a page for each one in its layer
_MIN_INK = 20  # pixels that differ from the background, on a page that is not blank


@dataclass(frozen=True, slots=True)
class _Recognised:
    """What is recognised on a page: its lines, the words of those that are sure enough, and whether it has others."""

    page: int
    lines: list[Line]
    sure: list[TextLine]
    has_unsure: bool

    @property
    def confidences(self) -> list[float]:
        return [word.confidence for line in self.sure for word in line.words]

    @property
    def text(self) -> str:
        return " ".join(line.text for line in self.sure)


@dataclass(slots=True)
class Scans:
    """Reads scanned pages, and compares layers of text with the pictures below which they lie.

    `read` are the numbers of the pages with recognised text, `unread` of those left unread; `wrong` of those whose
    layer says something else than the page, `unchecked` of those whose layer is kept without a comparison that is sure.
    """

    recogniser: Recogniser | None = field(default_factory=recogniser)
    read: list[int] = field(default_factory=list)
    unread: list[int] = field(default_factory=list)
    wrong: list[int] = field(default_factory=list)
    unchecked: list[int] = field(default_factory=list)
    _confidences: list[float] = field(default_factory=list)
    _agreements: list[float] = field(default_factory=list)

    def lines(self, picture: Image, page: int, width: float) -> list[Line]:
        """Return the lines of a page whose width is given in points.

        A blank page has none.  A page without a line that is sure enough is noted as unread.
        """
        if _is_blank(picture):
            return []
        if self.recogniser is None:
            self.unread.append(page)
            return []
        return self._noted(_recognised(self.recogniser, picture, page, width))

    def layer_lines(self, layer: list[Line], picture: Image, page: int, width: float) -> list[Line]:
        """Return a page's layer of text if some of its lines are in the picture, else the lines of the picture.

        The layer is kept too where the recogniser does not know its script, or is not sure of the page.
        """
        if self.recogniser is None or not can_be_compared(layer, self.recogniser):
            self.unchecked.append(page)
            return layer
        if _is_blank(picture):
            self.wrong.append(page)
            return []
        num_letters = sum(len(line.text) for line in layer)
        share = 0.0 if num_letters <= _FEW_LETTERS else sample_agreement(layer, picture, self.recogniser)
        if not is_alike(share):
            own = _recognised(self.recogniser, picture, page, width)
            share = agreement(layer, own.text)
            is_sure = mean(own.confidences or [0.0]) >= _SURE
            if is_sure and not is_alike(share):
                self.wrong.append(page)
                return self._noted(own)
            if is_sure and num_letters <= _FEW_LETTERS and len(own.text) > _MUCH_MORE * num_letters:
                return self._noted(own)
        if is_alike(share):
            self._agreements.append(share)
        else:
            self.unchecked.append(page)
        return layer

    def _noted(self, recognised: _Recognised) -> list[Line]:
        if recognised.sure:
            self.read.append(recognised.page)
            self._confidences += recognised.confidences
        elif recognised.has_unsure:
            self.unread.append(recognised.page)
        return recognised.lines

    def places(self, pages: Iterable[Page]) -> list[Place]:
        """Return a place for each page whose words were recognised, so that a citation from it says so."""
        return [Place(PLACE, page.span) for page in pages if page.number in self.read]

    @property
    def metadata(self) -> dict[str, str]:
        """Return how many pages were recognised and how surely, and the pages whose text is a layer; 0 is empty."""
        return {
            "ocr_pages": str(len(self.read) or ""),
            "ocr_confidence": _percent(self._confidences),
            "layer_pages": str(len(self._agreements) or ""),
            "layer_agreement": _percent(self._agreements),
            "unchecked_layers": str(len(self.unchecked) or ""),
            "wrong_layers": str(len(self.wrong) or ""),
        }


def _recognised(recogniser: Recogniser, picture: Image, page: int, width: float) -> _Recognised:
    scale = width / picture.width
    if (shrink := (MAX_PIXELS / (picture.width * picture.height)) ** 0.5) < 1:
        size = max(1, int(picture.width * shrink)), max(1, int(picture.height * shrink))
        picture, scale = picture.resize(size), scale / shrink
    turn = recogniser.turn(picture)
    upright = picture.rotate(turn, expand=True) if turn else picture
    found = list(recogniser.lines(upright))
    sure = [line for line in found if line.confidence >= _MIN_CONFIDENCE]
    if not any(char.isalnum() for line in found for char in line.text):
        sure, found = [], []  # a black square is recognised as ■
    lines = page_lines(sure, Picture(page, upright.width, upright.height, turn, scale))
    return _Recognised(page, lines, sure, has_unsure=len(found) > len(sure))


def _percent(shares: Sequence[float]) -> str:
    """Return the mean in percent; empty if there is none."""
    return f"{100 * mean(shares):.1f}" if shares else ""


def _is_blank(picture: Image) -> bool:
    """Whether a picture has one colour only, apart from a few specks."""
    gray = np.asarray(picture.convert("L"))
    return int((np.abs(gray.astype(np.int16) - int(np.median(gray))) > 32).sum()) < _MIN_INK
