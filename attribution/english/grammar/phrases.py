"""Phrases of a tagged sentence: pieces, noun phrases, groups of verbs, lists."""

from __future__ import annotations

from typing import NamedTuple

from propcite.attribution.english.grammar import verbs
from propcite.attribution.english.grammar.tagging import Tagged

NAME = frozenset("DJNXUpzQOk")  # what a noun phrase is made of
FINITE = frozenset("BHMVY")
GROUP = frozenset("anbHELGIBM")  # what continues a group of verbs


class Piece(NamedTuple):
    """Words `start` to `end` of the sentence; `say` stands in their place, or is put in where there are none."""

    start: int
    end: int
    say: str | None = None


Fact = tuple[Piece, ...]


def words(start: int, end: int) -> Fact:
    """The words from `start` to `end` as pieces: none where there are no words."""
    return (Piece(start, end),) if end > start else ()


def own_verb(s: Tagged, start: int, end: int) -> int | None:
    """Where the verb of a clause stands that begins here with its subject; None if it is no such clause."""
    while start < end and s.tags[start] in "acu,":
        start += 1
    stop = min(end, start + 40)
    at = start
    told_more = False
    while at < stop:
        tag = s.tags[at]
        if tag in FINITE or (tag == "E" and is_past(s, start, at, end)):
            return at if at > start and (s.tags[start] in "DRNXUJQtKz" or "R" in s.tags[start:at]) else None
        if tag == "," and at > start:
            closed = aside_end(s, at, end)
            if closed is not None and closed - at <= 12:
                at = closed
            elif "c" not in s.tags[at : at + 12]:
                return None
        elif tag == "c":
            after = at + 1
            while after < stop and s.tags[after] == "a":
                after += 1
            if after >= stop or s.tags[after] not in "DJNXUQP" or at == start:
                return None
        elif tells_of_noun(s, at) and at > start and not told_more:
            told_more = True
            while at < stop and s.tags[at] not in FINITE and s.tags[at] not in "E,;":
                at += 1
            at = group_end(s, at, end) - 1 if at < stop and s.tags[at] not in ",;" else stop
        elif tag == "R" and at > start and s.tags[start] not in "PUaST":
            return None  # "the money it earns": a relative clause without its pronoun
        elif tag not in NAME and tag not in "PRTaEGK" and not (tag == "t" and at == start):
            return None
        at += 1
    return None


def tells_of_noun(s: Tagged, at: int) -> bool:
    """`households that receive ...`, `a plan which Council adopted`: told of the noun before it, without a comma."""
    if s.tags[at - 1] not in "NXz":
        return False
    return s.tags[at] == "W" or (s.tags[at] == "t" and s.tags[at + 1 : at + 2] in ("X", "D", "R", "N", "U"))


def is_past(s: Tagged, start: int, at: int, end: int) -> bool:
    """Whether a form that may be past or participle is the verb of the clause that begins at `start`."""
    before = at - 1
    while before >= start and s.tags[before] == "a":
        before -= 1
    if before < start:
        return False
    left = s.tags[before]
    if left in "RW":
        return True
    if left not in "NXUzpQK,k" or (at + 1 < end and s.lows[at + 1] == "by"):
        return False
    return not verb_ahead(s, at + 1, end)


def verb_ahead(s: Tagged, start: int, end: int) -> bool:
    """Whether a sure verb follows before anything else could begin: then a participle stood before it."""
    for at in range(start, end):
        tag = s.tags[at]
        if tag in FINITE:
            return True
        if tag in ",;:cuoSWtRT-":
            return False
    return False


def group_end(s: Tagged, verb: int, end: int) -> int:
    """Where the group of verbs that begins at `verb` ends: `was later elected`, `has not been seen`."""
    last = at = verb + 1
    while at < end and s.tags[at] in GROUP:
        if s.tags[at] == "E" and s.tags[verb] == "B" and at + 1 < end and s.tags[at + 1] in "NX":
            break  # "was estranged husband", "is used furniture": an adjective
        at += 1
        if s.tags[at - 1] != "a":
            last = at
    return last


def aside_end(s: Tagged, comma: int, end: int) -> int | None:
    """The mark that closes an aside after the subject: the verb goes on behind it."""
    first = comma + 1
    while first < end and s.tags[first] == "a":
        first += 1
    if first >= end or s.tags[first] not in "WGELDJNXPUQ":
        return None
    at = comma + 1
    while at < end:
        if s.tags[at] == s.tags[comma]:
            after = at + 1
            while after < end and s.tags[after] == "a":
                after += 1
            if after < end and (s.tags[after] in FINITE or s.tags[after] == "E"):
                aside = s.tags[comma + 1 : at]
                if s.tags[first] != "W" and (set(aside) & FINITE or aside.startswith("c") or ",c" in aside):
                    return None
                return at
        if s.tags[at] in ";:":
            return None
        at += 1
    return None


def noun_before(s: Tagged, end: int, floor: int, near: bool = False) -> Piece | None:
    """The noun phrase that ends here: what a relative clause or an apposition speaks of.

    With `near` it is the name at the end of `the ownership of Bomis`, otherwise all of it.
    """
    at = end
    if near:
        while at > floor + 1 and s.tags[at - 1] in "XkzQ":
            at -= 1
        if at < end and at > floor + 1 and s.tags[at - 1] == "D":
            at -= 1
    if at == end:
        while at > floor + 1 and s.tags[at - 1] in NAME and not (near and s.tags[at - 1] == "O"):
            at -= 1
            if s.tags[at] == "D" and not (at - 1 > floor and s.tags[at - 1] == "O"):
                break
            if s.tags[at] == "J" and s.tags[at - 2 : at] == "Da":
                at -= 2  # "a rather large level"
                break
    while at < end and s.tags[at] in "Okz":
        at += 1
    if at >= end or not any(s.tags[i] in "NXQU" for i in range(at, end)):
        return None
    return Piece(at, end)


def is_many(s: Tagged, noun: Piece) -> bool:
    """Whether a noun phrase names several: `these partners`, `efforts of the state`, `they`."""
    if s.lows[noun.start] in {"these", "those", "they", "we", "many", "several", "both", "some", "most"}:
        return True
    head = noun.start
    while head < noun.end and s.tags[head] not in "OPTWzEG,":
        head += 1
    last = s.lows[head - 1] if head > noun.start else ""
    if last in {"people", "children", "men", "women", "police", "others"}:
        return True
    return s.tags[head - 1] == "N" and last.endswith("s") and not last.endswith(("ss", "us", "is"))


def be_like(s: Tagged, verb: int, noun: Piece) -> str:
    """`is`, `are`, `was` or `were`: the tense of the main verb, the number of the noun."""
    tag, low = s.tags[verb], s.lows[verb]
    past = tag == "E" or low in verbs.PAST_ONLY or low in {"had", "did", "was", "were"}
    return ("were" if past else "are") if is_many(s, noun) else "was" if past else "is"


def be_with(be: str, told: list[str]) -> str:
    """`is a band formed in Rome` says that it was formed, but `is a firm based in Rome` that it is based there.

    >>> be_with("is", ["formed", "in", "rome"]), be_with("is", ["based", "in", "rome"]), be_with("is", ["led", "by"])
    ('was', 'is', 'was')
    """
    past = told[0] in verbs.DONE or "by" in told[1:3] or any(word[:4].isdigit() and len(word) == 4 for word in told)
    return {"is": "was", "are": "were"}.get(be, be) if past and told[0] not in verbs.STATES else be


def is_comparing(s: Tagged, at: int) -> bool:
    """`, based on A`, `, compared to B`: said of all that stands before, not of a noun."""
    return s.lows[at] in {"compared", "combined", "based", "depending"} and s.lows[at + 1] in {"on", "to", "with"}


def list_commas(s: Tagged, start: int, end: int) -> set[int]:
    """Commas that part the members of a list ending in `and`, and those of a list after `including`."""
    found: set[int] = set()
    for at in range(start, end):
        if s.tags[at] not in "co" or s.tags[at - 1] in "co":
            continue
        back = at - 1
        if s.tags[back] == ",":
            found.add(back)
            back -= 1
        while back > start:
            stop = back
            while back > start and (s.tags[back] in NAME or s.tags[back] in "PGET"):
                back -= 1
            if s.tags[back] != "," or back == stop or s.tags[back + 1] in "GE":
                break
            if at - 1 not in found and s.lows[back + 1] in {"a", "an"} and s.tags[back - 1] in "XzQ":
                break  # "Bob, a singer and actor": told of Bob
            found.add(back)
            back -= 1
    return found
