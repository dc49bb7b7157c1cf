"""The subject of a statement as a question names it: understood alone, written as inside a sentence."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from propcite.attribution.english import Fact, Tagged, lexicon

MAX_SUBJECT_WORDS = 8

_VAGUE = lexicon.words(
    "this that these those such another other others both either neither some many several few most much more less no"
    " any one ones its their his her our your my it they he she we you i there here everything everyone nobody"
    " everybody nothing none each every all what which who same former latter above below following next first"
    " last question questions section chapter table figure example note page version author title"
)
_ROLES = lexicon.PERSONS | lexicon.words(
    "mr ms mrs dr prof king queen prince princess duke pope emperor saint captain general colonel mayor minister judge"
    " director manager chief officer engineer architect painter poet composer artist scientist physicist chemist"
    " mathematician historian philosopher professor surgeon lawyer journalist novelist editor producer designer"
    " developer chancellor secretary governor senator councillor auditor master surveyor treasurer chair chairman"
    " chairwoman contractor operator owner tenant committee council board court parliament"
)
_SMALL = re.compile(r"(?<![\w'’-])[a-z][\w-]+")
_NAMED = re.compile(r"(?<=[a-z,;] )[A-Z][\w-]+")


@dataclass(frozen=True, slots=True)
class Spelling:
    """The words that a text writes in small letters, and those that it writes as names: a first word may be either."""

    small: frozenset[str] = frozenset()
    names: frozenset[str] = frozenset()

    @classmethod
    def of(cls, text: str) -> Spelling:
        """Return how a text spells its words.

        >>> spelling = Spelling.of("The quay is long. At the Quay School, divers met.")
        >>> "divers" in spelling.small, "School" in spelling.names, "At" in spelling.names
        (True, True, False)
        """
        return cls(frozenset(_SMALL.findall(text)), frozenset(_NAMED.findall(text)))


UNKNOWN = Spelling()


def stands_alone(tagged: Tagged, subject: Fact, words: str, spelling: Spelling) -> bool:
    """Return whether a subject is understood without the sentences before it."""
    tokens = [at for piece in subject for at in range(piece.start, piece.end)]
    if any(piece.say is not None for piece in subject) or not tokens or len(tokens) > MAX_SUBJECT_WORDS:
        return False
    lows, tags = [tagged.lows[at] for at in tokens], "".join(tagged.tags[at] for at in tokens)
    if lows[0] in _VAGUE or set(lows) & {"this", "these", "its", "their", "his", "her", "our", "my", "your"}:
        return False
    if set(tags) & set("RKWtzQ:;SVBHMY,GEL") or lows[0] in ("a", "an") or tags[0] in "UP":
        return False
    content = [low for low, tag_ in zip(lows, tags, strict=True) if tag_ in "NXJ"]
    first, *others = words.split()
    if tags[0] not in "DJ" and first.lower() not in spelling.small and not _is_name(first, others, spelling):
        return False
    named = any(word[:1].isupper() and word.lower() not in spelling.small for word in words.split())
    return bool(content) and content[-1] not in _VAGUE and (named or len(content) > 1)


def _is_name(first: str, others: Sequence[str], spelling: Spelling) -> bool:
    """Return whether a word at the start of a sentence is a name: the text says so, or another name follows it."""
    return first in spelling.names or first[1:] != first[1:].lower() or (bool(others) and others[0][:1].isupper())


def as_inside(subject: str, tagged: Tagged, pieces: Fact, spelling: Spelling) -> str:
    """Return a subject as it is written inside a sentence."""
    first, space, rest = subject.partition(" ")
    is_closed = first.lower() in lexicon.FUNCTION_WORDS or tagged.tags[pieces[0].start] in "DJ"
    if is_closed or (first.lower() in spelling.small and not _is_name(first, rest.split(), spelling)):
        first = first.lower()
    return f"{first}{space}{rest}"


def is_person(tagged: Tagged, subject: Fact) -> bool:
    lows = [tagged.lows[at].rstrip(".") for piece in subject for at in range(piece.start, piece.end)]
    is_titled = lows[0] in _ROLES and tagged.tags[subject[0].start] == "X"
    return (lows[-1] in _ROLES or is_titled) and all(low.replace("-", "").isalpha() for low in lows)
