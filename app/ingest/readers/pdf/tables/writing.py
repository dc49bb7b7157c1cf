"""Write the rows of a page's tables with the names of their columns, as ruling lines or aligned words show them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from propcite.app.ingest.readers.pdf.lines import Line, Part, mark_rows
from propcite.app.ingest.readers.pdf.tables.names import header_in, labels_of, parts_of, texts_of
from propcite.app.ingest.readers.pdf.tables.regions import LARGER, MAX_LABEL, Edges, column_of, extended, has_gaps
from propcite.app.ingest.readers.pdf.tables.rows import (
    Row,
    Word,
    aligned_table,
    edges_of,
    joined_rows,
    rows_in,
    ruled_table,
)
from propcite.app.ingest.readers.rows import row_sentence
from propcite.app.ingest.readers.table_names import MAX_HEADER, has_header, label_of


@dataclass(frozen=True, slots=True)
class _Header:
    """The names of a table's columns and their edges, the size of its letters, its last label, for the next page."""

    names: Sequence[str]
    columns: list[Edges]
    size: float
    group: str = ""


class Tables:
    """Writes the tables of pages, in the order of the pages: a table may go on from one page to the next."""

    def __init__(self) -> None:
        self._before: _Header | None = None  # of the table at the end of the page before
        self._above: list[Row] = []  # the last rows of the page before, which may name the columns of this one's first

    def in_page(self, lines: Sequence[Line]) -> list[Line]:
        """Return the lines of a page with those of tables rewritten: one line per row, in the place of the table.

        A row is a sentence with the names of its columns if rules or values show which row names them.  A line with
        wide gaps that is in no table is written with a bar at each gap.
        """
        written: list[Line] = []
        loose: list[Line] = []
        at = 0
        goes_on = self._before and bool(lines) and lines[0].size <= LARGER * self._before.size
        if self._before and goes_on and (end := extended(lines, -1, self._before.columns) + 1):
            written += self._written(rows_in(lines[:end], self._before.columns))
            at = end
        while at < len(lines):
            table = ruled_table(lines, at) or aligned_table(lines, at, len(loose))
            if at:
                self._above = []
            if table is None:
                loose.append(lines[at])
                at += 1
                continue
            del loose[len(loose) - max(at - table.first, 0) :]
            loose += lines[at : table.first]  # between the same rules, but above the table
            written += mark_rows(self._without_names(loose))
            if loose:
                self._before = _lonely_header(loose)
            loose = []
            at = table.end
            label = lines[at] if at + 1 == len(lines) and _is_label_below(table.rows, lines[at]) else None
            rows = list(self._written(table.rows, label))
            written += rows
            at += label is not None and rows[-1].text == label.text
        if loose:
            self._before = _lonely_header(loose)
            self._above = [Row({0: [Word(cell, line) for cell in line.cells]}) for line in loose[1 - MAX_HEADER :]]
        return written + mark_rows(loose)

    def _without_names(self, lines: Sequence[Line]) -> list[Line]:
        """Return lines above a table without the names that the table before has, which it goes on with."""
        names = self._before.names if self._before else ()
        return [line for line in lines if not names or [cell.text for cell in line.cells] != names]

    def _written(self, rows: list[Row], label: Line | None = None) -> Iterator[Line]:
        """Yield a line for each row, with the names of its columns if the table or the one before has a header.

        `label` is the last line of the page, which is the label of rows on the next one if the columns have names.
        """
        rows = joined_rows(rows)
        texts = texts_of(rows)
        columns = [edges_of(rows, at) for at in range(len(texts[0]))]
        names, name_parts, size = header_in(rows)
        above, self._above = self._above, rows if not names and len(rows) <= MAX_HEADER else []
        before, group = self._before, ""
        if not names:
            names = _names_above(above, rows)
        if not names and before and _are_same(before.columns, columns):
            names, group = list(before.names), before.group
            size = int(texts[0] == names)  # on each page
        labels = labels_of(rows, texts)
        single = {at for at, row in enumerate(rows) if list(row.cells) == [0] and label_of(texts[at])}
        is_wide = label is not None and len(columns) > 1 and label.right > columns[1][0]
        if label is not None and (is_wide or size in single):  # such rows do not go on with the ones above
            labels |= single
        label = label if names and (labels or is_wide) else None
        group_parts: tuple[Part, ...] = ()
        for number, (row, cells) in list(enumerate(zip(rows, texts, strict=True)))[size:]:
            words = row.words
            if names and number in labels:
                group = text = label_of(cells)
                group_parts = tuple(word.part for word in words)
                parts = group_parts
            else:
                text = row_sentence(names, cells, group)
                parts = (*group_parts, *parts_of(row, name_parts))
            yield replace(
                words[0].line,
                text=text,
                left=min(word.cell.left for word in words),
                right=max(word.cell.right for word in words),
                bottom=row.bottom,
                top=max(word.line.top for word in words),
                cells=(),
                stretch=None,
                number_end=None,
                is_row=True,
                parts=parts,
            )
        if label is not None:
            group = label_of([label.text])
            yield replace(label, is_row=True)
        self._before = _Header(names, columns, rows[-1].words[0].line.size, group) if names else None


def _are_same(columns: Sequence[Edges], others: Sequence[Edges]) -> bool:
    """Whether two tables have the same columns: each overlaps its like."""
    return len(columns) == len(others) and all(
        left < other[1] and other[0] < right for (left, right), other in zip(columns, others, strict=True)
    )


def _names_above(above: Sequence[Row], rows: Sequence[Row]) -> list[str]:
    """Return the names that the last rows of the page before give to the columns; empty if they give none."""
    whole = [row for row in rows if len(row.cells) > 1] or rows  # without labels, which are wider than their column
    columns = [edges_of(whole, at) for at in range(1 + max(column for row in rows for column in row.cells))]
    for number in range(len(above), 0, -1):
        placed = []
        for row in above[-number:]:
            placed.append(Row())
            for word in row.words:
                placed[-1].cells.setdefault(column_of(word.cell, columns)[0], []).append(word)
        names, _, size = header_in([*placed, *rows])
        own = [edges_of(placed[-1:], at) for at in range(len(columns))]
        used = [at for at in range(len(columns)) if at or placed[-1].cells.get(0)]
        is_above = _are_same([own[at] for at in used], [columns[at] for at in used])
        if size == number and is_above and all(any(map(str.isalnum, names[at])) for at in used):
            return names
    return []


def _is_label_below(rows: Sequence[Row], line: Line) -> bool:
    """Whether a line below a table, the last of its page, may be the label of rows on the next page."""
    last, first = rows[-1].words, edges_of(rows, 0)
    return (
        len(line.cells) == 1
        and bool(label_of([line.text]))
        and max(line.size, last[0].line.size) <= LARGER * min(line.size, last[0].line.size)
        and abs(line.left - first[0]) < line.size
        and line.right < max(word.cell.right for row in rows for word in row.words)
        and 0 < rows[-1].bottom - line.bottom <= MAX_LABEL * line.size
    )


def _lonely_header(lines: Sequence[Line]) -> _Header | None:
    """Return the header that the last line is if its table only begins on the next page."""
    names = [cell.text for cell in lines[-1].cells]
    is_header = has_gaps(lines, len(lines) - 1) and has_header([names, names], proof=False)
    edges = [(cell.left, cell.right) for cell in lines[-1].cells]
    return _Header(names, edges, lines[-1].size) if is_header else None
