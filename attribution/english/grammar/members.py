"""One predicate into the facts it tells: each member of a list, each time and place, a noun and what is said of it."""

from __future__ import annotations

from propcite.attribution.english.grammar import lexicon as lex
from propcite.attribution.english.grammar import verbs
from propcite.attribution.english.grammar.lists import introduced, listed
from propcite.attribution.english.grammar.phrases import NAME, Fact, Piece, be_with, group_end
from propcite.attribution.english.grammar.tagging import Tagged


def members(s: Tagged, verb: int, end: int) -> list[Fact]:
    """The predicate once for each member of its list, or for each time and place; itself where there is neither."""
    after = group_end(s, verb, end)
    return _told(s, verb, after, end)


def members_after(s: Tagged, after: int, end: int) -> list[Fact]:
    """As `members`, of the words behind a verb that another form stands for."""
    return _told(s, after, after, end) if end > after else [()]


def _told(s: Tagged, verb: int, after: int, end: int) -> list[Fact]:
    found = introduced(s, verb, after, end) or listed(s, verb, after, end) or _placed(s, verb, after, end)
    return found or [(Piece(verb, end),)]


def described(s: Tagged, verb: int, end: int) -> tuple[int, Piece] | None:
    """Where a noun after `is` is told more of without a comma, and the `is` or `was` that a participle needs."""
    if s.tags[verb] != "B":
        return None
    at = verb + 1
    while at < end and s.tags[at] in "an":
        at += 1
    if at >= end or s.tags[at] not in "DUNJX" or "n" in s.tags[verb:at] or s.lows[at] == "one":
        return None
    single = s.lows[at] in {"a", "an"}
    noun = False
    while at < end and s.tags[at] in "DJNXUpzQOkPcaG,EL":
        tag = s.tags[at]
        if tag == "," and s.tags[at + 1 : at + 2] == "P":
            return None
        if s.lows[at] in lex.ONLY or (s.lows[at].endswith("est") and s.lows[at] not in lex.NOT_SUPERLATIVE):
            return None  # "the first X built in Y" does not say that it is the first X
        if s.lows[at] == "than":
            return None  # "more than Council approved": what follows belongs to the comparison
        if (
            tag in "EL"
            and noun
            and at + 1 < end
            and s.tags[at + 1] in "PaT"
            and s.lows[at] not in {"compared", "combined"}
        ):
            start = at
            while s.tags[start - 1] == "a":
                start -= 1
            if s.tags[start - 1] in "NXzQ":
                said = be_with(s.lows[verb], s.lows[at:end])
                return start, Piece(verb, verb + 1, None if said == s.lows[verb] else said)
        noun = noun or tag in "NX"
        at += 1
    relative = at + 1 < end and s.tags[at] == "W" and s.lows[at] in {"that", "who", "which"}
    if single and relative and s.tags[at - 1] in "NXz" and s.tags[at + 1] in "BHMVEa":
        return at, Piece(verb, verb + 1)
    return None


def _placed(s: Tagged, verb: int, after: int, end: int) -> list[Fact]:
    """`was born on DATE in PLACE`: an event with a time and something else is told once with each."""
    passive = s.tags[verb] in "BHEL" and s.tags[after - 1] in "EL" and after - 1 > verb
    if not passive and s.lows[after - 1] not in verbs.EVENTS and s.lows[max(verb, after - 2)] not in verbs.EVENTS:
        return []
    phrases = _phrases(s, after, end)
    if phrases is None:
        return []
    object_end, found = phrases
    if "%" in s.words[object_end:end] or any(s.lows[a] == "by" and s.tags[a + 1] == "U" for a, _ in found):
        return []  # "grew by 2% in 2019": the measure and its time belong together
    times = [_is_time(s, start, stop) for start, stop in found]
    joined: list[tuple[int, int, bool]] = []
    for (start, stop), time in zip(found, times, strict=True):
        loose = s.tags[start - 1] == ","
        holds = bool(joined) and not loose and not joined[-1][2]  # a place in a place, "after the war in 1945"
        if holds and (not time or s.lows[joined[-1][0]] in lex.TWO_WAY | {"following", "during"}):
            joined[-1] = (joined[-1][0], stop, False)
        else:
            joined.append((start, stop, time))
    if len(joined) < 2 or not any(times) or (all(times) and "age" not in s.lows[after:end]):
        return []
    return [(Piece(verb, object_end), Piece(start, stop)) for start, stop, _ in joined]


def _phrases(s: Tagged, after: int, end: int) -> tuple[int, list[tuple[int, int]]] | None:
    """The phrases with a preposition that end the predicate, and where its object ends before them."""
    at = after
    while at < end and (s.tags[at] in NAME or s.tags[at] in "Ka"):
        at += 1
    while at < end and s.lows[at] in {"as", "to", "into", "with", "of", "for"} and s.tags[at] in "PT":
        at += 1
        while at < end and s.tags[at] in NAME:
            at += 1
    object_end = at
    found: list[tuple[int, int]] = []
    while at < end:
        while at < end and s.tags[at] == ",":
            at += 1
        start = at
        if at >= end or s.tags[at] not in "P" or not (s.lows[at] in lex.PLACING or s.lows[at] == "by"):
            return None
        at += 1
        while at < end and (s.tags[at] in NAME or (s.tags[at] in "T" and s.lows[start] == "from")):
            at += 1
        if at == start + 1:
            return None
        found.append((start, at))
    return object_end, found


def _is_time(s: Tagged, start: int, stop: int) -> bool:
    """`on July 4, 1990`, `in the late 1960s`, `at the age of 50`: nothing else stands in the phrase."""
    told = False
    for at in range(start + 1, stop):
        low, tag = s.lows[at], s.tags[at]
        if low in lex.MONTHS or low in lex.TIME_NOUNS or (tag == "U" and low[:4].isdigit() and len(low) in (4, 5, 9)):
            told = True
        elif tag not in "DUOJkT" and low not in {"mid", "christmas", "eve"}:
            return False
    return told
