"""Read the lines of one PDF page: their text, positions and letter sizes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import closing
from typing import Any

from propcite.app.ingest.readers.pdf.characters import LOST, Gap, Letters
from propcite.app.ingest.readers.pdf.lines import Cell, Line, is_right_to_left

# pdfium writes U+FFFE or U+0002 instead of a hyphen and the line end after it.
_PIECE = re.compile("[^\r\n\ufffe\x02]+[\ufffe\x02]?")
_NOT_INK = "\ufffe\x02 \t"  # at the end of a line
_CELL_GAP = 0.8  # width of a gap between cells, in letter sizes; most spaces in justified text are narrower
_NUMBER = re.compile(r"(\d{1,5})(\s+)(?=\S)")


def page_lines(page: Any, number: int) -> list[Line]:
    """Return the lines of a page, in the order of its text; U+FFFD stands for each character that cannot be read."""
    with closing(page.get_textpage()) as text_page:
        return list(_lines(Letters(page, text_page), number))


def readable_lines(page: Any, number: int) -> list[Line] | None:
    """Return the lines of a page; None if it has a character that cannot be read."""
    with closing(page.get_textpage()) as text_page:
        letters = Letters(page, text_page)
        return None if LOST in letters.text else list(_lines(letters, number))


def _lines(letters: Letters, page: int) -> Iterator[Line]:
    letters.measure()
    for piece in _PIECE.finditer(letters.text):
        for start, end in () if piece[0].isspace() else _rows(letters, piece):
            line = _line(letters, start, end, page)
            if line.text.strip("\u00ad"):
                yield line


def _rows(letters: Letters, piece: re.Match[str]) -> Iterator[tuple[int, int]]:
    """Yield the first character and the end of each row: pdfium may take short words below each other for a line."""
    start = piece.start() + len(piece[0]) - len(piece[0].lstrip())
    for gap in letters.gaps_in(start, piece.end()):
        if gap.is_turn:
            yield start, gap.start
            start = gap.end
    yield start, piece.end()


def _line(letters: Letters, start: int, end: int, page: int) -> Line:
    last = start + max(len(letters.text[start:end].rstrip(_NOT_INK)), 1) - 1
    sampled = start, (start + last + 1) // 2, last
    lefts, bottoms, rights, tops = zip(*map(letters.box, sampled), strict=True)
    # The median of three letters, so that one large initial does not make a heading.
    size = sorted(map(letters.size, sampled))[1] or max(tops) - min(bottoms) or 1.0
    cells, stretch = _cells(letters, start, end, size, min(bottoms), max(tops))
    words = cells[0].text if len(cells) == 1 else letters.words(start, end)
    number_end = _number_end(letters, start, end)
    if (
        len(cells) > 1
        and (ordered := sorted(cells, key=lambda cell: cell.left)) != cells
        and not is_right_to_left(words)
    ):
        cells, words = ordered, " ".join(cell.text for cell in ordered)  # pdfium turns the words of a turned line
        number_end = None
    return Line(
        text=words,
        page=page,
        left=min(*lefts, *(cell.left for cell in cells)),
        right=max(*rights, *(cell.right for cell in cells)),
        bottom=min(bottoms),
        top=max(tops),
        size=size,
        page_height=letters.page_height,
        page_width=letters.page_width,
        turn=letters.turn,
        is_apart=not letters.is_level(start),
        cells=tuple(cells),
        stretch=stretch,
        number_end=number_end,
    )


def _cells(
    letters: Letters, start: int, end: int, size: float, bottom: float, top: float
) -> tuple[list[Cell], float | None]:
    """Return the words between wide gaps or ruling lines and, if all gaps are equal, their width beyond spaces."""
    gaps = letters.gaps_in(start, end)
    widths = [gap.width for gap in gaps]
    wide = [gap for gap in gaps if abs(gap.width) > _CELL_GAP * size or _is_ruled(letters, gap)]
    ends = [*((gap.start, gap.start) for gap in wide), (start + len(letters.text[start:end].rstrip(_NOT_INK)), end)]
    cells = []
    for first, (last, stop) in zip([start, *(gap.end for gap in wide)], ends, strict=True):
        if words := letters.words(first, stop):
            # Words may go from right to left.
            (left, *_), (*_, right, _) = sorted((letters.box(first), letters.box(max(last, first + 1) - 1)))
            frame = letters.rules.frame((left, bottom, right, top))
            cells.append(Cell(words, left, right, letters.size(first) if wide else size, frame))
    is_even = bool(widths) and max(widths) - min(widths) < 0.25 * size
    return cells, sum(widths) - 0.3 * size * len(widths) if is_even else None


def _is_ruled(letters: Letters, gap: Gap) -> bool:
    return letters.rules.divide(letters.box(gap.start - 1), letters.box(gap.end))


def _number_end(letters: Letters, start: int, end: int) -> tuple[float, float] | None:
    """Return where the number ends with which a line begins, and where the next word begins."""
    found = _NUMBER.match(letters.text, start, end)
    return (letters.box(found.end(1) - 1)[2], letters.box(found.end())[0]) if found else None
