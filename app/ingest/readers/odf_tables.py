"""The rows of an OpenDocument table, in a text or in a spreadsheet."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from propcite.app.ingest.readers.draft import one_line
from propcite.app.ingest.readers.odf_words import Words
from propcite.app.ingest.readers.rows import cell_text
from propcite.app.ingest.readers.xml import attribute, local_name

_NO_TIME = re.compile("T00:00:00$|(?<=:..):00$")
_MAX_COLUMNS = 16_384


@dataclass(frozen=True, slots=True)
class TableRow:
    """A row's cells, how often it is repeated, whether its first cell is over others, and whether it is hidden.

    `is_bold` is known of the first two rows.
    """

    cells: list[str]
    repeated: int
    is_label: bool
    is_hidden: bool
    is_bold: bool


def table_rows(table: Any, words: Words) -> Iterator[TableRow]:
    """Yield all rows; a vertically merged cell is repeated in each row that has other cells."""
    spanning: dict[int, tuple[int, str]] = {}  # by column: the rows left that a merged cell spans, and its text
    for number, row in enumerate(row_elements(table)):
        cells = _cells(row, words)
        if any(cells):
            cells = [
                cells[at] if at < len(cells) and cells[at] else spanning.get(at, (0, ""))[1]
                for at in range(max(len(cells), *(at + 1 for at in spanning), 0))
            ]
        hidden = attribute(row, "visibility") in ("collapse", "filter")
        is_bold = number < 2 and words.are_bold(row)
        yield TableRow(cells, times_repeated(row, 2**21), _is_label(row), hidden, is_bold)
        left = {at: (rows - 1, text) for at, (rows, text) in spanning.items() if rows > 1}
        spanning = left | _merged(row, cells)


def row_elements(table: Any) -> Iterator[Any]:
    """Yield the rows as they are in the file."""
    for element in table:
        if local_name(element) == "table-row":
            yield element
        elif local_name(element) in ("table-header-rows", "table-rows", "table-row-group"):
            yield from row_elements(element)


def times_repeated(row: Any, maximum: int) -> int:
    """Return how often a row is repeated, at most `maximum` times."""
    return _times(row, "number-rows-repeated", maximum)


def _cells(row: Any, words: Words) -> list[str]:
    cells: list[str] = []
    for cell in row:
        if local_name(cell) in ("table-cell", "covered-table-cell") and len(cells) < _MAX_COLUMNS:
            text = one_line(cell_text(words.in_cell(cell)))
            if text and attribute(cell, "value-type") == "date":
                text = _NO_TIME.sub("", attribute(cell, "date-value")).replace("T", " ") or text
            cells += [text] * _times(cell, "number-columns-repeated", _MAX_COLUMNS - len(cells))
    while cells and not cells[-1]:
        cells.pop()
    return cells


def _merged(row: Any, cells: list[str]) -> dict[int, tuple[int, str]]:
    """Return for each vertically merged cell its column, the number of rows below it, and its text."""
    spans, column = {}, 0
    for cell in row:
        if (more := _times(cell, "number-rows-spanned", 2**21) - 1) and column < len(cells):
            spans[column] = more, cells[column]
        column += _times(cell, "number-columns-repeated", _MAX_COLUMNS)
    return spans


def _is_label(row: Any) -> bool:
    """Whether the first cell of a row is over others."""
    return next((_times(cell, "number-columns-spanned", _MAX_COLUMNS) > 1 for cell in row), False)


def _times(element: Any, name: str, maximum: int) -> int:
    """Return a number of repetitions, which is 1 if none is stated."""
    number = attribute(element, name, "1")
    return min(int(number), maximum) if number.isdecimal() and len(number) < 9 else 1
