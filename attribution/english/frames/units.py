"""The phrases behind the verbs of a clause, each of which may be told or left out."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from propcite.attribution.english.grammar import Fact, Piece, Tagged
from propcite.attribution.english.grammar import lexicon as lex
from propcite.attribution.english.grammar.phrases import own_verb

LONGEST_MEMBER = 9  # words of a list's member; what is longer is hardly one
_BE = frozenset("is are was were be been".split())
_VERBAL = frozenset("BHMYVRI")  # behind the verbs these begin a clause, which stays in one
_ABOUT = frozenset("over about around nearly under roughly almost".split())
_COMPARING = frozenset("than compared".split())  # what follows belongs to what stands before


@dataclass(frozen=True, slots=True)
class Unit:
    """A phrase: its pieces, what joins it to the one before, and what the first member of its list holds for all.

    `instead_of` is the first unit that a member takes the place of: `several awards, including A` tells of A.
    """

    pieces: Fact
    joint: Fact = ()
    needs: Fact = ()
    tail: Fact = ()
    of_list: int | None = None
    instead_of: int | None = None
    is_lead: bool = False
    is_object: bool = False
    is_attached: bool = False  # `built in 1900` of `a house built in 1900`: told with the noun
    is_quality: bool = False  # `Norwegian` of `a Norwegian painter`

    @property
    def tokens(self) -> list[int]:
        return tokens_of(self.pieces)


def tokens_of(pieces: Iterable[Piece]) -> list[int]:
    return [at for piece in pieces for at in range(piece.start, piece.end)]


def tag_of(s: Tagged, piece: Piece) -> str:
    return s.tags[piece.start] if piece.say is None else "B" if piece.say in _BE else "y"


def phrases(s: Tagged, flat: Sequence[Piece], start: int) -> list[Unit]:
    """Phrases one by one; a clause among them runs to the end."""
    found: list[Unit] = []
    pieces: list[Piece] = []
    joint: list[Piece] = []

    def close() -> None:
        if pieces:
            is_object = not found and (tag_of(s, pieces[0]) not in "PTa" or _counts(s, pieces, 0))
            attached = bool(found) and not joint and tag_of(s, pieces[0]) in "EL"
            found.append(Unit(tuple(pieces), tuple(joint), is_object=is_object, is_attached=attached))
            pieces.clear()
            joint.clear()

    at = start
    goes_on = False  # after "to promote", "before moving", "using": what follows is told of that deed
    while at < len(flat):
        tag = tag_of(s, flat[at])
        before = tag_of(s, flat[at - 1])
        compares = flat[at].say is None and s.lows[flat[at].start] in _COMPARING
        if tag in "WSt:;-" or tag in _VERBAL or compares or _begins_clause(s, flat, at):
            if tag in "SP" and not compares and {tag_of(s, p) for p in pieces} - {"a"}:
                close()
            pieces += flat[at:]
            break
        if tag in ",c" and pieces:
            close()
            goes_on = False
            while at < len(flat) and tag_of(s, flat[at]) in ",c":
                joint.append(flat[at])
                at += 1
            if "".join(tag_of(s, p) for p in joint) == "," and at < len(flat) and tag_of(s, flat[at]) in "ELG":
                pieces += flat[at:]
                break
            continue
        begins = (tag == "P" and before not in "PcauoO" and not goes_on) or _begins(s, flat, at, pieces)
        if begins and pieces and not _counts(s, flat, at):
            close()
        following = tag_of(s, flat[at + 1]) if at + 1 < len(flat) else ""
        goes_on = goes_on or (tag in "PT" and following in ("G", "I", "b")) or (tag in "GEL" and not pieces)
        pieces.append(flat[at])
        at += 1
    close()
    return found


def _begins(s: Tagged, flat: Sequence[Piece], at: int, pieces: Sequence[Piece]) -> bool:
    """Whether `to`, a participle or an -ing form begins a phrase: not in `from A to B`, `car racing in`."""
    tag, before = tag_of(s, flat[at]), tag_of(s, flat[at - 1])
    if tag not in "TGEL" or before not in "NXUzQ":
        return False
    if tag == "T":
        told = {s.lows[p.start] for p in flat[max(0, at - 9) : at] if p.say is None}
        return bool(pieces) and not told & {"from", "between"}
    following = tag_of(s, flat[at + 1]) if at + 1 < len(flat) else "P"
    return following in ("DXNUKRJ" if tag == "G" else "PTa,")


def _begins_clause(s: Tagged, flat: Sequence[Piece], at: int) -> bool:
    """`after the gate broke`: a preposition that joins a clause."""
    piece = flat[at]
    if piece.say is not None or s.tags[piece.start] != "P" or s.lows[piece.start] not in lex.TWO_WAY | {"as", "than"}:
        return False
    return own_verb(s, piece.start + 1, flat[-1].end) is not None


def _counts(s: Tagged, flat: Sequence[Piece], at: int) -> bool:
    """`over 2,000 runs`, `about 40`: a number, not a phrase."""
    if at + 1 >= len(flat) or flat[at].say is not None or s.lows[flat[at].start] not in _ABOUT:
        return False
    return tag_of(s, flat[at + 1]) == "U" and not re.fullmatch(r"[12]\d{3}", s.words[flat[at + 1].start])
