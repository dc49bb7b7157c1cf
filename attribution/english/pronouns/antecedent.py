"""Replace a leading pronoun by its antecedent from the sentences before, where that is certain."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from propcite.attribution.english.frames.main_clause import SAMPLE, main_clause
from propcite.attribution.english.grammar import lexicon as lex
from propcite.attribution.english.grammar import people
from propcite.attribution.english.grammar.phrases import FINITE
from propcite.attribution.english.grammar.tagging import Tagged, tag
from propcite.attribution.english.pronouns.persons import MAX_HOPS, is_role, mentions, other_persons, subject_person
from propcite.attribution.english.pronouns.things import other_things, repeated_noun, subject_thing
from propcite.retrieval.text import Span

_PRONOUN = re.compile(r"(he|she|it|they|his|her|its|their)\s+(?=[^\W_])|th(?:is|ese)\s+([^\W\d_]+)\s+(?=[^\W_])", re.I)
_INSERTION = re.compile(r"\[([^\[\]]*[^\W\d_][^\[\]]*)\](?=\s)")


def with_antecedent(text: str, context: Sequence[str]) -> str:
    """Return the text with its leading pronoun replaced by the antecedent in brackets; unchanged if uncertain.

    `context` holds the sentences before, oldest first.

    >>> with_antecedent("It cost €221.4 million.", ["The Lantern Point flood barrier is 6.4 metres high."])
    '[The Lantern Point flood barrier] cost €221.4 million.'
    """
    match = _PRONOUN.match(text) if context else None
    if match is None or _is_foreign(text):
        return text
    s, rest = tag(text[:SAMPLE], text[:SAMPLE]), text[match.end() :]
    if match.group(2):
        noun = repeated_noun(match.group(2).lower(), context)
        return f"[{noun}] {rest}" if noun and s.tags[2:3] in FINITE | {"V", "E", "a", "L"} else text
    low = match.group(1).lower()
    is_possessive = low in {"his", "its", "their"} or (low == "her" and s.tags[1:2] in tuple("JNXUGEV"))
    is_object = low == "her" and not is_possessive
    if is_object or (is_possessive and s.tags[1:2] in tuple("BHM")) or s.tags[1:2] in ("", "c", "o", ","):
        return text
    if low == "it" and _is_impersonal(s):
        return text
    noun = _antecedent(people.FAMILY.get(low, low), context)
    if not noun or noun.split()[-1].lower() in rest.lower():
        return text
    return f"[{_possessive(noun, low == 'their') if is_possessive else noun}] {rest}"


def inserted_spans(text: str) -> list[Span]:
    """Return where inserted words are, with their brackets: none, or one at the beginning.

    >>> inserted_spans("[The barrier] cost €2."), inserted_spans("It cost [sic] €2.")
    ([Span(start=0, end=13)], [])
    """
    match = _INSERTION.match(text)
    return [Span(*match.span())] if match else []


def without_brackets(text: str) -> str:
    """Return the text as a judge reads it: with the inserted words, but without their brackets.

    >>> without_brackets("[The barrier] cost €2.")
    'The barrier cost €2.'
    """
    return _INSERTION.sub(r"\1", text, count=1) if _INSERTION.match(text) else text


def _is_foreign(text: str) -> bool:
    lows = text[:SAMPLE].lower().split()
    return sum(low in lex.FOREIGN for low in lows) > sum(low in lex.FUNCTION_WORDS for low in lows)


def _possessive(noun: str, is_plural: bool) -> str:
    return noun + ("’" if "’" in noun else "'") + ("" if is_plural and noun.endswith("s") else "s")


def _is_impersonal(s: Tagged) -> bool:
    """Return whether `it` may refer to nothing: `It is clear that`, `It was in 1990`, `It takes`; if in doubt, True."""
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
    """Return the only subject that `he`, `she`, `it` or `they` can refer to; None if there is none or a rival.

    Sentences whose subject is the same pronoun, or that otherwise speak of the same person, are skipped.
    """
    rivals: set[str] = set()
    for at in range(len(context) - 1, max(-1, len(context) - 1 - MAX_HOPS), -1):
        clause = main_clause(context[at])
        if clause is None:
            return None
        rivals |= _rivals(context[at], pronoun)
        if clause.lows[0] == pronoun and len(clause.lows) == 1:
            continue
        if pronoun in {"he", "she"}:
            if clause.tags[0] != "X" and mentions(clause, pronoun) and not is_role(clause, pronoun):
                continue
            noun = subject_person(clause, pronoun, context[:at])
        else:
            noun = subject_thing(clause, pronoun == "they")
        if at == len(context) - 1 and at:
            rivals |= _all_persons(context[at - 1], pronoun)
        return noun if noun and not any(rival not in noun for rival in rivals) else None
    return None


@lru_cache(maxsize=4096)
def _rivals(text: str, pronoun: str) -> frozenset[str]:
    """Return what else in a context sentence the pronoun may refer to."""
    clause = main_clause(text)
    if clause is None:
        return frozenset()
    if pronoun in {"he", "she"}:
        return frozenset(other_persons(clause, pronoun))
    return frozenset(other_things(clause, pronoun == "they"))


def _all_persons(text: str, pronoun: str) -> frozenset[str]:
    """Return the persons of a sentence, its subject included: `she` may still refer to someone two sentences before."""
    if pronoun not in {"he", "she"}:
        return frozenset()
    clause = main_clause(text)
    is_name = clause and set(clause.tags) == {"X"} and not set(clause.lows) & people.THINGS
    return _rivals(text, pronoun) | ({clause.noun} if clause and is_name else set())
