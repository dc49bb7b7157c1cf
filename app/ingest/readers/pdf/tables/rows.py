"""Collect the words of a table's rows by column, as ruling lines or aligned words show them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from propcite.app.ingest.readers.line_ends import line_join
from propcite.app.ingest.readers.pdf.lines import WIDE_GAP, Cell, Line, Part
from propcite.app.ingest.readers.pdf.rules import Frame
from propcite.app.ingest.readers.pdf.tables.regions import Edges, column_of, table_at
from propcite.app.ingest.readers.table_names import is_value

_MIN_GROUP = 3  # lines in each of several cells side by side, from which they are rows
_MAX_HEADER = 4  # lines of the names of columns
_WRAPPED = 1.5  # letter sizes from a line of a cell to the next line of the same cell


@dataclass(frozen=True, slots=True)
class Word:
    """A cell of a line, with the line that it is in."""

    cell: Cell
    line: Line

    @property
    def part(self) -> Part:
        return self.line.part(self.cell)


@dataclass(slots=True)
class Row:
    """The words of a table's row by column."""

    cells: dict[int, list[Word]] = field(default_factory=dict)

    @property
    def last(self) -> int:
        return next(reversed(self.cells))

    @property
    def words(self) -> list[Word]:
        return [word for words in self.cells.values() for word in words]

    @property
    def band(self) -> tuple[float, float]:
        """Return the lines below and above the row's first words."""
        frame = self.words[0].cell.frame
        return frame.bottom, frame.top

    @property
    def bottom(self) -> float:
        return min(word.line.bottom for word in self.words)

    def text(self, column: int) -> str:
        """Return the words of a cell, joined where a line's end divides one."""
        words = [word.cell.text for word in self.cells.get(column, ())]
        text = words[0] if words else ""
        for after in words[1:]:
            text = "".join((*line_join(text, after, set()), after))
        return text

    def add(self, other: Row) -> None:
        for column, words in other.cells.items():
            self.cells[column] = self.cells.get(column, []) + words


@dataclass(frozen=True, slots=True)
class Table:
    """The rows of a table, and the lines that it was in: from `first` to before `end`."""

    first: int
    end: int
    rows: list[Row]


def ruled_table(lines: Sequence[Line], start: int) -> Table | None:
    """Return the table with lines around its cells that begins here."""
    words: list[Word] = []
    end = start
    while end < len(lines) and all(cell.frame.is_closed for cell in lines[end].cells) and not lines[end].parts:
        new = [Word(cell, lines[end]) for cell in lines[end].cells]
        if not new or (words and not any(_touch(one, word) for one in new for word in words)):
            break
        words += new
        end += 1
    lefts = sorted({word.cell.frame.left for word in words})
    tops = sorted({word.cell.frame.top for word in words}, reverse=True)
    if len(lefts) < 2 or len(tops) < 2 or not _are_cells(words):
        return None
    rows = [Row() for _ in tops]
    for word in words:
        frame, column = word.cell.frame, lefts.index(word.cell.frame.left)
        for number, top in enumerate(tops):
            if frame.bottom < top <= frame.top:  # a cell of several rows is in each of them
                rows[number].cells.setdefault(column, []).append(word)
    rows = [Row(dict(sorted(row.cells.items()))) for row in rows if row.cells]
    return Table(start, end, rows) if sum(len(row.cells) > 1 for row in rows) > 1 else None


def _are_cells(words: Sequence[Word]) -> bool:
    """Whether the ruling lines are around single cells, rather than around groups of rows or of columns."""
    inside: dict[Frame, list[Word]] = {}
    for word in words:
        inside.setdefault(word.cell.frame, []).append(word)
    lines: dict[tuple[float, float], list[int]] = {}
    for frame, group in inside.items():
        if any(one.line is other.line and _is_wide(one, other) for one, other in pairwise(group)):
            return False
        lines.setdefault((frame.bottom, frame.top), []).append(len({id(word.line) for word in group}))
    return not any(len(counts) > 1 and len(set(counts)) == 1 and counts[0] >= _MIN_GROUP for counts in lines.values())


def _is_wide(one: Word, other: Word) -> bool:
    return other.cell.left - one.cell.right > WIDE_GAP * one.line.size


def _touch(one: Word, other: Word) -> bool:
    """Whether the frames of two cells are the same or have a side in common."""
    a, b = one.cell.frame, other.cell.frame
    beside = a.left in (b.left, b.right) or a.right in (b.left, b.right)
    above = a.top in (b.top, b.bottom) or a.bottom in (b.top, b.bottom)
    return (beside and a.bottom < b.top and b.bottom < a.top) or (above and a.left < b.right and b.left < a.right)


def aligned_table(lines: Sequence[Line], start: int, before: int) -> Table | None:
    """Return the table with words in columns that this line is in, from at most `before` lines above it on."""
    if (region := table_at(lines, start, before)) is None:
        return None
    return Table(region.first, region.end, rows_in(lines[region.first : region.end], region.columns))


def rows_in(lines: Sequence[Line], columns: Sequence[Edges]) -> list[Row]:
    """Return the rows: a new one begins where the words go back to an earlier column."""
    rows: list[Row] = []
    for line in lines:
        for cell in line.cells:
            word, (column, _) = Word(cell, line), column_of(cell, columns)
            row = rows[-1] if rows else None
            is_same = row and column == row.last and _goes_on(row.cells[column][-1], word)
            if row is None or (column <= row.last and not is_same):
                row = Row()
                rows.append(row)
            row.cells.setdefault(column, []).append(word)
    whole: list[Row] = []
    for row in rows:
        if whole and _continues(whole[-1], row):
            whole[-1].add(row)
        else:
            whole.append(row)
    return whole


def _goes_on(before: Word, word: Word) -> bool:
    """Whether a word is in the same cell as the one before it: beside it, or on the next line, which is its alone."""
    if before.line is word.line:
        return True
    return len(word.line.cells) == 1 and 0 < before.line.bottom - word.line.bottom <= _WRAPPED * word.line.size


def _continues(row: Row, after: Row) -> bool:
    """Whether a row only continues the cells of the row above: it is close, has no first cell and no values."""
    is_close = 0 < row.bottom - after.bottom <= _WRAPPED * after.words[0].line.size
    if 0 in after.cells or not is_close or not set(after.cells) <= set(row.cells):
        return False
    return not any(is_value(after.text(column)) for column in after.cells)


def joined_rows(rows: Sequence[Row]) -> list[Row]:
    """Join rows that ruling lines hold together: those of the header, or all if there is a line below each row."""
    bands = [row.band for row in rows]
    # More rows above the first line are no header: it may be that of a frame below them.
    has_header = bands.count(bands[0]) <= _MAX_HEADER
    each = len(set(bands)) > max(2, len(rows) / 3)
    joined: list[Row] = []
    for number, (row, band) in enumerate(zip(rows, bands, strict=True)):
        is_header = has_header and band == bands[0] and len(set(bands)) > 1 and row.words[0] is not rows[0].words[0]
        if number and band == bands[number - 1] and (is_header or (each and not _is_full(row, joined[-1]))):
            joined[-1].add(row)
        else:
            joined.append(Row(dict(row.cells)))
    return joined


def _is_full(row: Row, other: Row) -> bool:
    """Whether a row has words in each column that the row above has, so that it is a row of its own."""
    return set(other.cells) <= set(row.cells)


def edges_of(rows: Sequence[Row], column: int) -> Edges:
    """Return the edges of a column; zeros of an empty one."""
    words = [word.cell for row in rows for word in row.cells.get(column, ())]
    return min((cell.left for cell in words), default=0.0), max((cell.right for cell in words), default=0.0)
