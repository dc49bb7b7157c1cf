"""Join the lines of a PDF into paragraphs, and find headings by their letter size."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from statistics import median

from propcite.app.ingest.readers.line_ends import hyphenated_end, line_join
from propcite.app.ingest.readers.pdf.lines import Line, body_size, glued, is_right_to_left
from propcite.retrieval.text import Span

_ENDS_SENTENCE = re.compile(r"[.!?:;…。！？][\"'”’»)\]]*$")
_BULLET = re.compile(r"[•‣◦▪●○■□]\s")
_LIST_ITEM = re.compile(r"(?:[•‣◦▪●○■□–—*·-]|\(?(?:\d{1,3}|[a-zA-Z])[.)]|\[\d{1,3}\])\s")
_LEADER = re.compile(r"(?:\. ?){4,}\w*$")  # of a table of contents
_CAPTION = re.compile(
    r"(?:fig(?:ure|\.)|tab(?:le|\.)|abb(?:ildung|\.)|tabelle|figura|tableau|plate)\s*\d", re.IGNORECASE
)
_WORDS = re.compile(r"\w+(?:[-\u2010]\w+)*")
_INDENT = 0.8  # letter sizes by which the first line of a paragraph is indented
_MIN_COLUMN = 3  # lines of a column, from which its edges are known
_MAX_HEADING = 200
_HEADING_SCALE = 1.15  # of the body size, from which letters are a heading's
_SAME_SIZE = 1.12  # the ratio up to which letters count as of one size


@dataclass(slots=True)
class Piece:
    """Consecutive lines of a paragraph on one page, each with its text and the separator before it."""

    page: int
    lines: list[tuple[Line, str, str]]

    @property
    def words(self) -> str:
        """Return the text, without the separator before the first line."""
        return "".join(before + words for _, words, before in self.lines)[len(self.before) :]

    @property
    def before(self) -> str:
        return self.lines[0][2]

    def line_spans(self) -> Iterator[tuple[Span, Line]]:
        """Yield the span of each line in the piece's text."""
        start = -len(self.before)
        for line, words, before in self.lines:
            yield Span(start + len(before), start + len(before) + len(words)), line
            start += len(before) + len(words)


@dataclass(slots=True)
class Paragraph:
    """A paragraph or heading, in one piece per page.

    `tight` ones follow the one before without a blank line: the next item of a list, the next row of a table.
    """

    pieces: list[Piece]
    level: int = 0
    tight: bool = False

    @property
    def text(self) -> str:
        return "".join(piece.before + piece.words for piece in self.pieces)


@dataclass(slots=True)
class _Group:
    """The lines of a paragraph, and the edges of the column in which it ends; none if that has too few lines."""

    lines: list[Line]
    edges: tuple[float, float] | None


def paragraphs(lines: Sequence[Line]) -> list[Paragraph]:
    """Join lines, without running headers and footers, into paragraphs and headings."""
    groups: list[_Group] = []
    spacing = _usual_spacing(lines)
    for column in _columns(lines):
        left, right = min(line.left for line in column), max(line.right for line in column)
        edges = (left, right) if len(column) >= _MIN_COLUMN else None
        for number, part in enumerate(_split(column, spacing)):
            is_indented = edges is not None and part[0].left - left > _INDENT * part[0].size
            before = None if number or is_indented else _unfinished(groups, part[0])
            if before is None:
                groups.append(_Group(part, edges))
            else:
                before.lines += part
                before.edges = edges
    words = _whole_words(lines)
    joined = [_joined(group.lines, words) for group in groups]
    for paragraph, (group, after) in zip(joined[1:], pairwise(groups), strict=False):
        paragraph.tight = _is_next_in_list(group.lines, after.lines)
    _set_levels([group.lines for group in groups], joined, body_size(lines))
    return joined


def _unfinished(groups: Sequence[_Group], after: Line) -> _Group | None:
    """Return the paragraph that the first line of a column continues, across notes, captions and tables."""
    for group in reversed(groups):
        line = group.lines[-1]
        if line.page < after.page - 1 or line.is_apart < after.is_apart:
            return None
        if line.is_apart == after.is_apart and _same_size(line, after) and not line.is_row:
            if _continues(line, after, group.edges):
                return group
            if not _CAPTION.match(group.lines[0].text):
                return None
        elif line.size > after.size and not (line.is_row or line.is_apart):  # a heading
            return None
    return None


def _columns(lines: Sequence[Line]) -> Iterator[list[Line]]:
    """Yield runs of lines that go down a page in letters of one size."""
    column: list[Line] = []
    for line in lines:
        if column and not (
            line.is_apart == column[-1].is_apart and (_same_row(column[-1], line) or _goes_down(column[-1], line))
        ):
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
    """Whether two lines are side by side, as a superscript after its word; rows of a table never are."""
    if line.is_row or after.is_row:
        return False
    overlap = min(line.top, after.top) - max(line.bottom, after.bottom)
    lower = min(line.top - line.bottom, after.top - after.bottom)
    return line.page == after.page and after.left >= line.left and 0 < lower < 2 * overlap


def _usual_spacing(lines: Sequence[Line]) -> float:
    """Return the document's median line spacing, in letter sizes; at most about double spacing."""
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
    """Whether a line is the last of its paragraph, judged by the line after it and the column's edges."""
    if _BULLET.match(after.text) or _LEADER.search(line.text) or line.is_row or after.is_row:
        return True
    if hyphenated_end(line.text):
        return False
    had_room = _had_room(line, after, left, right)
    ends_sentence, in_item = _ENDS_SENTENCE.search(line.text), _LIST_ITEM.match(group[0].text)
    # A name such as `J. Smith` may begin a line within a paragraph.
    if _LIST_ITEM.match(after.text) and (ends_sentence or in_item or had_room):
        return True
    if not ends_sentence:
        is_short = line.right - left < 0.6 * (right - left)
        return had_room and is_short and not after.text[0].islower()
    indented = after.left - line.left > _INDENT * line.size and not in_item
    outdented = line.left - after.left > _INDENT * line.size and len(group) > 1
    return had_room or indented or outdented


def _had_room(line: Line, after: Line, left: float, right: float) -> bool:
    """Whether a line was broken although the next word would have fit in its column."""
    width = (line.right - line.left) / max(len(line.text), 1) * (len(after.text.split(maxsplit=1)[0]) + 1.5)
    return line.left - width > left if is_right_to_left(line.text) else line.right + width < right


def _continues(line: Line, after: Line, edges: tuple[float, float] | None) -> bool:
    """Whether a sentence continues in the next column or on the next page: with a small letter or after a full line."""
    if _ENDS_SENTENCE.search(line.text) or _LIST_ITEM.match(after.text) or _LEADER.search(line.text) or after.is_row:
        return False
    if after.text[0].islower() or hyphenated_end(line.text) is not None:
        return True
    return edges is not None and not _had_room(line, after, *edges)


def _joined(lines: Sequence[Line], words: set[str]) -> Paragraph:
    pieces = [Piece(lines[0].page, [(lines[0], lines[0].text, "")])]
    text = lines[0].text
    for before_it, line in pairwise(lines):
        head, separator = line_join(text, line.text, words)
        if _same_row(before_it, line) and (superscript := glued(before_it, line)) is not None:
            head, separator, line = text, "", replace(line, text=superscript)
        if len(head) < len(text):
            last, last_text, before = pieces[-1].lines[-1]
            pieces[-1].lines[-1] = (last, last_text[:-1], before)
        if line.page != pieces[-1].page:
            pieces.append(Piece(line.page, []))
        pieces[-1].lines.append((line, line.text, separator))
        text = head + separator + line.text if line.page == pieces[-1].page else line.text
    for piece in pieces:
        piece.lines = [(line, text.replace("\u00ad", ""), before) for line, text, before in piece.lines]
    return Paragraph(pieces)


def _whole_words(lines: Sequence[Line]) -> set[str]:
    """Return a document's words in lower case, without those that may be split at a line's end."""
    words: set[str] = set()
    is_split = False
    for line in lines:
        whole = _WORDS.findall(line.text.replace("\u2010", "-"))[1 if is_split else 0 :]
        is_split = hyphenated_end(line.text) is not None
        words.update(word.lower() for word in (whole[:-1] if is_split else whole))
    return words


def _is_next_in_list(group: Sequence[Line], after: Sequence[Line]) -> bool:
    """Whether a group is the next item of the list or the next row of the table that the group before is in."""
    kind = _kind(after[0])
    return group[-1].page == after[0].page and kind is not None and kind == _kind(group[0])


def _kind(line: Line) -> str | None:
    if line.is_row:
        return "row"
    if _LEADER.search(line.text):
        return "contents"
    return "item" if _LIST_ITEM.match(line.text) else None


def _set_levels(groups: Sequence[list[Line]], joined: list[Paragraph], body: float) -> None:
    """Mark short paragraphs in larger letters as headings; the first of the largest, on the first page, as title."""
    largest, title = 0.0, None
    for paragraph, group in zip(joined, groups, strict=True):
        size = max(line.size for line in group)
        if size < _HEADING_SCALE * body or group[0].is_apart or paragraph.tight or not _is_short_text(paragraph.text):
            continue
        paragraph.level = 2
        if size > largest:
            largest, title = size, paragraph
    if title is not None and title.pieces[0].page == groups[0][0].page:
        title.level = 1


def _is_short_text(text: str) -> bool:
    """Whether a text is as short as a heading, and words rather than a formula."""
    return len(text) <= _MAX_HEADING and 2 * sum(char.isalpha() for char in text) > len(text)
