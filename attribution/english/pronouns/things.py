"""Find what `it` or `they` refers to: the thing a sentence is about, and other things in it."""

from __future__ import annotations

import re
from collections.abc import Sequence

from propcite.attribution.english.frames.main_clause import MainClause, is_many_of, is_predicate, main_clause
from propcite.attribution.english.grammar import lexicon as lex
from propcite.attribution.english.grammar import people
from propcite.attribution.english.grammar.antecedents import PLURAL_FORMS
from propcite.attribution.english.grammar.tagging import Tagged

MAX_NAME_WORDS = 8  # of an antecedent; a longer one is a description


def subject_thing(clause: MainClause, is_plural: bool) -> str | None:
    """Return the subject if `it` (or `they`) can refer to it; None for persons, another number or several things."""
    if _is_description(clause, is_plural) or _is_mixed(clause) or _number(clause) != is_plural:
        return None
    is_common = set(clause.lows) & people.THINGS or clause.tags[0] == "D" or clause.tags[-1] == "N"
    if not is_plural and (set(clause.lows) & people.ROLES or not (is_common or _is_called_thing(clause))):
        return None
    noun = re.sub("^(?:A|An|a|an) ", "The ", clause.noun)
    return noun[0].upper() + noun[1:]


def _is_description(clause: MainClause, is_plural: bool) -> bool:
    """Return whether a subject is too long to repeat or contains a second noun: `the roof of the hall`, `its roof`."""
    lows, tags = clause.lows, clause.tags
    repeats = len(set(lows)) < len(lows) and tags[0] != "Q"
    if repeats or len(lows) > MAX_NAME_WORDS or set(tags) & set("RPp") or tags[-1] not in "NXUQ":
        return True
    if (tags[0] == "D" and lows[0] not in {"the", "a", "an"}) or "[" in clause.noun:
        return True
    after_of = set(tags[tags.index("O") + 1 :]) if "O" in tags else set()
    is_possessive = tags[0] != "Q" and any(low.endswith(("'s", "’s")) for low in lows)
    return not is_plural and ("c" in tags or is_possessive or not after_of <= set("XU"))


def _is_mixed(clause: MainClause) -> bool:
    """Return whether the sentence goes on with another thing: `recent work suggests that it`, `A: b`, `A fell; b`."""
    tags = clause.s.tags
    return bool({":", ";"} & set(tags)) or "R" in tags[clause.end :] or tags[clause.verb + 1 : clause.verb + 2] == "t"


def _number(clause: MainClause) -> bool | None:
    """Return whether a subject is plural; None if its verb disagrees."""
    verb, tags = clause.s.lows[clause.verb], clause.tags
    is_plural = is_many_of(clause.s, clause.start, clause.end) or ("c" in tags and not set(tags) & set("OP"))
    is_plural = is_plural or (verb in PLURAL_FORMS and clause.lows[-1].endswith("s"))
    return None if verb in (people.SINGLE if is_plural else PLURAL_FORMS) else is_plural


def _is_called_thing(clause: MainClause) -> bool:
    """Return whether a name is said to be something other than a person: `Elbrus is a mountain`."""
    s, at = clause.s, clause.verb + 1
    end = at
    while end < len(s.tags) and s.tags[end] in "DJNXU":
        end += 1
    head = s.lows[end - 1]
    is_person = head in people.ROLES or head.endswith(("ist", "ian", "man", "er", "or", "ess"))
    is_noun = s.tags[at : at + 1] == "D" and s.tags[end - 1] == "N"
    return s.lows[clause.verb] in {"is", "was"} and is_noun and not is_person


def other_things(clause: MainClause, is_plural: bool) -> set[str]:
    """Return other nouns that `it` (or `they`) may refer to; not the predicate, places and measures."""
    s, nouns, at, in_predicate = clause.s, set[str](), 0, False
    while at < len(s.tags):
        end = at
        while end < len(s.tags) and s.tags[end] in "DJNXUQ" and (end != clause.start or end == at):
            end += 1
        if end > at and not clause.start <= at < clause.end:
            in_predicate = s.lows[_word_before(s, at)] in lex.BE or (
                in_predicate and (s.tags[at - 1] in "Oc" or s.lows[at - 1] in {"with", "for", "by"})
            )
            if not in_predicate and not _is_place_or_measure(s, at, end) and is_many_of(s, at, end) == is_plural:
                nouns.add(" ".join(s.words[at:end]))
        at = max(end, at + 1)
    return nouns


def _word_before(s: Tagged, at: int) -> int:
    while at > 1 and s.tags[at - 1] in "an":
        at -= 1
    return at - 1


def _is_place_or_measure(s: Tagged, at: int, end: int) -> bool:
    tags, before = s.tags[at:end], s.lows[at - 1] if at else ""
    if not set(tags) & set("NXQ") or s.lows[end - 1] in people.UNITS | lex.TIME_NOUNS | lex.MONTHS:
        return True
    is_name = set(tags) <= {"X", "U"}
    is_person = before == "by" and len(tags) > 1 and not set(s.lows[at:end]) & people.THINGS
    return is_name and (is_person or before in people.PLACED or s.tags[at - 1 : at] == "," or before == "to")


def repeated_noun(noun: str, context: Sequence[str]) -> str | None:
    """Return what `this barrier` repeats: `the Lantern Point flood barrier`, or `X` of `X is a barrier`; else None."""
    clause = main_clause(context[-1])
    if clause is None or clause.s.lows.count(noun) != 1 or set(clause.tags) - set("DJNXU") or "X" not in clause.tags:
        return None
    at = clause.s.lows.index(noun)
    is_called = clause.s.lows[clause.verb] in {"is", "was"} and clause.verb < at and is_predicate(clause, at)
    if is_called and clause.tags.strip("X") == "" and clause.s.tags[at + 1 : at + 2] not in ("N", "c", ","):
        return clause.noun
    return subject_thing(clause, False) if at == clause.end - 1 else None
