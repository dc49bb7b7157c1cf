"""Lists among the phrases of a clause: members that may be told one by one, each with what the first holds for all."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from propcite.attribution.english.frames.units import LONGEST_MEMBER, Unit, phrases, tag_of
from propcite.attribution.english.grammar import Fact, Piece, Tagged
from propcite.attribution.english.grammar import lexicon as lex
from propcite.attribution.english.grammar.phrases import is_many

_NOUNS = frozenset("NXQU")
_GIVING = frozenset({"including", "such"})
_SEVERAL = (["a", "variety", "of"], ["a", "number", "of"], ["a", "range", "of"])
_QUALITIES = re.compile(r"([PT]*D?)([JEa]+(?:[k,]c?[JEa]+)*(?:,?c[JEa]+)?)([NXG][NX]*)")  # by their tags


def units(s: Tagged, flat: Sequence[Piece], start: int) -> list[Unit]:
    """The units of the single words behind the verbs, in their order."""
    found = _with_parallels(s, phrases(s, flat, start))
    out: list[Unit] = []
    at = number = 0
    while at < len(found):
        stop = at + 1
        while stop < len(found) and found[stop].joint and not _stands_apart(s, found[stop]):
            stop += 1
        run = found[at:stop]
        if _gives(s, found[at]) and stop == at + 1 < len(found) - 1 and found[stop + 1].joint and not found[stop].joint:
            run = [replace(found[at], pieces=found[at].pieces + found[stop].pieces)]  # "such as Heart of a Dog, Nose"
            stop += 1
            while stop < len(found) and found[stop].joint:
                run.append(found[stop])
                stop += 1
        given = next((k for k, u in enumerate(run) if u.pieces and _gives(s, u) and (k or out)), None)
        if given is not None:
            out += _listed(s, run[:given], number)
            out += _given(s, run[given:], out, number + 1)
        else:
            out += _listed(s, run, number)
        number += 2
        at = stop
    return out


def _with_parallels(s: Tagged, found: list[Unit]) -> list[Unit]:
    """`£12 for adults and £6 for children`: members that each have their own phrase stand as one unit each.

    Where it cannot be told what a member stands beside, nothing is parted.
    """
    joined = next((at for at, u in enumerate(found) if u.joint and not _stands_apart(s, u)), None)
    if joined is None:
        return found
    told_of = _told_of_name(s, found, joined)
    if told_of is not None:
        return [*found[:told_of], _glued(found[told_of:])]
    groups: list[list[Unit]] = []
    for u in found[joined:]:
        if u.joint:
            groups.append([])
        groups[-1].append(u)
    if all(len(group) == 1 for group in groups[:-1]) and (len(groups[-1]) == 1 or len(groups) > 1):
        return found
    joints = ["".join(tag_of(s, p) for p in group[0].joint) for group in groups]
    listed = "c" in joints[-1] and not any("c" in joint for joint in joints[:-1])
    for start in range(joined - 1):  # with a phrase of its own before the first joint
        kinds = {_kind(s, u) for u in (found[start], *(group[0] for group in groups))}
        if listed and len(kinds) == 1 and kinds <= set("DUNX"):
            return [*found[:start], *(_glued(group) for group in (found[start:joined], *groups))]
    begins_alike = _kind(s, found[joined - 1]) == _kind(s, found[joined])
    if begins_alike and joined == 1:
        return found
    return [*found[: joined - 1], _glued(found[joined - 1 :])]


def _told_of_name(s: Tagged, found: Sequence[Unit], joined: int) -> int | None:
    """Where `Ada, a painter from Oslo, and Bo` begins: whose the words after the commas are cannot be told."""
    unit, before = found[joined], found[joined - 1]
    alone = "".join(tag_of(s, p) for p in unit.joint) == "," and tag_of(s, unit.pieces[0]) == "D"
    later = any("c" in [tag_of(s, p) for p in u.joint] for u in found[joined + 1 :])
    return joined - 1 if alone and later and tag_of(s, before.pieces[-1]) == "X" else None


def _glued(group: Sequence[Unit]) -> Unit:
    pieces = tuple(p for u in group for p in (*u.joint, *u.pieces))[len(group[0].joint) :]
    return replace(group[0], pieces=pieces)


def _kind(s: Tagged, unit: Unit) -> str:
    """What a phrase begins with behind its preposition."""
    first = next((p for p in unit.pieces if tag_of(s, p) not in "PT"), unit.pieces[0])
    return "N" if tag_of(s, first) == "J" else tag_of(s, first)


def _listed(s: Tagged, run: Sequence[Unit], number: int) -> list[Unit]:
    """Phrases joined by commas and `and`: members of a list, phrases that stand alone, or one long phrase."""
    qualities = _qualities(s, run, number) if run else []
    if qualities or len(run) < 2:
        return qualities or list(run)
    if _are_members(s, run):
        needs = _needed(s, run)
        first = replace(run[0], pieces=run[0].pieces[len(needs) :])
        return [replace(u, of_list=number, needs=needs, is_object=run[0].is_object) for u in (first, *run[1:])]
    joined_early = any("c" in [tag_of(s, p) for p in u.joint] for u in run[1:-1])
    if all(tag_of(s, u.pieces[0]) in "PT" for u in run[1:]) and not joined_early:
        return list(run)
    return [_glued(run)]


def _are_members(s: Tagged, run: Sequence[Unit]) -> bool:
    """Whether the phrases are members of one list that ends in `and`."""
    joints = ["".join(tag_of(s, p) for p in u.joint) for u in run[1:]]
    if "c" not in joints[-1] or any("c" in joint for joint in joints[:-1]):
        return False
    first = run[0].pieces[len(_needed(s, run)) :]
    if not first or any(head not in "DJNXUQz" for head in [tag_of(s, u.pieces[0]) for u in run[1:]]):
        return False
    if tag_of(s, first[0]) not in "DJNXUQz":
        return False
    ends = [tag_of(s, u.pieces[-1]) for u in run]
    if any(end == "X" and tag_of(s, u.pieces[0]) == "D" for end, u in zip(ends, run[1:-1], strict=False)):
        return False  # "of Ada, the Queen of Oslo, and her husband"
    start = run[0].pieces[0].start
    if set(s.lows[max(0, start - 7) : first[0].start + 1]) & lex.TOGETHER:
        return False
    if any({tag_of(s, p) for p in u.pieces} & set("KRBHMV") for u in run):
        return False
    return all(len(u.pieces) <= LONGEST_MEMBER + 5 and {tag_of(s, p) for p in u.pieces} & _NOUNS for u in run)


def _needed(s: Tagged, run: Sequence[Unit]) -> Fact:
    """What the first member holds for all: a preposition, an article or `of` that the others do not have."""
    pieces = run[0].pieces
    at = 0
    while at < len(pieces) - 1 and tag_of(s, pieces[at]) in "PT":
        at += 1
    bare = all(tag_of(s, u.pieces[0]) != "D" for u in run[1:])
    tags = [tag_of(s, p) for p in pieces]
    if bare and "O" in tags[:-1]:
        return pieces[: len(tags) - tags[::-1].index("O")]
    if at < len(pieces) - 1 and tags[at] == "D" and bare:
        at += 1
    return pieces[:at]


def _qualities(s: Tagged, run: Sequence[Unit], number: int) -> list[Unit]:
    """`a fast, safe and cheap language`: a member for each quality, all with the same article and noun."""
    words = [(p, tag_of(s, p)) for u in run for p in (*u.joint, *u.pieces)][len(run[0].joint) :]
    tags = "".join(tag for _, tag in words)
    found = _QUALITIES.fullmatch(tags)
    if found is None or not re.search("[k,c]", found[2]) or any(u.joint == () for u in run[1:]):
        return []
    start, end = found.span(2)
    needs, tail = tuple(p for p, _ in words[:start]), tuple(p for p, _ in words[end:])
    members: list[Unit] = []
    pieces: list[Piece] = []
    joint: list[Piece] = []
    for p, tag in words[start:end]:
        if tag in "k,c":
            if pieces:
                members.append(Unit(tuple(pieces), tuple(joint), needs, tail, number, is_object=run[0].is_object))
                pieces, joint = [], []
            joint.append(p)
        else:
            pieces.append(p)
    return [*members, Unit(tuple(pieces), tuple(joint), needs, tail, number, is_object=run[0].is_object)]


def _stands_apart(s: Tagged, unit: Unit) -> bool:
    """Whether a phrase after a comma is no member of a list: `, built in 1900`, `, for a total of $3`."""
    first = tag_of(s, unit.pieces[0])
    return first in "ELG" or (first in "PT" and "c" not in [tag_of(s, p) for p in unit.joint])


def _gives(s: Tagged, unit: Unit) -> bool:
    first = unit.pieces[0]
    return first.say is None and s.lows[first.start] in _GIVING and len(unit.pieces) > 1


def _given(s: Tagged, run: Sequence[Unit], before: Sequence[Unit], number: int) -> list[Unit]:
    """`several awards, including A and B`: each member may stand in the place of the awards."""
    word = 1 + (s.lows[run[0].pieces[0].start] == "such")
    host = _host(s, before)
    if host is None:
        at = len(before) - 1
        needs = (*before[at].needs, *before[at].pieces, *run[0].joint, *run[0].pieces[:word])
    else:
        at = host
        pieces = before[at].pieces
        needs = before[at].needs or tuple(p for p in pieces[:1] if tag_of(s, p) in "PT")
    first = replace(run[0], pieces=run[0].pieces[word:], joint=())
    if not first.pieces:
        return list(run)
    if len(run) > 1 and not _are_members(s, [first, *run[1:]]):
        pieces = tuple(p for u in run for p in (*u.joint, *u.pieces))[len(run[0].joint) + word :]
        return [replace(first, pieces=pieces, needs=needs, instead_of=at, of_list=number, is_object=False)]
    more = _needed(s, [first, *run[1:]]) if len(run) > 1 else ()
    first = replace(first, pieces=first.pieces[len(more) :])
    return [
        replace(u, needs=(*needs, *more), instead_of=at, of_list=number, is_object=before[at].is_object)
        for u in (first, *run[1:])
    ]


def _host(s: Tagged, before: Sequence[Unit]) -> int | None:
    """The nearest unit that names several things of a kind, and no more than that."""
    for at in range(len(before) - 1, -1, -1):
        pieces = [p for p in before[at].pieces if tag_of(s, p) not in "PT"]
        if pieces and all(p.say is None for p in pieces) and before[at].of_list is None:
            noun = Piece(pieces[0].start, pieces[-1].end)
            if is_many(s, noun):
                return at if "O" not in s.tags[noun.start : noun.end] or s.lows[noun.start] in {"a", "an"} else None
            if s.lows[noun.start : noun.start + 3] in (
                ["a", "variety", "of"],
                ["a", "number", "of"],
                ["a", "range", "of"],
            ):
                return at
    return None
