"""Find where the tables of a page without lines around their cells are, and their columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import isfinite

from propcite.app.ingest.readers.pdf.lines import WIDE_GAP, Cell, Line, is_justified
from propcite.app.ingest.readers.table_names import is_value, label_of

_MIN_STRIP = 0.5  # letter sizes between two columns
_MAX_SPACE = 3.0  # letter sizes between the rows of a table without lines around its cells
_MAX_CROSSING = 0.2  # share of the cells that may reach several columns
_MAX_BETWEEN = 8  # lines between two of a table that have several cells
MAX_LABEL = 2.0  # letter sizes from a label to the row below it
LARGER = 1.1  # ratio of letter sizes from which a line apart from a table is a heading below it
_MOST = 0.8  # share of a column's lines with two cells, from which it is two columns
_MAX_LINES = 500  # of a table; a longer one is read in several pieces

Edges = tuple[float, float]  # left and right


@dataclass(frozen=True, slots=True)
class Region:
    """The lines of a table, from `first` to before `end`, and the edges of its columns."""

    first: int
    end: int
    columns: list[Edges]


def table_at(lines: Sequence[Line], start: int, before: int) -> Region | None:
    """Return the table that this line is in, from at most `before` lines above it on; None if it is in none."""
    return _between_rules(lines, start) or _by_gaps(lines, start, before)


def column_of(cell: Cell, columns: Sequence[Edges]) -> tuple[int, bool]:
    """Return the first column that a cell reaches, or the nearest, and whether it reaches only one."""
    if reached := _reached((cell.left, cell.right), columns):
        return reached[0], len(reached) == 1
    return min(range(len(columns)), key=lambda at: min(abs(cell.left - edge) for edge in columns[at])), True


def _between_rules(lines: Sequence[Line], start: int) -> Region | None:
    """Return the lines from this one on between level rules, if they are in columns."""
    if not _is_between_rules(lines[start]) or (start and _rules(lines[start - 1]) == _rules(lines[start])):
        return None  # the lines between these rules were looked at before
    edges: set[float] = set()
    end = start
    last, is_in_cells = min(start + _MAX_LINES, len(lines)), _is_in_cells(lines[start])
    while end < last and _is_between_rules(lines[end]) and _is_in_cells(lines[end]) == is_in_cells:
        if edges and (not _rules(lines[end]) & edges or _begins_another(lines[start:end], lines[end])):
            break
        edges |= _rules(lines[end])
        end += 1
    columns = _columns(lines[start:end])
    misfit = next((at for at in range(start, end) if not _places_at(lines, at, columns)), end)
    if len(columns) > 1 and misfit < end:
        columns = _columns(lines[start:misfit]) or columns
    end = misfit
    # Words between the same rules as none in columns are above or below the table.
    inside = {frozenset(_rules(lines[at])) for at in range(start, end) if len(_places(lines[at], columns)) > 1}
    within = [at for at in range(start, end) if _rules(lines[at]) in inside]
    if len(columns) < 2 or sum(has_gaps(lines, at) for at in within) < 2:
        return None
    return Region(within[0], within[-1] + 1, columns)


def _is_between_rules(line: Line) -> bool:
    return bool(line.cells) and not line.parts and all(map(isfinite, _rules(line)))


def _is_in_cells(line: Line) -> bool:
    return all(cell.frame.is_closed for cell in line.cells)


def _rules(line: Line) -> set[float]:
    return {side for cell in line.cells for side in (cell.frame.bottom, cell.frame.top)}


def _by_gaps(lines: Sequence[Line], start: int, before: int) -> Region | None:
    """Return the lines around this one whose words are in columns."""
    if not has_gaps(lines, start):
        return None
    wide = [start]
    for at in range(start + 1, min(start + _MAX_LINES, len(lines))):
        is_far = at - wide[-1] > _MAX_BETWEEN or not _is_near(lines[wide[-1] : at], lines[at])
        if (
            is_far
            or _is_in_cells(lines[at]) != _is_in_cells(lines[start])
            or _begins_another(lines[start:at], lines[at])
        ):
            break
        if has_gaps(lines, at):
            wide.append(at)
    while len(wide) > 1:
        columns = _columns(lines[start : wide[-1] + 1])
        misfits = [at for at in range(start, wide[-1]) if at not in wide and not _places_at(lines, at, columns)]
        if len(columns) > 1 and not misfits:
            end = extended(lines[start:], wide[-1] - start, columns) + start
            above = list(reversed(lines[start - before : start + 1]))
            first = start - extended(above, 0, columns, is_above=True)
            return Region(first, end + 1, columns)
        wide = [at for at in wide if at < (misfits[0] if len(columns) > 1 else wide[-1])]
    return None


def has_gaps(lines: Sequence[Line], at: int) -> bool:
    """Whether a line has words so far apart that they are cells."""
    line = lines[at]
    if line.parts or all(after.left - cell.right <= WIDE_GAP * line.size for cell, after in pairwise(line.cells)):
        return False
    return not is_justified(line, lines[at + 1] if at + 1 < len(lines) else None)


def _is_near(before: Sequence[Line], line: Line) -> bool:
    lowest, highest = min(one.bottom for one in before), max(one.top for one in before)
    return lowest - line.top < _MAX_SPACE * line.size and line.bottom < highest + line.size


def _is_near_above(after: Sequence[Line], line: Line) -> bool:
    return -line.size < line.bottom - max(one.top for one in after) < _MAX_SPACE * line.size


def _begins_another(table: Sequence[Line], line: Line) -> bool:
    """Whether a line below a table does not go on with it: a heading, or other names above values that come then."""
    if line.size > LARGER * table[-1].size and table[-1].bottom - line.top > line.size:
        return True
    texts = [cell.text for cell in line.cells]
    if len(set(texts)) < max(2, len(texts)) or any(map(is_value, texts)):
        return False
    is_apart = len(table[-1].cells) == 1 or line.left > min(one.left for one in table) + line.size
    above = [
        [
            is_value(cell.text)
            for one in table[1:]
            for cell in one.cells
            if name.left < cell.right and cell.left < name.right
        ]
        for name in line.cells
    ]
    return is_apart and 2 * sum(bool(values) and all(values) for values in above) >= len(above)


def extended(lines: Sequence[Line], last: int, columns: Sequence[Edges], *, is_above: bool = False) -> int:
    """Return the index of the last line of a table that goes on after the line `last`, or begins on this page if -1.

    Its columns show cells that are too near each other to be seen without them.
    """
    is_near = _is_near_above if is_above else _is_near
    at = last + 1
    while at < len(lines) and at - last <= _MAX_BETWEEN and (not at or is_near(lines[max(last, 0) : at], lines[at])):
        places = _places(lines[at], columns) if is_above else _places_at(lines, at, columns, goes_on=last < 0)
        if not places or (not is_above and last >= 0 and _begins_another(lines[:at], lines[at])):
            break
        if len(places) > 1:
            last = at
        at += 1
    while not is_above and 0 < last + 1 < len(lines) and is_near(lines[last : last + 1], lines[last + 1]):
        places = _places(lines[last + 1], columns)
        if not places or 0 in places:
            break
        last += 1  # the last row goes on in cells after its first
    return last


def _places(line: Line, columns: Sequence[Edges]) -> set[int]:
    """Return the columns that a line has words in; empty if one of its cells reaches several."""
    places = [column_of(cell, columns) for cell in line.cells] if columns and not line.parts else []
    return {column for column, _ in places} if all(alone for _, alone in places) else set()


def _places_at(lines: Sequence[Line], at: int, columns: Sequence[Edges], *, goes_on: bool = False) -> set[int]:
    """Return the columns that a line has words in; the first alone where it is a label over several of them."""
    return _places(lines[at], columns) or ({0} if _is_label(lines, at, columns, goes_on=goes_on) else set())


def _is_label(lines: Sequence[Line], at: int, columns: Sequence[Edges], *, goes_on: bool) -> bool:
    """Whether a line of a table has one cell that reaches several columns and names the rows below it.

    Between two columns it may as well go on with the second.  The first line of a page is one only if a table goes on.
    """
    line = lines[at]
    if at + 1 == len(lines) or len(line.cells) != 1 or not columns or not label_of([line.text]):
        return False
    is_left = abs(line.left - columns[0][0]) < line.size
    is_close = 0 < line.bottom - lines[at + 1].bottom <= MAX_LABEL * line.size
    is_inside = len(_places(lines[at - 1], columns)) > 2 if at else goes_on
    is_above = len(_places(lines[at + 1], columns)) > 2
    return (
        is_left
        and is_close
        and is_inside
        and is_above
        and not (at and _begins_another(lines[at - 1 : at + 1], lines[at + 1]))
    )


def _columns(lines: Sequence[Line]) -> list[Edges]:
    """Return the left and right edges of the columns; empty if the lines do not share any.

    They are those of the lines with the most cells that most other cells fit into, and those of words beside these.
    """
    wide = [cells for line in lines if len(cells := _wide_cells(line)) > 1]
    if len(wide) < 2:
        return []
    strip = _MIN_STRIP * min(line.size for line in lines)
    for number in sorted(set(map(len, wide)), reverse=True):
        columns = _united([cell for cells in wide if len(cells) == number for cell in cells], strip)
        reached = [len(_reached(cell, columns)) for cells in wide for cell in cells]
        if len(columns) == number and sum(times > 1 for times in reached) <= _MAX_CROSSING * len(reached):
            cells = [(cell.left, cell.right) for line in lines for cell in line.cells]
            beside = _united([cell for cell in cells if not _reached(cell, columns)], strip)
            return [part for one in _united([*columns, *beside], strip) for part in _divided(one, lines, strip)]
    return []


def _divided(column: Edges, lines: Sequence[Line], strip: float) -> list[Edges]:
    """Return the columns below names whose gap is too small to divide one line, but is there in most lines."""
    rows: dict[int, list[Cell]] = {}  # pdfium may take the cells of a row for lines
    for line in lines:
        if inside := [cell for cell in line.cells if _reached((cell.left, cell.right), [column])]:
            rows.setdefault(round(line.bottom), []).extend(inside)
    cells = list(rows.values())
    several = sum(len(inside) > 1 for inside in cells)
    if len(cells) < 3 or len(cells[0]) < 2 or several < _MOST * len(cells):
        return [column]
    if any(is_value(name.text) or not any(map(str.isalpha, name.text)) for name in cells[0]):
        return [column]
    below = [cell for inside in cells[1:] for cell in inside]
    if 2 * sum(is_value(cell.text) for cell in below) < len(below):
        return [column]
    return _united([(cell.left, cell.right) for inside in cells for cell in inside], strip)


def _united(cells: Sequence[Edges], strip: float) -> list[Edges]:
    """Return the cells as columns: those that overlap or are closer than `strip` are in one."""
    columns: list[Edges] = []
    for left, right in sorted(cells):
        if columns and left < columns[-1][1] + strip:
            columns[-1] = columns[-1][0], max(columns[-1][1], right)
        else:
            columns.append((left, right))
    return columns


def _reached(cell: Edges, columns: Sequence[Edges]) -> list[int]:
    return [at for at, (left, right) in enumerate(columns) if cell[0] < right and left < cell[1]]


def _wide_cells(line: Line) -> list[Edges]:
    """Return the edges of the words between wide gaps."""
    edges: list[Edges] = []
    for cell in line.cells:
        if edges and cell.left - edges[-1][1] <= WIDE_GAP * line.size:
            edges[-1] = edges[-1][0], cell.right
        else:
            edges.append((cell.left, cell.right))
    return edges
