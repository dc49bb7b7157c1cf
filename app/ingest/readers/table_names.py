"""Find the names of a table's columns, also in several rows, and the labels that name groups of its rows."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import chain, pairwise

_VALUE = re.compile(
    r"(?:[A-Z]{3}|[€$£¥₹])?\s?[-+(−]*(?:[€$£¥₹]\s?)?\.?\d[\d.,:/'’ \u00a0\u202f−-]*(?:T[\d:.]+Z?)?(?:[eE][-+]?\d+)?\)?"
    r"(?:\s?(?:%|‰|[A-Z]{3}|[€$£¥₹])|\s[a-zµ°/]{1,4}[²³23]?)?"  # a unit is after a space, as in 40 km²
)
_UNIT = re.compile(
    r"[^\W\d_]{1,4}[²³23]?(?:/[^\W\d_]{1,4}[²³23]?)?|[%‰°€$£¥₹]|°[CF]|(?i:euros?|dollars?|number|mio\. ?[€A-Z]{1,3})"
)
_YEAR = re.compile(r"(?:1[5-9]|20|21)\d\d")
_NOTHING = re.compile(r"|[-–—…?]+|n/?[ad]\.?|none|unknown|tba", re.IGNORECASE)
_MAX_NAME = 80
_MAX_FORM = 12  # rows of names and values of several kinds; a longer table has names of columns
MAX_HEADER = 3  # rows


def header_of(
    rows: Sequence[Sequence[str]], *, named: bool = False, num_marked: int = 1, proof: bool = False
) -> tuple[Sequence[str], int]:
    """Return the names of the columns and the number of rows that they are in; nothing and 0 without a header.

    `named` says that the first row is one, and up to `num_marked` rows may be; `proof` requires values below a word, as
    in `has_header`.

    >>> header_of([["Town", "2023", "", "2024", ""], ["", "May", "June", "May", "June"], ["Leith", "3", "4", "5", "6"]])
    (['Town', '2023 May', '2023 June', '2024 May', '2024 June'], 2)
    """
    names: Sequence[str] = rows[0] if rows else ()
    size = 1
    while size < MAX_HEADER and (
        _goes_on(names, rows[size:]) or (named and size < num_marked and _names_inner(names, rows[size:]))
    ):
        names = _joined(names, rows[size])
        size += 1
    if size > 1:
        return names, size
    if (named and len(rows) > 1) or (not is_form(rows) and has_header(rows, proof=proof)):
        units = _units_below(rows)
        return ([f"{name} ({unit})" if unit else name for name, unit in units], 2) if units else (names, 1)
    return (), 0


def is_form(rows: Sequence[Sequence[str]]) -> bool:
    """Whether each row is a name and its value, so that the first one names no columns.

    >>> is_form([["Born:", "1961"], ["Town:", "Leith"]])
    True
    >>> is_form([["Name", "Fish Quay"], ["Length", "212 m"], ["Owner", "Leith"]])
    True
    >>> is_form([["Town", "People"], ["Leith", "50,000"], ["Oban", "8,000"]])
    False
    """
    names, values = [_cell(row, 0) for row in rows], [_cell(row, 1) for row in rows]
    if len(rows) < 2 or not all(names) or any(cell.strip() for row in rows for cell in row[2:]):
        return False
    if all(name.endswith(":") for name in names):
        return True
    below = [value for value in values[1:] if not _NOTHING.fullmatch(value)]
    is_mixed = len(below) <= 4 * sum(map(is_value, below)) <= 3 * len(below)
    is_short = len(below) > 0 and len(rows) <= _MAX_FORM
    return (
        is_short and is_mixed and len(set(names)) == len(names) and are_names(names) and not any(map(is_value, names))
    )


def _units_below(rows: Sequence[Sequence[str]]) -> list[tuple[str, str]]:
    """Return the names with the units that the second row has for columns of values; empty if it has other words."""
    if len(rows) < 3 or _cell(rows[1], 0) or not any(map(str.strip, rows[1])):
        return []
    pairs = [(_cell(rows[0], at), _cell(rows[1], at).strip("()[]")) for at in range(max(map(len, rows[:2])))]
    for at, (name, unit) in enumerate(pairs):
        below = [cell for row in rows[2:] if (cell := _cell(row, at))]
        if unit and not (name and _UNIT.fullmatch(unit) and below and all(map(is_value, below))):
            return []
    return pairs


def _goes_on(names: Sequence[str], rows: Sequence[Sequence[str]]) -> bool:
    """Whether the first of these rows names the columns below the wide cells of a header, above values."""
    if len(rows) < 2:
        return False
    below, rest = rows[0], rows[1:]
    inner = [at for at, cell in enumerate(below) if at and cell.strip() and not _cell(names, at)]
    if not inner or not are_names(below):
        return False
    first = inner[0] - 1  # the name there is over this column, too
    if not _cell(names, first) or not (first or _cell(below, 0)):
        return False
    columns = [at for at, cell in enumerate(below) if cell.strip() and (at in inner or at + 1 in inner)]
    with_values = [
        _are_values(below[at].strip(), cells)
        for at in columns
        if (cells := [c for row in rest if (c := _cell(row, at))])
    ]
    joined = [name for name in _joined(names, below) if name]
    is_distinct = len(set(joined)) == len(joined)
    return is_distinct and are_names(joined) and 0 < len(with_values) <= 2 * sum(with_values)


def _names_inner(names: Sequence[str], rows: Sequence[Sequence[str]]) -> bool:
    """Whether the first of these rows has several names, for columns that have none or below wider ones."""
    joined = [name for name in _joined(names, rows[0]) if name]
    has_several = sum(bool(cell.strip()) for cell in rows[0]) > 1
    return len(rows) > 1 and has_several and are_names(rows[0]) and len(set(joined)) == len(joined)


def _joined(names: Sequence[str], below: Sequence[str]) -> list[str]:
    """Return the names of two rows as one, those of the first row for all columns that they are over."""
    joined: list[str] = []
    over = ""
    for at in range(max(len(names), len(below))):
        name, inner = _cell(names, at), _cell(below, at)
        over = name or (over if inner else "")
        joined.append(over if inner in ("", over) else f"{over} {inner}".strip())
    return joined


def _cell(row: Sequence[str], at: int) -> str:
    return row[at].strip() if at < len(row) else ""


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


def are_names(cells: Sequence[str]) -> bool:
    """Whether all words of a row may be names of columns."""
    return all(_is_name(words) for cell in cells if (words := cell.strip()))


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
