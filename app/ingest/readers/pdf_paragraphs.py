"""Lines of a PDF to paragraphs: which lines read on, how two of them join, which are headings."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

from propcite.app.ingest.readers.pdf_lines import Line, body_size
from propcite.retrieval.text import Span

_ENDS_SENTENCE = re.compile(r"[.!?:;…。！？][\"'”’»)\]]*$")
_BULLET = re.compile(r"[•‣◦▪●○■□]\s")
_LIST_ITEM = re.compile(r"(?:[•‣◦▪●○■□–—*·-]|\(?(?:\d{1,3}|[a-zA-Z])[.)]|\[\d{1,3}\])\s")
_LEADER = re.compile(r"(?:\. ?){4,}\w*$")  # of a table of contents
_HYPHENATED = re.compile(r"([\w-]*\w)[-\u2010\u00ad]$")
_WORDS = re.compile(r"\w+(?:[-\u2010]\w+)*")
# First parts that keep their hyphen: `well-` and `known` are not `wellknown`.
_KEEPING = frozenset("well self non half ex cross high low long short".split())
# First parts that lose it although both parts are words: `more-` and `over` are not `more-over`.
_CLOSING = frozenset(
    "more over under some every other there where when what them your with within never back down".split()
)
_LONGEST_HEADING = 200
_LARGER = 1.15
_SAME_SIZE = 1.12


@dataclass(slots=True)
class Piece:
    """Lines of one page that read on: each with its words and what stands before them."""

    page: int
    lines: list[tuple[Line, str, str]]

    @property
    def words(self) -> str:
        """Without what stands before the first."""
        return "".join(before + words for _, words, before in self.lines)[len(self.before) :]

    @property
    def before(self) -> str:
        return self.lines[0][2]

    def placed(self) -> Iterator[tuple[Span, Line]]:
        """Where each line's words stand in the piece's."""
        start = -len(self.before)
        for line, words, before in self.lines:
            yield Span(start + len(before), start + len(before) + len(words)), line
            start += len(before) + len(words)


@dataclass(slots=True)
class Paragraph:
    """Words that read on, in pieces by page.

    `tight` where it stands right below the one before: the next item of a list, the next row of a table.
    """

    pieces: list[Piece]
    level: int = 0
    tight: bool = False

    @property
    def text(self) -> str:
        return "".join(piece.before + piece.words for piece in self.pieces)


def paragraphs(lines: Sequence[Line]) -> list[Paragraph]:
    """The paragraphs and headings of a document without headers and footers."""
    groups: list[list[Line]] = []
    spacing = _usual_spacing(lines)
    for column in _columns(lines):
        for first, group in enumerate(_split(column, spacing)):
            if groups and not first and _reads_on(groups[-1][-1], group[0]):
                groups[-1] += group
            else:
                groups.append(group)
    words = _whole_words(lines)
    parts = [_joined(group, words) for group in groups]
    for part, (group, after) in zip(parts[1:], pairwise(groups), strict=False):
        part.tight = _is_below(group, after)
    return _with_levels(groups, parts, body_size(lines))


def _columns(lines: Sequence[Line]) -> Iterator[list[Line]]:
    """Lines that go down one page in letters of one size."""
    column: list[Line] = []
    for line in lines:
        if column and not _same_row(column[-1], line) and not _goes_down(column[-1], line):
            yield column
            column = []
        column.append(line)
    if column:
        yield column


def _goes_down(line: Line, after: Line) -> bool:
    return line.page == after.page and after.bottom < line.bottom and _same_size(line, after)


def _same_size(line: Line, after: Line) -> bool:
    return max(line.size, after.size) <= _SAME_SIZE * min(line.size, after.size)


def _same_row(line: Line, after: Line) -> bool:
    """Whether two lines stand side by side, as a raised 2 stands after its word."""
    overlap = min(line.top, after.top) - max(line.bottom, after.bottom)
    lower = min(line.top - line.bottom, after.top - after.bottom)
    return line.page == after.page and after.left >= line.left and 0 < lower < 2 * overlap


def _usual_spacing(lines: Sequence[Line]) -> float:
    """How far a line stands below the one before, in letter sizes: the median of the document, to double spacing."""
    pairs = [(line, after) for line, after in pairwise(lines) if _goes_down(line, after)]
    spacings = [(line.bottom - after.bottom) / line.size for line, after in pairs if not _same_row(line, after)]
    return min(median(spacings), 2.5) if spacings else 1.2


def _split(column: Sequence[Line], spacing: float) -> Iterator[list[Line]]:
    left, right = min(line.left for line in column), max(line.right for line in column)
    group = [column[0]]
    for line, after in pairwise(column):
        apart = line.bottom - after.bottom > 1.25 * spacing * line.size
        if not _same_row(line, after) and (apart or _is_last(line, after, group, left, right)):
            yield group
            group = []
        group.append(after)
    yield group


def _is_last(line: Line, after: Line, group: Sequence[Line], left: float, right: float) -> bool:
    """Whether a line ends its paragraph, seen from the line after it and from the column's edges."""
    if _BULLET.match(after.text) or _LEADER.search(line.text) or line.is_row or after.is_row:
        return True
    if _HYPHENATED.search(line.text):
        return False
    width = (line.right - line.left) / max(len(line.text), 1)
    first_word = after.text.split(maxsplit=1)[0]
    # The writer broke the line although the next word had room on it.  Right-to-left lines have their room on the left.
    had_room = line.right + width * (len(first_word) + 1.5) < right and not _is_right_to_left(line.text)
    ends_sentence, in_item = _ENDS_SENTENCE.search(line.text), _LIST_ITEM.match(group[0].text)
    # A name such as `J. Smith` may begin a line too.
    if _LIST_ITEM.match(after.text) and (ends_sentence or in_item or had_room):
        return True
    if not ends_sentence:
        is_short = line.right - left < 0.6 * (right - left)
        return had_room and is_short and not after.text[0].islower()
    indented = after.left - line.left > 0.8 * line.size and not in_item
    outdented = line.left - after.left > 0.8 * line.size and len(group) > 1
    return had_room or indented or outdented


def _is_right_to_left(text: str) -> bool:
    return any(unicodedata.bidirectional(char) in ("R", "AL") for char in text[:20])


def _reads_on(line: Line, after: Line) -> bool:
    """Whether a sentence goes on in the next column or on the next page."""
    if not _same_size(line, after) or _ENDS_SENTENCE.search(line.text) or _LIST_ITEM.match(after.text):
        return False
    return after.text[0].islower() or _HYPHENATED.search(line.text) is not None


def _joined(lines: Sequence[Line], words: set[str]) -> Paragraph:
    pieces = [Piece(lines[0].page, [(lines[0], lines[0].text, "")])]
    text = lines[0].text
    for line in lines[1:]:
        kept, between = joint(text, line.text, words)
        if len(kept) < len(text):
            last, shown, before = pieces[-1].lines[-1]
            pieces[-1].lines[-1] = (last, shown[:-1], before)
        if line.page != pieces[-1].page:
            pieces.append(Piece(line.page, []))
        pieces[-1].lines.append((line, line.text, between))
        text = kept + between + line.text if line.page == pieces[-1].page else line.text
    for piece in pieces:
        piece.lines = [(line, shown.replace("\u00ad", ""), before) for line, shown, before in piece.lines]
    return Paragraph(pieces)


def _whole_words(lines: Sequence[Line]) -> set[str]:
    """The words of a document in small letters, without those that a line's end may cut."""
    words: set[str] = set()
    cut = False
    for line in lines:
        found = _WORDS.findall(line.text.replace("\u2010", "-"))[1 if cut else 0 :]
        cut = _HYPHENATED.search(line.text) is not None
        words.update(word.lower() for word in (found[:-1] if cut else found))
    return words


def joint(line: str, after: str, words: set[str]) -> tuple[str, str]:
    """What is kept of a line, and what stands between it and the one after; `words` are those of the document.

    >>> joint("for exam-", "ple", set()), joint("a well-", "known", set()), joint("one", "two", set())
    (('for exam', ''), ('a well-', ''), ('one', ' '))
    """
    hyphenated, first_word = _HYPHENATED.search(line), re.match(r"\w+", after)
    if hyphenated is None:
        return line, "" if _is_wide(line[-1:]) and _is_wide(after[:1]) else " "
    if first_word is None or first_word[0] in ("and", "or", "und", "oder"):  # pre- and post-war
        return line, " "
    if not first_word[0][0].islower():  # Smith-Jones, 2019-2020
        return line, ""
    loses = line[-1] == "\u00ad" or not _keeps_hyphen(hyphenated[1].lower(), first_word[0].lower(), words)
    return (line[:-1] if loses else line), ""


def _keeps_hyphen(start: str, end: str, words: set[str]) -> bool:
    """Whether a hyphen at a line's end belongs to the word, as far as the document's other words tell."""
    if f"{start}{end}" in words:
        return False
    if "-" in start or f"{start}-{end}" in words or (start in _KEEPING and len(end) > 3):
        return True
    return min(len(start), len(end)) > 3 and {start, end} <= words and start not in _CLOSING


def _is_wide(char: str) -> bool:
    """Chinese and Japanese letters, which no space sets apart; Korean has spaces."""
    is_wide = bool(char) and unicodedata.east_asian_width(char) in "WF"
    return is_wide and not "\uac00" <= char <= "\ud7a3"


def _is_below(group: Sequence[Line], after: Sequence[Line]) -> bool:
    """Whether two groups are neighbours of one list or table."""
    kind = _kind(after[0])
    return group[-1].page == after[0].page and kind is not None and kind == _kind(group[0])


def _kind(line: Line) -> str | None:
    if line.is_row:
        return "row"
    if _LEADER.search(line.text):
        return "contents"
    return "item" if _LIST_ITEM.match(line.text) else None


def _with_levels(groups: Sequence[list[Line]], parts: list[Paragraph], body: float) -> list[Paragraph]:
    """Short parts in larger letters are headings; the first of the largest, on the first page, is the title."""
    largest, title = 0.0, None
    for part, group in zip(parts, groups, strict=True):
        size = max(line.size for line in group)
        if size < _LARGER * body or part.tight or not _is_short_text(part.text):
            continue
        part.level = 2
        if size > largest:
            largest, title = size, part
    if title is not None and title.pieces[0].page == groups[0][0].page:
        title.level = 1
    return parts


def _is_short_text(text: str) -> bool:
    """Whether it is of a heading's length, and words rather than a formula."""
    return len(text) <= _LONGEST_HEADING and 2 * sum(char.isalpha() for char in text) > len(text)
