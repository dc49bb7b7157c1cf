"""The lines of a PDF: where they stand on their pages, and which of them only repeat around the text."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from statistics import median

# How much of a page's height holds its header and its footer, and how many lines of each are looked at.
_MARGIN = 0.14
_DEEPEST = 3
_NUMBER = re.compile(r"(?:page\s+)?\W*(?:\d+|[ivxlc]+)\W*(?:(?:of|/)\s*\d+)?\W*", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Line:
    """A line as it is seen on its page: points from the page's lower left corner, `size` of its letters.

    `cells` are its words where wide gaps part them, `room` the width that equal gaps gained; `is_row` is set for lines
    of a table.
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
    cells: tuple[str, ...] = ()
    room: float | None = None
    is_row: bool = False

    @property
    def height_on_page(self) -> float:
        """0 at the foot of the page, 1 at its head."""
        return (self.top + self.bottom) / 2 / self.page_height if self.page_height else 0.5


def body_size(lines: Iterable[Line]) -> float:
    """The size of most letters."""
    sizes = [line.size for line in lines for _ in range(0, len(line.text), 10)]
    return median(sizes) if sizes else 0.0


def without_furniture(lines: Sequence[Line]) -> list[Line]:
    """The lines without headers, footers and page numbers: what stands at one place of many pages, but for its numbers.

    Letters larger than the body's stay: `Chapter 1` to `Chapter 9` stand at one place too.
    """
    largest = body_size(lines) * 1.1
    margins = [[line for line in margin if line.size <= largest] for margin in _margins(lines)]
    seen = Counter(key for key, _ in {(_signature(line), line.page) for margin in margins for line in margin})
    # Three pages, not a share of all: a long text has another header in each chapter.
    least = 2 if len({line.page for line in lines}) <= 3 else 3
    repeated = {key for key, times in seen.items() if times >= least}
    furniture = {line for margin in _margins(lines) for line in _outermost(margin, repeated)}
    return [line for line in lines if line not in furniture]


def _margins(lines: Sequence[Line]) -> Iterator[list[Line]]:
    """The lines of each page from its foot up, and from its head down."""
    pages: dict[int, list[Line]] = {}
    for line in lines:
        pages.setdefault(line.page, []).append(line)
    for page in pages.values():
        page.sort(key=lambda line: line.height_on_page)
        yield page[: _DEEPEST + 1]
        yield page[: -_DEEPEST - 2 : -1]


def _outermost(margin: Sequence[Line], repeated: set[tuple[str, int]]) -> list[Line]:
    """The outermost lines that repeat, up to one that does not; a line that prose follows at once is its beginning."""
    found = list(takewhile(lambda line: _in_margin(line) and _signature(line) in repeated, margin[:_DEEPEST]))
    while found and len(found) < len(margin) and not _apart(found[-1], margin[len(found)]):
        found.pop()
    return found


def _in_margin(line: Line) -> bool:
    return not _MARGIN < line.height_on_page < 1 - _MARGIN


def _apart(line: Line, inner: Line) -> bool:
    return abs(line.bottom - inner.bottom) > 1.5 * max(line.size, inner.size)


def _signature(line: Line) -> tuple[str, int]:
    """What repeats of a line: its words without their numbers, its height to a hundredth of the page.

    A page number may stand at the foot of a chapter's first page and at the head of the others.
    """
    if _NUMBER.fullmatch(line.text):
        return "", 0
    return " ".join(re.sub(r"\d+", " ", line.text).split()), round(line.height_on_page * 100)


def with_rows(lines: Sequence[Line]) -> list[Line]:
    """The lines, and those of a table as `cell | cell`: wide gaps in one line alone may be a heading's number."""
    has_cells = [
        len(line.cells) > 1 and not _is_justified(line, after)
        for line, after in zip(lines, [*lines[1:], None], strict=False)
    ]
    pages = [line.page if cells else None for line, cells in zip(lines, has_cells, strict=True)]
    around = zip([None, *pages], [*pages[1:], None], strict=False)
    return [
        replace(line, text=" | ".join(line.cells), is_row=True) if cells and line.page in near else line
        for line, cells, near in zip(lines, has_cells, around, strict=True)
    ]


def _is_justified(line: Line, after: Line | None) -> bool:
    """Whether a line was drawn out to its column's edges because the next word, at half its size a letter, is long."""
    if line.room is None or after is None or sum(map(str.isalpha, line.text)) < len(line.text) / 2:
        return False
    return line.room < 0.5 * line.size * (len(after.text.split(maxsplit=1)[0]) + 1)
