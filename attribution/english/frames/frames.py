"""What a clause is made of: what each of its claims needs, and the phrases that may be claims of their own.

A fact of the grammar is a clause with its subject.  Its frame parts it: leads (`In 1969,`), a core (subject and verbs),
and units behind it.  A choice of units, with the core, is a claim that reads by itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from propcite.attribution.english.frames.doers import doers
from propcite.attribution.english.frames.enumerations import units
from propcite.attribution.english.frames.units import LONGEST_MEMBER, Unit, tag_of
from propcite.attribution.english.grammar import Fact, Piece, Tagged
from propcite.attribution.english.grammar import lexicon as lex
from propcite.attribution.english.grammar.lists import is_superlative
from propcite.attribution.english.grammar.phrases import FINITE, group_end, is_past
from propcite.attribution.english.grammar.subjects import subject_of

_BE = frozenset("is are was were be been".split())
_LEADING = lex.PLACING | frozenset("throughout despite prior".split())
_CLOSED = frozenset(  # what is denied or counted out is not true of less than all that is said
    "never no none nobody nothing only hardly neither nor without few little unless except rarely seldom".split()
)


@dataclass(frozen=True, slots=True)
class Frame:
    """A clause in parts.  `is_copula`: its verb is a form of be, and the object is what the subject is."""

    lead: Fact
    subject: Fact
    verbs: Fact
    units: tuple[Unit, ...]
    is_copula: bool = False
    doers: tuple[tuple[Fact, Fact], ...] = ()


def frame(s: Tagged, fact: Fact) -> Frame | None:
    """The parts of a fact; None where its verb is not found, or nothing in it may be left out."""
    flat = [one for piece in fact for one in _singly(piece)]
    if any(p.say is None and (s.tags[p.start] == "n" or _denies(s.lows[p.start])) for p in flat):
        return None
    leads = _leads(s, fact, flat)
    lead = sum(map(len, leads))
    verb = _verb(s, fact, flat, lead)
    if verb is None:
        return None
    stop = _verbs_end(s, flat, verb)
    behind = units(s, flat, stop)
    opening = [one for one in leads if _may_stand_aside(s, one)]
    always = tuple(p for one in leads if one not in opening for p in one)
    last = flat[stop - 1]
    copula = last.say in _BE or (last.say is None and s.lows[last.start] in _BE)
    if behind and _is_only_one(s, behind[0]):
        behind = _kept_together(behind)
    elif copula and behind:
        behind = _qualified(s, behind)
    shift = len(opening)
    behind = [u if u.instead_of is None else replace(u, instead_of=u.instead_of + shift) for u in behind]
    every = (*(Unit(one, is_lead=True) for one in opening), *behind)
    subject, verbs = tuple(flat[lead:verb]), tuple(flat[verb:stop])
    sharing = tuple(doers(s, subject, verbs, flat))
    return Frame(always, subject, verbs, every, copula, sharing) if every or sharing else None


def _denies(low: str) -> bool:
    return low in _CLOSED or low.endswith(("n't", "n’t"))


def _singly(piece: Piece) -> list[Piece]:
    if piece.say is not None:
        return [piece]
    return [Piece(at, at + 1) for at in range(piece.start, piece.end)]


def _leads(s: Tagged, fact: Fact, flat: Sequence[Piece]) -> list[Fact]:
    """What stands before the subject, each up to its comma."""
    count = seen = 0
    for piece in fact[:-1]:
        seen += len(_singly(piece))
        if piece.say is None and piece.end > piece.start and s.tags[piece.end - 1] in ",-:":
            count = seen
    if len(fact) == 1:
        count = _lead_of_whole(s, flat)
    found: list[Fact] = []
    start = 0
    for at in range(count):
        if tag_of(s, flat[at]) in ",-:":
            found.append(tuple(flat[start : at + 1]))
            start = at + 1
    return found


def _lead_of_whole(s: Tagged, flat: Sequence[Piece]) -> int:
    tags = "".join(tag_of(s, p) for p in flat)
    comma = tags.find(",")
    if comma < 0 or tags[0] not in "PaS" or set(tags[:comma]) & FINITE:
        return 0
    return comma + 1


def _may_stand_aside(s: Tagged, lead: Fact) -> bool:
    """Whether a lead tells of a time or a place, or only links: the rest is true without it."""
    if any(p.say is not None for p in lead) or len(lead) > LONGEST_MEMBER + 1:
        return False
    tags = "".join(s.tags[p.start] for p in lead)
    return tags.strip(",") == "a" or (s.lows[lead[0].start] in _LEADING and not set(tags) & (FINITE | set("SWtVR")))


def _verb(s: Tagged, fact: Fact, flat: Sequence[Piece], lead: int) -> int | None:
    """Where the first verb stands among the single pieces."""
    if len(fact) == 1:
        whole = fact[0]
        found = subject_of(s, whole.start + lead, whole.end)
        return None if found is None or found[2] else found[1] - whole.start
    begins = {piece.start for piece in fact if piece.say is None}
    for at in range(lead + 1, len(flat)):
        piece, tag = flat[at], tag_of(s, flat[at])
        past = tag == "E" and (piece.start in begins or is_past(s, flat[lead].start, piece.start, len(s.tags)))
        if tag in FINITE or past:
            return at
        if tag in "W;:":
            return None
    return None


def _verbs_end(s: Tagged, flat: Sequence[Piece], verb: int) -> int:
    """Where the verbs end: `was later elected`, `began to write`, `is`."""
    at = verb + 1
    if flat[verb].say is None:
        stop = group_end(s, flat[verb].start, flat[-1].end)
        while at < len(flat) and flat[at].say is None and flat[at - 1].end == flat[at].start < stop:
            at += 1
    apart = at < len(flat) and (flat[at - 1].say is not None or flat[at - 1].end != flat[at].start)
    while apart and at < len(flat) and tag_of(s, flat[at]) in "aELbG":  # "was | first released"
        at += 1
    while at < len(flat) and tag_of(s, flat[at]) == "a" and at > verb:
        if at + 1 < len(flat) and tag_of(s, flat[at + 1]) in "JUa":
            break
        at += 1
    if at + 1 < len(flat) and tag_of(s, flat[at]) == "T" and tag_of(s, flat[at + 1]) in "Ib":
        at = _verbs_end(s, flat, at + 1)
    return at


def _is_only_one(s: Tagged, unit: Unit) -> bool:
    """`the first bridge in Oslo` does not say that it is the first bridge."""
    lows = [s.lows[p.start] for p in (*unit.needs, *unit.pieces) if p.say is None]
    return unit.is_object and any(low in lex.ONLY or is_superlative(low) for low in lows)


def _kept_together(behind: Sequence[Unit]) -> list[Unit]:
    first, *rest = behind
    count = next((k for k, u in enumerate(rest) if u.joint or u.of_list is not None), len(rest))
    if first.of_list is not None:
        return list(behind)
    pieces = tuple(p for u in behind[: count + 1] for p in u.pieces)
    moved = [
        replace(u, instead_of=None if u.instead_of is None else max(0, u.instead_of - count)) for u in rest[count:]
    ]
    return [replace(first, pieces=pieces), *moved]


def _qualified(s: Tagged, behind: Sequence[Unit]) -> list[Unit]:
    """The nationality in `a Norwegian painter` as a unit of its own."""
    first = behind[0]
    if not first.is_object or first.tail:
        return list(behind)
    pieces = (*first.needs, *first.pieces)
    if pieces[0].say is not None or s.lows[pieces[0].start] not in {"a", "an"}:
        return list(behind)
    start = 1
    while start < len(pieces) - 1 and tag_of(s, pieces[start]) == "J" and not _is_nationality(s, pieces[start]):
        start += 1
    end = start
    while end < len(pieces) - 1 and _is_nationality(s, pieces[end]):
        end += 1
    if end == start or tag_of(s, pieces[end]) not in "NJX" or "O" in [tag_of(s, p) for p in first.needs]:
        return list(behind)
    quality = Unit(pieces[start:end], needs=pieces[:1], of_list=first.of_list, is_quality=True)
    rest = (*pieces[1:start], *pieces[end:])
    moved = [u if u.instead_of is None else replace(u, instead_of=u.instead_of + 1) for u in behind[1:]]
    return [quality, replace(first, pieces=rest, needs=pieces[:1]), *moved]


def _is_nationality(s: Tagged, piece: Piece) -> bool:
    word = s.words[piece.start]
    if not word[:1].isupper():
        return False
    return word.lower().endswith((*lex.DEMONYM_ENDINGS, "-born")) or word in {"North", "South", "Saudi"}


def told_with(s: Tagged, framed: Frame, chosen: Sequence[int], *, first: bool = True) -> Fact:
    """The claim of these units: leads, subject, verbs, and each unit with its joint where the one before is there."""
    every = framed.units
    pieces: list[Piece] = [p for at in chosen if every[at].is_lead for p in every[at].pieces]
    pieces += framed.lead
    pieces += [p for p in framed.subject if first or tag_of(s, p) != "z"]  # what stands in brackets is told once
    pieces += framed.verbs
    needed: Fact = ()
    last = -2
    behind = [at for at in chosen if every[at].pieces and not every[at].is_lead]
    for place, at in enumerate(behind):
        unit = every[at]
        alone = unit.is_quality and behind[place + 1 : place + 2] != [at + 1]
        if unit.needs and unit.needs != needed and not alone:
            pieces += unit.needs
            needed = unit.needs
        elif last == at - 1 or (unit.joint and tag_of(s, unit.pieces[0]) in "ELG"):
            pieces += unit.joint
        if last == at - 1 and at and every[at - 1].is_quality and behind[place - 1 : place] == [at - 1]:
            del pieces[-len(every[at - 1].pieces) :]  # "a prominent Norwegian painter": in the order of the sentence
            pieces += sorted((*every[at - 1].pieces, *unit.pieces))
        else:
            pieces += unit.pieces
        following = every[behind[place + 1]] if place + 1 < len(behind) else None
        if unit.tail and (following is None or following.tail != unit.tail):
            pieces += unit.tail
        last = at
    return _joined(pieces)


def _joined(pieces: Sequence[Piece]) -> Fact:
    """Single words that stand next to each other as one piece, so that they are written as they stand."""
    out: list[Piece] = []
    for piece in pieces:
        last = out[-1] if out else None
        if last and last.say is None and piece.say is None and last.end == piece.start and last.end > last.start:
            out[-1] = Piece(last.start, piece.end)
        else:
            out.append(piece)
    return tuple(out)
