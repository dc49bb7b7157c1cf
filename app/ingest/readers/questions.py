"""Make the questions of FAQs headings above their answers, in documents of every kind."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from propcite.retrieval.text import Document, Heading, Span

LEVEL = 99  # of a question: below all headings and terms, out of outlines
_KINDS = ("text", "markdown", "html", "docx", "odt", "rtf", "epub", "pdf")
_MIN_QUESTIONS = 3  # in a document
_NEAR = 60  # blocks within which so many questions stand, unless they are numbered
_MIN_WORDS, _MAX_WORDS, _MAX_CHARACTERS = 3, 35, 300
_BULLET = re.compile(r"[-*•◦▪·][ \t]+")
_NUMBER = re.compile(r"(?:Q(?:uestion)?[ \t]*)?[(\[]?\d{1,3}(?:\.\d{1,3}){0,3}[.):\]]*[ \t]+|Q(?:uestion)?[.:][ \t]+")
_BOLD = re.compile(r"(\*\*|__)(?=\S)")
_QUESTION_END = re.compile(r"[?？][)\"”’'*_]*$")
_SENTENCE = re.compile(r"[.!:]\s+[A-Z]")
_BLANK = re.compile(r"\n[ \t]*(?:\n[ \t]*)+")
_SAID = "\"'“‘«»„—–>-"  # what begins words that someone says


@dataclass(frozen=True, slots=True)
class _Block:
    """A paragraph that stands alone, or an item with a paragraph below it."""

    span: Span
    number: str  # as it stands, with the bullet before it; empty if there is none
    is_question: bool
    is_short: bool  # enough to be a question's title
    is_item: bool  # with a bullet

    @property
    def form(self) -> str:
        return re.sub(r"\d+", "0", self.number)

    @property
    def places(self) -> tuple[int, ...]:
        return tuple(map(int, re.findall(r"\d+", self.number)))


def with_questions(document: Document) -> Document:
    """Return the document with a heading for each question that is answered below it, if it has three or more."""
    if document.metadata.get("kind") not in _KINDS or document.text.count("?") + document.text.count("？") < 3:
        return document
    blocks = list(_blocks(document.text))
    starts = (heading.span.start for heading in document.headings)
    titles = {heading.span.trimmed(document.text).start for heading in document.headings}
    chosen = _chosen(blocks, titles)
    ends = sorted({*starts, *(blocks[at].span.start for at in chosen), len(document.text)})
    after = dict(pairwise(ends))
    questions = (Heading(span, LEVEL, after[span.start]) for span in (blocks[at].span for at in chosen))
    headings = (*document.headings, *questions)
    return replace(document, headings=tuple(sorted(headings, key=lambda heading: heading.span))) if chosen else document


def _blocks(text: str) -> Iterator[_Block]:
    start = 0
    for blank in (*_BLANK.finditer(text), None):
        end = blank.start() if blank else len(text)
        span = Span(start, end).trimmed(text)
        if span:
            yield from _items(text, span)
        start = blank.end() if blank else end


def _items(text: str, span: Span) -> Iterator[_Block]:
    """Yield a block; an item of a list with more than one paragraph is two, the first and those below."""
    start = span.start
    lines = text[span.start : span.end].split("\n")
    at = span.start
    for line, below in pairwise(lines):
        end = at + len(line)
        if _BULLET.match(line) and line.rstrip().endswith("?") and below.startswith("  ") and not _is_item(below):
            if start < at:
                yield _block(text, Span(start, at).trimmed(text))
            yield _block(text, Span(at, end))
            start = end + 1
        at = end + 1
    if start < span.end:
        yield _block(text, Span(start, span.end).trimmed(text))


def _is_item(line: str) -> bool:
    words = line.lstrip()
    return _BULLET.match(words) is not None or _NUMBER.match(words) is not None


def _block(text: str, span: Span) -> _Block:
    words = span.of(text)[: _MAX_CHARACTERS + 1]
    bullet = _BULLET.match(words)
    rest = words[bullet.end() :] if bullet else words
    bold = _BOLD.match(rest)
    rest = rest[bold.end() :] if bold else rest
    number = _NUMBER.match(rest)
    plain = rest[number.end() :] if number else rest
    is_short = bool(plain) and len(words) <= _MAX_CHARACTERS and "\n" not in words and len(plain.split()) <= _MAX_WORDS
    is_question = is_short and _QUESTION_END.search(plain) is not None
    if is_question and not number:
        starts_well = plain[0] not in _SAID and plain[0].isalpha() and not plain[0].islower()
        is_question = starts_well and len(plain.split()) >= _MIN_WORDS and not _SENTENCE.search(plain)
    lead = (bullet[0] if bullet else "") + (number[0] if number else "")
    return _Block(span, lead if number else "", is_question, is_short, is_item=bullet is not None)


def _chosen(blocks: Sequence[_Block], titles: set[int]) -> list[int]:
    """Return the blocks that are questions above an answer, and the short ones that are numbered between them."""
    answered = [
        at
        for at, (one, below) in enumerate(pairwise(blocks))
        if one.is_short
        and one.span.start not in titles
        and not below.is_question
        and below.span.start not in titles
        and not (below.form == one.form if one.number else one.is_item and below.is_item)
    ]
    questions = [at for at in answered if blocks[at].is_question]
    if len(questions) < _MIN_QUESTIONS:
        return []
    forms = Counter(blocks[at].form for at in questions if blocks[at].number)
    numbered = {form for form, count in forms.items() if count >= _MIN_QUESTIONS}
    chosen = [at for at in questions if blocks[at].form in numbered]
    if 2 * len(chosen) < len(questions):
        return _near(questions)
    return list(_between(blocks, answered, chosen, numbered))


def _near(questions: Sequence[int]) -> list[int]:
    """Return the questions with others near them."""
    last = len(questions) - _MIN_QUESTIONS + 1
    dense = [n for n in range(last) if questions[n + _MIN_QUESTIONS - 1] - questions[n] <= _NEAR]
    return sorted({questions[n + k] for n in dense for k in range(_MIN_QUESTIONS)})


def _between(
    blocks: Sequence[_Block], answered: Sequence[int], chosen: Sequence[int], numbered: set[str]
) -> Iterator[int]:
    """Yield the chosen questions, and titles that are none, but go on with their numbers."""
    known = set(chosen)
    last: tuple[int, ...] = ()
    for at in answered:
        block = blocks[at]
        if block.form not in numbered:
            continue
        if at in known or _goes_on(last, block.places):
            last = block.places
            yield at


def _goes_on(last: tuple[int, ...], places: tuple[int, ...]) -> bool:
    """Whether a number is the next one, or the first of a new part."""
    if not places:
        return False
    return (
        (places[:-1] == last[:-1] and places[-1] == last[-1] + 1)
        if last and places[-1] > 1
        else (places[-1] == 1 and (not last or places[:-1] > last[:-1]))
    )
