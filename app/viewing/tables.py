"""The rows of a table around the cited ones, as HTML with the names of the columns."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from html import escape
from itertools import chain, groupby, islice

from propcite.app.ingest.readers.rows import Row, limit_cells
from propcite.app.ingest.readers.table_names import MAX_HEADER, header_of

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
        top = list(islice(table, MAX_HEADER))
        before: deque[Row] = deque(maxlen=NUM_BEFORE)
        rest = chain(top, table)
        for number, row in enumerate(rest):
            if row.place in cited:
                near = [*before, row, *islice(rest, NUM_AFTER)]
                return _table(top, near, number - len(before), sum(1 for _ in rest), cited)
            before.append(row)
    return ""


def _sheet(row: Row) -> str:
    return row.place.rpartition(", row ")[0]


def _table(top: Sequence[Row], near: Sequence[Row], num_above: int, num_below: int, cited: Collection[str]) -> str:
    """Render the rows `near` the cited one; those at the `top` of the table are their header if they look like one."""
    _, size = header_of([row.cells for row in chain(top, (row for row in near if row not in top))])
    header = top[:size]
    body = [row for row in near if row not in header]
    width = min(MAX_COLUMNS, max(len(row.cells) for row in [*header, *near]))
    head = f"<thead>{''.join(_row(row, width, 'th') for row in header)}</thead>" if header else ""
    num_hidden = max(0, num_above - sum(row not in near for row in header))
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
