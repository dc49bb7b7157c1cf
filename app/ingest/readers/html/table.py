"""The rows of an HTML table; those of a table that only lays out the page are written block by block."""

from __future__ import annotations

import re
from typing import Any

from propcite.app.ingest.readers.draft import Draft
from propcite.app.ingest.readers.html.tree import tag_of
from propcite.app.ingest.readers.rows import Row, write_rows

_LAYOUT_TAGS = ("table", "tr", "h1", "h2", "h3", "h4", "h5", "h6")
_BLOCK_TAGS = ("ul", "ol", "dl", "pre")  # in the cells of tables for layout, and of those whose columns have names
# Limits on what a few bytes can ask for: a longer cell is not repeated, and a wider row not filled.
_MAX_SPAN = 100
_MAX_REPEATED = 200
_MAX_COLUMNS = 500


class Table:
    """Collects the rows of a table; a cell over several rows is in each, one over several columns in its first."""

    def __init__(self) -> None:
        self._rows: list[Row] = []
        self._cells: list[str] | None = None  # of the open row
        self._num_cells = 0  # of the open row, as they are written
        self._named = False  # whether the first row is a header
        self._above: dict[int, tuple[str, int]] = {}  # by column: a cell of a row above, and how many rows it covers

    @property
    def in_row(self) -> bool:
        return self._cells is not None

    def open_row(self, row: Any) -> None:
        self._named = self._named or (not self._rows and _names_columns(row))
        self._cells = [] if _is_data(row, named=self._named) else None
        self._num_cells = 0

    def add_cell(self, cell: Any, words: str) -> None:
        assert self._cells is not None
        self._num_cells += 1
        self._fill()
        words = " ".join(words.split())
        columns, rows = _number(cell, "colspan"), _number(cell, "rowspan")
        for column in range(columns if len(self._cells) < _MAX_COLUMNS else 1):
            if rows > 1 and len(self._cells) < _MAX_COLUMNS:
                self._above[len(self._cells)] = words if not column and len(words) <= _MAX_REPEATED else "", rows - 1
            self._cells.append("" if column else words)

    def close_row(self) -> None:
        if self._cells is not None:
            is_label = len(self._cells) > 1 and self._num_cells == 1 and not self._above
            self._fill()
            self._rows.append(Row(self._cells, is_label=is_label))
        self._cells = None

    def _fill(self) -> None:
        """Repeat the cells of rows above that cover the next columns."""
        assert self._cells is not None
        while (column := len(self._cells)) in self._above:
            words, rows = self._above.pop(column)
            self._cells.append(words)
            if rows > 1:
                self._above[column] = words, rows - 1

    def write(self, draft: Draft) -> None:
        write_rows(draft, self._rows, named=self._named)


def _number(cell: Any, attribute: str) -> int:
    value = (cell.get(attribute) or "").strip()
    return min(max(int(value), 1), _MAX_SPAN) if re.fullmatch(r"[0-9]{1,9}", value) else 1


def _names_columns(row: Any) -> bool:
    tags = [tag for cell in row if (tag := tag_of(cell)) in ("td", "th")]
    if len(tags) < 2 or all(tag == "th" for tag in tags):
        return len(tags) > 1
    after = row.getnext()
    return after is not None and _is_bold(row) and not _is_bold(after)


def _is_bold(row: Any) -> bool:
    """Whether all words of each cell of a row are in bold letters."""
    cells = [cell for cell in row if tag_of(cell) in ("td", "th")]
    return bool(cells) and all(
        len(cell) == 1
        and tag_of(cell[0]) in ("b", "strong")
        and not "".join((cell.text or "", cell[0].tail or "")).strip()
        for cell in cells
    )


def _is_data(row: Any, *, named: bool) -> bool:
    """Whether a <tr> is a row of data: one with whole blocks inside is used for page layout."""
    tags = _LAYOUT_TAGS if named else _LAYOUT_TAGS + _BLOCK_TAGS
    return next(row.iterdescendants(*tags), None) is None
