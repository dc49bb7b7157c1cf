"""The lines of a text file, without overstrike, page breaks and the running heads beside them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from propcite.app.ingest.readers.draft import clean

LINE_END = re.compile("\r\n|\r|\n")
_OVERSTRUCK = re.compile("[^\n\b]\b")
_COLOUR = re.compile("\x1b\\[[0-9;]*[mK]")
_NUMBER = re.compile(r"\d+|\b[ivxlc]+\b")
_MAX_RUNNING = 2  # lines at the top and at the bottom of a page


@dataclass(frozen=True, slots=True)
class Line:
    """A line and its number in the file, counted from 1; `page_break` if it is the first of its page."""

    text: str
    number: int
    page_break: bool = False


def numbered_lines(text: str, first: int = 1) -> list[Line]:
    """Return the lines of a decoded file, or of a part from line `first` on, as a reader of its paper sees them."""
    text = _COLOUR.sub("", _OVERSTRUCK.sub("", text)) if "\b" in text or "\x1b" in text else text
    lines = LINE_END.split(text)
    if "\f" not in text:
        return [Line(piece, number) for number, line in enumerate(lines, first) for piece in clean(line).split("\n")]
    pages: list[list[Line]] = [[]]
    for number, line in enumerate(lines, first):
        for place, piece in enumerate(line.split("\f")):
            if place:
                pages.append([])
            pages[-1] += [Line(part, number) for part in clean(piece).split("\n")]
    return _joined_pages(pages)


def _joined_pages(pages: Sequence[Sequence[Line]]) -> list[Line]:
    """Return the lines of all pages without running heads, and without blank lines at the breaks between them."""
    filled = [[line for line in page if line.text.strip()] for page in pages]
    heads = _running(page[:_MAX_RUNNING] for page in filled)
    feet = _running(page[: -_MAX_RUNNING - 1 : -1] for page in filled)
    lines: list[Line] = []
    for page, words in zip(pages, filled, strict=True):
        top, bottom = _count(words, heads), _count(words[::-1], feet)
        kept = words[top : len(words) - bottom]
        if not kept:
            continue
        first, last = page.index(kept[0]), len(page) - 1 - page[::-1].index(kept[-1])
        lines += [Line(kept[0].text, kept[0].number, page_break=bool(lines)), *page[first + 1 : last + 1]]
    return lines


def _running(edges: Iterable[Sequence[Line]]) -> set[tuple[int, str]]:
    """Return the lines that stand at the same edge of at least half of the pages, and of two."""
    pages = [[(place, _key(line)) for place, line in enumerate(edge)] for edge in edges if edge]
    counts = Counter(line for page in pages for line in page)
    return {line for line, count in counts.items() if count > 1 and 2 * count >= len(pages) - 1}


def _count(words: Sequence[Line], running: set[tuple[int, str]]) -> int:
    """Count the running lines from the edge on; a running line may follow one that changes, such as a chapter's."""
    found = [place for place, line in enumerate(words[:_MAX_RUNNING]) if (place, _key(line)) in running]
    return len(found) if found == list(range(len(found))) else 0


def _key(line: Line) -> str:
    return " ".join(_NUMBER.sub("#", line.text).split())
