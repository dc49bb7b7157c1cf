"""Find who `he` or `she` refers to: the person a sentence is about, and other persons in it."""

from __future__ import annotations

import re
from collections.abc import Sequence

from propcite.attribution.english.frames.main_clause import MainClause, is_predicate, main_clause
from propcite.attribution.english.grammar import lexicon as lex
from propcite.attribution.english.grammar import people
from propcite.attribution.english.grammar.tagging import Tagged

MAX_HOPS = 8  # sentences that a chain of pronouns is followed back


def subject_person(clause: MainClause, pronoun: str, earlier: Sequence[str]) -> str | None:
    """Return the full name of the person that a clause is about, completed from earlier sentences; None if unclear."""
    size = 0
    while size < len(clause.tags) and (clause.tags[size] == "X" or (size and clause.lows[size] in people.PARTICLES)):
        size += 1
    names = clause.noun.split()[:size]
    if size and size < len(clause.tags) and not names[-1].endswith(("'s", "’s")):
        return None
    lows = clause.s.lows
    description = set(lows[: clause.end]) | {low for at, low in enumerate(lows) if is_predicate(clause, at)}
    opposite = people.SHE | people.WOMEN if pronoun == "he" else people.HE | people.MEN
    opposite_pronouns = people.SHE if pronoun == "he" else people.HE
    if clause.tags[0] == "X" and any(_is_object(clause.s, at) for at in range(clause.end, len(lows))):
        return None  # "Johnson admired him": of another man
    is_thing = {low.strip(".") for low in clause.lows[:size]} & people.THINGS
    if not size or description & opposite or set(lows) & opposite_pronouns or is_thing:
        return None
    if size < len(clause.tags) and set(clause.lows[size:]) & people.ROLES:
        return None  # "Novak's brother"
    name = re.sub(r"['’]s$", "", " ".join(names))
    if size > 1 and names[0] != "The":
        return name
    return _full_name(name, earlier) or (name if description & people.ROLES and len(name) > 1 else None)


def _is_object(s: Tagged, at: int) -> bool:
    return s.lows[at] == "him" or (
        s.lows[at] == "her" and s.tags[at] == "K" and s.tags[at + 1 : at + 2] not in tuple("NJXU")
    )


def _full_name(name: str, earlier: Sequence[str]) -> str | None:
    """Return the only longer name among earlier subjects (`Lanny Flaherty` for `Flaherty`); None if not unique."""
    clauses = [clause for clause in map(main_clause, earlier[-MAX_HOPS:]) if clause]
    full = {c.noun for c in clauses if set(c.tags) == {"X"} and len(c.tags) > 1}
    matches = {noun for noun in full if name in (noun.split()[0], noun.split()[-1])}
    return matches.pop() if len(matches) == 1 else None


def other_persons(clause: MainClause, pronoun: str) -> set[str]:
    """Return other persons that `he` or `she` may refer to: names and roles that are not of the other sex."""
    s, persons, at = clause.s, set[str](), 0
    opposite = people.WOMEN if pronoun == "he" else people.MEN
    while at < len(s.tags):
        if s.lows[at] in people.LISTING or s.lows[at : at + 2] == ["such", "as"]:
            break
        end = at
        while end < len(s.tags) and (
            s.tags[end] == "X" or (end > at and s.lows[end] in people.PARTICLES and s.tags[end + 1 : end + 2] == "X")
        ):
            end += 1
        if not clause.start <= at < clause.end:
            if end > at and _is_rival_name(clause, at, end) and s.lows[at - 1] not in opposite:
                persons.add(" ".join(s.words[at:end]))
            elif _is_rival_role(clause, at, opposite):
                persons.add(s.lows[at])
        at = max(end, at + 1)
    return persons


def _is_rival_role(clause: MainClause, at: int, opposite: frozenset[str]) -> bool:
    s = clause.s
    is_role = s.tags[at] in "NJ" and s.lows[at] in people.ROLES - opposite
    return is_role and not is_predicate(clause, at) and s.tags[at + 1 : at + 2] not in ("X", "N")


def _is_rival_name(clause: MainClause, at: int, end: int) -> bool:
    s = clause.s
    if set(s.lows[at:end]) & (people.THINGS | lex.MONTHS) or s.lows[at] in {"the", "a"} or s.tags[end : end + 1] == "N":
        return False
    first = at
    while first > 0 and s.tags[first - 1] in "X,kc":
        first -= 1
    before = s.lows[first - 1] if first else ""
    if before in people.PLACED | people.ALIAS | {"the"} or (before == "to" and s.lows[first - 2] in people.MOVING):
        return False
    is_single = end - at == 1
    return not is_single or (s.tags[at - 1 : at] in tuple("VEBTIN") or before in {"with", "by", "for", "against"})


def mentions(clause: MainClause, pronoun: str) -> bool:
    """Return whether a sentence about something else mentions the same man or woman: `His work was shown`."""
    return bool(set(clause.s.lows) & (people.HE if pronoun == "he" else people.SHE))


def is_role(clause: MainClause, pronoun: str) -> bool:
    return bool(set(clause.lows) & (people.ROLES - (people.WOMEN if pronoun == "he" else people.MEN)))
