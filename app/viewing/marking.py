"""Words of a text found again in HTML that says the same, and marked there.

What a reader made of a page differs from the page in signs, spaces and order of blocks, hardly ever in words: so words
are compared, and a quote is where most of its words stand in a row.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from html import escape
from html.parser import HTMLParser

LEAST = 0.6  # of a quote's words that must be found in a row
_WORD = re.compile(r"\w+")
_ITEM = re.compile(r"^\s*\w{1,3}[.)]\s+")
_ROW = re.compile(r"(?:^|; )[^=;]+ = ")
_VOID = ("br", "hr", "wbr", "col", "img")


@dataclass(frozen=True, slots=True)
class Quoted:
    """Some words of a document, the passage that they stand in, and where that begins as a share of the document."""

    words: str
    passage: str
    share: float = 0.0


@dataclass(slots=True)
class _Pieces(HTMLParser):
    """HTML as tags, which stay as they are, and texts."""

    pieces: list[tuple[bool, str]] = field(default_factory=list)  # whether it is a tag

    def __post_init__(self) -> None:
        HTMLParser.__init__(self, convert_charrefs=True)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:  # noqa: ARG002
        self.pieces.append((True, self.get_starttag_text() or f"<{tag}>"))

    def handle_endtag(self, tag: str) -> None:
        if tag not in _VOID:
            self.pieces.append((True, f"</{tag}>"))

    def handle_data(self, data: str) -> None:
        self.pieces.append((False, data))


@dataclass(frozen=True, slots=True)
class _Word:
    """A word of a text piece, by its place there."""

    piece: int
    start: int
    end: int
    same: str


def marked(html: str, quoted: Quoted) -> tuple[str, bool]:
    """Well-formed HTML with the quote's words in `<mark class="cited">` and its passage's in `passage`.

    -> and whether they were found; the first mark has the id `cited`.
    """
    parser = _Pieces()
    parser.feed(html)
    parser.close()
    words = list(_words(parser.pieces))
    found = _find(quoted, [word.same for word in words])
    if found is None:
        return html, False
    around = _around(quoted, found, [word.same for word in words])
    classes = dict.fromkeys(around, "passage") | dict.fromkeys(range(*found), "cited")
    return "".join(_written(parser.pieces, words, classes)), True


def _words(pieces: Sequence[tuple[bool, str]]) -> Iterator[_Word]:
    for number, (is_tag, text) in enumerate(pieces):
        if not is_tag:
            for match in _WORD.finditer(text):
                yield _Word(number, match.start(), match.end(), match[0].casefold())


def same_words(text: str) -> list[str]:
    return [match.casefold() for match in _WORD.findall(text)]


def _find(quoted: Quoted, there: Sequence[str]) -> tuple[int, int] | None:
    """The first word of the quote and the one behind its last.

    An item's number is no word of the page, and a table's row does not repeat the names of its columns.
    """
    for wanted in (same_words(form) for form in (quoted.words, *(f.sub(" ", quoted.words) for f in (_ITEM, _ROW)))):
        if found := _exactly(wanted, there, quoted) or _nearly(wanted, there):
            return found
    return None


def _exactly(wanted: Sequence[str], there: Sequence[str], quoted: Quoted) -> tuple[int, int] | None:
    """Of several places the one with the same words before it, then the one where the passage is to be expected."""
    if not wanted:
        return None
    before = same_words(quoted.passage.partition(quoted.words)[0])[-8:]
    width = len(wanted)
    places = [i for i, word in enumerate(there) if word == wanted[0] and list(there[i : i + width]) == list(wanted)]
    expected = quoted.share * len(there)
    best = max(places, key=lambda i: (_agree(before, there[max(0, i - 8) : i]), -abs(i - expected)), default=None)
    return None if best is None else (best, best + width)


def _agree(one: Sequence[str], other: Sequence[str]) -> int:
    """How many words, from the last on, are the same."""
    number = 0
    for a, b in zip(reversed(one), reversed(other), strict=False):
        if a != b:
            break
        number += 1
    return number


def _nearly(wanted: Sequence[str], there: Sequence[str]) -> tuple[int, int] | None:
    """The longest run of the quote's words, if that is most of them."""
    match = SequenceMatcher(None, there, wanted, autojunk=False).find_longest_match() if wanted else None
    if match is None or match.size < max(3, LEAST * len(wanted)):
        return None
    return match.a, match.a + match.size


def _around(quoted: Quoted, found: tuple[int, int], there: Sequence[str]) -> Iterator[int]:
    """The words of the passage, as far as they stand near the quote."""
    before, _, after = quoted.passage.partition(quoted.words)
    first, last = found
    for wanted, start, end in (
        (same_words(before), max(0, first - 2 * len(before.split()) - 8), first),
        (same_words(after), last, last + 2 * len(after.split()) + 8),
    ):
        for block in SequenceMatcher(None, there[start:end], wanted, autojunk=False).get_matching_blocks():
            if block.size > 2:
                yield from range(start + block.a, start + block.a + block.size)


def _written(pieces: Sequence[tuple[bool, str]], words: Sequence[_Word], classes: dict[int, str]) -> Iterator[str]:
    spans: dict[int, list[tuple[int, int, str]]] = {}
    for number, kind in sorted(classes.items()):
        word = words[number]
        runs = spans.setdefault(word.piece, [])
        if runs and runs[-1][2] == kind and number and words[number - 1].end == runs[-1][1]:
            runs[-1] = (runs[-1][0], word.end, kind)
        else:
            runs.append((word.start, word.end, kind))
    named = False
    for number, (is_tag, text) in enumerate(pieces):
        if is_tag:
            yield text
            continue
        place = 0
        for start, end, kind in spans.get(number, ()):
            first = ' id="cited"' if kind == "cited" and not named else ""
            named = named or bool(first)
            yield f'{escape(text[place:start])}<mark class="{kind}"{first}>{escape(text[start:end])}</mark>'
            place = end
        yield escape(text[place:])
