"""The subject of a statement as a question names it: understood alone, written as inside a sentence."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from propcite.attribution.english import Fact, Tagged, lexicon, verbs

MAX_SUBJECT_WORDS = 9
MIN_STEM, MAX_ENDING = 4, 3  # letters: words that differ in their endings alone are forms of one

_VAGUE = lexicon.words("""
    this that these those such another other others both either neither some many several few most much more less no
    any one ones its their his her our your my it they he she we you i there here everything everyone nobody
    everybody nothing none each every all what which who same former latter above below following next first last
    question questions section chapter table figure example note page version author title
""")
_WEAK = lexicon.words("""
    new newer old older relevant similar corresponding previous current additional further special particular
    individual certain default respective appropriate resulting actual general specific main important present separate
    own various
""")  # adjectives that name nothing
_ANYWHERE = lexicon.words("""
    this these those its their his her our my your same such other others above below following previous latter said
    majority
""")
ROLES = lexicon.PERSONS | lexicon.words("""
    mr ms mrs dr prof king queen prince princess duke pope emperor saint captain general colonel mayor minister
    judge director manager chief officer engineer architect painter poet composer artist scientist physicist chemist
    mathematician historian philosopher professor surgeon lawyer journalist novelist editor producer designer
    developer chancellor secretary governor senator councillor auditor master surveyor treasurer chair chairman
    chairwoman contractor operator owner tenant committee council board court parliament contributor maintainer
    volunteer programmer creator inventor activist revolutionary
""")
ORDERS = verbs.BASE_VERBS - verbs.NOUN_VERBS  # a sentence that begins with one tells what to do
_THIRD = frozenset(third for third, base in verbs.THIRD_PERSON.items() if base in ORDERS)
_SMALL = re.compile(r"(?<![\w'’/.~-])[a-z][\w-]+(?![\w/]|\.\w)")
_NAMED = re.compile(r"(?<=[a-z,] )[A-Z][\w-]+")


@dataclass(frozen=True, slots=True)
class Spelling:
    """The words that a text writes in small letters, and those that it writes as names: a first word may be either.

    `title` are the words of its title, in small letters.
    """

    small: frozenset[str] = frozenset()
    names: frozenset[str] = frozenset()
    title: frozenset[str] = frozenset()

    @classmethod
    def of(cls, text: str, title: str = "") -> Spelling:
        """Return how a text spells its words; one that is written in both ways is what it is more often.

        >>> spelling = Spelling.of("The quay is long. At the Quay School, divers met.")
        >>> "divers" in spelling.small, "School" in spelling.names, "At" in spelling.names
        (True, True, False)
        """
        small, names = Counter(_SMALL.findall(text)), Counter(_NAMED.findall(text))
        return cls(
            frozenset(word for word, count in small.items() if count >= names[word.capitalize()]),
            frozenset(word for word, count in names.items() if count > small[word.lower()]),
            frozenset(re.findall(r"\w{3,}", title.lower())) - lexicon.FUNCTION_WORDS - _WEAK,
        )

    def writes_small(self, low: str) -> bool:
        """Return whether the text writes a word, or another form of it, in small letters.

        >>> Spelling.of("Pay for the room that you booked at Ree.").writes_small("rooms")
        True
        """
        stem = low[: max(MIN_STEM, len(low) - MAX_ENDING)]
        return low in self.small or (
            low.capitalize() not in self.names
            and len(low) > MIN_STEM
            and any(word.startswith(stem) and len(word) - len(stem) <= MAX_ENDING for word in self.small)
        )


UNKNOWN = Spelling()


def stands_alone(tagged: Tagged, subject: Fact, words: str, spelling: Spelling) -> bool:
    """Return whether a subject is understood without the sentences before it."""
    tokens = [at for piece in subject for at in range(piece.start, piece.end)]
    if any(piece.say is not None for piece in subject) or not tokens or len(tokens) > MAX_SUBJECT_WORDS:
        return False
    lows, tags = [tagged.lows[at] for at in tokens], "".join(tagged.tags[at] for at in tokens)
    if lows[0] in _VAGUE or set(lows) & _ANYWHERE:
        return False
    if set(tags) & set("RKWz:;SVBHMY,GEL") or tags[0] in "UPT":
        return False
    if "," in words or any(word in _THIRD for word, tag_ in zip(lows[1:], tags[1:], strict=True) if tag_ == "N"):
        return False  # what seems a noun is the verb
    if lows[0] in ("a", "an") and "P" in tags:
        return False  # of one among many
    telling = (low for low, tag_ in zip(lows, tags, strict=True) if tag_ in "NXJQ" and low.isalnum() and len(low) > 1)
    content = [low for low in telling if low not in _WEAK]
    first, *others = words.split()
    if tags[0] not in "DJ" and first.lower() not in spelling.small and not _is_name(first, others, spelling):
        return False
    named = "Q" in tags or any(
        word.lower() in spelling.title or (word[:1].isupper() and word.lower() not in spelling.small)
        for word in words.split()
        if word.lower() not in lexicon.FUNCTION_WORDS
    )
    if lows[0] in ORDERS and tags[0] not in "DJ":
        return False
    return bool(content) and content[-1] not in _VAGUE and (named or len(content) > 1)


def _is_name(first: str, others: Sequence[str], spelling: Spelling) -> bool:
    """Return whether a word at the start of a sentence is a name: the text says so, or another name follows it."""
    return first in spelling.names or first[1:] != first[1:].lower() or (bool(others) and others[0][:1].isupper())


def as_inside(subject: str, tagged: Tagged, pieces: Fact, spelling: Spelling) -> str:
    """Return a subject as it is written inside a sentence."""
    first, space, rest = subject.partition(" ")
    is_adjective = tagged.tags[pieces[0].start] in "DJ" and (not rest[:1].isupper() or first.lower() in _WEAK)
    is_closed = first.lower() in lexicon.FUNCTION_WORDS or is_adjective
    named = rest[:1].isupper() or first[1:] != first[1:].lower() or (not rest and first in spelling.names)
    if is_closed or (first.lower() in spelling.small and not named):
        first = first.lower()
    return f"{first}{space}{rest}"


def is_person(tagged: Tagged, subject: Fact) -> bool:
    lows = [tagged.lows[at].rstrip(".") for piece in subject for at in range(piece.start, piece.end)]
    is_titled = lows[0] in ROLES and tagged.tags[subject[0].start] == "X"
    return (lows[-1] in ROLES or is_titled) and all(low.replace("-", "").isalpha() for low in lows)


_EITHER = re.compile(r"(?:ss|us|is|ics|data|series|means|news|species|police|staff|crew|team|committee)$")


def agrees(subject: str, verb: str) -> bool:
    """Return whether the verb fits the number of a plain subject: else the sentence was parted wrongly."""
    head = re.split(r" (?:of|in|for|to|on|with|from|at|by|about)\b", subject)[0].split()[-1]
    if not head.islower() or not head.isalpha() or " and " in subject or _EITHER.search(head):
        return True
    return verb not in (("is", "was", "has", "does") if is_plural(head) else ("are", "were", "have", "do"))


def is_plural(low: str) -> bool:
    return low.endswith("s") or low in ("people", "men", "women", "children")
