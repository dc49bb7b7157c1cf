"""Write the rows of a page's tables with the names of their columns, as ruling lines or aligned words show them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from math import inf, isfinite

from propcite.app.ingest.readers.line_ends import line_join
from propcite.app.ingest.readers.pdf.lines import WIDE_GAP, Cell, Line, Part, mark_rows
from propcite.app.ingest.readers.pdf.rules import Frame
from propcite.app.ingest.readers.pdf.table_regions import LARGER, Edges, column_of, extended, has_gaps, table_at
from propcite.app.ingest.readers.rows import has_header, is_value, label_of, row_sentence, unmarked_labels

_MIN_GROUP = 3  # lines in each of several cells side by side, from which they are rows
_WRAPPED = 1.5  # letter sizes from a line of a cell to the next line of the same cell


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
        """Return the words of a cell, joined where a line's end divides one."""
        words = [word.cell.text for word in self.cells.get(column, ())]
        text = words[0] if words else ""
        for after in words[1:]:
            text = "".join((*line_join(text, after, set()), after))
        return text

    def add(self, other: _Row) -> None:
        for column, words in other.cells.items():
            self.cells[column] = self.cells.get(column, []) + words


@dataclass(frozen=True, slots=True)
class _Table:
    """The rows of a table, and the lines that it was in: from `first` to before `end`."""

    first: int
    end: int
    rows: list[_Row]


@dataclass(frozen=True, slots=True)
class _Header:
    """The names of a table's columns and their edges, the size of its letters, its last label, for the next page."""

    names: list[str]
    columns: list[Edges]
    size: float
    group: str = ""


class Tables:
    """Writes the tables of pages, in the order of the pages: a table may go on from one page to the next."""

    def __init__(self) -> None:
        self._before: _Header | None = None  # of the table at the end of the page before

    def in_page(self, lines: Sequence[Line]) -> list[Line]:
        """Return the lines of a page with those of tables rewritten: one line per row, in the place of the table.

        A row is a sentence with the names of its columns if rules or values show which row names them.  A line with
        wide gaps that is in no table is written with a bar at each gap.
        """
        written: list[Line] = []
        loose: list[Line] = []
        at = 0
        goes_on = self._before and bool(lines) and lines[0].size <= LARGER * self._before.size
        if self._before and goes_on and (end := extended(lines, -1, self._before.columns) + 1):
            written += self._written(_rows(lines[:end], self._before.columns))
            at = end
        while at < len(lines):
            table = _ruled(lines, at) or _aligned(lines, at, len(loose))
            if table is None:
                loose.append(lines[at])
                at += 1
                continue
            del loose[len(loose) - max(at - table.first, 0) :]
            loose += lines[at : table.first]  # between the same rules, but above the table
            if loose:
                self._before = _lonely_header(loose)
            written += mark_rows(loose)
            loose = []
            written += self._written(table.rows)
            at = table.end
        if loose:
            self._before = _lonely_header(loose)
        return written + mark_rows(loose)

    def _written(self, rows: list[_Row]) -> Iterator[Line]:
        """Yield a line for each row, with the names of its columns if the table or the one before has a header."""
        rows = _by_bands(rows)
        width = 1 + max(column for row in rows for column in row.cells)
        texts = [[row.text(column) for column in range(width)] for row in rows]
        columns = [_edges(rows, at) for at in range(width)]
        named = has_header(texts, proof=not _has_ruled_header(rows))
        names, name_parts = texts[0] if named else [], rows[0].cells if named else {}
        before, group = self._before, ""
        if not named and before and _are_same(before.columns, columns):
            names, group = before.names, before.group
        labels = _labels(rows, texts)
        group_parts: tuple[Part, ...] = ()
        for number, (row, cells) in list(enumerate(zip(rows, texts, strict=True)))[named:]:
            words = row.words
            if names and number in labels:
                group = text = label_of(cells)
                group_parts = tuple(word.part for word in words)
                parts = group_parts
            else:
                text = row_sentence(names, cells, group)
                named_words = (word for at in sorted(row.cells) for word in (*name_parts.get(at, ()), *row.cells[at]))
                parts = (*group_parts, *(word.part for word in named_words))
            yield replace(
                words[0].line,
                text=text,
                left=min(word.cell.left for word in words),
                right=max(word.cell.right for word in words),
                bottom=row.bottom,
                top=max(word.line.top for word in words),
                cells=(),
                stretch=None,
                number_end=None,
                is_row=True,
                parts=parts,
            )
        self._before = _Header(names, columns, rows[-1].words[0].line.size, group) if names else None


def _labels(rows: Sequence[_Row], texts: Sequence[Sequence[str]]) -> set[int]:
    """Return the rows that name the rows below them, as ruling lines, their width or the other rows' indent show.

    Where one is too wide for its column, the others of one cell are labels too.
    """
    single = [at for at, row in enumerate(rows) if list(row.cells) == [0] and label_of(texts[at])]
    right = max(row.words[-1].cell.frame.right for row in rows)
    ruled = {at for at in single if isfinite(right) and rows[at].words[0].cell.frame.right >= right}
    inner = min((word.cell.left for row in rows for word in row.cells.get(1, ())), default=inf)
    is_certain = any(at + 1 < len(rows) and rows[at].words[0].cell.right > inner for at in single)
    return ruled | (set(single) if is_certain else unmarked_labels(texts))


def _edges(rows: Sequence[_Row], column: int) -> Edges:
    """Return the edges of a column; zeros of an empty one."""
    words = [word.cell for row in rows for word in row.cells.get(column, ())]
    return min((cell.left for cell in words), default=0.0), max((cell.right for cell in words), default=0.0)


def _are_same(columns: Sequence[Edges], others: Sequence[Edges]) -> bool:
    """Whether two tables have the same columns: each overlaps its like."""
    return len(columns) == len(others) and all(
        left < other[1] and other[0] < right for (left, right), other in zip(columns, others, strict=True)
    )


def _lonely_header(lines: Sequence[Line]) -> _Header | None:
    """Return the header that the last line is if its table only begins on the next page."""
    names = [cell.text for cell in lines[-1].cells]
    is_header = has_gaps(lines, len(lines) - 1) and has_header([names, names], proof=False)
    edges = [(cell.left, cell.right) for cell in lines[-1].cells]
    return _Header(names, edges, lines[-1].size) if is_header else None


def _ruled(lines: Sequence[Line], start: int) -> _Table | None:
    """Return the table with lines around its cells that begins here."""
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
    if len(lefts) < 2 or len(tops) < 2 or not _are_cells(words):
        return None
    rows = [_Row() for _ in tops]
    for word in words:
        frame, column = word.cell.frame, lefts.index(word.cell.frame.left)
        for number, top in enumerate(tops):
            if frame.bottom < top <= frame.top:  # a cell of several rows is in each of them
                rows[number].cells.setdefault(column, []).append(word)
    rows = [_Row(dict(sorted(row.cells.items()))) for row in rows if row.cells]
    return _Table(start, end, rows) if sum(len(row.cells) > 1 for row in rows) > 1 else None


def _are_cells(words: Sequence[_Word]) -> bool:
    """Whether the ruling lines are around single cells, rather than around groups of rows or of columns."""
    inside: dict[Frame, list[_Word]] = {}
    for word in words:
        inside.setdefault(word.cell.frame, []).append(word)
    lines: dict[tuple[float, float], list[int]] = {}
    for frame, group in inside.items():
        if any(one.line is other.line and _is_wide(one, other) for one, other in pairwise(group)):
            return False
        lines.setdefault((frame.bottom, frame.top), []).append(len({id(word.line) for word in group}))
    return not any(len(counts) > 1 and len(set(counts)) == 1 and counts[0] >= _MIN_GROUP for counts in lines.values())


def _is_wide(one: _Word, other: _Word) -> bool:
    return other.cell.left - one.cell.right > WIDE_GAP * one.line.size


def _touch(one: _Word, other: _Word) -> bool:
    """Whether the frames of two cells are the same or have a side in common."""
    a, b = one.cell.frame, other.cell.frame
    beside = a.left in (b.left, b.right) or a.right in (b.left, b.right)
    above = a.top in (b.top, b.bottom) or a.bottom in (b.top, b.bottom)
    return (beside and a.bottom < b.top and b.bottom < a.top) or (above and a.left < b.right and b.left < a.right)


def _aligned(lines: Sequence[Line], start: int, before: int) -> _Table | None:
    """Return the table with words in columns that this line is in, from at most `before` lines above it on."""
    if (region := table_at(lines, start, before)) is None:
        return None
    return _Table(region.first, region.end, _rows(lines[region.first : region.end], region.columns))


def _rows(lines: Sequence[Line], columns: Sequence[Edges]) -> list[_Row]:
    """Return the rows: a new one begins where the words go back to an earlier column."""
    rows: list[_Row] = []
    for line in lines:
        for cell in line.cells:
            word, (column, _) = _Word(cell, line), column_of(cell, columns)
            row = rows[-1] if rows else None
            is_same = row and column == row.last and _goes_on(row.cells[column][-1], word)
            if row is None or (column <= row.last and not is_same):
                row = _Row()
                rows.append(row)
            row.cells.setdefault(column, []).append(word)
    whole: list[_Row] = []
    for row in rows:
        if whole and _continues(whole[-1], row):
            whole[-1].add(row)
        else:
            whole.append(row)
    return whole


def _goes_on(before: _Word, word: _Word) -> bool:
    """Whether a word is in the same cell as the one before it: beside it, or on the next line, which is its alone."""
    if before.line is word.line:
        return True
    return len(word.line.cells) == 1 and 0 < before.line.bottom - word.line.bottom <= _WRAPPED * word.line.size


def _continues(row: _Row, after: _Row) -> bool:
    """Whether a row only continues the cells of the row above: it is close, has no first cell and no values."""
    is_close = 0 < row.bottom - after.bottom <= _WRAPPED * after.words[0].line.size
    if 0 in after.cells or not is_close or not set(after.cells) <= set(row.cells):
        return False
    return not any(is_value(after.text(column)) for column in after.cells)


def _by_bands(rows: Sequence[_Row]) -> list[_Row]:
    """Join rows that ruling lines hold together: those of the header, or all if there is a line below each row."""
    bands = [row.band for row in rows]
    each = len(set(bands)) > max(2, len(rows) / 3)
    joined: list[_Row] = []
    for number, (row, band) in enumerate(zip(rows, bands, strict=True)):
        is_header = band == bands[0] and len(set(bands)) > 1
        if number and band == bands[number - 1] and (is_header or (each and not _is_full(row, joined[-1]))):
            joined[-1].add(row)
        else:
            joined.append(_Row(dict(row.cells)))
    return joined


def _is_full(row: _Row, other: _Row) -> bool:
    """Whether a row has words in each column that the row above has, so that it is a row of its own."""
    return set(other.cells) <= set(row.cells)


def _has_ruled_header(rows: Sequence[_Row]) -> bool:
    """Whether a line divides the first row from the others, which no line divides."""
    bands = [row.band for row in rows]
    return len(bands) > 1 and bands[0] != bands[1] and bands[0][0] >= bands[1][1] and len(set(bands[1:])) == 1
