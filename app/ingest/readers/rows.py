"""Write table rows as sentences, each with the names of its columns, so that it can be understood alone."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, groupby, islice, pairwise

from propcite.app.errors import ReadError
from propcite.app.ingest.readers.draft import Draft, one_line

_VALUE = re.compile(
    r"(?:[A-Z]{3}|[€$£¥₹])?\s?[-+(−]*(?:[€$£¥₹]\s?)?\.?\d[\d.,:/'’ \u00a0\u202f−-]*(?:T[\d:.]+Z?)?(?:[eE][-+]?\d+)?\)?"
    r"\s?(?:%|‰|[A-Z]{3}|[€$£¥₹])?"
)
_YEAR = re.compile(r"(?:1[5-9]|20|21)\d\d")
_MAX_NAME = 80
_SAMPLE = 30
_MAX_CELLS = 10_000_000


@dataclass(frozen=True, slots=True)
class Row:
    """A row's cells from the first column on, the name of its place, if any, and the number of its table.

    `is_label` is set where one cell is over all columns: it names the group of the rows below it.
    """

    cells: Sequence[str]
    place: str = ""
    table: int = 0
    is_label: bool = False


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
    only if a column has numbers below a word.  A later table without a header keeps that of the one before, if it is
    no wider: an empty row merely divided the table.  Rows may come from a stream and are never held all at once.

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
        if (named and len(cells) > 1) or has_header(cells, proof=named is False or bool(header)):
            header = cells[0]
            sample = sample[1:]
        elif max(map(len, cells), default=0) > len(header):
            header = ()
        labels = unmarked_labels([row.cells for row in sample]) if len(sample) < _SAMPLE else set()
        group = ""
        for number, row in enumerate(chain(sample, table)):
            if len(header) > 1 and (row.is_label or number in labels) and (label := label_of(row.cells)):
                group = label
                _write(draft, group, row.place, tight=False)
            else:
                # Rows without names follow each other without a blank line, like the rows that they are.
                line = row_sentence(header, row.cells, group)
                _write(draft, line, row.place, tight=number > 0 and not header)
            yield row


def label_of(cells: Sequence[str]) -> str:
    """Return the words of a row's only cell that has any; empty if there are others, or it is a sentence."""
    words = [cell.strip() for cell in cells if cell.strip()]
    return words[0] if len(words) == 1 and any(map(str.isalpha, words[0])) and _is_name(words[0]) else ""


def unmarked_labels(rows: Sequence[Sequence[str]]) -> set[int]:
    """Return the rows that are labels although nothing but their empty cells says so.

    A record may lack all but its name.  So all of them are labels only if rows below one have the same name as rows
    below another, and so mean nothing without it.
    """
    labels = [number for number, cells in enumerate(rows) if len(cells) > 1 and cells[0] and label_of(cells)]
    if len(labels) < 2 or labels[-1] == len(rows) - 1 or any(after == one + 1 for one, after in pairwise(labels)):
        return set()
    groups = [{cells[0].strip() for cells in rows[one + 1 : after]} for one, after in pairwise([*labels, len(rows)])]
    names = list(chain.from_iterable(groups))
    return set(labels) if len(set(names)) < len(names) and all(names) else set()


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


def has_header(rows: Sequence[Sequence[str]], *, proof: bool = False) -> bool:
    """Whether the first row is a header: short, distinct names above more rows.

    `proof` also requires a column with values below a word, since all cells of a table in prose may be words.
    """
    if len(rows) < 2:
        return False
    first, rest = [cell.strip() for cell in rows[0]], rows[1:]
    used = {column for row in rest for column, cell in enumerate(row) if cell.strip()}
    words = [cell for cell in first if cell]
    unnamed = [column for column in used if column and not (column < len(first) and first[column])]
    if not words or len(set(words)) < len(words) or 2 * len(unnamed) > len(used) or not all(map(_is_name, words)):
        return False
    below = [
        [cell for row in rest if column < len(row) and (cell := row[column].strip())] for column in range(len(first))
    ]
    contrasts = [bool(first[column]) and _are_values(first[column], cells) for column, cells in enumerate(below)]
    if any(map(_YEAR.fullmatch, words)) and not any(contrasts):
        return False
    return any(contrasts) or (not proof and len(used) > 1)


def is_value(cell: str) -> bool:
    """Whether a cell has a number, an amount or a date rather than words."""
    return _VALUE.fullmatch(cell) is not None


def _are_values(name: str, cells: Sequence[str]) -> bool:
    """Whether most cells below a name are values; below a year, years do not count."""
    if _YEAR.fullmatch(name):
        cells = [cell for cell in cells if not _YEAR.fullmatch(cell)]
    return 2 * sum(map(is_value, cells)) > len(cells)


def _is_name(cell: str) -> bool:
    is_number = is_value(cell) and _YEAR.fullmatch(cell) is None
    return not is_number and len(cell) <= _MAX_NAME and not cell.endswith(".")


def _named(name: str, cell: str) -> str:
    return f"{name.rstrip(':')} = {cell}" if name else cell


def _above(rows: Sequence[Row]) -> int:
    """Count the rows of one cell above a wider table, such as its title or unit."""
    widths = [sum(bool(cell.strip()) for cell in row.cells) for row in rows]
    return next((number for number, width in enumerate(widths) if width > 1), 0)


def _write(draft: Draft, words: str, place: str, *, tight: bool) -> None:
    words = one_line(words)
    with draft.optional_place(place):
        draft.block(words, tight=tight)
