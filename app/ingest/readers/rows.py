"""Write table rows as sentences, each with the names of its columns, so that it can be understood alone."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, groupby, islice

from propcite.app.errors import ReadError
from propcite.app.ingest.readers.draft import Draft, one_line
from propcite.app.ingest.readers.table_names import MAX_HEADER, header_of, label_of, unmarked_labels

SENTENCE_MARKS = ".,;:!?…。！？"
_SAMPLE = 30
_MAX_CELLS = 10_000_000


@dataclass(frozen=True, slots=True)
class Row:
    """A row's cells from the first column on, the name of its place, if any, and the number of its table.

    `is_label` is set where one cell is over all columns: it names the group of the rows below it.  `is_bold` says that
    all its words are in bold letters.
    """

    cells: Sequence[str]
    place: str = ""
    table: int = 0
    is_label: bool = False
    is_bold: bool = False


def cell_text(paragraphs: Iterable[tuple[str, str, bool]]) -> str:
    """Return a cell in one line, from the words and the label of each paragraph, and whether it is an item.

    >>> cell_text([("Berths:", "", False), ("North", "", True), ("South", "", True)])
    'Berths: North, South'
    """
    text, is_after_item = "", False
    for words, label, is_item in paragraphs:
        if words := f"{label} {words.strip()}".strip():
            text += (
                ("," if is_item and is_after_item and text[-1] not in SENTENCE_MARKS else "")
                + (" " if text else "")
                + words
            )
            is_after_item = is_item
    return text


def limit_cells(name: str, rows: Iterable[Row]) -> Iterator[Row]:
    """Yield the rows, or raise an error if they are too many: a few bytes of a file can expand to any number."""
    cells = 0
    for row in rows:
        cells += len(row.cells)
        if cells > _MAX_CELLS:
            raise ReadError(f"{name} has a table of more than {_MAX_CELLS:,} cells: delete empty columns or split it")
        yield row


def write_rows(draft: Draft, rows: Iterable[Row], *, named: bool | None = None) -> None:
    """Write all rows, as `written_rows` does."""
    for _ in written_rows(draft, rows, named=named):
        pass


def written_rows(draft: Draft, rows: Iterable[Row], *, named: bool | None = None) -> Iterator[Row]:
    """Yield each row once it is written, without the header.

    Rows that are not empty are written: the lines above a table, then each row with the names of its columns.

    `named` says whether the first row is a header.  With None it is one unless a column contradicts it; with False
    only if a column has numbers below a word, or if the first rows are bold and those below are not.  A later table
    without a header keeps that of the one before, if it is no wider: an empty row merely divided the table.  Rows may
    come from a stream and are never held all at once.

    With a header, the label of a group of rows is written alone and in front of each of its rows.
    """
    filled = (row for row in rows if any(map(str.strip, row.cells)))
    header: Sequence[str] = ()
    for _, table in groupby(filled, key=lambda row: row.table):
        sample = list(islice(table, _SAMPLE))
        above = _above(sample) if named is None else 0
        for row in sample[:above]:
            _write(draft, " ".join(row.cells), row.place, tight=False)
        sample = sample[above:]
        cells = [row.cells for row in sample]
        num_bold = _num_bold(sample)
        names, size = header_of(
            cells, named=named is True or num_bold > 0, num_marked=num_bold, proof=named is False or bool(header)
        )
        if names:
            header = names
            sample = sample[size:]
        elif max(map(len, cells), default=0) > len(header):
            header = ()
        width = max((len(row.cells) for row in sample), default=0)
        whole = [[*row.cells, *[""] * (width - len(row.cells))] for row in sample]
        labels = unmarked_labels(whole) if len(sample) < _SAMPLE else set()
        group = ""
        for number, row in enumerate(chain(sample, table)):
            if header and width > 1 and (row.is_label or number in labels) and (label := label_of(row.cells)):
                group = label
                _write(draft, group, row.place, tight=False)
            else:
                # Rows without names follow each other without a blank line, like the rows that they are.
                line = row_sentence(header, row.cells, group)
                _write(draft, line, row.place, tight=number > 0 and not header)
            yield row


def row_sentence(names: Sequence[str], cells: Sequence[str], group: str = "") -> str:
    """Write a row in one line, after the label of its group if it has one.

    >>> row_sentence(["Country", "Sales"], ["Spain", "14%"])
    'Country = Spain; Sales = 14%.'
    >>> row_sentence(["Country", "Sales"], ["Spain", "14%"], "Wine")
    'Wine: Country = Spain; Sales = 14%.'
    >>> row_sentence([], ["Spain", "", "14%"])
    'Spain | 14%'
    """
    cells = [one_line(cell) for cell in cells]
    if not names:
        return " | ".join(filter(None, cells))
    named = [*map(one_line, names), *[""] * (len(cells) - len(names))]
    parts = [_named(name, cell) for name, cell in zip(named, cells, strict=False) if cell]
    line = (f"{one_line(group).rstrip(':')}: " if group else "") + "; ".join(parts)
    return line if line.endswith((".", "!", "?", "…", "。")) else line + "."


def _named(name: str, cell: str) -> str:
    return f"{name.rstrip(':')} = {cell}" if name else cell


def _num_bold(rows: Sequence[Row]) -> int:
    """Count the bold rows that begin a table; none if so many are no header, or no other follows."""
    number = next((at for at, row in enumerate(rows) if not row.is_bold), len(rows))
    return number if number <= min(MAX_HEADER, len(rows) - 1) else 0


def _above(rows: Sequence[Row]) -> int:
    """Count the rows of one cell above a wider table, such as its title or unit."""
    widths = [sum(bool(cell.strip()) for cell in row.cells) for row in rows]
    return next((number for number, width in enumerate(widths) if width > 1), 0)


def _write(draft: Draft, words: str, place: str, *, tight: bool) -> None:
    words = one_line(words)
    with draft.optional_place(place):
        draft.block(words, tight=tight)
