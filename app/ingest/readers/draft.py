"""A text while a reader writes it: block after block, with the places of its headings and its nested lists."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import PurePath

from propcite.retrieval.text import Box, Document, Heading, Page, Place, Span

_LINE_ENDS = re.compile("\r\n|[\r\v\f\x1c\x1d\x1e\x85\u2028\u2029]")
_UNFIT = re.compile("[\x00-\x08\x0e-\x1b\x1f\x7f-\x84\x86-\x9f\ufeff\ufffe\uffff]")
_SURROGATE = re.compile("[\ud800-\udfff]")


def clean(text: str) -> str:
    """The text with `\\n` as its only line end, and without what no database and no page can keep.

    >>> clean("one\\r\\ntwo\\x00")
    'one\\ntwo'
    """
    return _SURROGATE.sub("\ufffd", _UNFIT.sub("", _LINE_ENDS.sub("\n", text)))


class Draft:
    """Blocks are set apart by a blank line; inside a list, and where `tight`, by a line end."""

    def __init__(self) -> None:
        self.headings: list[Heading] = []
        self.places: list[Place] = []
        self._pieces: list[str] = []
        self._length = 0
        self._counters: list[int | None] = []  # of the open lists, outermost first; None is a bullet list
        self._indents: list[int] = []
        self._marker = ""  # of an item whose first words are still to come
        self._in_list = False  # whether the outermost open list has words already

    @property
    def text(self) -> str:
        return "".join(self._pieces)

    def block(self, words: str, *, level: int = 0, tight: bool = False) -> None:
        """Write a block; a level makes it a heading.  A blank block writes nothing."""
        words = clean(words).strip("\n")
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
        """Write the words as they are, after `before` where something stands before them."""
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
        """What is written inside is found at this place: `slide 3`, `Budget, row 14`."""
        first, start = len(self._pieces), self._length
        yield
        written = "".join(self._pieces[first:])
        if words := Span(0, len(written)).trimmed(written):
            self.places.append(Place(one_line(name), words.shifted(start)))

    def optional_place(self, name: str) -> AbstractContextManager[None]:
        """A place, where it has a name."""
        return self.place(name) if name else nullcontext()

    def append(self, document: Document, level: int, name: str) -> None:
        """Write a whole document below headings of this level; its pages and places are found under its name."""
        start = self.write(document.text.rstrip(), before="\n\n").start
        end = self._length
        for heading in document.headings:
            self.headings.append(Heading(heading.span.shifted(start), heading.level + level))
        pages = [Place(f"page {page.number}", page.span) for page in document.pages]
        inner = [Place(f"{name}, {one.name}", one.span.shifted(start)) for one in (*pages, *document.places)]
        self.places += [one for one in inner if one.span.end <= end] or [Place(name, Span(start, end))]

    @contextmanager
    def under(self, heading: str, level: int) -> Iterator[None]:
        """What is written inside stands under this heading; where nothing is, neither does the heading."""
        pieces, length, headings, places = len(self._pieces), self._length, len(self.headings), len(self.places)
        self.block(heading, level=level)
        headed = self._length
        yield
        if self._length == headed:
            self._length = length
            del self._pieces[pieces:], self.headings[headings:], self.places[places:]

    def open_list(self, first: int | None) -> None:
        """Open a list inside the one that is open; `first` is the first item's number, None makes bullets."""
        self._counters.append(first)
        self._indents.append(0)

    def close_list(self) -> None:
        if self._counters:
            self._counters.pop()
            self._indents.pop()
        self._in_list = self._in_list and bool(self._counters)

    def open_item(self, marker: str = "") -> None:
        """Open an item; `marker` is what stands before it where that is neither a bullet nor the next number."""
        number = self._counters[-1] if self._counters else None
        marker = marker or ("- " if number is None else f"{number}. ")
        if self._counters:
            self._marker = self._marker or " " * sum(self._indents[:-1])
            self._counters[-1] = None if number is None else number + 1
            self._indents[-1] = len(marker)
        self._marker += marker

    def close_item(self) -> None:
        self._marker = ""

    def document(
        self,
        name: str,
        title: str,
        metadata: dict[str, str],
        pages: tuple[Page, ...] = (),
        boxes: tuple[Box, ...] = (),
    ) -> Document:
        """The document: its title is the one given, else its first highest heading, else the file's name."""
        text = self.text
        if not title.strip() and self.headings:
            title = min(self.headings, key=lambda heading: heading.level).span.of(text)
        return Document(
            id="",
            text=text,
            title=one_line(title) or stem(name),
            headings=tuple(self.headings),
            pages=pages,
            boxes=boxes,
            places=tuple(self.places),
            metadata={key: line for key, value in metadata.items() if (line := one_line(value))},
        )


def one_line(text: str) -> str:
    return " ".join(clean(text).split())


def stem(name: str) -> str:
    return one_line(PurePath(name).stem) or "untitled"
