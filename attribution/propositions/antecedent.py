"""A leading pronoun replaced by its antecedent from the sentences before, where that is certain."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from attribution.propositions.grammar import lexicon as lex
from attribution.propositions.grammar import people
from attribution.propositions.grammar.antecedents import PLURAL_FORMS
from attribution.propositions.grammar.leads import lead_end
from attribution.propositions.grammar.phrases import FINITE, Piece, is_many
from attribution.propositions.grammar.subjects import subject_of
from attribution.propositions.grammar.tagging import Tagged, tag
from retrieval.text import Span

MARKS = re.compile(
    r"(?<![ \t])[ \t]*\[\d{1,3}(?:\s?[,;–-]\s?\d{1,3})*\]|^\s*(?:(?:[-*+•‣◦▪>]+|\(?\d{1,3}[.)]|#{1,6})\s+)+|`+"
    r"|(?<!\w)(?:\*{1,3}(?=\S)|_{1,3}(?=\w))|(?<=\S)\*{1,3}(?!\w)|(?<=[\w.,;:!?])_{1,3}(?!\w)"
    r"|!?\[(?=[^\[\]]+\]\([^()\s]+\))|(?<=[^\[\]])\]\([^()\s]+\)"
)
MOST_HOPS = 8  # sentences that a chain of pronouns is followed back
MOST_NAME = 8  # words of an antecedent; a longer one is no name but a description
_SAMPLE = 2_000  # characters of a context sentence that are looked at

_PRONOUN = re.compile(r"(he|she|it|they|his|her|its|their)\s+(?=[^\W_])|th(?:is|ese)\s+([^\W\d_]+)\s+(?=[^\W_])", re.I)
_OPENED = re.compile(r"\[([^\[\]]*[^\W\d_][^\[\]]*)\](?=\s)")


class _Clause(NamedTuple):
    """A sentence's words, the subject of its main clause without asides and adverbs, and where its verb stands."""

    s: Tagged
    text: str
    start: int
    end: int
    verb: int

    @property
    def lows(self) -> list[str]:
        return self.s.lows[self.start : self.end]

    @property
    def tags(self) -> str:
        return self.s.tags[self.start : self.end]

    @property
    def noun(self) -> str:
        return " ".join(self.text[self.s.places[self.start][0] : self.s.places[self.end - 1][1]].split())


def with_antecedent(text: str, context: Sequence[str]) -> str:
    """The text with a leading pronoun replaced by what it stands for, in brackets; as it was where that is not certain.

    >>> with_antecedent("It cost €221.4 million.", ["The Lantern Point flood barrier is 6.4 metres high."])
    '[The Lantern Point flood barrier] cost €221.4 million.'
    """
    found = _PRONOUN.match(text) if context else None
    if found is None or _is_foreign(text):
        return text
    s = tag(text[:_SAMPLE], text[:_SAMPLE])
    if found.group(2):
        noun, rest = _same_noun(found.group(2).lower(), context), text[found.end() :]
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
    lows = text[:_SAMPLE].lower().split()
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


@lru_cache(maxsize=4096)
def _clause(text: str) -> _Clause | None:
    """The main clause of a context sentence; None where its subject and verb are not sure."""
    blank = " ".join(MARKS.sub("", text[:_SAMPLE]).split())
    s = tag(blank, blank)
    if (
        not s.tags
        or blank.endswith("?")
        or s.tags[0] in "zS"
        or s.tags.lstrip("Q")[:1] not in s.tags[:1] + "B"
        or s.words.count("\n")
    ):
        return None
    lead = lead_end(s, 0, len(s.tags)) or 0
    start = lead + (s.tags[lead : lead + 1] == ",")
    while s.tags[start : start + 1] == "a" and s.lows[start] not in people.QUANTITY:
        start += 1
    found = subject_of(s, start, len(s.tags))
    if found is None:
        return None
    end = start
    while end < found[1] and s.tags[end] in "DJNXUpORPckQ":
        end += 1
    if (s.tags[end] not in ",az-" and end != found[1]) or (lead and s.tags[end] == "," != s.tags[lead : lead + 1]):
        return None  # "In the 2009 NFL Draft, he"
    return _Clause(s, blank, start, end, found[1]) if end > start else None


def _antecedent(pronoun: str, context: Sequence[str]) -> str | None:
    """The only subject that `he`, `she`, `it` or `they` can stand for, through a chain of the same pronoun."""
    rivals: set[str] = set()
    for at in range(len(context) - 1, max(-1, len(context) - 1 - MOST_HOPS), -1):
        clause = _clause(context[at])
        if clause is None:
            return None
        rivals |= _rivals(context[at], pronoun)
        if clause.lows[0] == pronoun and len(clause.lows) == 1:
            continue
        if pronoun in {"he", "she"}:
            if clause.tags[0] != "X" and _tells_of(clause, pronoun) and not _is_role(clause, pronoun):
                continue
            noun = _person(clause, pronoun, context[:at])
        else:
            noun = _thing(clause, pronoun == "they")
        if at == len(context) - 1 and at:
            rivals |= _named(context[at - 1], pronoun)
        return noun if noun and not any(rival not in noun for rival in rivals) else None
    return None


@lru_cache(maxsize=4096)
def _rivals(text: str, pronoun: str) -> frozenset[str]:
    """What else in a context sentence the pronoun may stand for."""
    clause = _clause(text)
    if clause is None:
        return frozenset()
    return frozenset(_persons(clause, pronoun) if pronoun in {"he", "she"} else _things(clause, pronoun == "they"))


def _named(text: str, pronoun: str) -> frozenset[str]:
    """The persons of the sentence before the last one, its subject too: `she` may still stand for one of them."""
    clause = _clause(text)
    subject = {clause.noun} if clause and set(clause.tags) == {"X"} and not set(clause.lows) & people.THINGS else set()
    return _rivals(text, pronoun) | subject if pronoun in {"he", "she"} else frozenset()


def _tells_of(clause: _Clause, pronoun: str) -> bool:
    """Whether a sentence about something else speaks of the same man or woman: `His work was shown`."""
    return bool(set(clause.s.lows) & (people.HE if pronoun == "he" else people.SHE))


def _is_role(clause: _Clause, pronoun: str) -> bool:
    return bool(set(clause.lows) & (people.ROLES - (people.WOMEN if pronoun == "he" else people.MEN)))


def _person(clause: _Clause, pronoun: str, earlier: Sequence[str]) -> str | None:
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
    told = set(lows[: clause.end]) | {low for at, low in enumerate(lows) if _is_predicate(clause, at)}
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
        for clause in map(_clause, earlier[-MOST_HOPS:])
        if clause
        and set(clause.tags) == {"X"}
        and len(clause.tags) > 1
        and name in (clause.noun.split()[0], clause.noun.split()[-1])
    }
    return found.pop() if len(found) == 1 else None


def _is_predicate(clause: _Clause, at: int) -> bool:
    """Whether a noun says what the subject is: `is a Welsh singer and actor`, `as a member`, or an apposition to it."""
    s = clause.s
    while at > clause.end and s.tags[at - 1] in "DJNXUac,k":
        at -= 1
    return clause.start < at and (at <= clause.end or s.lows[at - 1] in people.BECOMING)


def _persons(clause: _Clause, pronoun: str) -> set[str]:
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
                and not _is_predicate(clause, at)
                and s.tags[at + 1 : at + 2] not in ("X", "N")
            ):
                found.add(s.lows[at])
        at = max(end, at + 1)
    return found


def _is_rival_name(clause: _Clause, at: int, end: int) -> bool:
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


def _thing(clause: _Clause, many: bool) -> str | None:
    """A subject that `it` (or `they`) can stand for: no person, of the right number, the only thing spoken of."""
    if _is_described(clause, many) or _is_mixed(clause) or _number(clause) != many:
        return None
    named = set(clause.lows) & people.THINGS or clause.tags[0] == "D" or clause.tags[-1] == "N"
    if not many and (set(clause.lows) & people.ROLES or not (named or _is_called_thing(clause))):
        return None
    noun = re.sub("^(?:A|An|a|an) ", "The ", clause.noun)
    return noun[0].upper() + noun[1:]


def _is_described(clause: _Clause, many: bool) -> bool:
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


def _is_mixed(clause: _Clause) -> bool:
    """Whether the sentence goes on to speak of another thing: `recent work suggests that it`, `A: b`, `A fell; b`."""
    tags = clause.s.tags
    return bool({":", ";"} & set(tags)) or "R" in tags[clause.end :] or tags[clause.verb + 1 : clause.verb + 2] == "t"


def _number(clause: _Clause) -> bool | None:
    """Whether a subject is plural; None where its verb says otherwise."""
    verb, tags = clause.s.lows[clause.verb], clause.tags
    many = _is_many(clause.s, clause.start, clause.end) or ("c" in tags and not set(tags) & set("OP"))
    many = many or (verb in PLURAL_FORMS and clause.lows[-1].endswith("s"))
    return None if verb in (people.SINGLE if many else PLURAL_FORMS) else many


def _is_many(s: Tagged, start: int, end: int) -> bool:
    named = set(s.tags[start + 1 : end]) == {"X"} and s.lows[start] == "the" and s.lows[end - 1].endswith("s")
    return named or is_many(s, Piece(start, end))


def _is_called_thing(clause: _Clause) -> bool:
    """`Elbrus is a mountain`: a name that is said to be something other than a person."""
    s, at = clause.s, clause.verb + 1
    end = at
    while end < len(s.tags) and s.tags[end] in "DJNXU":
        end += 1
    head = s.lows[end - 1]
    person = head in people.ROLES or head.endswith(("ist", "ian", "man", "er", "or", "ess"))
    return s.lows[clause.verb] in {"is", "was"} and s.tags[at : at + 1] == "D" and s.tags[end - 1] == "N" and not person


def _things(clause: _Clause, many: bool) -> set[str]:
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
            if not said and not _is_place_or_measure(s, at, end) and _is_many(s, at, end) == many:
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


def _same_noun(noun: str, context: Sequence[str]) -> str | None:
    """What `this barrier` repeats: `the Lantern Point flood barrier`, or `X` of `X is a barrier`."""
    clause = _clause(context[-1])
    if (
        clause is None
        or clause.s.lows.count(noun) != 1
        or set(clause.tags) - set("DJNXU")
        or not set(clause.tags) & {"X"}
    ):
        return None
    at = clause.s.lows.index(noun)
    called = clause.s.lows[clause.verb] in {"is", "was"} and clause.verb < at and _is_predicate(clause, at)
    if called and clause.tags.strip("X") == "" and clause.s.tags[at + 1 : at + 2] not in ("N", "c", ","):
        return clause.noun
    return _thing(clause, False) if at == clause.end - 1 else None
