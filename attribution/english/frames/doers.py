"""Several subjects of one clause, each of which did what is told: `Ada and Bo paint` says that Ada paints."""

from __future__ import annotations

from collections.abc import Sequence

from propcite.attribution.english.frames.units import tag_of
from propcite.attribution.english.grammar import Fact, Piece, Tagged
from propcite.attribution.english.grammar import lexicon as lex
from propcite.attribution.english.grammar.phrases import is_many
from propcite.attribution.english.grammar.verbs import BASE_VERBS, THIRD_PERSON

LONGEST = 6  # words of one subject
_OF_ONE = {"were": "was", "are": "is", "have": "has", "do": "does", "’re": "’s", "'re": "'s"}
_THIRD = {base: third for third, base in THIRD_PERSON.items()}
_JOINTLY = lex.TOGETHER | frozenset("each other another jointly same met meet married marry agree agreed half".split())


def doers(s: Tagged, subject: Fact, verbs: Fact, every: Sequence[Piece]) -> list[tuple[Fact, Fact]]:
    """Each subject of a list with the verbs as it needs them; none where there is one subject, or they act together."""
    members = _members(s, subject)
    if len(members) < 2 or any(p.say is None and s.lows[p.start] in _JOINTLY for p in every):
        return []
    found = [(member, _agreeing(s, member, verbs)) for member in members]
    return [(member, told) for member, told in found if told is not None] if all(told for _, told in found) else []


def _members(s: Tagged, subject: Fact) -> list[Fact]:
    tags = "".join(tag_of(s, p) for p in subject)
    if set(tags) - set("DJNXUOzQk,cp") or "c" not in tags or any(p.say is not None for p in subject):
        return []
    members: list[list[Piece]] = [[]]
    joints = [""]
    for piece, tag in zip(subject, tags, strict=True):
        if tag in ",c":
            if members[-1]:
                members.append([])
                joints.append("")
            joints[-1] += tag
        else:
            members[-1].append(piece)
    first = [tag_of(s, m[0]) if m else "" for m in members]
    if "c" not in joints[-1] or any("c" in joint for joint in joints[:-1]) or not all(first):
        return []
    if any(len(m) > LONGEST or not {tag_of(s, p) for p in m} & set("NXUQ") for m in members):
        return []
    shared: Sequence[Piece] = ()
    of = [at for at, p in enumerate(members[0]) if tag_of(s, p) == "O"]
    if of and "D" not in first[1:]:
        shared = members[0][: of[-1] + 1]
    elif first[0] == "D" and "D" not in first[1:]:
        shared = members[0][:1]
    elif len({"N" if tag == "J" else tag for tag in first}) > 1:
        return []
    if first[0] == "D" and any("X" in [tag_of(s, p) for p in m] and tag_of(s, m[0]) == "D" for m in members[1:-1]):
        return []  # "the mayor, the Ada of Oslo, and": told of the mayor
    return [tuple(m) if number == 0 else (*shared, *m) for number, m in enumerate(members)]


def _agreeing(s: Tagged, member: Fact, verbs: Fact) -> Fact | None:
    """The verbs as one subject takes them; None where that is not sure."""
    if is_many(s, Piece(member[-1].start, member[-1].end)) or is_many(s, Piece(member[0].start, member[-1].end)):
        return verbs
    first = verbs[0]
    if first.say is not None:
        return ((first._replace(say=_OF_ONE.get(first.say, first.say))), *verbs[1:])
    low, tag = s.lows[first.start], s.tags[first.start]
    if low in _OF_ONE:
        return (first._replace(say=_OF_ONE[low]), *verbs[1:])
    if tag in "V0I" and low in BASE_VERBS and low not in THIRD_PERSON:
        return (first._replace(say=_THIRD[low]), *verbs[1:]) if low in _THIRD else None
    return verbs
