"""The rows of a table around those that are cited, under the names of its columns."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from html import escape
from itertools import chain, groupby, islice

from propcite.app.ingest.readers.rows import Row, bounded, has_names

BEFORE, AFTER = 30, 60  # rows shown above the first that is cited, and below it
MOST_COLUMNS = 60


def rows_of(kind: str, name: str, data: bytes) -> Iterator[Row]:
    """The rows of a spreadsheet or of delimited values, as its reader counts them."""
    from propcite.app.ingest.readers.delimited import csv_rows, tsv_rows
    from propcite.app.ingest.readers.odf import ods_rows
    from propcite.app.ingest.readers.xlsx import xlsx_rows

    delimited = tsv_rows if name.lower().endswith(".tsv") else csv_rows
    reads: dict[str, Callable[[str, bytes], Iterator[Row]]] = {"csv": delimited, "xlsx": xlsx_rows, "ods": ods_rows}
    return bounded(name, reads[kind](name, data))


def table_html(rows: Iterable[Row], cited: Collection[str]) -> str:
    """The table of the places `cited`, as far as it stands near these; empty where there is none of them."""
    for _, same in groupby(rows, key=lambda row: (row.table, _sheet(row))):
        table = iter(same)
        first = next(table)
        above: deque[Row] = deque(maxlen=BEFORE)
        for number, row in enumerate(chain([first], table)):
            if row.place in cited:
                near = [*above, row, *islice(table, AFTER)]
                return _table(first, near, number - len(above), sum(1 for _ in table), cited)
            above.append(row)
    return ""


def _sheet(row: Row) -> str:
    return row.place.rpartition(", row ")[0]


def _table(first: Row, near: Sequence[Row], above: int, below: int, cited: Collection[str]) -> str:
    named = has_names([row.cells for row in chain([first], (row for row in near if row is not first))])
    body = [row for row in near if row is not first] if named else near
    width = min(MOST_COLUMNS, max(len(row.cells) for row in [first, *near]))
    head = f"<thead>{_line(first, width, 'th')}</thead>" if named else ""
    left_out = max(0, above - (named and first not in near))
    lines = "".join(_line(row, width, "td", row.place in cited) for row in body)
    return (
        _more(left_out, "above")
        + f"<table>{head}<tbody>{lines}</tbody></table>".replace(
            '<tr class="cited">', '<tr class="cited" id="cited">', 1
        )
        + _more(below, "below")
    )


def _line(row: Row, width: int, tag: str, is_cited: bool = False) -> str:
    cells = [*row.cells[:width], *[""] * (width - len(row.cells))]
    number = row.place.rpartition("row ")[2]
    words = "".join(f"<{tag}>{escape(cell)}</{tag}>" for cell in cells)
    kind = ' class="cited"' if is_cited else ""
    return f'<tr{kind}><th class="number" scope="row">{number}</th>{words}</tr>'


def _more(number: int, where: str) -> str:
    return f'<p class="more">{number:,} more rows {where}</p>' if number else ""
