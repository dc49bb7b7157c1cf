"""What `which`, `who` and an apposition may be said of: when that is not sure, nothing is said."""

from __future__ import annotations

from propcite.attribution.english.grammar import lexicon as lex
from propcite.attribution.english.grammar import verbs
from propcite.attribution.english.grammar.phrases import FINITE, Fact, Piece, be_like, is_many, noun_before
from propcite.attribution.english.grammar.tagging import Tagged

PLURAL_FORMS = frozenset({"are", "were", "have", "do"})


def ends_in_name(s: Tagged, noun: Piece) -> bool:
    return s.tags[noun.end - 1] in "XQz"


def _is_stuff(s: Tagged, noun: Piece, article: str) -> bool:
    """`caffeine, a stimulant`: a single bare noun, not one of several."""
    return noun.end - noun.start == 1 and not s.lows[noun.start].endswith("s") and article in {"a", "an"}


def stands_for(s: Tagged, noun: Piece, pronoun: int) -> bool:
    """Whether the pronoun stands for this noun; `which` may as well stand for all that was said before it."""
    verb = pronoun + 1
    while verb < len(s.tags) - 1 and s.tags[verb] == "a":
        verb += 1
    if verb >= len(s.tags):
        return False
    plural = _is_plural(s, verb)
    if noun.start and s.tags[noun.start - 1] == "c":  # the last of several: only `who is` tells that it is one
        return s.lows[pronoun] == "who" and s.lows[verb] in {"is", "was", "has"}
    if plural and ends_in_name(s, noun) and s.tags[noun.start] != "D" and not s.lows[noun.end - 1].endswith("s"):
        return False
    if s.lows[pronoun] != "which":
        return True
    if s.lows[verb] in verbs.SENTENTIAL or s.lows[verb] in {"could", "would", "might", "may"}:
        return False
    if s.tags[verb] == "M" and not ends_in_name(s, noun):
        return False
    if ends_in_name(s, noun) or s.tags[noun.start] == "D":
        return True
    return s.lows[noun.end - 1].endswith("s") and plural


def agrees(s: Tagged, noun: Piece, pronoun: int) -> bool:
    """Whether the head of `the formation of nuclei`, not its last noun, may be what `which` stands for."""
    of = s.tags.find("O", noun.start, noun.end)
    if of < 0 or pronoun + 1 >= len(s.tags):
        return True
    return s.lows[of - 1] not in lex.PERSONS and (not _is_plural(s, pronoun + 1) or s.lows[of - 1].endswith("s"))


def apposition(s: Tagged, subject: Fact, verb: int, at: int, close: int) -> Fact | None:
    """`X, a king of Y` says that X was a king of Y; after `is` it says so of the subject; None if it is not sure."""
    first = at + 1
    noun = noun_before(s, at, verb, near=True)
    if noun is None or not (ends_in_name(s, noun) or s.tags[noun.start] == "D" or _is_stuff(s, noun, s.lows[first])):
        return None
    told = s.tags[first:close]
    if "WW" in told or set(told.split("W")[0]) & (FINITE | {"R", "I", "K"}):
        return None  # ", the parts of which are ...", ", the man said"
    if s.tags[verb] == "B" and not s.tags[verb + 1 : noun.start].strip("an"):
        return (*subject, Piece(verb, verb + 1), Piece(first, close))
    if s.lows[noun.start - 1] in {"in", "at", "on", "near"} and set(s.lows[first:close]) & lex.PERSONS:
        return None  # "born in Leeds, the daughter of ..."
    lasting = "are" if is_many(s, noun) else "is"
    said = be_like(s, verb, noun) if s.lows[first] in {"a", "an"} else lasting
    return (noun, Piece(0, 0, said), Piece(first, close))


def lists_more(s: Tagged, first: int, end: int) -> bool:
    """`a fee for A, a fee for B, and a fee for C`: no apposition but one of several."""
    return any(
        s.lows[at] == s.lows[first] and s.tags[at - 2 : at] == ",c" and s.lows[first] in {"a", "an"}
        for at in range(first + 3, end)
    )


def _is_plural(s: Tagged, verb: int) -> bool:
    if verb >= len(s.tags):
        return False
    return s.lows[verb] in PLURAL_FORMS or (s.tags[verb] == "V" and s.lows[verb] in verbs.BASE_VERBS)
