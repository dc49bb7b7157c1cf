"""The markers that a language model wrote into its answer: `[1]`, `[2, 3]`, `[4-6]`, `【1†source】`."""

from __future__ import annotations

import re
from dataclasses import dataclass

from attribution.prose import prose
from retrieval.text import Span

MOST_IN_RANGE = 20  # "[1-500]" is no citation

_NUMBERS = r"\^?\d{1,3}(?:\s*[,;–-]\s*\^?\d{1,3})*"
_MARKER = re.compile(rf"[ \t]*(?P<own>\[(?P<square>{_NUMBERS})\](?!\(|:\s)|【(?P<lens>{_NUMBERS})(?:†[^】]*)?】)")
_LINE_START = re.compile(r"\s*(?:(?:[-*+•]|\d{1,3}[.)])\s+)?")
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
    """What is in brackets inside code, a year and a link stay: they cite nothing.

    >>> found = without_markers("It cost 5 euros [1][2]. See [the report](x).")
    >>> found.text, [(m.numbers, m.place) for m in found.markers]
    ('It cost 5 euros. See [the report](x).', [((1,), 15), ((2,), 15)])
    """
    pieces, markers, last, removed = [], [], 0, 0
    for region in prose(answer):
        for found in _MARKER.finditer(answer, region.start, region.end):
            start, end = found.span()
            before = bool(_LINE_START.fullmatch(answer, answer.rfind("\n", 0, start) + 1, found.start("own")))
            if before:  # the space behind it goes with it, that in front stays
                start = found.start("own")
                end += len(answer[end : region.end]) - len(answer[end : region.end].lstrip(" \t"))
            pieces.append(answer[last:start])
            markers.append(Marker(Span(*found.span("own")), _numbers(found), start - removed, before))
            last, removed = end, removed + end - start
    return Unmarked("".join(pieces) + answer[last:], tuple(markers))


def _numbers(found: re.Match[str]) -> tuple[int, ...]:
    numbers: list[int] = []
    for first, last, alone in _RANGE.findall(found["square"] or found["lens"]):
        end = int(alone or last)
        start = int(alone or first)
        numbers += range(start, end + 1) if start <= end < start + MOST_IN_RANGE else (start, end)
    return tuple(dict.fromkeys(numbers))
