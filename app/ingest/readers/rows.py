"""Rows of cells as sentences: each carries the names of its columns, so that it stands alone."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, groupby, islice

from propcite.app.errors import ReadError
from propcite.app.ingest.readers.draft import Draft, one_line

_VALUE = re.compile(
    r"(?:[A-Z]{3}|[€$£¥₹])?\s?[-+(−]*(?:[€$£¥₹]\s?)?\.?\d[\d.,:/'’ \u00a0\u202f−-]*(?:T[\d:.]+Z?)?(?:[eE][-+]?\d+)?\)?"
    r"\s?(?:%|‰|[A-Z]{3}|[€$£¥₹])?"
)
_YEAR = re.compile(r"(?:1[5-9]|20|21)\d\d")
_LONGEST_NAME = 80
_SAMPLE = 30
_MOST_CELLS = 10_000_000


@dataclass(frozen=True, slots=True)
class Row:
    """A row's cells from the first column on, where it is found, if that is told, and its table's number."""

    cells: Sequence[str]
    place: str = ""
    table: int = 0


def bounded(name: str, rows: Iterable[Row]) -> Iterator[Row]:
    """The rows of the named file; a few bytes may state more cells than anyone can read."""
    cells = 0
    for row in rows:
        cells += len(row.cells)
        if cells > _MOST_CELLS:
            raise ReadError(f"{name} has a table of more than {_MOST_CELLS:,} cells: delete empty columns or split it")
        yield row


def write_rows(draft: Draft, rows: Iterable[Row], *, named: bool | None = None) -> None:
    """Write the rows that are not empty, few at a time: what stands above a table, then each row with its names.

    `named` says whether a first row holds the columns' names; None: where no column speaks against it, and False:
    only where a column of numbers stands below a word.  A later table without names goes on under those of the one
    before it where it is no wider: it was parted by an empty row.
    """
    filled = (row for row in rows if any(map(str.strip, row.cells)))
    before: Sequence[str] = ()
    for _, table in groupby(filled, key=lambda row: row.table):
        sample = list(islice(table, _SAMPLE))
        above = _above(sample) if named is None else 0
        for row in sample[:above]:
            _write(draft, " ".join(row.cells), row.place, tight=False)
        sample = sample[above:]
        cells = [row.cells for row in sample]
        if (named and len(cells) > 1) or has_names(cells, proof=named is False or bool(before)):
            before = cells[0]
            sample = sample[1:]
        elif max(map(len, cells), default=0) > len(before):
            before = ()
        for place, row in enumerate(chain(sample, table)):
            # Only rows of bare cells are told apart without a blank line.
            _write(draft, sentence(before, row.cells), row.place, tight=place > 0 and not before)


def sentence(names: Sequence[str], cells: Sequence[str]) -> str:
    """A row in one line.

    >>> sentence(["Country", "Sales"], ["Spain", "14%"])
    'Country = Spain; Sales = 14%.'
    >>> sentence([], ["Spain", "", "14%"])
    'Spain | 14%'
    """
    cells = [one_line(cell) for cell in cells]
    if not names:
        return " | ".join(filter(None, cells))
    named = [*map(one_line, names), *[""] * (len(cells) - len(names))]
    parts = [_named(name, cell) for name, cell in zip(named, cells, strict=False) if cell]
    line = "; ".join(parts)
    return line if line.endswith((".", "!", "?", "…", "。")) else line + "."


def has_names(rows: Sequence[Sequence[str]], *, proof: bool = False) -> bool:
    """Whether the first row names the columns: short words, each once, above more rows.

    `proof` asks for a column of values below a word: the cells of a text's table may all be words.
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


def _are_values(name: str, cells: Sequence[str]) -> bool:
    """Whether most cells below a name are values, and none a year where it is one itself."""
    if _YEAR.fullmatch(name):
        cells = [cell for cell in cells if not _YEAR.fullmatch(cell)]
    return 2 * sum(_VALUE.fullmatch(cell) is not None for cell in cells) > len(cells)


def _is_name(cell: str) -> bool:
    is_value = _VALUE.fullmatch(cell) is not None and _YEAR.fullmatch(cell) is None
    return not is_value and len(cell) <= _LONGEST_NAME and not cell.endswith(".")


def _named(name: str, cell: str) -> str:
    return f"{name.rstrip(':')} = {cell}" if name else cell


def _above(rows: Sequence[Row]) -> int:
    """How many rows of one cell stand above a table that is wider: its title, its unit."""
    widths = [sum(bool(cell.strip()) for cell in row.cells) for row in rows]
    return next((number for number, width in enumerate(widths) if width > 1), 0)


def _write(draft: Draft, words: str, place: str, *, tight: bool) -> None:
    words = one_line(words)
    with draft.optional_place(place):
        draft.block(words, tight=tight)
