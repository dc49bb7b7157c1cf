"""The subject of a clause: its words, its verb, and what stands between the two."""

from __future__ import annotations

from propcite.attribution.english.grammar.phrases import (
    FINITE,
    Fact,
    Piece,
    aside_end,
    group_end,
    is_past,
    tells_of_noun,
)
from propcite.attribution.english.grammar.tagging import Tagged


def without_adverbs(s: Tagged, subject: Fact) -> tuple[Fact, Fact]:
    """The subject, and the adverbs behind it that belong to its first verb alone."""
    *before, last = subject
    at = last.end
    while at > last.start and s.tags[at - 1] == "a":
        at -= 1
    if at == last.end:
        return subject, ()
    kept = (*before, Piece(last.start, at)) if at > last.start else tuple(before)
    return (kept, (Piece(at, last.end),)) if kept else (subject, ())


def subject_of(s: Tagged, start: int, end: int) -> tuple[Fact, int, list[tuple[int, int]]] | None:
    """The subject, where its verb stands, and the asides between commas that were put into it."""
    pieces: list[Piece] = []
    asides: list[tuple[int, int]] = []
    begin = at = start
    relative = named_again = False
    while at < end:
        tag = s.tags[at]
        if tag in FINITE or (tag == "E" and (relative or is_past(s, start, at, end))):
            if not relative:
                break
            relative = False
            at = group_end(s, at, end)
            continue
        if tag in ";:S" or (tag == "t" and not tells_of_noun(s, at)):
            return None
        if tag in "Wt":
            relative = True
        elif tag in ",-":
            named_again = named_again or s.tags[at + 1 : at + 2] == "o"  # "X, or Y, is"
            stop = None if named_again else aside_end(s, at, end)
            if stop is not None:
                pieces.append(Piece(begin, at))
                asides.append((at + 1, stop))
                begin = at = stop + 1
                continue
        at += 1
    if at >= end or at == start or (at == begin and not pieces) or s.tags[at - 1] in "cuo":
        return None
    if at > begin:
        pieces.append(Piece(begin, at))
    if s.tags[start] not in "DRNXUJQtKzaPGT" or not any(s.tags[i] in "DRNXUQKzG" for i in range(start, at)):
        return None
    return tuple(pieces), at, asides
