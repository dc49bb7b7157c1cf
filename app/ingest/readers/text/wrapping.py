"""Join the lines of hard-wrapped paragraphs; verse, tables, code, addresses and lists keep their lines."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from propcite.app.ingest.readers.line_ends import line_join
from propcite.app.ingest.readers.text.lines import Line, numbered_lines
from propcite.retrieval.text import Place, Span

_MIN_WIDTH, _MAX_WIDTH = 50, 132  # columns of a text that is wrapped
_TOLERANCE = 4  # columns by which a full line may be shorter than the width
_RAGGED = 0.6  # the share of the width from which on a line goes on with a small letter
_MIN_FULL = 0.6  # the share of a block's lines that are full if it is wrapped
_HEAVY_CODE = 0.12  # the share of signs such as braces from which on a line is code
_QUOTE = re.compile(r"[ \t]{0,3}(?:>[ \t]?)+|(?:[A-Za-z]{1,3}>[ \t]?)+")
_MARKER = re.compile(
    r"(?:(?:[-*+o?·•◦▪–—]|\(?(?:\d{1,3}(?:\.\d{1,3})*[.)]|[a-zA-Z][.)]|[ivx]{1,5}[.)])|\d{1,3}(?:\.\d{1,3})+"
    r"|\[[\w.-]{1,12}\])[ \t]+){1,3}"
)
_NUMBER = re.compile(r"\(?\d")
_GAP = re.compile(r"(?<=\S)(?: {3}| *\t)")
_TERM = re.compile(r"\S+(?: \S+)* {2,}(?=\S)")  # with the gap between it and its definition in the same line
_FRAME = re.compile(r"[|+:]|[\W_]+$|.*\s\|(?:\s|$)|.*(?:\.[ ]?){5}")
_FIELD = re.compile(r"[A-Z][\w-]*: ")
_STAMP = re.compile(r"\[?(?:\d{4}[-/]\d{1,2}[-/]\d|\d{1,2}[-/:]\d{1,2}(?:[-/:]\d|\b))")
_STATEMENT = re.compile(r"[;{}]\s*(?:(?:#|//|/\*).*)?$")  # the end of a line of code
_SIGNS = re.compile(r"[{}()\[\]=;<>$\\|&*_/]")
_ENDS = re.compile(r"[.!?:…][\"'”’)\]]*$")


@dataclass(frozen=True, slots=True)
class Unwrapped:
    """A text with its paragraphs joined; `places` name the lines in the file, unless every line is still a line."""

    text: str
    places: tuple[Place, ...] = ()


@dataclass(frozen=True, slots=True)
class _Row:
    """A line in its parts: how it is quoted, the column where it begins, its list marker, its words."""

    quote: str
    indent: int
    marker: str
    words: str  # with the marker
    width: int  # of the whole line

    @property
    def is_frame(self) -> bool:
        """Whether the line is a rule, or part of a table or contents that are drawn with signs."""
        return _FRAME.match(self.words) is not None

    @property
    def is_code(self) -> bool:
        return len(_SIGNS.findall(self.words)) > _HEAVY_CODE * len(self.words)

    @property
    def definition(self) -> int:
        """Return the column at which the definition of a term begins in the same line; 0 if there is none."""
        term = _TERM.match(self.words)
        return self.indent + term.end() if term and not _GAP.search(self.words, term.end()) else 0

    @property
    def first_word(self) -> str:
        return self.words.split(maxsplit=1)[0]


def unwrapped(text: str, first_line: int = 1) -> Unwrapped:
    """Join the paragraphs of a decoded file, or of a part that begins with line `first_line`.

    >>> unwrapped("The river rises in the hills, and it flows to the north\\nfor two hundred kilometres.").text
    'The river rises in the hills, and it flows to the north for two hundred kilometres.'
    """
    lines = numbered_lines(text, first_line)
    rows = [_row(line.text) for line in lines]
    joins = _joins(rows)
    words = _whole_words(rows) if any(joins) else set()
    pieces: list[str] = []
    spans: list[tuple[int, int, bool, Span]] = []  # first and last line, whether joined, characters
    length = 0
    for first, last in _groups(joins):
        gap = "" if not first else "\n\n" if lines[first].page_break else "\n"
        piece = _joined(lines[first], rows[first : last + 1], words)
        pieces += gap, piece
        start, length = length + len(gap), length + len(gap) + len(piece)
        spans.append((lines[first].number, lines[last].number, first < last, Span(start, length)))
    return Unwrapped("".join(pieces), tuple(_places(spans, pieces[1::2])) if any(joins) else ())


def _row(line: str) -> _Row:
    line = line.rstrip().expandtabs()
    quote = _QUOTE.match(line)
    rest = line[quote.end() :] if quote else line
    words = rest.lstrip()
    marker = _MARKER.match(words)
    sign = re.sub(r"\s", "", quote[0]) if quote else ""
    return _Row(sign, len(rest) - len(words), marker[0] if marker else "", words, len(line))


def _joins(rows: Sequence[_Row]) -> list[bool]:
    """Return for each line whether the next one goes on with it."""
    blocks = list(_blocks(rows))
    widths = sorted(row.width for block in blocks for row in block.rows[:-1] if row.width <= _MAX_WIDTH)
    usual = widths[int(0.9 * len(widths))] if widths else 0
    joins = [False] * len(rows)
    if usual >= _MIN_WIDTH:
        for block in blocks:
            for number in block.joins(usual):
                joins[number] = True
    return joins


def _blocks(rows: Sequence[_Row]) -> Iterator[_Block]:
    """Yield the runs of lines without a blank one, and quoted by the same signs."""
    block = _Block(0)
    for number, row in enumerate(rows):
        if not row.words or (block.rows and row.quote != block.rows[-1].quote):
            if block.rows:
                yield block
            block = _Block(number + (not row.words))
        if row.words:
            block.rows.append(row)
    if block.rows:
        yield block


@dataclass(slots=True)
class _Block:
    """Lines between blank ones; `start` is the number of the first."""

    start: int
    rows: list[_Row] = field(default_factory=list)

    def joins(self, usual: int) -> Iterator[int]:
        """Yield the lines that the next one goes on with; `usual` is the document's width."""
        pairs = list(pairwise(self.rows))
        width = self._width(usual)
        capitals = sum(after.words[0].isupper() for _, after in pairs)
        if len(pairs) > 2 and capitals >= 0.8 * len(pairs):  # verse, or a list without signs
            return
        gaps_count = not self._is_justified(width)
        full = [_is_full(row, after, width) and not _ends_line(row, after, gaps_count) for row, after in pairs]
        goes_on = [_goes_on(row, after, width) and not _ends_line(row, after, gaps_count) for row, after in pairs]
        first = 1 if pairs and not full[0] and _is_term(*pairs[0]) else 0
        plain = [number for number, (_, after) in enumerate(pairs) if not after.marker and number >= first]
        inside = sum(one and not _ENDS.search(row.words) for one, (row, _) in zip(full, pairs, strict=True))
        is_wrapped = 2 * inside >= sum(full) and sum(full[n] for n in plain) >= _MIN_FULL * len(plain)
        first = 0  # of the paragraph
        for number, (row, after) in enumerate(pairs):
            fits = _fits(self.rows[first], row, after, is_second=first == number)
            if fits and (goes_on[number] or (is_wrapped and full[number])):
                yield self.start + number
            else:
                first = number + 1

    def _width(self, usual: int) -> int:
        """Return the width to which the block is wrapped; a block that is much narrower is not."""
        widest = max((row.width for row in self.rows if " " in row.words and row.width <= _MAX_WIDTH), default=0)
        return widest if len(self.rows) > 2 and widest >= 0.85 * usual else max(usual, widest)

    def _is_justified(self, width: int) -> bool:
        """Whether spaces in the lines are wide because the lines end at the same column."""
        return len(self.rows) > 3 and sum(row.width == width for row in self.rows) >= 0.6 * (len(self.rows) - 1)


def _is_full(row: _Row, after: _Row, width: int) -> bool:
    """Whether the next line's first word would not have fit."""
    return row.width + 1 + len(after.first_word) > width - _TOLERANCE


def _is_term(row: _Row, after: _Row) -> bool:
    """Whether a line may be a term above its definition, which says nothing about the width."""
    return row.indent < after.indent and not _ENDS.search(row.words)


def _goes_on(row: _Row, after: _Row, width: int) -> bool:
    """Whether a sentence goes on in the next line, though the line is shorter than others."""
    if not after.words[0].islower() or _ENDS.search(row.words) or row.width < _RAGGED * width:
        return False
    return " " in row.words and not row.is_code and not after.is_code


def _ends_line(row: _Row, after: _Row, gaps_count: bool) -> bool:
    """Whether a line ends for another reason than its width: a list, a table, code, the fields of a header."""
    if row.is_frame or after.is_frame or _STAMP.match(after.words) or row.width > _MAX_WIDTH:
        return True
    # A number may begin a line within a sentence.
    if after.marker and not (_NUMBER.match(after.marker) and not row.marker and row.words[-1] not in ".!?:;"):
        return True
    if (
        gaps_count
        and row.definition != (after.indent or -1)
        and any(_GAP.search(one.words, len(one.marker)) for one in (row, after))
    ):
        return True
    if _STATEMENT.search(row.words) and _STATEMENT.search(after.words):
        return True
    return (_FIELD.match(row.words) and _FIELD.match(after.words)) is not None or (row.is_code and after.is_code)


def _fits(first: _Row, row: _Row, after: _Row, *, is_second: bool) -> bool:
    """Whether a line is indented as one that goes on with a paragraph whose first line is `first`."""
    if not is_second:
        return after.indent == row.indent
    if after.indent and first.definition == after.indent:
        return True
    return after.indent >= first.indent if first.marker else abs(after.indent - first.indent) <= 8


def _groups(joins: Sequence[bool]) -> Iterator[tuple[int, int]]:
    """Yield the first and last line of each paragraph; a line that is not joined is one of its own."""
    first = 0
    for number, joined in enumerate(joins):
        if not joined:
            yield first, number
            first = number + 1


def _joined(line: Line, rows: Sequence[_Row], words: set[str]) -> str:
    if len(rows) == 1:
        return line.text
    # Spaces within a paragraph only align its lines; those before it, after its marks of quotes and lists, stay.
    pieces = [re.sub(r"(?<=[\w,.;:!?)\"']) {2,}(?=\S)", " ", line.text.rstrip())]
    for row in rows[1:]:
        head, separator = line_join(pieces[-1], row.words, words)
        pieces[-1] = head
        pieces += separator, " ".join(row.words.split())
    return "".join(pieces)


def _whole_words(rows: Sequence[_Row]) -> set[str]:
    """Return the words of a text in lower case, without the last of each line, which may be split."""
    return {word.lower() for row in rows for word in re.findall(r"\w+(?:-\w+)*", row.words)[:-1]}


def _places(spans: Sequence[tuple[int, int, bool, Span]], pieces: Sequence[str]) -> Iterator[Place]:
    """Yield a place for each paragraph, and for each run of lines that are not joined."""
    run: tuple[int, int, int, int] | None = None  # first and last line, characters
    for (first, last, joined, span), piece in zip(spans, pieces, strict=True):
        if run and (joined or not piece.strip()):
            yield _place(*run)
            run = None
        if joined:
            yield _place(first, last, span.start, span.end)
        elif piece.strip():
            run = (run[0], last, run[2], span.end) if run else (first, last, span.start, span.end)
    if run:
        yield _place(*run)


def _place(first: int, last: int, start: int, end: int) -> Place:
    return Place(f"line {first}" if first == last else f"lines {first}–{last}", Span(start, end))
