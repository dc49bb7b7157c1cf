"""Remove the numbers of lines beside a text."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from statistics import median

from propcite.app.ingest.readers.pdf.lines import Line

_MIN_NUMBERS = 4  # on a page
_MIN_COUNTED = 8  # lines from the first number to the last; fewer may be a list
_SLACK = 3.0  # points between the edges of numbers below each other
_MIN_STEADY = 0.9  # share of the numbers that follow the one before by the usual step
_MAX_OVERLAP = 0.1  # share of the lines that may begin to the left of their numbers
_SLACK_RATIO = 1.5  # between the lines that are counted and those that are there: a list counts items of many lines
_MIN_PROSE = 0.4  # share of the lines that begin with a small letter: rows of a table and items of a list do not
_MIN_WORDS = 4  # of half of the lines: those of code and of tables have fewer
_WORD = re.compile(r"(?<!\S)[^\W\d_]{2,}[.,;:]?(?!\S)")


@dataclass(frozen=True, slots=True)
class _Number:
    line: int
    value: int
    left: float
    right: float
    height: float


def without_line_numbers(lines: list[Line]) -> list[Line]:
    """Return the lines of a page without a column of rising numbers beside prose; all lines if there is none."""
    numbers = list(filter(None, (_number(at, line) for at, line in enumerate(lines))))
    if len(numbers) < _MIN_NUMBERS:
        return lines
    columns = [
        [number for number in numbers if abs(getattr(number, edge) - start) <= _SLACK]
        for edge in ("left", "right")
        for start in {round(getattr(number, edge)) for number in numbers}
    ]
    for column in sorted(columns, key=len, reverse=True):
        if _counts_lines(column, lines):
            at = {number.line for number in column}
            return [kept for n, line in enumerate(lines) for kept in ([line] if n not in at else _rest(line))]
    return lines


def _number(at: int, line: Line) -> _Number | None:
    height = (line.bottom + line.top) / 2
    if line.text.isdecimal() and len(line.text) < 6:
        return _Number(at, int(line.text), line.left, line.right, height)
    if line.number_end:
        return _Number(at, int(line.text.split()[0]), line.left, line.number_end[0], height)
    return None


def _counts_lines(column: Sequence[_Number], lines: Sequence[Line]) -> bool:
    column = sorted(column, key=lambda number: -number.height)
    if len(column) < _MIN_NUMBERS:
        return False
    steps = [after.value - number.value for number, after in pairwise(column)]
    step = sorted(steps)[len(steps) // 2]
    if min(steps) < 1 or steps.count(step) < _MIN_STEADY * len(steps) - 1:
        return False
    texts = [text for at, line in enumerate(lines) if (text := _text(line, at, column))]
    highest, lowest = column[0].height + 1, column[-1].height - 1
    beside = [text for text in texts if lowest <= text[1] <= highest]
    right = max(number.right for number in column)
    if sum(left < right for left, _, _ in beside) > _MAX_OVERLAP * len(beside):
        return False
    counted, there = step * (len(column) - 1) + 1, len({round(height) for _, height, _ in beside})
    if counted < _MIN_COUNTED or not counted / _SLACK_RATIO <= there <= counted * _SLACK_RATIO:
        return False
    return _is_prose([words for _, _, words in beside])


def _is_prose(texts: Sequence[str]) -> bool:
    """Whether lines are those of a running text, which a number beside them counts rather than names."""
    if sum(text[:1].islower() for text in texts) < _MIN_PROSE * len(texts):
        return False
    return median(len(_WORD.findall(text)) for text in texts) >= _MIN_WORDS


def _text(line: Line, at: int, column: Sequence[_Number]) -> tuple[float, float, str] | None:
    """Return the left edge, the height and the words of a line without its number; None if it is only a number."""
    rest = _rest(line) if any(number.line == at for number in column) else [line]
    return (rest[0].left, (rest[0].bottom + rest[0].top) / 2, rest[0].text) if rest else None


def _rest(line: Line) -> list[Line]:
    """Return a line without the number at its start; nothing if it is only a number."""
    _, _, text = line.text.partition(" ")
    if not text or line.number_end is None:
        return []
    cells = line.cells
    if len(cells) > 1 and cells[0].text.isdecimal():
        cells = cells[1:]
    elif cells:
        cells = (replace(cells[0], text=cells[0].text.partition(" ")[2], left=line.number_end[1]), *cells[1:])
    return [replace(line, text=text, left=line.number_end[1], cells=cells, number_end=None)]
