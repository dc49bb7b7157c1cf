"""Detect a number that the evidence states of something else than the claim does."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from propcite.attribution.english.grammar import tag
from propcite.attribution.english.words import FUNCTION_WORDS, numbers, plain_share, stem

_SENTENCE = re.compile(r"(?<=[.!?])\s+")
_JOINT = re.compile(r"[,;:]\s|\s(?:and|but|while|whereas)\s(?:by\s)?")
_THINGS = frozenset("NXJQ")  # tags: nouns, names, adjectives, quoted titles
MAX_WORDS = 60  # of a sentence of the evidence


@dataclass(frozen=True, slots=True)
class Segment:
    """A part of a sentence between commas or conjunctions: stems of its words and of its things, and its numbers."""

    words: frozenset[str]
    things: frozenset[str]
    numbers: frozenset[str]


def is_number_moved(claim: str, evidence: str, *, share: float) -> bool:
    """Return whether the evidence states the claim's number of another thing, and another number of the claim's thing.

    Only sentences that contain at least `share` of the claim's words count, and all of them must do so.

    >>> is_number_moved("Sales grew by 9% in Spain.", "Sales grew by 4% in Spain and by 9% in Italy.", share=0.6)
    True
    >>> is_number_moved("Sales grew by 9% in Italy.", "Sales grew by 4% in Spain and by 9% in Italy.", share=0.6)
    False
    """
    own = _segment(claim)
    similar = [s for s in _SENTENCE.split(evidence) if len(s.split()) <= MAX_WORDS and plain_share(claim, s) >= share]
    misplaced = [_is_misplaced(own, _segments(sentence)) for sentence in similar]
    return bool(misplaced) and all(misplaced)


def _is_misplaced(own: Segment, segments: tuple[Segment, ...]) -> bool:
    """Return whether a number of the claim is in a single segment, but all its words are in another one."""
    for number in own.numbers:
        containing = [s for s in segments if number in s.numbers]
        others = (s for s in segments if number not in s.numbers)
        if len(containing) == 1 and any(_is_swapped(own, containing[0], other) for other in others):
            return True
    return False


def _is_swapped(own: Segment, here: Segment, there: Segment) -> bool:
    """Return whether `here` has the claim's number with another thing, and `there` its thing with another number."""
    other_things = here.things - own.words - there.words
    own_things = (own.words & there.things) - here.words
    return bool(other_things and own_things and there.numbers - own.numbers and own.words <= there.words)


@lru_cache(maxsize=4096)
def _segments(sentence: str) -> tuple[Segment, ...]:
    return tuple(_segment(piece) for piece in _JOINT.split(sentence) if piece.strip())


def _segment(text: str) -> Segment:
    tagged = tag(text, text)
    stems = [
        (stem(low), kind)
        for low, kind, word in zip(tagged.lows, tagged.tags, tagged.words, strict=True)
        if word[0].isalnum() and not word[0].isdigit() and word.lower() not in FUNCTION_WORDS
    ]
    words = frozenset(stem for stem, _ in stems)
    things = frozenset(stem for stem, kind in stems if kind in _THINGS)
    return Segment(words, things, frozenset(numbers(text)))
