"""Texts and places in them: frozen values whose offsets are half-open Unicode code points."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum


class Granularity(StrEnum):
    """The unit being ranked; a query marker tells an encoder that knows markers which one."""

    PASSAGE = "passage"
    SENTENCE = "sentence"
    PROPOSITION = "proposition"


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """Characters `start` to `end`, end excluded, of a named text.

    >>> Span(4, 7).of("the cat sat")
    'cat'
    """

    start: int
    end: int

    def __post_init__(self) -> None:
        if not 0 <= self.start <= self.end:
            raise ValueError(f"a span needs 0 <= start <= end, got {self.start} and {self.end}")

    def __len__(self) -> int:
        return self.end - self.start

    def __bool__(self) -> bool:
        return self.end > self.start

    def of(self, text: str) -> str:
        """The words themselves.  A span that does not lie in the text is an error, never a shorter quote."""
        if self.end > len(text):
            raise ValueError(f"span {self.start}:{self.end} ends after the text's {len(text)} characters")
        return text[self.start : self.end]

    def shifted(self, by: int) -> Span:
        return Span(self.start + by, self.end + by)

    def trimmed(self, text: str) -> Span:
        """The same span without white space at its ends; an all-blank span shrinks to its start."""
        words = self.of(text)
        left = len(words) - len(words.lstrip())
        right = len(words.rstrip())
        return Span(self.start + left, self.start + right) if right else Span(self.start, self.start)

    def overlaps(self, other: Span) -> bool:
        return self.start < other.end and other.start < self.end


def words_of(spans: Iterable[Span], text: str) -> str:
    """What several spans of one text say together, joined by ` … ` where something lies between them.

    >>> words_of([Span(0, 3), Span(8, 11)], "the cat sat")
    'the … sat'
    """
    pieces: list[str] = []
    last: int | None = None
    for span in sorted(spans):
        gap = text[last : span.start] if last is not None else ""
        pieces.append(("" if last is None else gap if not gap.strip() else " … ") + span.of(text))
        last = span.end
    return "".join(pieces)


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading line of a document: its place and its depth (1 is the highest)."""

    span: Span
    level: int


@dataclass(frozen=True, slots=True)
class Page:
    """A page of a source: its number as a reader counts it (from 1) and the characters that stand on it."""

    number: int
    span: Span


@dataclass(frozen=True, slots=True)
class Box:
    """Where characters are seen: a rectangle of a page, in shares of it from its upper left corner."""

    page: int
    span: Span
    left: float
    top: float
    right: float
    bottom: float


@dataclass(frozen=True, slots=True)
class Place:
    """Where a person finds characters of a source that has no pages: `slide 3`, `Budget, row 14`, `line 7`."""

    name: str
    span: Span


@dataclass(frozen=True, slots=True)
class Document:
    """A source as it was given: its text, and where its headings and pages lie in it; `boxes` are its lines as seen.

    `places` are named as its reader counts them, and never pages that nobody can see.
    """

    id: str
    text: str
    title: str = ""
    source: str = ""
    headings: tuple[Heading, ...] = ()
    pages: tuple[Page, ...] = ()
    boxes: tuple[Box, ...] = ()
    places: tuple[Place, ...] = ()
    metadata: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence's place in its text.  Sentences cover their text exactly; a heading is one, but is never evidence."""

    span: Span
    is_heading: bool = False


@dataclass(frozen=True, slots=True)
class Passage:
    """A piece of a document: encoded once, and what a search returns.

    `start` is where it begins in the document; `sentences`, `pages`, `boxes` and `places` lie in `text`, which the
    sentences cover exactly.
    """

    id: str
    text: str
    title: str = ""
    document_id: str = ""
    start: int = 0
    sentences: tuple[Sentence, ...] = ()
    pages: tuple[Page, ...] = ()
    boxes: tuple[Box, ...] = ()
    places: tuple[Place, ...] = ()

    def in_document(self, span: Span) -> Span:
        return span.shifted(self.start)

    def pages_of(self, span: Span) -> tuple[int, ...]:
        return tuple(page.number for page in self.pages if page.span.overlaps(span))

    def boxes_of(self, span: Span) -> tuple[Box, ...]:
        """The lines on which these characters are seen, where the source is one that is seen."""
        return tuple(box for box in self.boxes if box.span.overlaps(span))

    def places_of(self, span: Span) -> tuple[str, ...]:
        """The names of where these characters are found, where the source has such."""
        return tuple(dict.fromkeys(place.name for place in self.places if place.span.overlaps(span)))


@dataclass(frozen=True, slots=True)
class Hit:
    """A unit with its score: what a search returns.  `spans` lie in the passage; a proposition may have several.

    `score` ranks; it joins the unit's own similarity with that of its passage, kept apart as `passage_score`.
    """

    passage: Passage
    granularity: Granularity
    spans: tuple[Span, ...]
    score: float
    passage_score: float

    @property
    def text(self) -> str:
        return words_of(self.spans, self.passage.text)
