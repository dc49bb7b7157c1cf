"""What a clause tells in passing: `the actor Bo Lind` that he is an actor, `in Oslo, Norway` that Oslo is in Norway."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from propcite.attribution.english.frames.units import Unit, tag_of
from propcite.attribution.english.grammar import Fact, Piece, Tagged
from propcite.attribution.english.grammar import lexicon as lex
from propcite.attribution.english.grammar.gerunds import told_by_gerunds

_AT = frozenset("in near at from".split())
_DONE_AFTER = frozenset("becoming moving joining returning settling turning going switching transferring".split())
_OWNED = frozenset("his her its their our my".split())


class Aside(NamedTuple):
    """A claim told in passing, the tokens that say it, and the phrase as it stands where those are left out."""

    claim: Fact
    said_by: list[int]
    rest: Fact | None = None


def larger_place(s: Tagged, unit: Unit, verbs: Fact) -> Aside | None:
    """`in Oslo, Norway`: the phrase without the larger place, and the claim that the one lies in the other."""
    tags = "".join(tag_of(s, p) for p in unit.pieces)
    comma = tags.find("k")
    first = unit.pieces[0]
    if tags.count("k") != 1 or first.say is not None or s.lows[first.start] not in _AT or unit.of_list is not None:
        return None
    small, large = unit.pieces[1:comma], unit.pieces[comma + 1 :]
    if set(tags[1:comma]) != {"X"} or set(tags[comma + 1 :]) != {"X"} or s.words[unit.pieces[comma].start] != ",":
        return None
    place = first if s.lows[first.start] == "in" else Piece(0, 0, "in")
    return Aside((*small, _be(s, verbs, "is"), place, *large), [p.start for p in large], unit.pieces[:comma])


def deeds(s: Tagged, unit: Unit, subject: Fact, verbs: Fact) -> list[Aside]:
    """`after moving to Oslo`: the subject moved to Oslo."""
    first, *rest = unit.pieces
    verb = next((p.start for p in verbs if p.say is None), None)
    if verb is None or first.say is not None or not rest or s.tags[rest[0].start] != "G" or not subject:
        return []
    low, deed = s.lows[first.start], s.lows[rest[0].start]
    if low not in {"after", "while"} and (low != "before" or deed not in _DONE_AFTER):
        return []
    told = told_by_gerunds(s, subject, rest[0].start, rest[-1].end, verb)
    return [Aside(claim, [p.start for p in rest], ()) for claim in told or []]


def titles(s: Tagged, pieces: Fact, verbs: Fact) -> Iterator[Aside]:
    """`the film Siva`, `his son Bo Lind`: a noun before a name, and the claim that the name is one."""
    flat = [p for p in pieces if p.say is None]
    tags = "".join(s.tags[p.start] for p in flat)
    for at in range(1, len(flat)):
        if tags[at] != "X" or tags[at - 1] != "N" or not _names_one(s, flat[at - 1]):
            continue
        start = at - 1
        while start and tags[start - 1] in "N":
            start -= 1
        end = at
        while end < len(flat) and tags[end] in "X":
            end += 1
        name = flat[at:end]
        if (end < len(flat) and tags[end] in "NUzk") or any(len(s.words[p.start].strip(".")) < 2 for p in name[:1]):
            continue
        owned = start and s.lows[flat[start - 1].start] in _OWNED
        article = flat[start - 1] if owned else Piece(0, 0, _article(s.lows[flat[start].start]))
        noun = flat[start:at]
        yield Aside((*name, _be(s, verbs, ""), article, *noun), [p.start for p in noun])


def _names_one(s: Tagged, noun: Piece) -> bool:
    low = s.lows[noun.start]
    return low.isalpha() and not low.endswith("s") and low not in lex.TIME_NOUNS and s.words[noun.start] == low


def _article(low: str) -> str:
    return "an" if low[0] in "aeiou" and not low.startswith(("uni", "use", "eu")) else "a"


def _be(s: Tagged, verbs: Fact, wanted: str) -> Piece:
    """`is` or `was` as the clause has it, its own word where it has that one."""
    for p in verbs:
        low = (p.say if p.say is not None else s.lows[p.start]) or ""
        if low in {"is", "was"} and low == (wanted or low):
            return p if p.end > p.start else Piece(0, 0, low)
    past = any(p.say in {"was", "were"} or (p.say is None and _is_past(s, p.start)) for p in verbs)
    return Piece(0, 0, wanted or ("was" if past else "is"))


def _is_past(s: Tagged, at: int) -> bool:
    return s.tags[at] == "E" or s.lows[at] in {"was", "were", "had", "did"}
