"""Read a language model's own citation markers: `[1]`, `[2, 3]`, `(Source 7)`, `【8†source】`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from propcite.attribution.prose.marker_stripper import MARKER
from propcite.attribution.prose.sentences import prose_spans
from propcite.retrieval.text import Span

MAX_RANGE = 20  # "[1-500]" names no passages

_LINE_START = re.compile(r"\s*(?:(?:[-*+•]|\d{1,3}[.)])\s+)?")
_NOT_NUMBERS = re.compile(r"(?<=\d)[:†][^】]*|(?<=\])\(.*|<\|.*|\ue200.*", re.DOTALL)
_BLANKS = re.compile(r"[ \t]*+")
_RANGE = re.compile(r"(\d+)\s*[–-]\s*\^?(\d+)|(\d+)")


@dataclass(frozen=True, slots=True)
class Marker:
    """The numbers that a marker cites, its span in the answer, and its place in the answer without markers."""

    span: Span
    numbers: tuple[int, ...]
    place: int
    at_line_start: bool = False  # then it cites the words behind it


@dataclass(frozen=True, slots=True)
class ExtractedMarkers:
    """An answer without its markers, and the markers."""

    text: str
    markers: tuple[Marker, ...]
    removed: tuple[tuple[int, int], ...] = ()  # where in the text, and how many characters of the answer

    def in_answer(self, span: Span) -> Span:
        """Return the place in the answer of a span of the text.

        A marker between words of the span belongs to it; one behind its last word does not, nor what follows that.

        >>> answer = "It cost 5 euros [1], or 6【2】 pounds [3]."
        >>> extracted = extract_markers(answer)
        >>> [extracted.in_answer(Span(*at)).of(answer) for at in ((0, 15), (20, 28), (0, 29))]
        ['It cost 5 euros', '6【2】 pounds', 'It cost 5 euros [1], or 6【2】 pounds']
        """
        start, end = span.start, span.end
        for place, _ in reversed(self.removed):
            if start < place < end and not any(map(str.isalnum, self.text[place:end])):
                end = place
        before_start = sum(length for place, length in self.removed if place <= start)
        before_end = sum(length for place, length in self.removed if place < end)
        return Span(start + before_start, end + before_end)


def extract_markers(answer: str) -> ExtractedMarkers:
    """Remove the markers from an answer, and return both.  Brackets in code, and years, are no markers.

    >>> extracted = extract_markers("It cost 5 euros [1][2]. See `x[3]`.")
    >>> extracted.text, [(m.numbers, m.place) for m in extracted.markers]
    ('It cost 5 euros. See `x[3]`.', [((1,), 15), ((2,), 15)])
    """
    if not MARKER.search(answer):
        return ExtractedMarkers(answer, ())
    pieces, markers, places, last, removed = [], [], [], 0, 0
    for start, own, end, limit in _places(answer):
        at_line_start = bool(_LINE_START.fullmatch(answer, answer.rfind("\n", 0, start) + 1, own))
        numbers = _numbers(answer[own:end])
        marker = Span(own, end)
        if at_line_start:  # remove the space behind the marker, and keep the one in front
            start = own
            end = _BLANKS.match(answer, end, limit).end()  # type: ignore[union-attr] # it may be empty
        pieces.append(answer[last:start])
        markers.append(Marker(marker, numbers, start - removed, at_line_start))
        places.append((start - removed, end - start))
        last, removed = end, removed + end - start
    return ExtractedMarkers("".join(pieces) + answer[last:], tuple(markers), tuple(places))


def _places(answer: str) -> Iterator[tuple[int, int, int, int]]:
    """Yield for each marker in prose its start with and without the space in front, its end, and the prose's end."""
    for region in prose_spans(answer):
        code = -1  # where inline code was opened
        for match in MARKER.finditer(answer, region.start, region.end):
            start, end = match.span()
            if code >= 0 and answer.find("\n", code, start) >= 0:
                code = -1
            if match.group() == "`":
                code = -1 if code >= 0 else start
            elif code < 0:
                yield start, start + len(match.group()) - len(match.group().lstrip(" \t")), end, region.end


def _numbers(marker: str) -> tuple[int, ...]:
    numbers: list[int] = []
    for first, last, single in _RANGE.findall(_NOT_NUMBERS.sub("", marker)):
        start, end = int(single or first), int(single or last)
        numbers += range(start, end + 1) if start <= end < start + MAX_RANGE else (start, end)
    return tuple(dict.fromkeys(numbers))
