"""What `it` or `they` stands for: the thing that a sentence is about, and the others that it may as well be."""

from __future__ import annotations

import re
from collections.abc import Sequence

from propcite.attribution.english.frames.main_clause import MainClause, is_many_of, is_predicate, main_clause
from propcite.attribution.english.grammar import lexicon as lex
from propcite.attribution.english.grammar import people
from propcite.attribution.english.grammar.antecedents import PLURAL_FORMS
from propcite.attribution.english.grammar.tagging import Tagged

MOST_NAME = 8  # words of an antecedent; a longer one is no name but a description


def thing(clause: MainClause, many: bool) -> str | None:
    """A subject that `it` (or `they`) can stand for: no person, of the right number, the only thing spoken of."""
    if _is_described(clause, many) or _is_mixed(clause) or _number(clause) != many:
        return None
    named = set(clause.lows) & people.THINGS or clause.tags[0] == "D" or clause.tags[-1] == "N"
    if not many and (set(clause.lows) & people.ROLES or not (named or _is_called_thing(clause))):
        return None
    noun = re.sub("^(?:A|An|a|an) ", "The ", clause.noun)
    return noun[0].upper() + noun[1:]


def _is_described(clause: MainClause, many: bool) -> bool:
    """Whether a subject is too much to repeat, or holds a second noun: `the roof of the hall`, `its roof`."""
    lows, tags = clause.lows, clause.tags
    twice = len(set(lows)) < len(lows) and tags[0] != "Q"
    if twice or len(lows) > MOST_NAME or set(tags) & set("RPp") or tags[-1] not in "NXUQ":
        return True
    if (tags[0] == "D" and lows[0] not in {"the", "a", "an"}) or "[" in clause.noun:
        return True
    within = set(tags[tags.index("O") + 1 :]) if "O" in tags else set()
    of_other = tags[0] != "Q" and any(low.endswith(("'s", "’s")) for low in lows)
    return not many and ("c" in tags or of_other or not within <= set("XU"))


def _is_mixed(clause: MainClause) -> bool:
    """Whether the sentence goes on to speak of another thing: `recent work suggests that it`, `A: b`, `A fell; b`."""
    tags = clause.s.tags
    return bool({":", ";"} & set(tags)) or "R" in tags[clause.end :] or tags[clause.verb + 1 : clause.verb + 2] == "t"


def _number(clause: MainClause) -> bool | None:
    """Whether a subject is plural; None where its verb says otherwise."""
    verb, tags = clause.s.lows[clause.verb], clause.tags
    many = is_many_of(clause.s, clause.start, clause.end) or ("c" in tags and not set(tags) & set("OP"))
    many = many or (verb in PLURAL_FORMS and clause.lows[-1].endswith("s"))
    return None if verb in (people.SINGLE if many else PLURAL_FORMS) else many


def _is_called_thing(clause: MainClause) -> bool:
    """`Elbrus is a mountain`: a name that is said to be something other than a person."""
    s, at = clause.s, clause.verb + 1
    end = at
    while end < len(s.tags) and s.tags[end] in "DJNXU":
        end += 1
    head = s.lows[end - 1]
    person = head in people.ROLES or head.endswith(("ist", "ian", "man", "er", "or", "ess"))
    return s.lows[clause.verb] in {"is", "was"} and s.tags[at : at + 1] == "D" and s.tags[end - 1] == "N" and not person


def things(clause: MainClause, many: bool) -> set[str]:
    """Other nouns of a sentence that `it` (or `they`) may as well stand for; not its predicate, places and measures."""
    s, found, at, said = clause.s, set[str](), 0, False
    while at < len(s.tags):
        end = at
        while end < len(s.tags) and s.tags[end] in "DJNXUQ" and (end != clause.start or end == at):
            end += 1
        if end > at and not clause.start <= at < clause.end:
            said = s.lows[_word_before(s, at)] in lex.BE or (
                said and (s.tags[at - 1] in "Oc" or s.lows[at - 1] in {"with", "for", "by"})
            )
            if not said and not _is_place_or_measure(s, at, end) and is_many_of(s, at, end) == many:
                found.add(" ".join(s.words[at:end]))
        at = max(end, at + 1)
    return found


def _word_before(s: Tagged, at: int) -> int:
    while at > 1 and s.tags[at - 1] in "an":
        at -= 1
    return at - 1


def _is_place_or_measure(s: Tagged, at: int, end: int) -> bool:
    tags, before = s.tags[at:end], s.lows[at - 1] if at else ""
    if not set(tags) & set("NXQ") or s.lows[end - 1] in people.UNITS | lex.TIME_NOUNS | lex.MONTHS:
        return True
    named = set(tags) <= {"X", "U"}
    person = before == "by" and len(tags) > 1 and not set(s.lows[at:end]) & people.THINGS
    return named and (person or before in people.PLACED or s.tags[at - 1 : at] == "," or before == "to")


def same_noun(noun: str, context: Sequence[str]) -> str | None:
    """What `this barrier` repeats: `the Lantern Point flood barrier`, or `X` of `X is a barrier`."""
    clause = main_clause(context[-1])
    if (
        clause is None
        or clause.s.lows.count(noun) != 1
        or set(clause.tags) - set("DJNXU")
        or not set(clause.tags) & {"X"}
    ):
        return None
    at = clause.s.lows.index(noun)
    called = clause.s.lows[clause.verb] in {"is", "was"} and clause.verb < at and is_predicate(clause, at)
    if called and clause.tags.strip("X") == "" and clause.s.tags[at + 1 : at + 2] not in ("N", "c", ","):
        return clause.noun
    return thing(clause, False) if at == clause.end - 1 else None
