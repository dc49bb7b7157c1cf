"""The sentences of an answer: its prose, without code blocks, headings and marks of lists, HTML's too; as it comes.

A sentence is final as soon as a word or a line break behind it shows that it ended, and what is final never changes:
a whole text is read in the same steps as one that comes in pieces.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from propcite.attribution.prose.html_blocks import Blocks
from propcite.attribution.prose.lines import Lines, Prose
from propcite.retrieval.punkt import EAST_ASIAN
from propcite.retrieval.sentences import split_sentences
from propcite.retrieval.text import Span

SEEN_BEFORE, MOST_BEFORE = 600, 8  # characters and sentences of its paragraph that a sentence is read with
LONGEST = 2500  # characters without a sign of an end: looked at all the same, and cut at a clause
LONGEST_WORD, WRAPPED_FROM = 41, 0.75  # as the splitter compares two lines: is the first full, or broken on purpose?

_BREAKS = "\n\r\x85\u2028\u2029"
_FREE = "。！？｡．।॥؟۔"  # these end a sentence with no space after them
_SIGN = re.compile(rf"[.!?…‼⁇⁈⁉{_FREE}](?![0-9])|(?>\r\n|[{_BREAKS}])[^\S{_BREAKS}]*+")
_BETWEEN = re.compile(rf"(?:[\[【][^\]】{_BREAKS}]{{0,60}}+(?:[\]】]|(?P<open>\Z))|[^\w{_BREAKS}]|_){{0,40}}+")
_WORD = re.compile(rf"[{EAST_ASIAN}]|\S{{1,24}}+")
_WORDS = re.compile(r"(?:\S{1,24}+(?<=[\W_])[^\S\n]++)?+(?:\S{1,24}+)?+")
_MARK = re.compile(r"(?:[-*+•]|\(?\d{1,3}[.)])[ \t]+(?:\[[ xX]\][ \t]+)?|(?:>[ \t]?)+")


def sentences_of(answer: str) -> list[Span]:
    """The places of the answer's sentences that hold a word; what stands between them says nothing to support.

    >>> text = "# Cost\\n- It cost 5 euros. It is paid.\\n```\\nprint(5)\\n```\\nIt is blue."
    >>> [span.of(text) for span in sentences_of(text)]
    ['It cost 5 euros.', 'It is paid.', 'It is blue.']
    """
    sentences = Sentences()
    return [span for span, _ in (*sentences.feed(answer), *sentences.finish())]


def prose(answer: str) -> Iterator[Span]:
    """The stretches of whole lines outside of code blocks and headings."""
    lines = Lines()
    start = end = 0
    for piece in (*lines.feed(answer), *lines.finish()):
        if piece is None:
            if start < end:
                yield Span(start, end)
            start = end
        else:
            start, end = (piece[0] if start == end else start), piece[0] + len(piece[1])


class Sentences:
    """The sentences of a text that comes in pieces, each with its words, as soon as it is final."""

    def __init__(self) -> None:
        self._lines, self._blocks = Lines(), Blocks()
        self._text, self._start = "", 0  # the last of the prose, and where it stands in the answer
        self._first = self._told = self._looked = 0  # in _text: read from, told up to, looked through up to
        self._limit = LONGEST
        self._before = 0  # sentences told since _first

    def feed(self, text: str) -> Iterator[tuple[Span, str]]:
        for piece in self._lines.feed(text):
            yield from self._parted(piece)

    def finish(self) -> Iterator[tuple[Span, str]]:
        """What nothing can follow any more."""
        for piece in self._lines.finish():
            yield from self._parted(piece)

    def _parted(self, piece: Prose | None) -> Iterator[tuple[Span, str]]:
        for block in self._blocks.feed(piece):
            yield from self._read(block)

    def _read(self, piece: Prose | None) -> Iterator[tuple[Span, str]]:
        if piece is None:
            yield from self._all(len(self._text))
        else:
            self._start = self._start if self._text else piece[0]
            self._text += piece[1]
            yield from self._scan()
        read, self._first = self._first, 0
        self._text, self._start = self._text[read:], self._start + read
        self._told, self._looked, self._limit = self._told - read, self._looked - read, self._limit - read

    def _scan(self) -> Iterator[tuple[Span, str]]:
        """At every sign of an end, in order, up to the first of which nothing can be said yet."""
        while True:
            sign = _SIGN.search(self._text, self._looked)
            at = sign.start() if sign else len(self._text)
            if at >= self._limit:
                yield from self._without_sign()
                continue
            self._looked = at
            seen = _needed(self._text, sign) if sign else None
            if sign is None or seen is None:
                return
            if seen == 0:
                yield from self._all(sign.end())
            elif seen > sign.end():
                yield from self._ended(seen)
            self._looked = max(self._looked, sign.end())

    def _without_sign(self) -> Iterator[tuple[Span, str]]:
        limit = self._limit
        yield from self._ended(limit)
        if self._limit == limit:
            self._limit += LONGEST

    def _ended(self, seen: int) -> Iterator[tuple[Span, str]]:
        """The sentences of which the text up to `seen` shows that they have ended."""
        for end in self._ends(seen):
            if self._told < end < seen:
                if self._may_be_two(end, seen):
                    return
                yield from self._tell(end)

    def _all(self, end: int) -> Iterator[tuple[Span, str]]:
        """All sentences up to a place that none goes beyond."""
        for place in self._ends(end):
            if place > self._told:
                yield from self._tell(place)
        self._first = self._told = self._looked = end
        self._limit, self._before = end + LONGEST, 0

    def _ends(self, seen: int) -> list[int]:
        first = self._first + len(self._text[self._first : seen]) - len(self._text[self._first : seen].lstrip())
        return [first + span.end for span in split_sentences(self._text[first:seen])]

    def _tell(self, end: int) -> Iterator[tuple[Span, str]]:
        span = Span(self._told, end).trimmed(self._text)
        words = _without_mark(span, self._text)
        if any(map(str.isalnum, words.of(self._text))):
            yield words.shifted(self._start), words.of(self._text)
        self._told, self._limit, self._before = end, end + LONGEST, self._before + 1
        is_far = end - self._first > SEEN_BEFORE or self._before == MOST_BEFORE
        if is_far or any(c in _BREAKS for c in self._text[span.end : end]):
            self._first, self._before = end, 0

    def _may_be_two(self, end: int, seen: int) -> bool:
        """Whether a line break inside may yet prove to part two sentences, once the line behind it is longer."""
        span = Span(self._told, end).trimmed(self._text)
        line = max(self._text.rfind(c, span.start, span.end) for c in _BREAKS) + 1
        rest = self._text[line:seen].lstrip()
        if not line or rest[:1].islower() or any(c in _BREAKS for c in self._text[span.end : seen]):
            return False
        before = re.split(f"[{_BREAKS}]", self._text[self._first : line].rstrip())[-1]
        return len(rest) < (len(before) + LONGEST_WORD) / WRAPPED_FROM


def _needed(text: str, sign: re.Match[str]) -> int | None:
    """How much text tells whether a sentence ends at a sign; 0 for a blank line, which ends all; None if it is to come.

    Words must be whole: a further character shows that they are.
    """
    at = sign.end()
    if sign.group()[0] in _BREAKS:
        if text[at : at + 1] in _BREAKS:
            return 0 if text[at : at + 1] else None
        words = _WORDS.match(text, at)
        return words.end() if words and words.end() < len(text) else None
    between = _BETWEEN.match(text, at)
    if between is None or between["open"] is not None or between.end() == len(text):
        return None
    if text[between.end()] in _BREAKS:
        return sign.end()  # the line break is a sign of its own
    if sign.group() in _FREE:
        return between.end() + 1
    word = _WORD.match(text, between.end())
    seen = word.end() if word else between.end()
    return seen if seen < len(text) else None


def _without_mark(span: Span, answer: str) -> Span:
    """Without the bullet, number or quotation mark that only sets a sentence out."""
    mark = _MARK.match(answer, span.start, span.end)
    return Span(mark.end() if mark else span.start, span.end).trimmed(answer)
