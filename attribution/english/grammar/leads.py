"""What stands before the subject of a clause: when, where, although, according to, born in."""

from __future__ import annotations

from propcite.attribution.english.grammar import lexicon as lex
from propcite.attribution.english.grammar.phrases import FINITE, NAME, own_verb
from propcite.attribution.english.grammar.tagging import Tagged


def lead_end(s: Tagged, start: int, end: int) -> int | None:
    """Where a phrase before the subject ends: at its comma, or where a pronoun begins the clause."""
    at = start
    while at < end and s.tags[at] == "a":
        at += 1
    if at >= end:
        return None
    tag = s.tags[at]
    if at > start and tag == ",":
        return at
    comma = s.tags.find(",", at, end)
    if tag in "PTU" or (tag == "S" and s.lows[at] in lex.TWO_WAY):
        bare = _bare_lead_end(s, at, end if comma < 0 else comma)
        if bare is not None:
            return bare
    if comma < 0 or tag not in "PSGELTDNXJU" or comma - start > 40:
        return None
    if tag == "G" and set(s.tags[at:comma]) & FINITE and not set(s.tags[at:comma]) & set("WStR"):
        return None  # "spending on roads was cut, and ...": a subject
    if tag in "DNXJU":
        timed = s.lows[comma - 1] in {"later", "earlier", "ago", "before", "after", "year", "day", "time"}
        if (timed or tag == "U") and own_verb(s, at, comma) is None:
            return comma
        after = comma + 1  # "X fell, they rose": two clauses
        return comma if after < end and s.tags[after] == "R" and own_verb(s, after, end) is not None else None
    for _ in range(3):
        further = _next(s, ",", comma + 1, end)
        listed = set(s.tags[comma + 1 : further])
        if "c" in listed and not listed - NAME - {"c"} and own_verb(s, further + 1, end) is not None:
            return further  # "on the coasts of seas, lakes and rivers, people ..."
        if own_verb(s, comma + 1, end) is not None or "c" not in s.tags[comma + 1 : _next(s, ",", comma + 1, end)]:
            return comma
        if further >= end:
            return comma
        comma = further
    return comma


def starts_clause(s: Tagged, start: int, end: int) -> bool:
    """Whether a clause with a subject and verb of its own begins here, maybe with when or where first."""
    while start < end and s.tags[start] in "acu,":
        start += 1
    if own_verb(s, start, end) is not None:
        return True
    stop = lead_end(s, start, end) if start < end and s.tags[start] in "PUTS" else None
    return stop is not None and own_verb(s, stop, end) is not None


def _next(s: Tagged, mark: str, start: int, end: int) -> int:
    found = s.tags.find(mark, start, end)
    return end if found < 0 else found


def _bare_lead_end(s: Tagged, start: int, end: int) -> int | None:
    """`After graduation he ...`, `In 1990 Mark Messier ...`: no comma, but the subject is plain to see."""
    at = start + 1
    while at < end and s.tags[at] in NAME:
        if s.tags[at] == "U" and len(s.lows[at]) == 4 and at + 1 < end:
            named = s.tags[at + 1] in "XDR" or (at == start + 1 and s.tags[at + 1] in "NJU")
            if named and (s.tags[at + 1] in "XDR" or own_verb(s, at + 1, end) is not None):
                return at + 1
        at += 1
    return at if at < end and at > start + 1 and s.tags[at] == "R" else None


def lead_kind(s: Tagged, start: int, stop: int) -> str:
    """How a leading phrase belongs to what follows: apart, always, first or subject; empty if it cannot be told."""
    at = start
    while at < stop and s.tags[at] == "a":
        at += 1
    if at == stop:
        return "first"
    tag, low = s.tags[at], s.lows[at]
    if tag == "S" or (low in lex.TWO_WAY and own_verb(s, at + 1, stop) is not None):
        if low in lex.CONCESSIVE and own_verb(s, at + 1, stop) is not None:
            return "apart"
        return "always" if low in {"if", "unless", "whether", "until", "once"} else "first"
    if low == "according":
        return "always"
    if s.lows[at] in {"yes", "no"} and stop == at + 1:
        return "first"
    if tag in "DNXJU" and own_verb(s, at, stop) is not None:
        return "clause"
    if tag in "EL":
        if s.lows[min(stop + 1, len(s.lows) - 1)] in {"his", "her", "its", "their"}:
            return "first"  # "Born in London, his first post was ...": not the post was born
        return "subject" if at + 1 < stop and s.tags[at + 1] in "PaT" else "first"
    if tag in "DNXJU":
        return "subject" if s.tags[stop + 1 : stop + 2] == "R" and tag == "D" else "first"
    return "first"
