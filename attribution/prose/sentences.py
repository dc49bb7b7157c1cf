"""Split the prose of an answer into sentences as its text arrives, without headings, code blocks and list markers.

A sentence is final as soon as a word or a line break behind it shows that it has ended, and final sentences never
change.  A whole text takes the same steps as one that arrives in pieces.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from copy import deepcopy
from typing import Self

from propcite.attribution.prose.html_blocks import HtmlBlocks
from propcite.attribution.prose.lines import ProseLines, ProsePiece
from propcite.retrieval.interrupting import check_interrupt
from propcite.retrieval.punkt import EAST_ASIAN
from propcite.retrieval.sentences import split_sentences
from propcite.retrieval.text import Span

MAX_CONTEXT, MAX_CONTEXT_SENTENCES = 600, 8  # characters and sentences of the paragraph that a sentence is split with
MAX_UNENDED = 2500  # characters without a stop: then the splitter decides all the same, and may cut at a clause
READS, MAX_READS = 16, 16_000  # characters that may be split again for each new one, and saved up for dense stops
MAX_WORD, WRAPPED_FROM = 41, 0.75  # the splitter's comparison of two lines: is the first full, or broken on purpose?

_BREAKS = "\n\r\x85\u2028\u2029"
_FREE = "。！？｡．।॥؟۔"  # these end a sentence with no space after them
_ENDS = re.compile(rf"(?:[!?…‼⁇⁈⁉{_FREE}]|(?<!\d)\.|(?<=\d{{4}})\.)\W{{0,8}}\Z")
_NEXT = " The next"  # words that begin a sentence
_STOP = re.compile(rf"[.!?…‼⁇⁈⁉{_FREE}](?![0-9])|(?>\r\n|[{_BREAKS}])[^\S{_BREAKS}]*+")
_BETWEEN = re.compile(rf"(?:[\[【][^\]】{_BREAKS}]{{0,60}}+(?:[\]】]|(?P<open>\Z))|[^\w{_BREAKS}]|_){{0,40}}+")
_WORD = re.compile(rf"[{EAST_ASIAN}]|\S{{1,24}}+")
_WORDS = re.compile(r"(?:\S{1,24}+(?<=[\W_])[^\S\n]++)?+(?:\S{1,24}+)?+")
_LIST_MARK = re.compile(r"(?:[-*+•]|\(?\d{1,3}[.)])[ \t]+(?:\[[ xX]\][ \t]+)?|(?:>[ \t]?)+")


def sentences_of(answer: str) -> list[Span]:
    """Return the spans of the answer's sentences that contain a word.

    >>> text = "# Cost\\n- It cost 5 euros. It is paid.\\n```\\nprint(5)\\n```\\nIt is blue."
    >>> [span.of(text) for span in sentences_of(text)]
    ['It cost 5 euros.', 'It is paid.', 'It is blue.']
    """
    sentences = SentenceStream()
    return [span for span, _ in (*sentences.feed(answer), *sentences.finish())]


def seems_to_end(text: str) -> bool:
    """Return whether a text ends with a stop; one behind a short number may be a decimal point.

    >>> seems_to_end("It rained.”"), seems_to_end("It opened in 1987."), seems_to_end("It is 6."), seems_to_end("We")
    (True, True, False, False)
    """
    return _ENDS.search(text) is not None


def prose_spans(answer: str) -> Iterator[Span]:
    """Yield the spans of whole lines outside code blocks and headings."""
    lines = ProseLines()
    start = end = 0
    for piece in (*lines.feed(answer), *lines.finish()):
        if piece is None:
            if start < end:
                yield Span(start, end)
            start = end
        else:
            start, end = (piece[0] if start == end else start), piece[0] + len(piece[1])


class SentenceStream:
    """Yields the sentences of a text that arrives in pieces, each with its place, as soon as it is final."""

    def __init__(self) -> None:
        self._lines, self._blocks = ProseLines(), HtmlBlocks()
        self._text, self._start = "", 0  # the prose that is still needed, and its place in the answer
        # Places in _text: where the context begins, where the last final sentence ends, how far stops were searched.
        self._context = self._final = self._searched = 0
        self._limit = MAX_UNENDED
        self._num_context = 0  # final sentences since _context
        self._reads, self._paid = MAX_READS, 0  # characters that may still be split again, and up to where they count

    def feed(self, text: str) -> Iterator[tuple[Span, str]]:
        for piece in self._lines.feed(text):
            yield from self._split_blocks(piece)

    def finish(self) -> Iterator[tuple[Span, str]]:
        """Yield the last sentences, at the end of the text."""
        for piece in self._lines.finish():
            yield from self._split_blocks(piece)

    def copy(self) -> Self:
        """Return a stream that goes on from here by itself."""
        return deepcopy(self)

    def ended(self) -> list[tuple[Span, str]]:
        """Return the sentences that end here if the next word begins another; the stream is of no use afterwards."""
        return list(self.feed(_NEXT))

    @property
    def undecided(self) -> int | None:
        """Return the place of a stop or line break that needs more text to be decided; None if there is none."""
        return self._start + self._searched if self._searched < len(self._text) else None

    def _split_blocks(self, piece: ProsePiece | None) -> Iterator[tuple[Span, str]]:
        for block in self._blocks.feed(piece):
            yield from self._read(block)

    def _read(self, piece: ProsePiece | None) -> Iterator[tuple[Span, str]]:
        if piece is None:
            yield from self._all(len(self._text))
        else:
            self._start = self._start if self._text else piece[0]
            self._text += piece[1]
            yield from self._scan()
        done, self._context = self._context, 0
        self._text, self._start = self._text[done:], self._start + done
        self._final, self._searched, self._limit = self._final - done, self._searched - done, self._limit - done
        self._paid -= done

    def _scan(self) -> Iterator[tuple[Span, str]]:
        """Look at every stop and line break, in order, up to the first that needs more text to be decided."""
        while True:
            stop = _STOP.search(self._text, self._searched)
            at = stop.start() if stop else len(self._text)
            if at >= self._limit:
                yield from self._unended()
                continue
            self._searched = at
            seen = _needed(self._text, stop) if stop else None
            if stop is None or seen is None:
                return
            if seen == 0:
                yield from self._all(stop.end())
            elif seen > stop.end() and self._may_split(seen):
                yield from self._ended(seen)
            self._searched = max(self._searched, stop.end())

    def _may_split(self, seen: int) -> bool:
        """Return whether the text up to a stop is split again; where stops are very dense, some are passed over.

        The next stop then finds the same sentences, and a text costs time in proportion to its length.
        """
        self._reads = min(MAX_READS, self._reads + READS * max(0, seen - self._paid))
        self._paid = max(self._paid, seen)
        cost = seen - self._context
        if cost > self._reads:
            return False
        self._reads -= cost
        return True

    def _unended(self) -> Iterator[tuple[Span, str]]:
        limit = self._limit
        yield from self._ended(limit)
        if self._limit == limit:
            self._limit += MAX_UNENDED

    def _ended(self, seen: int) -> Iterator[tuple[Span, str]]:
        """Yield the sentences that have ended, as the text up to `seen` shows."""
        check_interrupt()
        for end in self._ends(seen):
            if self._final < end < seen:
                if self._may_be_two(end, seen):
                    return
                yield from self._emit(end)

    def _all(self, end: int) -> Iterator[tuple[Span, str]]:
        """Yield all sentences up to a place at which every sentence ends."""
        for place in self._ends(end):
            if place > self._final:
                yield from self._emit(place)
        self._context = self._final = self._searched = end
        self._limit, self._num_context = end + MAX_UNENDED, 0

    def _ends(self, seen: int) -> list[int]:
        text = self._text[self._context : seen]
        first = self._context + len(text) - len(text.lstrip())
        return [first + span.end for span in split_sentences(text.lstrip())]

    def _emit(self, end: int) -> Iterator[tuple[Span, str]]:
        span = Span(self._final, end).trimmed(self._text)
        words = _without_list_mark(span, self._text)
        if any(map(str.isalnum, words.of(self._text))):
            yield words.shifted(self._start), words.of(self._text)
        self._final, self._limit, self._num_context = end, end + MAX_UNENDED, self._num_context + 1
        is_full = end - self._context > MAX_CONTEXT or self._num_context == MAX_CONTEXT_SENTENCES
        if is_full or any(c in _BREAKS for c in self._text[span.end : end]):
            self._context, self._num_context = end, 0

    def _may_be_two(self, end: int, seen: int) -> bool:
        """Return whether a line break inside may turn out to separate two sentences, once the next line is longer."""
        span = Span(self._final, end).trimmed(self._text)
        line = max(self._text.rfind(c, span.start, span.end) for c in _BREAKS) + 1
        rest = self._text[line:seen].lstrip()
        if not line or rest[:1].islower() or any(c in _BREAKS for c in self._text[span.end : seen]):
            return False
        before = re.split(f"[{_BREAKS}]", self._text[self._context : line].rstrip())[-1]
        return len(rest) < (len(before) + MAX_WORD) / WRAPPED_FROM


def _needed(text: str, stop: re.Match[str]) -> int | None:
    """Return how much of the text decides whether a sentence ends at a stop or line break.

    0 stands for a blank line, which ends every sentence.  None means that more text must arrive: words must be
    complete, which only a further character shows.
    """
    at = stop.end()
    if stop.group()[0] in _BREAKS:
        if text[at : at + 1] in _BREAKS:
            return 0 if text[at : at + 1] else None
        words = _WORDS.match(text, at)
        return words.end() if words and words.end() < len(text) else None
    between = _BETWEEN.match(text, at)
    if between is None or between["open"] is not None or between.end() == len(text):
        return None
    if text[between.end()] in _BREAKS:
        return stop.end()  # the line break is looked at by itself
    if stop.group() in _FREE:
        return between.end() + 1
    word = _WORD.match(text, between.end())
    seen = word.end() if word else between.end()
    return seen if seen < len(text) else None


def _without_list_mark(span: Span, answer: str) -> Span:
    """Return the span without a bullet, a list number or a `>` in front."""
    mark = _LIST_MARK.match(answer, span.start, span.end)
    return Span(mark.end() if mark else span.start, span.end).trimmed(answer)
