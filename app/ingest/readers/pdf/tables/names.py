"""Find which rows of a PDF table name its columns or other rows, and where these names are visible."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import inf, isfinite

from propcite.app.ingest.readers.pdf.lines import Part
from propcite.app.ingest.readers.pdf.rules import Frame
from propcite.app.ingest.readers.pdf.tables.regions import Edges
from propcite.app.ingest.readers.pdf.tables.rows import Row, Word, edges_of
from propcite.app.ingest.readers.table_names import are_names, has_header, label_of, unmarked_labels

_OFF_CENTER = 0.75  # letter sizes by which a name may miss the middle of the columns that it is above


def header_in(rows: Sequence[Row]) -> tuple[list[str], list[list[Part]], int]:
    """Return the names of the columns, where each is visible, and the number of rows that they are in; no names and 0.

    A name in the first row may be above several columns, and is then in front of the names below it.
    """
    texts = texts_of(rows)
    if len(rows) > 2 and (above := _above_columns(rows)):
        words = [_unique((*above.get(at, ()), *rows[1].cells.get(at, ()))) for at in range(len(texts[0]))]
        names = [Row({0: of_one}).text(0) for of_one in words]
        if are_names(texts[1]) and has_header([names, *texts[2:]], proof=True):
            return names, [[word.part for word in of_one] for of_one in words], 2
    if not has_header(texts, proof=not _has_ruled_header(rows)):
        return [], [[] for _ in texts[0]], 0
    words = [rows[0].cells.get(at, []) for at in range(len(texts[0]))]
    return texts[0], [[word.part for word in of_one] for of_one in words], 1


def texts_of(rows: Sequence[Row]) -> list[list[str]]:
    """Return the words of each row by column."""
    width = 1 + max(column for row in rows for column in row.cells)
    return [[row.text(column) for column in range(width)] for row in rows]


def _unique(words: Sequence[Word]) -> list[Word]:
    return [word for at, word in enumerate(words) if word not in words[:at]]


def _above_columns(rows: Sequence[Row]) -> dict[int, list[Word]]:
    """Return the names of the first row by each column of the second that they are above; empty if none is wide.

    Lines around the cells show it, or that a name is above the middle of columns.
    """
    above: dict[int, list[Word]] = {}
    columns = [at for at in rows[1].cells if any(at in row.cells for row in rows[2:])]
    edges = {at: edges_of(rows[1:], at) for at in columns}
    for at, words in rows[0].cells.items():
        frame = words[0].cell.frame
        if frame.is_closed and frame != rows[1].words[0].cell.frame:
            over = [one for one in columns if _is_inside(rows[1].cells[one][0].cell.frame, frame)] or [at]
        elif at in rows[1].cells or not any(at in row.cells for row in rows[2:]):
            over = _centered(edges, words) if at else [0]
        else:
            over = [at]  # the only name of its column
        if not over or above.keys() & set(over):
            return {}
        above |= dict.fromkeys(over, words)
    return above if len(above) > len(rows[0].cells) else {}


def _is_inside(frame: Frame, other: Frame) -> bool:
    return other.left <= frame.left and frame.right <= other.right


def _centered(columns: Mapping[int, Edges], words: Sequence[Word]) -> list[int]:
    """Return the columns side by side whose middle these words are above, as few as can be; empty if there are none."""
    center, size = (words[0].cell.left + words[-1].cell.right) / 2, words[0].line.size
    inner = sorted(columns)
    for number in range(1, len(inner) + 1):
        for start in range(len(inner) - number + 1):
            over = inner[start : start + number]
            if abs((columns[over[0]][0] + columns[over[-1]][1]) / 2 - center) < _OFF_CENTER * size:
                return over
    return []


def parts_of(row: Row, names: Sequence[Sequence[Part]]) -> Iterator[Part]:
    """Yield where the names and words of a row are visible."""
    for at in sorted(row.cells):
        yield from names[at]
        yield from (word.part for word in row.cells[at])


def labels_of(rows: Sequence[Row], texts: Sequence[Sequence[str]]) -> set[int]:
    """Return the rows that name the rows below them, as ruling lines, their width or their names show.

    Where one is too wide for its column, the others of one cell are labels too.
    """
    single = [at for at, row in enumerate(rows) if list(row.cells) == [0] and label_of(texts[at])]
    right = max(row.words[-1].cell.frame.right for row in rows)
    ruled = {at for at in single if isfinite(right) and rows[at].words[0].cell.frame.right >= right}
    inner = min((word.cell.left for row in rows for word in row.cells.get(1, ())), default=inf)
    is_certain = any(at + 1 < len(rows) and rows[at].words[0].cell.right > inner for at in single)
    return ruled | (set(single) if is_certain else unmarked_labels(texts))


def _has_ruled_header(rows: Sequence[Row]) -> bool:
    """Whether a line divides the first row from the others, which no line divides."""
    bands = [row.band for row in rows]
    return len(bands) > 1 and bands[0] != bands[1] and bands[0][0] >= bands[1][1] and len(set(bands[1:])) == 1
