"""Lists in a predicate: `an actor and director`, `in A, B and C`, `several awards, including A and B`."""

from __future__ import annotations

from typing import NamedTuple

from propcite.attribution.english.grammar import lexicon as lex
from propcite.attribution.english.grammar.phrases import FINITE, NAME, Fact, Piece
from propcite.attribution.english.grammar.tagging import Tagged

LONGEST = 14  # words of one member of a list; what is longer is hardly one


class Members(NamedTuple):
    """The members of a list by their starts and stops; the last one is followed by its own words to the end."""

    starts: list[int]
    stops: list[int]


def introduced(s: Tagged, verb: int, after: int, end: int) -> list[Fact]:
    """`several awards, including A and B`: what is said without them, then with each."""
    for at in range(after + 1, end - 1):
        if s.lows[at] != "including" and s.lows[at : at + 2] != ["such", "as"]:
            continue
        begin = at + 1 + (s.lows[at] == "such")
        if (
            begin >= end
            or s.tags[begin] not in "DJNXUQ"
            or "n" in s.tags[verb:at]
            or "t" in s.tags[after:at]
            or "S" in s.tags[after:at]
        ):
            return []
        items = _items(s, begin, end)
        out: list[Fact] = [(Piece(verb, at - 1),)] if s.tags[at - 1] == "," and at - 1 > after else []
        out += [(Piece(verb, begin), Piece(start, stop)) for start, stop in items]
        return out if len(out) > 1 else []
    return []


def _items(s: Tagged, begin: int, end: int) -> list[tuple[int, int]]:
    """The members between `begin` and `end` that all begin alike; one member if they do not."""
    whole = [(begin, end)]
    kind = _kind(s, begin)
    items: list[tuple[int, int]] = []
    start = at = begin
    ended = False
    while at < end:
        if s.tags[at] in "oWSt;:" or s.tags[at] in FINITE:
            return whole
        if s.tags[at] not in ",c":
            at += 1
            continue
        stop = at
        joined = ""
        while at < end and s.tags[at] in ",c":
            joined += s.tags[at]
            at += 1
        if at >= end or ended or _kind(s, at) != kind:
            if kind == "D" and at < end:
                continue
            return whole
        ended = "c" in joined
        items.append((start, stop))
        start = at
    return [*items, (start, end)] if ended else whole


def _kind(s: Tagged, at: int) -> str:
    if s.lows[at] == "the" and s.tags[at + 1 : at + 2] == "X":
        return "X"
    return "X" if s.tags[at] in "XQz" else "N" if s.tags[at] in "NJ" else s.tags[at]


def listed(s: Tagged, verb: int, after: int, end: int) -> list[Fact]:
    if set(s.tags[verb:end]) & {"o", ";"}:
        return []
    at = s.tags.find("c", after + 1, end)
    while at >= 0:
        found = _listed_at(s, verb, after, at, end) or _repeated(s, verb, after, at, end)
        if found:
            return found
        while at < end and s.tags[at] == "c":
            at += 1
        at = s.tags.find("c", at, end)
    return []


def _repeated(s: Tagged, verb: int, after: int, at: int, end: int) -> list[Fact]:
    """`as a clerk for A and later as an adviser to B`: the preposition begins the member again."""
    last = at
    while last < end and s.tags[last] in "ca":
        last += 1
    if last >= end or s.tags[last] != "P" or s.lows[last] not in lex.REPEATED or set(s.tags[verb:at]) & set("nStW"):
        return []
    first = at - 1
    while first >= after and (s.tags[first] != "P" or s.lows[first] != s.lows[last]):
        first -= 1
    if first < after or "," in s.tags[first : at - 1] or set(s.tags[last:end]) & (FINITE | {","}):
        return []
    while first > after and s.tags[last - 1] == "a" and (s.tags[first - 1] in "a," or s.lows[first - 1] == "first"):
        first -= 1
    start = at
    while s.tags[start] == "c":
        start += 1
    stop = at - 1 if s.tags[at - 1] == "," else at
    return [(Piece(verb, stop),), (Piece(verb, first), Piece(start, end))]


def _listed_at(s: Tagged, verb: int, after: int, at: int, end: int) -> list[Fact]:
    if "n" in s.tags[verb:at]:
        return []
    last = at
    while last < end and s.tags[last] == "c":
        last += 1
    if last >= end or s.tags[last] not in NAME:
        return []
    tail = last
    while tail < end and s.tags[tail] in NAME:
        tail += 1
    found = _own_things(s, verb, after, at, last) or _bounds(s, after, at, last, "O" in s.tags[last:tail])
    if found is None:
        return []
    starts, stops = [*found.starts, last], [*found.stops, tail]
    if not _distributes(s, verb, after, starts[0]) or not _alike(s, verb, after, starts, stops, end):
        return []
    shared = _shared(s, starts, stops)
    right = _right_of(s, starts, stops, end)
    out: list[Fact] = []
    for number, (start, stop) in enumerate(zip(starts, stops, strict=True)):
        pieces = [Piece(verb, starts[0] if number else stop)]
        if number:
            if shared > starts[0] and s.tags[start] not in "DU":
                pieces = [Piece(verb, shared)]
            pieces.append(Piece(start, end if start == last else stop))
        if right is not None and start != last:
            pieces.append(right)
        out.append(tuple(pieces))
    return out


def _bounds(s: Tagged, floor: int, at: int, last: int, crosses_of: bool) -> Members | None:
    """The members before `and`, read backwards from it."""
    starts: list[int] = []
    stops: list[int] = []
    stop = at - 1 if s.tags[at - 1] == "," else at
    while True:
        back = stop
        while back > floor and (s.tags[back - 1] in NAME or (s.tags[back - 1] == "a" and s.tags[back] == "J")):
            if s.tags[back - 1] == "O" and not crosses_of:
                break
            back -= 1
            if s.tags[back] == "D" and s.lows[back] == s.lows[last]:
                break  # "the creation of the A and the B": like begins like
        if back == stop:
            return None
        starts.insert(0, back)
        stops.insert(0, stop)
        if back <= floor or s.tags[back - 1] != ",":
            return Members(starts, stops)
        stop = back - 1


def _own_things(s: Tagged, verb: int, after: int, at: int, last: int) -> Members | None:
    """`known for his stand on A and his faith in B`, `has a degree in A and a job in B`."""
    low = s.lows[last]
    first = after
    if s.lows[after : after + 2] == s.lows[last : last + 2] and not set(s.tags[after:at]) - NAME - set("PGT"):
        return Members([after], [at])  # "the Nobel Prize in A and the Nobel Prize in B"
    if low in {"his", "her", "its", "their"} and s.lows[after : after + 1] == ["for"]:
        first = after + 1
    elif low not in {"a", "an"} or s.tags[verb] != "H" or after != verb + 1:
        return None
    if s.lows[first] not in ({"a", "an"} if low in {"a", "an"} else {low}) or set(s.tags[first:at]) - NAME - set("PGT"):
        return None
    return Members([first], [at])


def _distributes(s: Tagged, verb: int, after: int, first: int) -> bool:
    """Whether what is said before the list is said of each member by itself."""
    if any(s.lows[i] in lex.TOGETHER for i in range(max(verb, first - 7), first + 1)):
        return False
    if "only" in s.lows[verb:first] or any(s.tags[i] in "StW:-" for i in range(after, first)):
        return False
    if first - 2 > verb and s.tags[first - 2] == "X" and s.lows[first - 1] in {"of", "for"}:
        return False  # "Minister of Trade and Industry" is one name
    # A comma before may part an outer list with longer members: then whose part this is cannot be told.
    return all(s.tags[comma + 1] == "P" for comma in range(after, first) if s.tags[comma] == ",")


def _alike(s: Tagged, verb: int, after_verb: int, starts: list[int], stops: list[int], end: int) -> bool:
    """Whether the members are of one kind, so that each of them ends a claim as well as the last."""
    if any(stop - start > LONGEST for start, stop in zip(starts, stops, strict=True)):
        return False
    if any(s.tags[stop - 1] not in "NXzQU" for stop in stops):
        return False
    if stops[-1] < end and s.tags[stops[-1]] in "GKTR":
        return False
    if s.tags[stops[-1] : stops[-1] + 1] == "P" and s.lows[stops[-1]] == s.lows[starts[0] - 1]:
        return False  # "voiced by A and B by C"
    if s.tags[starts[0] - 1] == "G" and s.tags[starts[0]] in "NJ":
        return False  # "baking powder, yogurt and honey"
    if s.lows[starts[-1] : starts[-1] + 2] == ["a", "half"]:
        return False
    if s.tags[starts[0] - 1] == "P" and any(is_superlative(s.lows[at]) for at in range(starts[-1], stops[-1])):
        return False  # "the deepest in A and the largest in B"
    after = s.tags[starts[-1] : end]
    if any(tag in FINITE for tag in after) and not set(after) & set("WS"):
        return False  # a clause of its own follows
    heads = [s.tags[start] for start in starts]
    of = "O" in s.tags[starts[-1] : stops[-1]]
    if len(starts) == 2 and s.tags[starts[0] : starts[0] + 2] == "XO" and s.lows[starts[0]] != s.lows[starts[1]]:
        return False  # "Minister of Economy and Production of Argentina"
    if _shares_head(s, starts, stops) or "NJ" in s.tags[starts[0] : stops[0]]:
        return False
    named = [s.tags[stop - 1] in "XQz" for stop in stops]
    copular = s.tags[verb] == "B" and s.tags[after_verb - 1] in "Ban"
    if heads[-1] == "D" and s.lows[starts[-1]] in {"a", "an", "his", "her", "its", "their", "several", "many", "other"}:
        return heads[0] in "DU"
    if all(named):
        if copular and heads[0] == "D" and heads[1] in "NJ" and of:
            return True
        if s.words[starts[0]] == "The" and s.words[starts[1]] != "The":
            return False  # "The Globe and Mail"
        if len(starts) > 2 or any(tag == "Q" for tag in heads):
            return True
        if heads == ["X", "D"] or (heads[0] == "N" and s.lows[starts[0]].endswith("s")):
            return False  # "Beauty and the Beast", "physicists Murray Gell-Mann and George Zweig"
        left, right = (stop - start for start, stop in zip(starts, stops, strict=True))
        if left == 1 < right and s.lows[stops[1] - 1].endswith("s"):
            return False  # "Sooty and Great Shearwaters"
        if heads[0] == "D" and heads[1] != "D":
            return False  # "the Rock and Roll Hall of Fame"
        return max(left, right) > 1  # "Pride and Prejudice" may be a title
    if any(named) and (s.tags[starts[0] - 1] in "PO" or not (heads[0] == heads[-1] == "D" or of)):
        return False
    if copular and heads[0] in "DJNX":
        return True
    if heads[0] == "D" or len(starts) > 2:
        return len(starts) > 2 or stops[1] - starts[1] <= stops[0] - starts[0] or heads[1] == "D"
    return all(s.lows[stop - 1].endswith("s") for stop in stops)


def is_superlative(low: str) -> bool:
    return low.endswith("est") and len(low) > 4 and low not in lex.NOT_SUPERLATIVE


def _shares_head(s: Tagged, starts: list[int], stops: list[int]) -> bool:
    """`the railway, metro and tram industries`: the last noun belongs to all members."""
    last = s.tags[starts[-1] : stops[-1]]
    if last != "NN" or not s.lows[stops[-1] - 1].endswith("s"):
        return False
    return all(s.tags[stop - 1] == "N" and not s.lows[stop - 1].endswith("s") for stop in stops[:-1])


def _shared(s: Tagged, starts: list[int], stops: list[int]) -> int:
    """Where the determiner that all members share ends, with a nationality: `an American` of `an American actor`."""
    at = starts[0]
    if s.tags[at] != "D" or s.lows[at] not in {"a", "an", "the", "his", "her", "its", "their", "this"}:
        return at
    if any(s.tags[start] == "D" or (s.tags[start] in "XQ" and s.lows[at] not in {"a", "an"}) for start in starts[1:]):
        return at
    at += 1
    while at < stops[0] - 1 and (s.lows[at].endswith(lex.DEMONYM_ENDINGS) and s.tags[at] in "XJ"):
        at += 1
    return at


def _right_of(s: Tagged, starts: list[int], stops: list[int], end: int) -> Piece | None:
    """`of X` in `the capital and largest city of X`, which the members before it share."""
    first = s.tags[starts[0] : stops[0]]
    of = s.tags.find("O", starts[-1], stops[-1])
    if (
        of < 0
        or "O" in first
        or s.lows[starts[0]] not in {"the", "its", "his", "her", "their"}
        or set(first) & set("XQ")
    ):
        return None
    return Piece(of, end)
