"""Where a sentence falls into clauses that each stand by themselves, and what stands before all of them."""

from __future__ import annotations

from propcite.attribution.english.grammar import lexicon as lex
from propcite.attribution.english.grammar import verbs
from propcite.attribution.english.grammar.leads import lead_end, starts_clause
from propcite.attribution.english.grammar.phrases import FINITE, NAME, Fact, Piece, own_verb
from propcite.attribution.english.grammar.tagging import Tagged

LONGEST_LABEL = 6
_FRONTED = frozenset({"in", "by", "on", "at", "during", "from", "between", "until", "within", "around"})


def opening(s: Tagged, end: int) -> tuple[int, Fact]:
    """Where the first clause begins, and a label that all of them need: `Yes:` belongs to none, `Cost:` to each."""
    if end > 2 and s.lows[0] in lex.ANSWERS and s.tags[1] in ":,-.;":
        return 2, ()
    colon = s.tags.find(":", 0, LONGEST_LABEL + 1)
    if colon < 1 or set(s.tags[:colon]) & (FINITE | set("ESWtRz,")) or not starts_clause(s, colon + 1, end):
        return 0, ()
    return colon + 1, (Piece(0, colon + 1),)


def independent(s: Tagged, start: int, end: int) -> list[tuple[int, int]]:
    """Parts between semicolons, dashes or colons that each have a subject and a verb of their own."""
    parts = []
    at = start
    for cut in range(start, end):
        if s.tags[cut] in ";-:" and _parts(s, at, cut, end):
            parts.append((at, cut))
            at = cut + 1
    return [*parts, (at, end)]


def _parts(s: Tagged, start: int, cut: int, end: int) -> bool:
    left = own_verb(s, start, cut) if s.tags[cut] == ":" else None
    if left is not None and s.lows[left] in verbs.REPORTING:
        return False  # "he said: the mill was old"
    if s.tags[cut] == ":" and "o" in s.tags[cut:end]:
        return False
    if s.tags[cut] != ";" and ("S" in s.tags[start:cut] or s.tags[cut + 1 : cut + 2] in ("c", "u", "o", "G", "W")):
        return False
    return starts_clause(s, start, cut) and starts_clause(s, cut + 1, end)


def joint(s: Tagged, start: int, end: int) -> tuple[int, int] | None:
    """The first `, and` or `, but` with a verb before it and a clause behind it: (end of one, start of the other)."""
    for at in range(start + 2, end - 2):
        if s.tags[at] in "cu" and s.tags[at - 1] == ",":
            left = s.tags[start : at - 1]
            comma = s.tags.rfind(",", start, at - 1)
            if (
                set(left) & set("tSW:")
                or not set(left) & set("BHM")
                or (comma > 0 and names_only(s, comma + 1, at - 1))
            ):
                continue
            if own_verb(s, at + 1, end) is not None:
                return at - 1, at + 1
    return None


def names_only(s: Tagged, start: int, end: int) -> bool:
    return not set(s.tags[start:end]) - NAME


def belongs_to_both(s: Tagged, first: Fact, stop: int, start: int, end: int) -> bool:
    """Whether `In 2023,` before one clause goes with the next as well: that one has no time of its own."""
    if s.tags[start : start + 1] in ("P", "S", "a") or s.tags[first[0].start] != "P":
        return False
    if s.lows[first[0].start] not in _FRONTED or not has_time(s, first[0].start, first[-1].end):
        return False
    return not has_time(s, start, end) and (stop == start - 1 or lead_end(s, start, end) is None)


def has_time(s: Tagged, start: int, end: int) -> bool:
    """Whether a year, a month or a word like `week` stands between."""
    return any(
        s.lows[at] in lex.MONTHS or s.lows[at] in lex.TIME_NOUNS or (len(s.lows[at]) == 4 and s.lows[at].isdigit())
        for at in range(start, end)
    )
