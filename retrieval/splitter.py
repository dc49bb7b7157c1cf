"""Split a document into passages of whole sentences that cover its text exactly."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, chain, pairwise, takewhile
from math import inf
from typing import TypeVar

from propcite.retrieval.punkt import EAST_ASIAN
from propcite.retrieval.sentences import skip_space, split_sentences
from propcite.retrieval.text import Box, Document, Heading, Page, Passage, Place, Sentence, Span

MIN_SECTION_WORDS = 15  # a section with a smaller body is merged with the next one
MAX_OVERFILL = 1.5  # a passage of several sentences is never longer than this times num_words
_HASHES = re.compile(r"^#{1,6}\s+|\s+#+$")
_BULLET = re.compile(r"^[-*•◦▪·]\s+(?=\S)")
# In scripts without spaces two characters count as a word, elsewhere each twenty characters without a space.
_COUNTED = re.compile(rf"[{EAST_ASIAN}]{{1,2}}|[^\s{EAST_ASIAN}]{{1,20}}")


@dataclass(frozen=True, slots=True)
class _Section:
    """The text under one heading; `path` is the heading with those above it, the highest first."""

    path: tuple[str, ...]
    sentences: tuple[Sentence, ...]
    body_words: int


@dataclass(frozen=True, slots=True)
class PassageSplitter:
    """Groups whole sentences into passages of about `num_words` words; each heading begins a new passage."""

    num_words: int = 100

    def __post_init__(self) -> None:
        if self.num_words < 1:
            raise ValueError(f"num_words must be at least 1, got {self.num_words}")

    def split(self, document: Document, above: Sequence[tuple[int, str]] = ()) -> list[Passage]:
        """Return the passages in order.  `above` are the levels and words of headings that the text lies under."""
        pages, boxes, places = _sorted(document.pages), _sorted(document.boxes), _sorted(document.places)
        passages: list[Passage] = []
        for section in _merged(_sections(document, above), self.num_words):
            title = _title(document.title, section.path)
            for sentences in _groups(section.sentences, document.text, self.num_words):
                span = Span(sentences[0].span.start, sentences[-1].span.end)
                passages.append(
                    Passage(
                        id=f"{document.id}:{len(passages)}",
                        text=span.of(document.text),
                        title=title,
                        document_id=document.id,
                        start=span.start,
                        sentences=tuple(Sentence(s.span.shifted(-span.start), s.is_heading) for s in sentences),
                        pages=_take(pages, span),
                        boxes=_take(boxes, span),
                        places=_take(places, span),
                    )
                )
        return passages


def passage_from_text(id: str, text: str, title: str = "", document_id: str = "") -> Passage:  # noqa: A002
    """Build a passage from a text, which is split into sentences."""
    return Passage(id, text, title, document_id, sentences=tuple(map(Sentence, split_sentences(text))))


def passage_from_sentences(id: str, sentences: Sequence[str], title: str = "") -> Passage:  # noqa: A002
    """Build a passage from sentences, joined by spaces; each space belongs to the sentence before it.

    The passage has as many sentences as the input: an empty one has an empty span.
    """
    last = max((number for number, words in enumerate(sentences) if words), default=0)
    pieces = [words + " " if words and number < last else words for number, words in enumerate(sentences)]
    ends = list(accumulate(map(len, pieces), initial=0))
    return Passage(id, "".join(pieces), title, sentences=tuple(Sentence(Span(*ends)) for ends in pairwise(ends)))


_Placed = TypeVar("_Placed", Page, Box, Place)


def _sorted(items: Iterable[_Placed]) -> deque[_Placed]:
    return deque(sorted(items, key=lambda item: item.span))


def _take(items: deque[_Placed], span: Span) -> tuple[_Placed, ...]:
    """Return the items that overlap the span, limited to it and shifted; drop those that end before it."""
    while items and items[0].span.end <= span.start:
        items.popleft()
    candidates = takewhile(lambda item: item.span.start < span.end, items)
    return tuple(
        replace(item, span=Span(max(item.span.start, span.start), min(item.span.end, span.end)).shifted(-span.start))
        for item in candidates
        if item.span.overlaps(span)
    )


def open_headings(document: Document, above: Sequence[tuple[int, str]] = ()) -> list[tuple[int, str]]:
    """Return the levels and words of the headings that the end of a document lies under, the highest first."""
    path = list(above)
    for _, heading, level in _edges(document):
        path = _path(path, heading, level, document.text)
    return path


def heading_words(text: str) -> str:
    """Return the words of a heading in one line, without the signs that mark it.

    >>> heading_words("Dams and   locks\\n----------------"), heading_words("- **2.1 What is a lock?**")
    ('Dams and locks', '2.1 What is a lock?')
    """
    lines = [line for line in text.split("\n") if any(map(str.isalnum, line))]
    words = _HASHES.sub("", " ".join(" ".join(lines or [text]).split()))
    words = _BULLET.sub("", words)
    is_bold = len(words) > 4 and words[:2] == words[-2:] == "**"
    return words[2:-2].strip() if is_bold else words


def _path(above: Iterable[tuple[int, str]], heading: Heading | None, level: int, text: str) -> list[tuple[int, str]]:
    """Return the headings above the text from an edge on."""
    words = heading_words(heading.span.of(text)) if heading else ""
    return [*((other, name) for other, name in above if other < level), *([(level, words)] if heading else [])]


def _sections(document: Document, above: Sequence[tuple[int, str]]) -> Iterator[_Section]:
    text, path = document.text, list(above)
    edges = [edge for edge in _edges(document) if edge[0] < len(text)]
    ends = [*(start for start, _, _ in edges), len(text)]
    if ends[0]:
        preface = _body(text, 0, ends[0])
        yield _Section(tuple(name for _, name in path), preface, _num_words(text, preface))
    for (start, heading, level), end in zip(edges, ends[1:], strict=True):
        path = _path(path, heading, level, text)
        body = _body(text, heading.span.end if heading else start, end)
        lead = (Sentence(heading.span, is_heading=True),) if heading else ()
        yield _Section(tuple(name for _, name in path), (*lead, *body), _num_words(text, body))


def _edges(document: Document) -> list[tuple[int, Heading | None, int]]:
    """Return where headings begin, with their levels, and where the text under one ends, with the heading's level."""
    headings = _headings(document)
    edges: dict[int, tuple[Heading | None, int]] = {}
    for heading in headings:
        if heading.until is not None:
            _, level = edges.get(heading.until, (None, heading.level))
            edges[heading.until] = None, min(level, heading.level)
    edges.update({heading.span.start: (heading, heading.level) for heading in headings})
    return [(start, *edges[start]) for start in sorted(edges)]


def _headings(document: Document) -> list[Heading]:
    """Return the headings in order, without blank or overlapping ones; each includes the white space around it."""
    text, at = document.text, 0
    headings: list[Heading] = []
    for heading in sorted(document.headings, key=lambda heading: heading.span):
        start, end = (min(max(at, place), len(text)) for place in (heading.span.start, heading.span.end))
        words = Span(start, end).trimmed(text)
        if words:
            start = words.start if headings or text[: words.start].strip() else 0
            at = skip_space(text, words.end)
            until = None if heading.until is None else max(at, skip_space(text, min(heading.until, len(text))))
            headings.append(Heading(Span(start, at), heading.level, until))
    return headings


def _body(text: str, start: int, end: int) -> tuple[Sentence, ...]:
    return tuple(Sentence(span.shifted(start)) for span in split_sentences(text[start:end]))


def _num_words(text: str, sentences: Iterable[Sentence]) -> int:
    return sum(len(_COUNTED.findall(sentence.span.of(text))) for sentence in sentences)


def _merged(sections: Iterable[_Section], num_words: int) -> list[_Section]:
    """Merge headings without a body, and tiny sections if both are small, with the section after them."""
    merged: list[_Section] = []
    for section in sections:
        last = merged[-1] if merged else section
        small = last.body_words < MIN_SECTION_WORDS and last.body_words + section.body_words <= num_words
        if merged and (small or not last.body_words):
            merged[-1] = _merge(last, section)
        else:
            merged.append(section)
    if len(merged) > 1 and not merged[-1].body_words:
        merged[-2:] = [_merge(*merged[-2:])]
    return merged


def _merge(first: _Section, second: _Section) -> _Section:
    """Merge two sections; the path is what both share, or that of the one with a body if the other has none."""
    shared = takewhile(lambda names: names[0] == names[1], zip(first.path, second.path, strict=False))
    path = tuple(name for name, _ in shared)
    if not first.body_words or not second.body_words:
        path = second.path if second.body_words else first.path
    return _Section(path, first.sentences + second.sentences, first.body_words + second.body_words)


def _title(title: str, path: tuple[str, ...]) -> str:
    names = path[1:] if path and path[0].casefold() == title.strip().casefold() else path
    return " › ".join(name for name in (title.strip(), *names) if name)


def _groups(sentences: Sequence[Sentence], text: str, num_words: int) -> list[tuple[Sentence, ...]]:
    """Group whole sentences so that sizes are nearest to num_words by least squares: 120 stay, 150 become 75 + 75."""
    units: list[list[Sentence]] = []
    for sentence in sentences:
        if units and units[-1][-1].is_heading:
            units[-1].append(sentence)  # a heading stays with the sentence after it
        else:
            units.append([sentence])
    sizes = [_num_words(text, unit) for unit in units]
    costs, starts = [0.0], [0]
    for end in range(1, len(units) + 1):
        costs.append(inf)
        starts.append(end)
        size = 0
        for start in range(end - 1, -1, -1):
            size += sizes[start]
            if size > MAX_OVERFILL * num_words and start < end - 1:
                break
            cost = costs[start] + (size - num_words) ** 2
            if cost < costs[end]:
                costs[end], starts[end] = cost, start
    groups: list[tuple[Sentence, ...]] = []
    end = len(units)
    while end:
        groups.append(tuple(chain.from_iterable(units[starts[end] : end])))
        end = starts[end]
    return groups[::-1]
