"""Which passages a language model's own markers name, and where: `[1]`, `[2, 3]`, `(Source 7)`, `【8†source】`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from propcite.attribution.prose.sentences import prose
from propcite.attribution.prose.unmarking import MARKER
from propcite.retrieval.text import Span

MOST_IN_RANGE = 20  # "[1-500]" names no passages

_LINE_START = re.compile(r"\s*(?:(?:[-*+•]|\d{1,3}[.)])\s+)?")
_NO_NUMBERS = re.compile(r"(?<=\d)[:†][^】]*|(?<=\])\(.*|<\|.*|\ue200.*", re.DOTALL)
_RANGE = re.compile(r"(\d+)\s*[–-]\s*\^?(\d+)|(\d+)")


@dataclass(frozen=True, slots=True)
class Marker:
    """Numbers that an answer cites: the marker's own characters, and its place in the answer without markers."""

    span: Span
    numbers: tuple[int, ...]
    place: int
    before: bool = False  # it stands in front of what it cites, at the beginning of a line


@dataclass(frozen=True, slots=True)
class Unmarked:
    """An answer without its markers, and these."""

    text: str
    markers: tuple[Marker, ...]


def without_markers(answer: str) -> Unmarked:
    """What is in brackets inside code, and a year, stay: they cite nothing.

    >>> found = without_markers("It cost 5 euros [1][2]. See `x[3]`.")
    >>> found.text, [(m.numbers, m.place) for m in found.markers]
    ('It cost 5 euros. See `x[3]`.', [((1,), 15), ((2,), 15)])
    """
    pieces, markers, last, removed = [], [], 0, 0
    for start, own, end, limit in _places(answer):
        before = bool(_LINE_START.fullmatch(answer, answer.rfind("\n", 0, start) + 1, own))
        numbers = _numbers(answer[own:end])
        marker = Span(own, end)
        if before:  # the space behind it goes with it, that in front stays
            start = own
            end += len(answer[end:limit]) - len(answer[end:limit].lstrip(" \t"))
        pieces.append(answer[last:start])
        markers.append(Marker(marker, numbers, start - removed, before))
        last, removed = end, removed + end - start
    return Unmarked("".join(pieces) + answer[last:], tuple(markers))


def _places(answer: str) -> Iterator[tuple[int, int, int, int]]:
    """Each marker of the prose: where it begins with its space, where by itself, where it ends; the prose's end."""
    for region in prose(answer):
        code = -1  # where code in the line was opened
        for found in MARKER.finditer(answer, region.start, region.end):
            start, end = found.span()
            if code >= 0 and "\n" in answer[code:start]:
                code = -1
            if found.group() == "`":
                code = -1 if code >= 0 else start
            elif code < 0:
                yield start, start + len(found.group()) - len(found.group().lstrip(" \t")), end, region.end


def _numbers(marker: str) -> tuple[int, ...]:
    numbers: list[int] = []
    for first, last, alone in _RANGE.findall(_NO_NUMBERS.sub("", marker)):
        end = int(alone or last)
        start = int(alone or first)
        numbers += range(start, end + 1) if start <= end < start + MOST_IN_RANGE else (start, end)
    return tuple(dict.fromkeys(numbers))
