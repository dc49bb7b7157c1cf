"""The lines of a PDF with their positions; remove running headers and footers, and mark table rows."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise, takewhile
from statistics import median

from propcite.app.ingest.readers.pdf.marks import beside_number
from propcite.app.ingest.readers.pdf.rules import OPEN, Frame

# The share of a page's height that its header and footer may take, and the maximum number of their lines.
_MARGIN = 0.14
_MAX_LINES = 3
WIDE_GAP = 1.5  # letter sizes between cells of a line that show a table; spaces in justified text are narrower
_GLUED = 0.1  # letter sizes between pieces of a row that belong to one word
_KERNED = 0.3  # letter sizes by which such pieces may overlap
_NUMBER = re.compile(r"(?:page\s+)?\W*(?:\d+|[ivxlc]+)\W*(?:(?:of|/)\s*\d+)?\W*", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Part:
    """Words of a line and their rectangle as it is visible, in shares of the page from its upper left corner."""

    text: str
    left: float
    top: float
    right: float
    bottom: float


@dataclass(frozen=True, slots=True)
class Cell:
    """The words of a line between wide gaps, their edges and letter size, and the ruling lines around them."""

    text: str
    left: float = 0.0
    right: float = 0.0
    size: float = 0.0
    frame: Frame = OPEN


@dataclass(frozen=True, slots=True)
class Line:
    """A line as it is read on its page, in points from the page's lower left corner, with its letters' `size`.

    `turn` are the degrees by which the page must be turned clockwise to be as it is visible.

    `stretch` is the width by which equal gaps exceed plain spaces; None if gaps differ.  `number_end` is where the
    number ends with which the line begins, and where the next word begins.  `is_row` is set for rows of a table,
    `is_apart` for notes and others that no sentence of the text goes through.  A line of a skewed or turned scan has
    straight positions here; its `parts` are where it is visible, as are those of a row.
    """

    text: str
    page: int
    left: float = 0.0
    right: float = 0.0
    bottom: float = 0.0
    top: float = 0.0
    size: float = 0.0
    page_height: float = 0.0
    page_width: float = 0.0
    turn: int = 0
    cells: tuple[Cell, ...] = ()
    stretch: float | None = None
    number_end: tuple[float, float] | None = None
    is_row: bool = False
    is_apart: bool = False
    parts: tuple[Part, ...] = ()

    @property
    def height_on_page(self) -> float:
        """Return 0 for the bottom of the page, 1 for its top."""
        return (self.top + self.bottom) / 2 / self.page_height if self.page_height else 0.5

    def part(self, cell: Cell) -> Part:
        """Return where the words of a cell are visible."""
        width, height = self.page_width or 1.0, self.page_height or 1.0
        left, right, top, bottom = (
            cell.left / width,
            cell.right / width,
            1 - self.top / height,
            1 - self.bottom / height,
        )
        match self.turn:
            case 90:
                return Part(cell.text, 1 - bottom, left, 1 - top, right)
            case 180:
                return Part(cell.text, 1 - right, 1 - bottom, 1 - left, 1 - top)
            case 270:
                return Part(cell.text, top, 1 - right, bottom, 1 - left)
        return Part(cell.text, left, top, right, bottom)


def is_right_to_left(text: str) -> bool:
    return any(unicodedata.bidirectional(char) in ("R", "AL") for char in text[:20])


def glued(piece: Line, after: Line) -> str | None:
    """Return the words of a piece of a row that belong to the word before, as a superscript; None if they are others.

    The limits of an integral, one above the other, are others.  A number above a number or word is raised.
    """
    if not -_KERNED * after.size < after.left - piece.right < _GLUED * after.size:
        return None
    is_word = not piece.text[-1:].isdecimal()
    boxes = [(line.left, line.bottom, line.right, line.top) for line in (after, piece)]
    words = beside_number(after.text, boxes[0], after.size, boxes[1], piece.size, is_word=is_word)
    if is_word:
        return words
    is_level = abs(after.bottom - piece.bottom) < _KERNED * piece.size
    return words if is_level or not words[0].isdecimal() else None


def body_size(lines: Iterable[Line]) -> float:
    """Return the median letter size of the text."""
    sizes = [line.size for line in lines for _ in range(0, len(line.text), 10)]
    return median(sizes) if sizes else 0.0


def without_running_lines(lines: Sequence[Line]) -> list[Line]:
    """Remove running headers, footers and page numbers.

    They are lines in the margins at the same height of several pages that differ only in numbers.  Lines in letters
    larger than the body's stay: `Chapter 1` to `Chapter 9` may be at the same height too.  Words across most pages, as
    DRAFT, may be at any height; numbers across a page are those of a plot.
    """
    largest = body_size(lines) * 1.1
    across = [line for line in lines if line.is_apart]
    margins = [[line for line in margin if line.size <= largest] for margin in _margins(lines)]
    seen = Counter(
        key for key, _ in {(_signature(line), line.page) for margin in (*margins, across) for line in margin}
    )
    # Three pages rather than a share of all, because each chapter of a long text may have its own header.
    num_pages = len({line.page for line in lines})
    min_pages = 2 if num_pages <= 3 else 3
    repeated = {key for key, times in seen.items() if times >= min_pages}
    furniture = {line for margin in _margins(lines) for line in _outermost(margin, repeated)}
    stamps = {key for key in repeated if 2 * seen[key] > num_pages and any(map(str.isalpha, key[0]))}
    furniture |= {line for line in across if _signature(line) in stamps}
    return [line for line in lines if line not in furniture]


def _margins(lines: Sequence[Line]) -> Iterator[list[Line]]:
    """Yield the outer lines of each page from the bottom up, and from the top down."""
    pages: dict[int, list[Line]] = {}
    for line in lines:
        pages.setdefault(line.page, []).append(line)
    for page in pages.values():
        page.sort(key=lambda line: line.height_on_page)
        yield page[: _MAX_LINES + 1]
        yield page[: -_MAX_LINES - 2 : -1]


def _outermost(margin: Sequence[Line], repeated: set[tuple[str, int]]) -> list[Line]:
    """Return the outermost lines that repeat, without those that text follows closely: they begin or end it."""
    outer = list(takewhile(lambda line: _in_margin(line) and _signature(line) in repeated, margin[:_MAX_LINES]))
    while outer and len(outer) < len(margin) and not _apart(outer[-1], margin[len(outer)]):
        outer.pop()
    return outer


def _in_margin(line: Line) -> bool:
    return not _MARGIN < line.height_on_page < 1 - _MARGIN


def _apart(line: Line, inner: Line) -> bool:
    """Whether there is space between two lines, which are not rows of one table with lines around its cells."""
    frame, other = (one.cells[0].frame if one.cells else OPEN for one in (line, inner))
    if frame.is_closed and other.is_closed and (frame.bottom == other.top or frame.top == other.bottom):
        return False
    return abs(line.bottom - inner.bottom) > 1.5 * max(line.size, inner.size)


def _signature(line: Line) -> tuple[str, int]:
    """Return the key by which a line repeats: its text without numbers, and its height in hundredths of the page.

    All page numbers have the same key: one may be at the bottom of a chapter's first page and at the top of others.
    """
    if _NUMBER.fullmatch(line.text):
        return "", 0
    return " ".join(re.sub(r"\d+", " ", line.text).split()), round(line.height_on_page * 100)


def mark_rows(lines: Sequence[Line]) -> list[Line]:
    """Rewrite lines with wide gaps as `cell | cell`.  A single one may be a heading with its number."""
    texts = [
        [] if is_justified(line, after) else _wide_cells(line)
        for line, after in zip(lines, [*lines[1:], None], strict=False)
    ]
    pages = [line.page if len(cells) > 1 else None for line, cells in zip(lines, texts, strict=True)]
    around = zip([None, *pages], pages[1:] + [None] * bool(pages), strict=False)
    return [
        replace(line, text=" | ".join(cells), is_row=True) if len(cells) > 1 and line.page in near else line
        for line, cells, near in zip(lines, texts, around, strict=True)
    ]


def _wide_cells(line: Line) -> list[str]:
    """Return the texts between wide gaps."""
    texts = [cell.text for cell in line.cells[:1]]
    for cell, after in pairwise(line.cells):
        if after.left - cell.right > WIDE_GAP * line.size:
            texts.append(after.text)
        else:
            texts[-1] += f" {after.text}"
    return texts


def is_justified(line: Line, after: Line | None) -> bool:
    """Whether a line was stretched to its column's width because the next word did not fit.

    A letter is taken to be half as wide as the letter size.
    """
    if line.stretch is None or after is None or sum(map(str.isalpha, line.text)) < len(line.text) / 2:
        return False
    return line.stretch < 0.5 * line.size * (len(after.text.split(maxsplit=1)[0]) + 1)
