"""Write the paragraphs of a rich text file as headings, list items and table rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from propcite.app.ingest.readers.draft import Draft, one_line
from propcite.app.ingest.readers.rows import Row, cell_text, limit_cells, write_rows

_SAME = 30  # twentieths of a point, up to which two edges of cells are one


@dataclass(frozen=True, slots=True)
class Paragraph:
    """The words of a paragraph with its label, its heading level or 0, and its depth in lists."""

    words: str
    label: str = ""
    level: int = 0
    depth: int = 0
    is_title: bool = False
    is_bold: bool = False

    @property
    def is_bullet(self) -> bool:
        return bool(self.label) and not any(map(str.isalnum, self.label))


@dataclass(slots=True)
class CellShape:
    """The right edge of a cell, and whether it goes on from the cell on its left or above it."""

    right: int = 0
    joins_left: bool = False
    joins_above: bool = False


@dataclass(slots=True)
class _TableRow:
    cells: list[str]
    shapes: list[CellShape]
    is_header: bool
    is_bold: bool


@dataclass(slots=True)
class Blocks:
    """The draft, with the open table and the open lists."""

    name: str
    draft: Draft
    title: str = ""
    _rows: list[_TableRow] = field(default_factory=list)
    _cells: list[str] = field(default_factory=list)  # of the open row
    _cell: list[Paragraph] = field(default_factory=list)  # of the open cell
    _bold: list[bool] = field(default_factory=list)  # whether each paragraph of the open row that has words is bold

    def paragraph(self, paragraph: Paragraph, *, in_table: bool) -> None:
        """Write a paragraph, or keep it for its cell."""
        if in_table:
            self._cell.append(paragraph)
            return
        self._end_table()
        if not paragraph.words.strip():
            return
        if paragraph.level:
            self.draft.to_depth(0)
            label = "" if paragraph.is_bullet else paragraph.label
            self.draft.block(f"{label} {paragraph.words}".strip(), level=paragraph.level)
            if paragraph.is_title and not self.title:
                self.title = one_line(paragraph.words)
        elif paragraph.label:
            self.draft.to_depth(paragraph.depth)
            self.draft.open_item("" if paragraph.is_bullet else f"{paragraph.label} ")
            self.draft.block(paragraph.words)
            self.draft.close_item()
        else:
            self.draft.to_depth(0)
            self.draft.block(paragraph.words)

    def note(self, words: str) -> None:
        """Write a note or a text box below its paragraph; one in a cell stays there."""
        if self._cell or self._cells:
            self._cell.append(Paragraph(words))
        else:
            self.draft.block(words)

    def end_cell(self) -> None:
        self._bold += [one.is_bold for one in self._cell if one.words.strip()]
        self._cells.append(
            cell_text((one.words, "" if one.is_bullet else one.label, one.is_bullet) for one in self._cell)
        )
        self._cell = []

    def end_row(self, shapes: Sequence[CellShape], *, is_header: bool) -> None:
        if self._cell:
            self.end_cell()
        self._rows.append(_TableRow(self._cells, list(shapes), is_header, bool(self._bold) and all(self._bold)))
        self._cells, self._bold = [], []

    def end(self) -> None:
        if self._cells or self._cell:
            self.end_row((), is_header=False)
        self._end_table()
        self.draft.to_depth(0)

    def _end_table(self) -> None:
        rows, self._rows = self._rows, []
        if not rows:
            return
        self.draft.to_depth(0)
        edges = _edges(rows)
        above: dict[int, str] = {}
        placed = list(limit_cells(self.name, (_placed(row, edges, above) for row in rows)))
        write_rows(self.draft, placed, named=rows[0].is_header)


def _edges(rows: Sequence[_TableRow]) -> list[int]:
    """Return the right edges of the table's columns."""
    edges: list[int] = []
    for right in sorted({shape.right for row in rows for shape in row.shapes}):
        if not edges or right - edges[-1] > _SAME:
            edges.append(right)
    return edges


def _placed(row: _TableRow, edges: Sequence[int], above: dict[int, str]) -> Row:
    """Return a row with each cell in its column; one that goes on from the cell above has its words."""
    if len(row.shapes) != len(row.cells):
        return Row(row.cells, is_bold=row.is_bold)
    cells: list[str] = []
    num_own = 0
    for words, shape in zip(row.cells, row.shapes, strict=True):
        start = len(cells)
        if shape.joins_left and cells:
            words = ""
        elif shape.joins_above:
            words = above.get(start, "")
            num_own += 1
        else:
            num_own += 1
        above[start] = words
        end = next((at + 1 for at, edge in enumerate(edges) if shape.right <= edge + _SAME), start + 1)
        cells += [words, *[""] * (end - start - 1)]
    return Row(cells, is_label=num_own == 1 < len(cells), is_bold=row.is_bold)
