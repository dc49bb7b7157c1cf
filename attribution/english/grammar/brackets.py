"""What stands in brackets: said once, with the first fact that has it; `(born ...)` is a fact of its own."""

from __future__ import annotations

from propcite.attribution.english.grammar.phrases import FINITE, Fact, Piece, noun_before, own_verb
from propcite.attribution.english.grammar.tagging import Tagged, retagged


def said_once(s: Tagged, found: list[Fact]) -> list[Fact]:
    """What stands in brackets is said with the first fact that has it; `(born ...)` is a fact of its own."""
    at = s.tags.find("z")
    while at >= 0:
        stop = at
        while stop < len(s.tags) and s.tags[stop] == "z" and (stop == at or s.words[stop] not in "(["):
            stop += 1
        keep = 1
        if s.lows[at + 1 : at + 2] in (["born"], ["died"]) and at > 0:
            noun = noun_before(s, at, -1)
            if noun is not None:
                found = [
                    (noun, Piece(0, 0, "was" if s.lows[at + 1] == "born" else ""), Piece(at + 1, stop - 1)),
                    *found,
                ]
        apart = _says_something(s, at + 1, stop - 1) and len(s.tags) > stop - at + 1
        keep = 0 if apart else keep
        cleaned: list[Fact] = []
        for fact in found:
            holds = any(piece.start <= at and stop <= piece.end for piece in fact)
            cleaned.append(_without(fact, at, stop) if holds and keep <= 0 else fact)
            keep -= holds or any(piece.start == at + 1 for piece in fact)
        found = [*cleaned, (Piece(at + 1, stop - 1),)] if apart else cleaned
        at = s.tags.find("z", stop)
    return found


def _says_something(s: Tagged, start: int, end: int) -> bool:
    """Whether the words in brackets are a clause: `(it was €38 in 2024)`."""
    inside = retagged(s, start, end)
    verb = own_verb(inside, 0, len(inside.tags)) if inside.tags else None
    return verb is not None and (inside.tags[verb] in FINITE or inside.tags[0] in "RD")


def _without(fact: Fact, start: int, stop: int) -> Fact:
    pieces: list[Piece] = []
    for piece in fact:
        if piece.say is None and piece.start <= start and stop <= piece.end:
            pieces += [p for p in (Piece(piece.start, start), Piece(stop, piece.end)) if p.end > p.start]
        else:
            pieces.append(piece)
    return tuple(pieces)
