"""Find the tables of a page by ruling lines or aligned words, and write their rows with the names of the columns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

from propcite.app.ingest.readers.pdf.lines import WIDE_GAP, Cell, Line, Part, is_justified, mark_rows
from propcite.app.ingest.readers.rows import has_header, is_value, row_sentence

_MIN_STRIP = 0.5  # letter sizes between two columns
_MAX_SPACE = 3.0  # letter sizes between the rows of a table without lines around its cells
_WRAPPED = 1.5  # letter sizes from a line of a cell to the next line of the same cell
_MAX_CROSSING = 0.2  # share of the cells that may reach several columns
_MAX_BETWEEN = 8  # lines between two of a table that have several cells

Edges = tuple[float, float]  # left and right


@dataclass(frozen=True, slots=True)
class _Word:
    """A cell of a line, with the line that it is in."""

    cell: Cell
    line: Line

    @property
    def part(self) -> Part:
        return self.line.part(self.cell)


@dataclass(slots=True)
class _Row:
    """The words of a table's row by column."""

    cells: dict[int, list[_Word]] = field(default_factory=dict)

    @property
    def last(self) -> int:
        return next(reversed(self.cells))

    @property
    def words(self) -> list[_Word]:
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
        return " ".join(word.cell.text for word in self.cells.get(column, ()))

    def add(self, other: _Row) -> None:
        for column, words in other.cells.items():
            self.cells[column] = self.cells.get(column, []) + words


def with_tables(lines: Sequence[Line]) -> list[Line]:
    """Return the lines of a page with those of tables rewritten: one line per row, in the place of the table.

    A row is a sentence with the names of its columns if rules or values show which row names them.  A line with wide
    gaps that is in no table is written with a bar at each gap.
    """
    written: list[Line] = []
    loose: list[Line] = []
    at = 0
    while at < len(lines):
        found = _ruled(lines, at) or _aligned(lines, at)
        if found is None:
            loose.append(lines[at])
            at += 1
            continue
        rows, at = found
        written += mark_rows(loose)
        loose = []
        written += _written(rows)
    return written + mark_rows(loose)


def _ruled(lines: Sequence[Line], start: int) -> tuple[list[_Row], int] | None:
    """Return the rows of the table with lines around its cells that begins here, and the index of the line after it."""
    words: list[_Word] = []
    end = start
    while end < len(lines) and all(cell.frame.is_closed for cell in lines[end].cells) and not lines[end].parts:
        new = [_Word(cell, lines[end]) for cell in lines[end].cells]
        if not new or (words and not any(_touch(new[0], word) for word in words)):
            break
        words += new
        end += 1
    lefts = sorted({word.cell.frame.left for word in words})
    tops = sorted({word.cell.frame.top for word in words}, reverse=True)
    if len(lefts) < 2 or len(tops) < 2:
        return None
    rows = [_Row() for _ in tops]
    for word in words:
        frame, column = word.cell.frame, lefts.index(word.cell.frame.left)
        for number, top in enumerate(tops):
            if frame.bottom < top <= frame.top:  # a cell of several rows is in each of them
                rows[number].cells.setdefault(column, []).append(word)
    rows = [_Row(dict(sorted(row.cells.items()))) for row in rows if row.cells]
    return (rows, end) if sum(len(row.cells) > 1 for row in rows) > 1 else None


def _touch(one: _Word, other: _Word) -> bool:
    """Whether the frames of two cells are the same or have a side in common."""
    a, b = one.cell.frame, other.cell.frame
    beside = a.left in (b.left, b.right) or a.right in (b.left, b.right)
    above = a.top in (b.top, b.bottom) or a.bottom in (b.top, b.bottom)
    return (beside and a.bottom < b.top and b.bottom < a.top) or (above and a.left < b.right and b.left < a.right)


def _aligned(lines: Sequence[Line], start: int) -> tuple[list[_Row], int] | None:
    """Return the rows of the table whose words are in columns from this line on, and the index of the line after it."""
    if not _has_gaps(lines, start):
        return None
    wide = [start]
    for at in range(start + 1, len(lines)):
        if at - wide[-1] > _MAX_BETWEEN or not _is_near(lines[wide[-1] : at], lines[at]):
            break
        if _has_gaps(lines, at):
            wide.append(at)
    while len(wide) > 1:
        columns = _columns(lines[start : wide[-1] + 1])
        end = _end(lines, start, wide, columns)
        if end > wide[-1]:
            break
        wide = [at for at in wide if at < end]
    if len(wide) < 2 or len(columns) < 2:
        return None
    words = [[_Word(cell, line) for cell in line.cells] for line in lines[start:end]]
    return list(_rows(words, columns)), end


def _has_gaps(lines: Sequence[Line], at: int) -> bool:
    line = lines[at]
    if line.parts or all(after.left - cell.right <= WIDE_GAP * line.size for cell, after in pairwise(line.cells)):
        return False
    return not is_justified(line, lines[at + 1] if at + 1 < len(lines) else None)


def _is_near(before: Sequence[Line], line: Line) -> bool:
    lowest, highest = min(one.bottom for one in before), max(one.top for one in before)
    return lowest - line.top < _MAX_SPACE * line.size and line.bottom < highest + line.size


def _columns(lines: Sequence[Line]) -> list[Edges]:
    """Return the left and right edges of the columns; empty if the lines do not share any.

    They are those of the lines with the most cells that most other cells fit into, and those of words beside these.
    """
    wide = [cells for line in lines if len(cells := _wide_cells(line)) > 1]
    strip = _MIN_STRIP * min(line.size for line in lines)
    for number in sorted(set(map(len, wide)), reverse=True):
        columns = _united([cell for cells in wide if len(cells) == number for cell in cells], strip)
        reached = [len(_reached(cell, columns)) for cells in wide for cell in cells]
        if len(columns) == number and sum(times > 1 for times in reached) <= _MAX_CROSSING * len(reached):
            cells = [(cell.left, cell.right) for line in lines for cell in line.cells]
            beside = _united([cell for cell in cells if not _reached(cell, columns)], strip)
            return _united([*columns, *beside], strip)
    return []


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


def _column(cell: Cell, columns: Sequence[Edges]) -> tuple[int, bool]:
    """Return the first column that a cell reaches, or the nearest, and whether it reaches only one."""
    if reached := _reached((cell.left, cell.right), columns):
        return reached[0], len(reached) == 1
    return min(range(len(columns)), key=lambda at: min(abs(cell.left - edge) for edge in columns[at])), True


def _end(lines: Sequence[Line], start: int, wide: Sequence[int], columns: Sequence[Edges]) -> int:
    """Return the index of the first line that is not in the table."""
    if len(columns) < 2:
        return start
    for at in range(start, len(lines)):
        line = lines[at]
        places = [_column(cell, columns) for cell in line.cells]
        fits = bool(places) and all(alone for _, alone in places) and not line.parts
        if at > wide[-1]:
            # The last row may go on in cells after its first.
            is_wrapped = fits and places[0][0] > 0 and _is_near(lines[at - 1 : at], line)
            if not is_wrapped:
                return at
        elif not fits and at not in wide:
            return at
    return len(lines)


def _rows(lines: Sequence[Sequence[_Word]], columns: Sequence[Edges]) -> Iterator[_Row]:
    """Yield the rows: a new one begins where the words go back to an earlier column."""
    rows: list[_Row] = []
    for words in lines:
        for word in words:
            column, _ = _column(word.cell, columns)
            row = rows[-1] if rows else None
            is_same = row and column == row.last and _goes_on(row.cells[column][-1], word, len(words))
            if row is None or (column <= row.last and not is_same):
                row = _Row()
                rows.append(row)
            row.cells.setdefault(column, []).append(word)
    for row, after in pairwise([*rows, None]):
        assert row is not None
        if after is not None and _continues(row, after):
            row.add(after)
            after.cells = row.cells
            continue
        yield row


def _goes_on(before: _Word, word: _Word, num_words: int) -> bool:
    """Whether a word is in the same cell as the one before it: beside it, or on the next line, which is its alone."""
    if before.line is word.line:
        return True
    return num_words == 1 and 0 < before.line.bottom - word.line.bottom <= _WRAPPED * word.line.size


def _continues(row: _Row, after: _Row) -> bool:
    """Whether a row only continues the cells of the row above: it is close, has no first cell and no values."""
    is_close = 0 < row.bottom - after.bottom <= _WRAPPED * after.words[0].line.size
    if 0 in after.cells or not is_close or not set(after.cells) <= set(row.cells):
        return False
    return not any(is_value(after.text(column)) for column in after.cells)


def _written(rows: list[_Row]) -> Iterator[Line]:
    """Yield a line for each row, with the names of its columns if the table has a header."""
    rows = _by_bands(rows)
    width = 1 + max(column for row in rows for column in row.cells)
    texts = [[row.text(column) for column in range(width)] for row in rows]
    named = has_header(texts, proof=not _has_ruled_header(rows))
    for row, cells in list(zip(rows, texts, strict=True))[named:]:
        parts: list[Part] = []
        for column in sorted(row.cells):
            parts += [word.part for word in rows[0].cells.get(column, ()) if named]
            parts += [word.part for word in row.cells[column]]
        words = row.words
        yield replace(
            words[0].line,
            text=row_sentence(texts[0] if named else (), cells),
            left=min(word.cell.left for word in words),
            right=max(word.cell.right for word in words),
            bottom=row.bottom,
            top=max(word.line.top for word in words),
            cells=(),
            stretch=None,
            number_end=None,
            is_row=True,
            parts=tuple(parts),
        )


def _by_bands(rows: Sequence[_Row]) -> list[_Row]:
    """Join rows that ruling lines hold together: those of the header, or all if there is a line below each row."""
    bands = [row.band for row in rows]
    each = len(set(bands)) > max(2, len(rows) / 3)
    joined: list[_Row] = []
    for number, (row, band) in enumerate(zip(rows, bands, strict=True)):
        is_header = band == bands[0] and len(set(bands)) > 1
        if number and band == bands[number - 1] and (each or is_header):
            joined[-1].add(row)
        else:
            joined.append(_Row(dict(row.cells)))
    return joined


def _has_ruled_header(rows: Sequence[_Row]) -> bool:
    """Whether a line divides the first row from the others, which no line divides."""
    bands = [row.band for row in rows]
    return len(bands) > 1 and bands[0] != bands[1] and bands[0][0] >= bands[1][1] and len(set(bands[1:])) == 1
