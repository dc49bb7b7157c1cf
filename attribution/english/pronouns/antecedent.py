"""A leading pronoun replaced by its antecedent from the sentences before, where that is certain."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from propcite.attribution.english.frames.main_clause import SAMPLE, main_clause
from propcite.attribution.english.grammar import lexicon as lex
from propcite.attribution.english.grammar import people
from propcite.attribution.english.grammar.phrases import FINITE
from propcite.attribution.english.grammar.tagging import Tagged, tag
from propcite.attribution.english.pronouns.persons import MOST_HOPS, is_role, person, persons, tells_of
from propcite.attribution.english.pronouns.things import same_noun, thing, things
from propcite.retrieval.text import Span

_PRONOUN = re.compile(r"(he|she|it|they|his|her|its|their)\s+(?=[^\W_])|th(?:is|ese)\s+([^\W\d_]+)\s+(?=[^\W_])", re.I)
_OPENED = re.compile(r"\[([^\[\]]*[^\W\d_][^\[\]]*)\](?=\s)")


def with_antecedent(text: str, context: Sequence[str]) -> str:
    """The text with a leading pronoun replaced by what it stands for, in brackets; as it was where that is not certain.

    >>> with_antecedent("It cost €221.4 million.", ["The Lantern Point flood barrier is 6.4 metres high."])
    '[The Lantern Point flood barrier] cost €221.4 million.'
    """
    found = _PRONOUN.match(text) if context else None
    if found is None or _is_foreign(text):
        return text
    s = tag(text[:SAMPLE], text[:SAMPLE])
    if found.group(2):
        noun, rest = same_noun(found.group(2).lower(), context), text[found.end() :]
        return f"[{noun}] {rest}" if noun and s.tags[2:3] in FINITE | {"V", "E", "a", "L"} else text
    low = found.group(1).lower()
    owns = low in {"his", "its", "their"} or (low == "her" and s.tags[1:2] in tuple("JNXUGEV"))
    if (low == "her" and not owns) or (owns and s.tags[1:2] in tuple("BHM")) or s.tags[1:2] in ("", "c", "o", ","):
        return text
    if low == "it" and _is_impersonal(s):
        return text
    noun = _antecedent(people.FAMILY.get(low, low), context)
    rest = text[found.end() :]
    if not noun or noun.split()[-1].lower() in rest.lower():
        return text
    return f"[{_owner(noun, low == 'their') if owns else noun}] {rest}"


def insertions(text: str) -> list[Span]:
    """Where inserted words stand in a text made here, with their brackets: none, or one that opens the text.

    >>> insertions("[The barrier] cost €2."), insertions("It cost [sic] €2.")
    ([Span(start=0, end=13)], [])
    """
    found = _OPENED.match(text)
    return [Span(*found.span())] if found else []


def without_marks(text: str) -> str:
    """The text as a judge reads it: the inserted words stay, their brackets go.

    >>> without_marks("[The barrier] cost €2.")
    'The barrier cost €2.'
    """
    return _OPENED.sub(r"\1", text, count=1) if _OPENED.match(text) else text


def _is_foreign(text: str) -> bool:
    lows = text[:SAMPLE].lower().split()
    return sum(low in lex.FOREIGN for low in lows) > sum(low in lex.FUNCTION_WORDS for low in lows)


def _owner(noun: str, many: bool) -> str:
    return noun + ("’" if "’" in noun else "'") + ("" if many and noun.endswith("s") else "s")


def _is_impersonal(s: Tagged) -> bool:
    """Whether `it` may stand for nothing: `It is clear that`, `It was in 1990`, `It takes`; doubt means yes."""
    if set(s.lows[1:]) & people.CLAUSAL or set(s.lows[1:5]) & people.IMPERSONAL or "ctYR".find(s.tags[1:2]) >= 0:
        return True
    at = 1
    while s.tags[at : at + 1] and s.tags[at] in "anbMH":
        at += 1
    if s.tags[at : at + 1] != "B" and s.tags[at - 1] != "b":
        return False
    at += s.tags[at : at + 1] == "B"
    while s.tags[at : at + 1] and s.tags[at] in "anb":
        at += 1
    return s.tags[at : at + 1] not in tuple("DUELGN") or s.lows[at] in people.SHORT_OF_FACT


def _antecedent(pronoun: str, context: Sequence[str]) -> str | None:
    """The only subject that `he`, `she`, `it` or `they` can stand for, through a chain of the same pronoun."""
    rivals: set[str] = set()
    for at in range(len(context) - 1, max(-1, len(context) - 1 - MOST_HOPS), -1):
        clause = main_clause(context[at])
        if clause is None:
            return None
        rivals |= _rivals(context[at], pronoun)
        if clause.lows[0] == pronoun and len(clause.lows) == 1:
            continue
        if pronoun in {"he", "she"}:
            if clause.tags[0] != "X" and tells_of(clause, pronoun) and not is_role(clause, pronoun):
                continue
            noun = person(clause, pronoun, context[:at])
        else:
            noun = thing(clause, pronoun == "they")
        if at == len(context) - 1 and at:
            rivals |= _named(context[at - 1], pronoun)
        return noun if noun and not any(rival not in noun for rival in rivals) else None
    return None


@lru_cache(maxsize=4096)
def _rivals(text: str, pronoun: str) -> frozenset[str]:
    """What else in a context sentence the pronoun may stand for."""
    clause = main_clause(text)
    if clause is None:
        return frozenset()
    return frozenset(persons(clause, pronoun) if pronoun in {"he", "she"} else things(clause, pronoun == "they"))


def _named(text: str, pronoun: str) -> frozenset[str]:
    """The persons of the sentence before the last one, its subject too: `she` may still stand for one of them."""
    clause = main_clause(text)
    subject = {clause.noun} if clause and set(clause.tags) == {"X"} and not set(clause.lows) & people.THINGS else set()
    return _rivals(text, pronoun) | subject if pronoun in {"he", "she"} else frozenset()
