"""The sentences of an answer: its prose, without code blocks, headings and the marks of lists."""

from __future__ import annotations

import re
from collections.abc import Iterator

from retrieval.splitter import split_sentences
from retrieval.text import Span

_LINE = re.compile(r"[^\n]*(?:\n|\Z)")
_FENCE = re.compile(r"[ \t]{0,3}(?P<marks>`{3,}(?!.*`)|~{3,})")
_HEADING = re.compile(r"[ \t]{0,3}#{1,6}(?:\s|$)|[ \t]*(?P<stars>\*\*|__)(?:(?!(?P=stars)).)*[^.!?\s](?P=stars):?\s*$")
_MARK = re.compile(r"(?:[-*+•]|\(?\d{1,3}[.)])[ \t]+(?:\[[ xX]\][ \t]+)?|(?:>[ \t]?)+")


def sentences_of(answer: str) -> list[Span]:
    """The places of the answer's sentences that hold a word; what stands between them says nothing to support.

    >>> text = "# Cost\\n- It cost 5 euros. It is paid.\\n```\\nprint(5)\\n```\\nIt is blue."
    >>> [span.of(text) for span in sentences_of(text)]
    ['It cost 5 euros.', 'It is paid.', 'It is blue.']
    """
    found = []
    for region in prose(answer):
        for sentence in split_sentences(region.of(answer)):
            span = _without_mark(sentence.shifted(region.start), answer)
            if any(c.isalnum() for c in span.of(answer)):
                found.append(span)
    return found


def prose(answer: str) -> Iterator[Span]:
    """The stretches of whole lines outside of code blocks and headings; a code block without an end runs to the end."""
    start, fence = 0, ""
    for line in _LINE.finditer(answer):
        opened = _FENCE.match(line.group())
        if fence:
            closes = opened and opened["marks"].startswith(fence) and not line.group()[opened.end() :].strip()
            fence, start = ("", line.end()) if closes else (fence, start)
        elif opened or _HEADING.match(line.group()):
            yield from _stretch(start, line.start())
            fence, start = (opened["marks"] if opened else ""), line.end()
    if not fence:
        yield from _stretch(start, len(answer))


def _stretch(start: int, end: int) -> Iterator[Span]:
    if start < end:
        yield Span(start, end)


def _without_mark(span: Span, answer: str) -> Span:
    """Trimmed, and without the bullet, number or quotation mark that only sets it out."""
    trimmed = span.trimmed(answer)
    mark = _MARK.match(answer, trimmed.start, trimmed.end)
    return Span(mark.end() if mark else trimmed.start, trimmed.end).trimmed(answer)
