"""Build a document's text block by block, with its headings, named places and nested lists."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import replace
from pathlib import PurePath

from propcite.app.ingest.readers.list_numbers import numbered
from propcite.retrieval.text import Box, Document, Heading, Page, Place, Span

PART = 2**18  # characters of a part of a large document
_LINE_ENDS = re.compile("\r\n|[\r\v\f\x1c\x1d\x1e\x85\u2028\u2029]")
_REJECTED = re.compile("[\x00-\x08\x0e-\x1b\x1f\x7f-\x84\x86-\x9f\ufeff\ufffe\uffff]")
_SURROGATE = re.compile("[\ud800-\udfff]")


def clean(text: str) -> str:
    """Return the text with `\\n` as its only line end, without characters that databases or browsers reject.

    >>> clean("one\\r\\ntwo\\x00")
    'one\\ntwo'
    """
    return _SURROGATE.sub("\ufffd", _REJECTED.sub("", _LINE_ENDS.sub("\n", text)))


class Draft:
    """The text that a reader writes, with blank lines between blocks, but only line ends in lists and where `tight`."""

    def __init__(self) -> None:
        self.headings: list[Heading] = []
        self.places: list[Place] = []
        self._pieces: list[str] = []
        self._length = 0
        self._num_parts = 0
        self._counters: list[int | None] = []  # of the open lists, outermost first; None for a bullet list
        self._forms: list[str] = []  # of their numbers
        self._indents: list[int] = []
        self._marker = ""  # of an item that has no text yet
        self._in_list = False  # whether the outermost open list has text already

    @property
    def text(self) -> str:
        return "".join(self._pieces)

    def block(self, words: str, *, level: int = 0, tight: bool = False) -> None:
        """Write a block, as a heading if it has a level.  A blank block is ignored."""
        words = _undivided(words).strip("\n")
        if level:
            words = " ".join(words.split())
        if not words.strip():
            return
        indent = " " * sum(self._indents)
        lead = self._marker or indent
        if indent:
            words = words.replace("\n", "\n" + indent)
        self.write(lead, before="\n" if tight or self._in_list else "\n\n")
        span = self.write(words)
        if level:
            self.headings.append(Heading(span, level))
        self._marker = ""
        self._in_list = bool(self._counters)

    def write(self, words: str, *, before: str = "") -> Span:
        """Write text as it is, after `before` unless it is the first.  Return the span of the text."""
        if self._length:
            self._append(before)
        start = self._length
        self._append(words)
        return Span(start, self._length)

    def _append(self, words: str) -> None:
        self._pieces.append(words)
        self._length += len(words)

    @contextmanager
    def place(self, name: str) -> Iterator[None]:
        """Give everything that is written inside a place name: `slide 3`, `Budget, row 14`."""
        first, start = len(self._pieces), self._length
        yield
        written = "".join(self._pieces[first:])
        if words := Span(0, len(written)).trimmed(written):
            self.places.append(Place(one_line(name), words.shifted(start)))

    def optional_place(self, name: str) -> AbstractContextManager[None]:
        """Return `place(name)`, or a context without effect if the name is empty."""
        return self.place(name) if name else nullcontext()

    def append(self, document: Document, level: int, name: str) -> None:
        """Write a whole document below headings of this level, with its name before those of its pages and places."""
        start = self.write(document.text.rstrip(), before="\n\n").start
        end = self._length
        for heading in document.headings:
            self.headings.append(replace(heading.shifted(start), level=heading.level + level))
        pages = [Place(f"page {page.number}", page.span) for page in document.pages]
        inner = [Place(f"{name}, {p.name}", p.span.shifted(start)) for p in (*pages, *document.places)]
        self.places += [place for place in inner if place.span.end <= end] or [Place(name, Span(start, end))]

    @contextmanager
    def under(self, heading: str, level: int) -> Iterator[None]:
        """Put everything that is written inside under a heading; without any text there is no heading either."""
        pieces, length, headings, places = len(self._pieces), self._length, len(self.headings), len(self.places)
        self.block(heading, level=level)
        start, num_parts = self._length, self._num_parts
        yield
        if (self._length, self._num_parts) == (start, num_parts):
            self._length = length
            del self._pieces[pieces:], self.headings[headings:], self.places[places:]

    def end_terms(self, numbers: Iterable[int]) -> None:
        """End the text under the headings with these numbers; it ends with the text so far."""
        for number in numbers:
            self.headings[number] = replace(self.headings[number], until=self._length)

    def open_list(self, first: int | None, form: str = "1") -> None:
        """Open a list inside the current one.  `first` is the first item's number; None makes a bullet list.

        `form` is that of the numbers: 1, a, A, i or I.
        """
        self._counters.append(first)
        self._forms.append(form)
        self._indents.append(0)

    def close_list(self) -> None:
        if self._counters:
            self._counters.pop()
            self._forms.pop()
            self._indents.pop()
        self._in_list = self._in_list and bool(self._counters)

    def to_depth(self, depth: int) -> None:
        """Close and open bullet lists until so many are open."""
        while len(self._counters) > depth:
            self.close_list()
        while len(self._counters) < depth:
            self.open_list(None)

    def open_item(self, marker: str = "") -> None:
        """Open a list item.  A `marker` replaces the bullet or the next number."""
        number = self._counters[-1] if self._counters else None
        marker = marker or ("- " if number is None else f"{numbered(number, self._forms[-1])}. ")
        if self._counters:
            self._marker = self._marker or " " * sum(self._indents[:-1])
            self._counters[-1] = None if number is None else number + 1
            self._indents[-1] = len(marker)
        self._marker += marker

    def close_item(self) -> None:
        self._marker = ""

    def parts(
        self, written: Iterable[object], name: str, title: str, metadata: dict[str, str], size: float = PART
    ) -> Iterator[Document]:
        """Yield what is written while `written` is iterated, in parts of about `size` characters; at least one.

        Between two items no place and no list is open.
        """
        title = one_line(title) or title_from_name(name)
        for _ in written:
            if self._length >= size:
                self._append("\n\n")  # what is written next begins a text of its own
                yield self.document(name, title, metadata)
                self.headings, self.places, self._pieces, self._length = [], [], [], 0
                self._num_parts += 1
        yield self.document(name, title, metadata)

    def document(
        self,
        name: str,
        title: str,
        metadata: dict[str, str],
        pages: tuple[Page, ...] = (),
        boxes: tuple[Box, ...] = (),
    ) -> Document:
        """Build the document.  If `title` is blank, its title is the first highest heading, else the file's name."""
        text = self.text
        names = [heading for heading in self.headings if heading.until is None]
        if not title.strip() and names:
            title = min(names, key=lambda heading: heading.level).span.of(text)
        return Document(
            id="",
            text=text,
            title=one_line(title) or title_from_name(name),
            headings=tuple(self.headings),
            pages=pages,
            boxes=boxes,
            places=tuple(self.places),
            metadata={key: line for key, value in metadata.items() if (line := one_line(value))},
        )


def one_line(text: str) -> str:
    return " ".join(_undivided(text).split())


def _undivided(text: str) -> str:
    """Return clean text without soft hyphens, which only say where a word may be divided."""
    return clean(text.replace("\xad", ""))


def title_from_name(name: str) -> str:
    return one_line(PurePath(name).stem) or "untitled"
