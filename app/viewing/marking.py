"""Find a quote in HTML and mark it.

The text that a reader extracts from a page differs from it in punctuation, spaces and the order of blocks, but hardly
in its words.  So words are compared, and a quote is where most of its words follow each other.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from html import escape
from html.parser import HTMLParser

MIN_SHARE = 0.6  # of a quote's words that must follow each other
NUM_CONTEXT_WORDS = 8  # compared before a quote, to choose between several places
_WORD = re.compile(r"\w+")
_ITEM_NUMBER = re.compile(r"^\s*\w{1,3}[.)]\s+")
_COLUMN_NAME = re.compile(r"(?:^|; )[^=;]+ = ")
_VOID_TAGS = ("br", "hr", "wbr", "col", "img")


@dataclass(frozen=True, slots=True)
class Quote:
    """Words of a document, the passage that contains them, and their position as a share of the document."""

    words: str
    passage: str
    position: float = 0.0


@dataclass(slots=True)
class _Pieces(HTMLParser):
    """Splits HTML into tags, which stay unchanged, and texts."""

    pieces: list[tuple[bool, str]] = field(default_factory=list)  # (is a tag, content)

    def __post_init__(self) -> None:
        HTMLParser.__init__(self, convert_charrefs=True)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:  # noqa: ARG002
        self.pieces.append((True, self.get_starttag_text() or f"<{tag}>"))

    def handle_endtag(self, tag: str) -> None:
        if tag not in _VOID_TAGS:
            self.pieces.append((True, f"</{tag}>"))

    def handle_data(self, data: str) -> None:
        self.pieces.append((False, data))


@dataclass(frozen=True, slots=True)
class _Word:
    """A word of a text piece, by its place in the piece."""

    piece: int
    start: int
    end: int
    form: str


def mark_quote(html: str, quote: Quote) -> str | None:
    """Wrap the quote in `<mark class="cited">` and its passage in `<mark class="passage">`; None if it is not found.

    The HTML must be well-formed.  The first mark of the quote gets the id `cited`.
    """
    parser = _Pieces()
    parser.feed(html)
    parser.close()
    words = list(_words(parser.pieces))
    forms = [word.form for word in words]
    match = _find(quote, forms)
    if match is None:
        return None
    classes = dict.fromkeys(_passage_words(quote, match, forms), "passage") | dict.fromkeys(range(*match), "cited")
    return "".join(_marked(parser.pieces, words, classes))


def _words(pieces: Sequence[tuple[bool, str]]) -> Iterator[_Word]:
    for number, (is_tag, text) in enumerate(pieces):
        if not is_tag:
            for match in _WORD.finditer(text):
                yield _Word(number, match.start(), match.end(), match[0].casefold())


def _forms(text: str) -> list[str]:
    return [word.casefold() for word in _WORD.findall(text)]


def _find(quote: Quote, page: Sequence[str]) -> tuple[int, int] | None:
    """Return the index of the quote's first word and the one after its last.

    The text has numbers of list items and, in table rows, names of columns that the page does not repeat.
    """
    variants = (quote.words, *(pattern.sub(" ", quote.words) for pattern in (_ITEM_NUMBER, _COLUMN_NAME)))
    for words in map(_forms, variants):
        if match := _find_exact(words, page, quote) or _find_near(words, page):
            return match
    return None


def _find_exact(words: Sequence[str], page: Sequence[str], quote: Quote) -> tuple[int, int] | None:
    """Of several places, choose the one with the same words before it, then the one nearest to the position."""
    if not words:
        return None
    before = _forms(quote.passage.partition(quote.words)[0])[-NUM_CONTEXT_WORDS:]
    width = len(words)
    places = [i for i, word in enumerate(page) if word == words[0] and list(page[i : i + width]) == list(words)]
    expected = quote.position * len(page)

    def closeness(place: int) -> tuple[int, float]:
        return _num_common_last(before, page[max(0, place - NUM_CONTEXT_WORDS) : place]), -abs(place - expected)

    best = max(places, key=closeness, default=None)
    return None if best is None else (best, best + width)


def _num_common_last(one: Sequence[str], other: Sequence[str]) -> int:
    """Return how many words are the same, counted from the end."""
    number = 0
    for a, b in zip(reversed(one), reversed(other), strict=False):
        if a != b:
            break
        number += 1
    return number


def _find_near(words: Sequence[str], page: Sequence[str]) -> tuple[int, int] | None:
    """Return the longest run of the quote's words, if it has most of them."""
    match = SequenceMatcher(None, page, words, autojunk=False).find_longest_match() if words else None
    if match is None or match.size < max(3, MIN_SHARE * len(words)):
        return None
    return match.a, match.a + match.size


def _passage_words(quote: Quote, match: tuple[int, int], page: Sequence[str]) -> Iterator[int]:
    """Yield the indexes of the passage's words that are near the quote, in runs of three or more."""
    before, _, after = quote.passage.partition(quote.words)
    first, last = match
    for words, start, end in (
        (_forms(before), max(0, first - 2 * len(before.split()) - 8), first),
        (_forms(after), last, last + 2 * len(after.split()) + 8),
    ):
        for block in SequenceMatcher(None, page[start:end], words, autojunk=False).get_matching_blocks():
            if block.size > 2:
                yield from range(start + block.a, start + block.a + block.size)


def _marked(pieces: Sequence[tuple[bool, str]], words: Sequence[_Word], classes: dict[int, str]) -> Iterator[str]:
    """Yield the pieces again, with marks around the words that have a class; neighbours share a mark."""
    runs_by_piece: dict[int, list[tuple[int, int, str]]] = {}
    for number, css_class in sorted(classes.items()):
        word = words[number]
        runs = runs_by_piece.setdefault(word.piece, [])
        if runs and runs[-1][2] == css_class and number and words[number - 1].end == runs[-1][1]:
            runs[-1] = (runs[-1][0], word.end, css_class)
        else:
            runs.append((word.start, word.end, css_class))
    has_anchor = False
    for number, (is_tag, text) in enumerate(pieces):
        if is_tag:
            yield text
            continue
        place = 0
        for start, end, css_class in runs_by_piece.get(number, ()):
            anchor = ' id="cited"' if css_class == "cited" and not has_anchor else ""
            has_anchor = has_anchor or bool(anchor)
            yield f'{escape(text[place:start])}<mark class="{css_class}"{anchor}>{escape(text[start:end])}</mark>'
            place = end
        yield escape(text[place:])
