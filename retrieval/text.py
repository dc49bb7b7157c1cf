"""Documents, passages and spans: frozen values whose offsets are half-open ranges of Unicode code points."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum


class Granularity(StrEnum):
    """The unit that a search ranks; encoders with markers encode a query for it with the unit's own marker.

    >>> Granularity("sentence")
    <Granularity.SENTENCE: 'sentence'>
    """

    PASSAGE = "passage"
    SENTENCE = "sentence"
    PROPOSITION = "proposition"


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """Characters `start` to `end`, end excluded, of a text.

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
        """Return these characters of the text; ValueError if the span ends after the text."""
        if self.end > len(text):
            raise ValueError(f"span {self.start}:{self.end} ends after the text's {len(text)} characters")
        return text[self.start : self.end]

    def shifted(self, by: int) -> Span:
        return Span(self.start + by, self.end + by)

    def trimmed(self, text: str) -> Span:
        """Return the span without white space at its ends; a blank span becomes empty at its start."""
        words = self.of(text)
        left = len(words) - len(words.lstrip())
        right = len(words.rstrip())
        return Span(self.start + left, self.start + right) if right else Span(self.start, self.start)

    def overlaps(self, other: Span) -> bool:
        return self.start < other.end and other.start < self.end


def join_spans(spans: Iterable[Span], text: str) -> str:
    """Join the texts of several spans, with ` … ` wherever text between them is left out.

    >>> join_spans([Span(0, 3), Span(8, 11)], "the cat sat")
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
    """A heading line of a document: its span and its level (1 is the highest).

    The text under it ends at `until`, as a definition ends that under its term; without `until`, at the next heading of
    the same or a higher level.
    """

    span: Span
    level: int
    until: int | None = None

    def shifted(self, by: int) -> Heading:
        """Return the heading in a text with so many more characters before it."""
        return Heading(self.span.shifted(by), self.level, None if self.until is None else self.until + by)


@dataclass(frozen=True, slots=True)
class Page:
    """A page of a source: its number, counted from 1, and the characters on it."""

    number: int
    span: Span


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle of a page that shows some characters, in fractions of the page from its upper left corner."""

    page: int
    span: Span
    left: float
    top: float
    right: float
    bottom: float


@dataclass(frozen=True, slots=True)
class Place:
    """A named position in a source without pages: `slide 3`, `Budget, row 14`, `line 7`."""

    name: str
    span: Span


@dataclass(frozen=True, slots=True)
class Document:
    """A source: its text and the headings, pages, lines (`boxes`) and named places in it.

    `pages` are only those whose numbers readers can see; other sources may have `places` instead.

    >>> Document("notes", "It rained.", "Notes").title
    'Notes'
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
    """A sentence's span.  The sentences of a text cover it exactly; a heading is a sentence, but never evidence.

    >>> Sentence(Span(0, 10)).span.of("It rained. It stopped.")
    'It rained.'
    """

    span: Span
    is_heading: bool = False


@dataclass(frozen=True, slots=True)
class Passage:
    """A piece of a document that is encoded as a whole.

    `start` is its position in the document.  `sentences`, `pages`, `boxes` and `places` refer to `text`, which the
    sentences cover exactly.

    >>> passage = Passage("p1", "It rained. It stopped.", sentences=(Sentence(Span(0, 11)), Sentence(Span(11, 22))))
    >>> [sentence.span.of(passage.text) for sentence in passage.sentences]
    ['It rained. ', 'It stopped.']
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
        """Return the lines that show these characters; empty if the source has no layout."""
        return tuple(box for box in self.boxes if box.span.overlaps(span))

    def places_of(self, span: Span) -> tuple[str, ...]:
        """Return the names of the places of these characters; empty if the source has none."""
        return tuple(dict.fromkeys(place.name for place in self.places if place.span.overlaps(span)))


@dataclass(frozen=True, slots=True)
class Hit:
    """A result of a search: a unit and its score.  `spans` lie in the passage; a proposition may have several.

    Hits are ranked by `score`, which combines the unit's own similarity with its passage's (`passage_score`).  `words`
    is the part of it that exact words add, None where vectors rank alone.  `copies` are other places of the same words.

    >>> passage = Passage("p1", "It rained. It stopped.")
    >>> Hit(passage, Granularity.SENTENCE, (Span(0, 10),), 0.9, 0.8).text
    'It rained.'
    """

    passage: Passage
    granularity: Granularity
    spans: tuple[Span, ...]
    score: float
    passage_score: float
    words: float | None = None
    copies: tuple[Hit, ...] = ()

    @property
    def everywhere(self) -> tuple[Hit, ...]:
        """Return the hit and its copies, each as a hit of its own."""
        return replace(self, copies=()), *self.copies

    @property
    def similarity(self) -> float:
        """Return the part of the score that vectors give."""
        return self.score - (self.words or 0.0)

    @property
    def text(self) -> str:
        return join_spans(self.spans, self.passage.text)
