"""The rows of a table around the cited ones, as HTML with the names of the columns."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from html import escape
from itertools import chain, groupby, islice

from propcite.app.ingest.readers.rows import Row, has_header, limit_cells

NUM_BEFORE, NUM_AFTER = 30, 60  # rows shown before and after the first cited row
MAX_COLUMNS = 60


def rows_of(kind: str, name: str, data: bytes) -> Iterator[Row]:
    """Yield the rows of a spreadsheet or CSV file, numbered as its reader numbers them."""
    from propcite.app.ingest.readers.delimited import csv_rows, tsv_rows
    from propcite.app.ingest.readers.odf import ods_rows
    from propcite.app.ingest.readers.xlsx import xlsx_rows

    delimited = tsv_rows if name.lower().endswith(".tsv") else csv_rows
    readers: dict[str, Callable[[str, bytes], Iterator[Row]]] = {"csv": delimited, "xlsx": xlsx_rows, "ods": ods_rows}
    return limit_cells(name, readers[kind](name, data))


def table_html(rows: Iterable[Row], cited: Collection[str]) -> str:
    """Return the table around the first cited place; empty if no row has one of these places."""
    for _, group in groupby(rows, key=lambda row: (row.table, _sheet(row))):
        table = iter(group)
        first = next(table)
        before: deque[Row] = deque(maxlen=NUM_BEFORE)
        for number, row in enumerate(chain([first], table)):
            if row.place in cited:
                near = [*before, row, *islice(table, NUM_AFTER)]
                return _table(first, near, number - len(before), sum(1 for _ in table), cited)
            before.append(row)
    return ""


def _sheet(row: Row) -> str:
    return row.place.rpartition(", row ")[0]


def _table(first: Row, near: Sequence[Row], num_above: int, num_below: int, cited: Collection[str]) -> str:
    """Render the rows `near` the cited one; the `first` of the table is their header if it looks like one."""
    with_header = has_header([row.cells for row in chain([first], (row for row in near if row is not first))])
    body = [row for row in near if row is not first] if with_header else near
    width = min(MAX_COLUMNS, max(len(row.cells) for row in [first, *near]))
    head = f"<thead>{_row(first, width, 'th')}</thead>" if with_header else ""
    num_hidden = max(0, num_above - (with_header and first not in near))
    lines = "".join(_row(row, width, "td", row.place in cited) for row in body)
    table = f"<table>{head}<tbody>{lines}</tbody></table>"
    return (
        _more(num_hidden, "above")
        + table.replace('<tr class="cited">', '<tr class="cited" id="cited">', 1)
        + _more(num_below, "below")
    )


def _row(row: Row, width: int, tag: str, is_cited: bool = False) -> str:
    cells = [*row.cells[:width], *[""] * (width - len(row.cells))]
    number = row.place.rpartition("row ")[2]
    columns = "".join(f"<{tag}>{escape(cell)}</{tag}>" for cell in cells)
    css_class = ' class="cited"' if is_cited else ""
    return f'<tr{css_class}><th class="number" scope="row">{number}</th>{columns}</tr>'


def _more(number: int, where: str) -> str:
    return f'<p class="more">{number:,} more rows {where}</p>' if number else ""
