"""Write the rows of a page's tables with the names of their columns, as ruling lines or aligned words show them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from propcite.app.ingest.readers.pdf.lines import Line, Part, mark_rows
from propcite.app.ingest.readers.pdf.tables.names import header_in, labels_of, parts_of, texts_of
from propcite.app.ingest.readers.pdf.tables.regions import LARGER, Edges, extended, has_gaps
from propcite.app.ingest.readers.pdf.tables.rows import Row, aligned_table, edges_of, joined_rows, rows_in, ruled_table
from propcite.app.ingest.readers.rows import row_sentence
from propcite.app.ingest.readers.table_names import has_header, label_of


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
            if table is None:
                loose.append(lines[at])
                at += 1
                continue
            del loose[len(loose) - max(at - table.first, 0) :]
            loose += lines[at : table.first]  # between the same rules, but above the table
            if loose:
                self._before = _lonely_header(loose)
            written += mark_rows(loose)
            loose = []
            written += self._written(table.rows)
            at = table.end
        if loose:
            self._before = _lonely_header(loose)
        return written + mark_rows(loose)

    def _written(self, rows: list[Row]) -> Iterator[Line]:
        """Yield a line for each row, with the names of its columns if the table or the one before has a header."""
        rows = joined_rows(rows)
        texts = texts_of(rows)
        columns = [edges_of(rows, at) for at in range(len(texts[0]))]
        names, name_parts, size = header_in(rows)
        before, group = self._before, ""
        if not names and before and _are_same(before.columns, columns):
            names, group = list(before.names), before.group
        labels = labels_of(rows, texts)
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
        self._before = _Header(names, columns, rows[-1].words[0].line.size, group) if names else None


def _are_same(columns: Sequence[Edges], others: Sequence[Edges]) -> bool:
    """Whether two tables have the same columns: each overlaps its like."""
    return len(columns) == len(others) and all(
        left < other[1] and other[0] < right for (left, right), other in zip(columns, others, strict=True)
    )


def _lonely_header(lines: Sequence[Line]) -> _Header | None:
    """Return the header that the last line is if its table only begins on the next page."""
    names = [cell.text for cell in lines[-1].cells]
    is_header = has_gaps(lines, len(lines) - 1) and has_header([names, names], proof=False)
    edges = [(cell.left, cell.right) for cell in lines[-1].cells]
    return _Header(names, edges, lines[-1].size) if is_header else None
