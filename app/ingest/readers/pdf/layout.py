"""Bring the lines of each page of a PDF into reading order: columns, tables, and notes after the text."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby, pairwise
from math import isfinite
from statistics import quantiles

from propcite.app.ingest.readers.pdf.columns import most_neighbours, neighbours, rows_in_order
from propcite.app.ingest.readers.pdf.line_numbers import without_line_numbers
from propcite.app.ingest.readers.pdf.lines import Cell, Line, body_size, glued
from propcite.app.ingest.readers.pdf.tables.writing import Tables

_NOTE_SCALE = 0.93  # of the body size, up to which letters are those of a note: 8 or 9 of 10 points, 10 of 11
_NOTE = re.compile(r"[(\[]?(?:\d{1,3}(?!\d)|[*∗†‡§¶‖]+|[a-z][).]?\s)")
_BETTER = 1.05  # the ratio of neighbours from which the order of places is preferred to that of the file
_MIN_BODY = 3  # lines of text, from which its edges are known
_COLUMN = 0.7  # of the widest lines of text, the width of lines that show its edges
_BESIDE = 0.5  # letter sizes between the text and a note in its margin


def in_reading_order(lines: Sequence[Line], tables: Tables | None = None) -> list[Line]:
    """Return the lines of pages, without line numbers, each page's in reading order, tables as rows with their headers.

    The order of the file stays unless the lines' places show a better one.  Notes below the text or in its margin come
    last on their page.  `tables` knows the table that may go on from the page before.
    """
    tables = tables or Tables()
    return [line for _, page in groupby(lines, key=lambda line: line.page) for line in _page(list(page), tables)]


def _page(lines: list[Line], tables: Tables) -> Iterator[Line]:
    sideways = [line for line in lines if line.is_apart]
    lines = without_line_numbers([line for line in lines if not line.is_apart])
    body = body_size(lines)
    lines, beside = _without_margins(lines, body)
    lines, below = _without_footnotes(_ordered(lines), body)
    yield from tables.in_page(lines)
    for line in (*_ordered(below), *_ordered(beside)):
        yield replace(line, is_apart=True)
    yield from sideways


def _ordered(lines: list[Line]) -> list[Line]:
    """Return the lines in the order of the file or in that of their places, whichever has more neighbours."""
    pieces = [piece for line in lines for piece in split(line)]
    if len(pieces) < 3 or any(line.parts for line in lines):
        return lines
    most = most_neighbours(pieces)
    enough = _BETTER * neighbours(pieces) + most / len(pieces)
    if enough >= most:
        return lines
    placed = list(rows_in_order(pieces))
    if neighbours([piece for row in placed for piece in row]) <= enough:
        return lines
    return [_joined(row) for row in placed]


def split(line: Line) -> list[Line]:
    """Return the cells of a line as lines."""
    if len(line.cells) < 2:
        return [line]
    return [
        replace(
            line,
            text=cell.text,
            left=cell.left,
            right=cell.right,
            size=cell.size or line.size,
            cells=(cell,),
            stretch=None,
            number_end=None,
        )
        for cell in line.cells
    ]


def _joined(row: list[Line]) -> Line:
    """Return the pieces of a row as one line."""
    if len(row) == 1:
        return row[0]
    text = row[0].text
    for before, piece in pairwise(row):
        words = glued(before, piece)
        text += f" {piece.text}" if words is None else words
    return replace(
        max(row, key=lambda piece: len(piece.text)),
        text=text,
        left=min(piece.left for piece in row),
        right=max(piece.right for piece in row),
        bottom=min(piece.bottom for piece in row),
        top=max(piece.top for piece in row),
        cells=tuple(cell for piece in row for cell in piece.cells),
        stretch=None,
    )


def _without_margins(lines: list[Line], body: float) -> tuple[list[Line], list[Line]]:
    """Return the lines without those in smaller letters beside the text, and these."""
    words = [_words(line) for line in lines]
    widths = [one.right - one.left for row in words for one in row if one.size > _NOTE_SCALE * body]
    if len(widths) < _MIN_BODY or len(widths) == sum(map(len, words)):
        return lines, []
    wide = _COLUMN * quantiles(widths, n=10, method="inclusive")[-1]
    columns = [one for row in words for one in row if one.size > _NOTE_SCALE * body and one.right - one.left >= wide]
    if not columns:  # letters in no direction
        return lines, []
    left = min(one.left for one in columns) - _BESIDE * body
    right = max(one.right for one in columns) + _BESIDE * body
    inside: list[Line] = []
    beside: list[Line] = []
    for line, row in zip(lines, words, strict=True):
        apart = [one.size <= _NOTE_SCALE * body and (one.right < left or one.left > right) for one in row]
        if not any(apart):
            inside.append(line)
            continue
        for piece, is_beside in zip(split(line), apart, strict=True):
            (beside if is_beside else inside).append(piece)
    return inside, beside


def _words(line: Line) -> Sequence[Line | Cell]:
    """Return the words between wide gaps, each with its edges and size."""
    if len(line.cells) < 2:
        return [line]
    return [cell if cell.size else replace(cell, size=line.size) for cell in line.cells]


def _without_footnotes(lines: list[Line], body: float) -> tuple[list[Line], list[Line]]:
    """Return the lines without the notes below them, and the notes.

    They are lines in smaller letters with no others below them, that begin with a mark or stand below a short rule.
    """
    small = [line for line in lines if line.size <= _NOTE_SCALE * body]
    if not small or len(small) == len(lines):
        return lines, []
    others = [line for line in lines if line.size > _NOTE_SCALE * body and not line.text.isdigit()]
    lowest = [line for line in small if not any(_is_above(line, other) for other in others)]
    notes: list[Line] = []
    for block in _blocks(lowest):
        is_marked = any(_NOTE.match(line.text) for line in block)
        if is_marked or isfinite(block[0].cells[0].frame.top if block[0].cells else float("inf")):
            notes += block
    kept = set(map(id, notes))
    return [line for line in lines if id(line) not in kept], notes


def _is_above(line: Line, other: Line) -> bool:
    return other.top < line.top and other.left < line.right and line.left < other.right


def _blocks(lines: Sequence[Line]) -> Iterator[list[Line]]:
    """Yield runs of lines that go down without a wide space."""
    block: list[Line] = []
    for line in lines:
        if block and not 0 <= block[-1].bottom - line.bottom <= 3 * line.size:
            yield block
            block = []
        block.append(line)
    if block:
        yield block
