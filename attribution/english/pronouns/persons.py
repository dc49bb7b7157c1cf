"""Who `he` or `she` stands for: the person that a sentence is about, and the others that it may as well be."""

from __future__ import annotations

import re
from collections.abc import Sequence

from propcite.attribution.english.frames.main_clause import MainClause, is_predicate, main_clause
from propcite.attribution.english.grammar import lexicon as lex
from propcite.attribution.english.grammar import people
from propcite.attribution.english.grammar.tagging import Tagged

MOST_HOPS = 8  # sentences that a chain of pronouns is followed back


def person(clause: MainClause, pronoun: str, earlier: Sequence[str]) -> str | None:
    """The person that a clause is about: a name of two words, or one that an earlier sentence gives in full."""
    size = 0
    while size < len(clause.tags) and (clause.tags[size] == "X" or (size and clause.lows[size] in people.PARTICLES)):
        size += 1
    names = clause.noun.split()[:size]
    if size and size < len(clause.tags) and not names[-1].endswith(("'s", "’s")):
        return None
    opposite, lows = (
        (people.SHE | people.WOMEN, clause.s.lows) if pronoun == "he" else (people.HE | people.MEN, clause.s.lows)
    )
    told = set(lows[: clause.end]) | {low for at, low in enumerate(lows) if is_predicate(clause, at)}
    other = people.SHE if pronoun == "he" else people.HE
    if clause.tags[0] == "X" and any(_is_object(clause.s, at) for at in range(clause.end, len(lows))):
        return None  # "Johnson admired him": another man is spoken of
    if (
        not size
        or told & opposite
        or set(lows) & other
        or {low.strip(".") for low in clause.lows[:size]} & people.THINGS
    ):
        return None
    if size < len(clause.tags) and set(clause.lows[size:]) & people.ROLES:
        return None  # "Novak's brother"
    name = re.sub(r"['’]s$", "", " ".join(names))
    if size > 1 and names[0] != "The":
        return name
    return _full_name(name, earlier) or (name if told & people.ROLES and len(name) > 1 else None)


def _is_object(s: Tagged, at: int) -> bool:
    return s.lows[at] == "him" or (
        s.lows[at] == "her" and s.tags[at] == "K" and s.tags[at + 1 : at + 2] not in tuple("NJXU")
    )


def _full_name(name: str, earlier: Sequence[str]) -> str | None:
    """`Lanny Flaherty` for `Flaherty`: the one longer name among the subjects before."""
    found = {
        clause.noun
        for clause in map(main_clause, earlier[-MOST_HOPS:])
        if clause
        and set(clause.tags) == {"X"}
        and len(clause.tags) > 1
        and name in (clause.noun.split()[0], clause.noun.split()[-1])
    }
    return found.pop() if len(found) == 1 else None


def persons(clause: MainClause, pronoun: str) -> set[str]:
    """Other persons of a sentence that `he` or `she` may as well stand for: names and roles of no known other sex."""
    s, found, at = clause.s, set[str](), 0
    other = people.WOMEN if pronoun == "he" else people.MEN
    while at < len(s.tags):
        if s.lows[at] in people.LISTING or s.lows[at : at + 2] == ["such", "as"]:
            break
        end = at
        while end < len(s.tags) and (
            s.tags[end] == "X" or (end > at and s.lows[end] in people.PARTICLES and s.tags[end + 1 : end + 2] == "X")
        ):
            end += 1
        if not clause.start <= at < clause.end:
            if end > at and _is_rival_name(clause, at, end) and s.lows[at - 1] not in other:
                found.add(" ".join(s.words[at:end]))
            elif (
                s.tags[at] in "NJ"
                and s.lows[at] in people.ROLES - other
                and not is_predicate(clause, at)
                and s.tags[at + 1 : at + 2] not in ("X", "N")
            ):
                found.add(s.lows[at])
        at = max(end, at + 1)
    return found


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
    single = end - at == 1
    return not single or (s.tags[at - 1 : at] in tuple("VEBTIN") or before in {"with", "by", "for", "against"})


def tells_of(clause: MainClause, pronoun: str) -> bool:
    """Whether a sentence about something else speaks of the same man or woman: `His work was shown`."""
    return bool(set(clause.s.lows) & (people.HE if pronoun == "he" else people.SHE))


def is_role(clause: MainClause, pronoun: str) -> bool:
    return bool(set(clause.lows) & (people.ROLES - (people.WOMEN if pronoun == "he" else people.MEN)))
