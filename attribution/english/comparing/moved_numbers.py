"""Two things with a number each: is the claim's said of the other one?  No model."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from propcite.attribution.english.grammar import tag
from propcite.attribution.english.words import FUNCTION_WORDS, numbers, plain_share, stem

_SENTENCE = re.compile(r"(?<=[.!?])\s+")
_JOINT = re.compile(r"[,;:]\s|\s(?:and|but|while|whereas)\s(?:by\s)?")
_THINGS = frozenset("NXJQ")
LONGEST = 60  # words of a sentence that is read


@dataclass(frozen=True, slots=True)
class Part:
    """A stretch of a sentence: stems of its words, those of what it names, and what is a number there."""

    words: frozenset[str]
    things: frozenset[str]
    numbers: frozenset[str]


def said_of_another(claim: str, evidence: str, *, share: float) -> bool:
    """Whether the evidence says the claim's number of something else, and another of the claim's own thing.

    >>> said_of_another("Sales grew by 9% in Spain.", "Sales grew by 4% in Spain and by 9% in Italy.", share=0.6)
    True
    >>> said_of_another("Sales grew by 9% in Italy.", "Sales grew by 4% in Spain and by 9% in Italy.", share=0.6)
    False
    """
    own = _part(claim)
    speaking = [s for s in _SENTENCE.split(evidence) if len(s.split()) <= LONGEST and plain_share(claim, s) >= share]
    found = [_misplaced(own, _parts(sentence)) for sentence in speaking]
    return bool(found) and all(found)


def _misplaced(own: Part, parts: tuple[Part, ...]) -> bool:
    """Whether a number of the claim stands in one part alone, with another thing, and all its words in another part."""
    for number in own.numbers:
        holding = [p for p in parts if number in p.numbers]
        if len(holding) == 1 and any(_tells_apart(own, holding[0], p) for p in parts if number not in p.numbers):
            return True
    return False


def _tells_apart(own: Part, here: Part, there: Part) -> bool:
    """Whether the part with the claim's number names another thing, and the other part the claim's, with its number."""
    strange = here.things - own.words - there.words
    its_own = (own.words & there.things) - here.words
    return bool(strange and its_own and there.numbers - own.numbers and own.words <= there.words)


@lru_cache(maxsize=4096)
def _parts(sentence: str) -> tuple[Part, ...]:
    return tuple(_part(piece) for piece in _JOINT.split(sentence) if piece.strip())


def _part(text: str) -> Part:
    tagged = tag(text, text)
    stems = [(stem(low), kind, word) for low, kind, word in zip(tagged.lows, tagged.tags, tagged.words, strict=True)]
    known = [(s, kind, word) for s, kind, word in stems if word[0].isalnum() and word.lower() not in FUNCTION_WORDS]
    words = frozenset(s for s, kind, word in known if not word[0].isdigit())
    things = frozenset(s for s, kind, word in known if kind in _THINGS and not word[0].isdigit())
    return Part(words, things, frozenset(numbers(text)))
