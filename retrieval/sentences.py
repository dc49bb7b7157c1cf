"""Split a text into sentences whose spans cover it exactly."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from propcite.retrieval.punkt import sentence_starts
from propcite.retrieval.text import Span

MAX_CHARACTERS = 1200  # a longer sentence is split, preferably after a clause
MAX_ROW_LENGTH = 300  # characters; a longer line with a tab or wide gaps is prose, not a table row

_NEWLINES = "\r\n\x85\u2028\u2029"
_LINE = re.compile(rf"(?P<words>\S[^{_NEWLINES}]*+)(?P<space>\s*+)")
_BLANK_LINE = re.compile(rf"(?>\r\n|[{_NEWLINES}])[^\S{_NEWLINES}]*+[{_NEWLINES}]")
_KIND = re.compile(
    r"(?P<heading>#{1,6}[ \t])|(?P<rule>(?:[-=_*~][ \t]*+){3,}+$)|(?P<row>\|)|(?P<bullet>[-*+•‣▪◦●○■□–—·►✓✔][ \t\xa0])"
    r"|(?P<number>\(?(?:\d{1,3}(?:\.\d{1,3}){0,4}[.)]|\d{1,2}(?:\.\d{1,2}){1,4})\s)"
    r"|(?P<letter>\(?(?:[^\W\d_]|[ivx]{2,5})[.)]\s)|(?P<reference>\[\^?\d{1,3}\]:?\s)",
    re.IGNORECASE,
)
_CELL_EDGE = re.compile(r"(?<=\S) {3}")
_COLUMN = re.compile(r"(?<=\S)(?: ?\t| {4})")
_LEFT_OPEN = re.compile(
    r"(?:[^\W\d_]-|[,(&/–—]|\b(?:a|an|and|as|at|but|by|for|from|in|into|is|nor|of|on|or|our|than|that|the|their|to|was|"
    r"were|which|who|with|der|die|das|den|dem|des|und|oder|von|mit|in|im|zu|le|la|les|de|du|des|et|ou|un|une|à))$"
)

_CLAUSE = re.compile(rf".{{{MAX_CHARACTERS // 2},}}(?:[,;:)–—]\s|[、，；：])\s*", re.DOTALL)
_SPACED = re.compile(r".*\s", re.DOTALL)
_SPACE = re.compile(r"\s*+")


def split_sentences(text: str) -> list[Span]:
    """Return the sentences' spans; they cover the text exactly, white space belongs to the sentence before it.

    >>> [span.of("Dr. No left. [1] It rained.") for span in split_sentences("Dr. No left. [1] It rained.")]
    ['Dr. No left. [1] ', 'It rained.']
    """
    spans: list[Span] = []
    for block, is_row in _blocks(text):
        cuts = [] if is_row else list(sentence_starts(text, block))
        for start, end in pairwise([block.start, *cuts, block.end]):
            spans += _limited(text, start, end)
    return spans


@dataclass(frozen=True, slots=True)
class _Line:
    start: int
    words: str
    kind: str
    ends_paragraph: bool  # a blank line follows


def _lines(text: str) -> Iterator[_Line]:
    for match in _LINE.finditer(text):
        words = match["words"].rstrip()
        marker = _KIND.match(words)
        kind = (marker and marker.lastgroup) or ("row" if _has_cells(words) else "prose")
        yield _Line(match.start(), words, kind, _BLANK_LINE.search(match["space"]) is not None)


def _has_cells(words: str) -> bool:
    if len(words) >= MAX_ROW_LENGTH:
        return False
    return " | " in words or _COLUMN.search(words) is not None or len(_CELL_EDGE.findall(words)) > 1


def _blocks(text: str) -> Iterator[tuple[Span, bool]]:
    """Yield paragraphs, headings, list items and table rows; True marks a row, which is one sentence."""
    first: _Line | None = None
    previous: _Line | None = None
    start = 0
    for line in _lines(text):
        if first is None or previous is None:
            first = line
        elif _opens_block(line, previous, first):
            yield Span(start, line.start), first.kind == "row"
            first, start = line, line.start
        previous = line
    if text:
        yield Span(start, len(text)), first is not None and first.kind == "row"


def _opens_block(line: _Line, previous: _Line, first: _Line) -> bool:
    if previous.ends_paragraph or previous.kind in ("heading", "rule", "row"):
        return True
    match line.kind:
        case "prose":
            return _is_own_line(previous.words, line.words)
        case "rule":
            return previous is not first  # otherwise it underlines a heading
        case "reference":
            return first.kind == "reference"  # otherwise it is a citation at a line start
        case "number" | "letter":
            return line.kind == first.kind or previous.words[-1] in ":;"
    return True


def _is_own_line(words: str, following: str) -> bool:
    """Return whether a line was not wrapped: wrapped text fills its lines, but here the next word had room."""
    width = max(40, len(words), len(following))
    if len(words) > 0.75 * width or words[-1] == "." or following[0].islower() or not following[0].isalnum():
        return False
    next_word = following[:40].split(None, 1)[0]
    return len(words) + 1 + len(next_word) <= 0.75 * width and not _LEFT_OPEN.search(words[-12:])


def _limited(text: str, start: int, end: int) -> Iterator[Span]:
    """Yield the sentence, or pieces of at most MAX_CHARACTERS characters without the white space after them."""
    last = start + len(text[start:end].rstrip())
    while True:
        begin = skip_space(text, start)
        if last - begin <= MAX_CHARACTERS:
            break
        window = text[begin : begin + MAX_CHARACTERS + 1]
        match = _CLAUSE.match(window) or _SPACED.match(window)
        cut = skip_space(text, begin + (match.end() if match else MAX_CHARACTERS))
        yield Span(start, cut)
        start = cut
    yield Span(start, end)


def skip_space(text: str, start: int) -> int:
    """Return the position of the first character from `start` on that is no white space."""
    match = _SPACE.match(text, start)
    return match.end() if match else start
