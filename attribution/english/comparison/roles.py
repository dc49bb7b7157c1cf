"""Detect that a claim exchanges who did something and to whom, as far as word order shows it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache, lru_cache

from propcite.attribution.english.grammar import Tagged, tag
from propcite.attribution.english.grammar.verbs import IRREGULAR, THIRD_PERSON
from propcite.attribution.english.words import plain_share, stem

MAX_WORDS = 60  # of a sentence: word order shows little in a longer one
_NOUNS = frozenset("NXJG")
_VERBS = frozenset("VEL")
_ENDS = frozenset(";:.SutWY-B")  # tags that end the clause of a verb's subject or object
_CLAUSE_ENDS = _ENDS - {"B"}
_RIGHT_ENDS = _ENDS | frozenset("VHM")
_SENTENCE = re.compile(r"(?<=[.!?])\s+")
# Per row: words with one meaning | words for the same seen from the other side.
_CONVERSES = (
    "buy purchase acquire|sell",
    "beat defeat overcome|lose",
    "lend|borrow",
    "teach|learn",
    "give|receive get",
    "precede|succeed follow",
    "employ hire|",
    "before|after",
    "higher taller larger bigger greater|lower smaller shorter",
    "older|younger",
    "faster|slower",
    "north|south",
    "east|west",
    "above|below",
)
# Verbs that hold in both directions, and verbs without an acting subject.
_SYMMETRIC = (
    "meet marry merge fight border resemble equal differ agree talk speak play trade compete cooperate sign join share "
    "face accompany neighbour date divorce match connect link combine say state have include become remain report show "
    "see know call name"
)
_ORDER_WORDS, _DIRECTIONS = (
    frozenset(("before", "after", "above", "below")),
    frozenset(("north", "south", "east", "west")),
)


@dataclass(frozen=True, slots=True)
class Relation:
    """A verb or comparison with the words on its subject's and its object's side, all as stems."""

    verb: str
    subject: frozenset[str]
    object: frozenset[str]


def role_mismatch(claim: str, evidence: str, *, share: float) -> str:
    """Return that the claim exchanges subject and object of the evidence; empty if it does not.

    Only sentences of the evidence with at least `share` of the claim's content words count.

    >>> role_mismatch("Alpina bought Northwind.", "Northwind bought Alpina in 2016.", share=0.6)
    'who did it and to whom are exchanged'
    >>> role_mismatch("Alpina was bought by Northwind.", "Northwind bought Alpina in 2016.", share=0.6)
    ''
    """
    claimed = _relations(claim)
    if not claimed:
        return ""
    similar = [sentence for sentence in _SENTENCE.split(evidence) if plain_share(claim, sentence) >= share]
    stated = [relation for sentence in similar for relation in _relations(sentence)]
    for relation in claimed:
        same_verb = [other for other in stated if other.verb == relation.verb]
        is_kept = any(_same_subject(relation, other) for other in same_verb)
        if not is_kept and any(_is_exchanged(relation, other) for other in same_verb):
            return "who did it and to whom are exchanged"
    return ""


def _same_subject(claimed: Relation, stated: Relation) -> bool:
    return bool((claimed.subject - claimed.object) & stated.subject)


def _is_exchanged(claimed: Relation, stated: Relation) -> bool:
    """Return whether the claim's subject is the evidence's object and the claim's object its subject."""
    subject, object_ = claimed.subject - claimed.object, claimed.object - claimed.subject
    return bool(subject & stated.object and object_ & stated.subject)


@lru_cache(maxsize=4096)
def _relations(sentence: str) -> tuple[Relation, ...]:
    tagged = tag(sentence, sentence)
    if not 3 <= len(tagged.words) <= MAX_WORDS:
        return ()
    relations = (_relation(tagged, at) for at in range(len(tagged.words)))
    return tuple(relation for relation in relations if relation and relation.subject and relation.object)


def _relation(s: Tagged, at: int) -> Relation | None:
    """Return the relation that the word at this position expresses; None if it expresses none."""
    low, following = s.lows[at], s.lows[at + 1 : at + 2]
    if (
        low in _ORDER_WORDS
        or (low in _DIRECTIONS and following == ["of"])
        or (following == ["than"] and low.endswith("er"))
    ):
        end = at + 1 if low in _ORDER_WORDS else at + 2
        return _normalized(low, _nouns(s, _left(s, at, whole=True)), _nouns(s, _right(s, end)))
    base = _bases().get(low, low)
    if at == 0 or (s.tags[at] not in _VERBS and low not in _bases()) or stem(base) in _symmetric():
        return None
    if _is_passive(s, at) or following == ["by"]:
        by = next((i for i in _right(s, at + 1) if s.lows[i] == "by"), 0)
        return _normalized(base, _nouns(s, _right(s, by + 1, phrase=True)), _nouns(s, _left(s, at))) if by else None
    after = _right(s, at + 1)
    if s.tags[at] in "EL" and any(s.lows[i] == "by" for i in after):
        return None  # "a plan made in May by Ann" and "Ann made a plan by May" look alike
    return _normalized(base, _nouns(s, _left(s, at)), _nouns(s, after))


def _normalized(verb: str, subject: frozenset[str], object_: frozenset[str]) -> Relation:
    """Return the relation with the first word of its row of converses."""
    first, is_converse = _converses().get(stem(verb), (stem(verb), False))
    return Relation(first, object_, subject) if is_converse else Relation(first, subject, object_)


def _is_passive(s: Tagged, at: int) -> bool:
    """Return whether a form of "be" precedes the participle, with only adverbs in between."""
    before = at - 1
    while before > 0 and s.tags[before] in "an":
        before -= 1
    return s.tags[at] in "EL" and s.tags[before] in "Bb"


def _left(s: Tagged, at: int, *, whole: bool = False) -> list[int]:
    """Return the positions of the clause before a word, back to another verb, or beyond verbs if `whole`.

    Empty after "and" if a verb precedes it, whose subject is then this verb's too.
    """
    positions: list[int] = []
    for i in range(at - 1, -1, -1):
        kind = s.tags[i]
        if not whole and kind == "c" and set(s.tags[:i]) & _VERBS:
            return []
        if kind in _CLAUSE_ENDS or (not whole and kind in "VE") or (kind == "B" and positions and not whole):
            break
        positions.append(i)
    return positions


def _right(s: Tagged, start: int, *, phrase: bool = False) -> list[int]:
    """Return the positions of the clause after a word; if `phrase`, only up to the next preposition or comma."""
    positions: list[int] = []
    for i in range(start, len(s.words)):
        is_infinitive = s.tags[i] == "T" and s.tags[i + 1 : i + 2] == "I"
        if is_infinitive or s.tags[i] in _RIGHT_ENDS or (phrase and positions and s.tags[i] in "P,T"):
            break
        positions.append(i)
    return positions


def _nouns(s: Tagged, positions: list[int]) -> frozenset[str]:
    return frozenset(stem(s.lows[i]) for i in positions if s.tags[i] in _NOUNS and len(s.lows[i]) > 1)


@cache
def _bases() -> dict[str, str]:
    """Return the base of each irregular form, and of the third person of irregular verbs."""
    bases = {form: base for base, *forms in IRREGULAR for form in forms if form != "-"}
    thirds = {form: base for form, base in THIRD_PERSON.items() if base in bases.values()}
    return {**thirds, **bases, "beat": "beat", "beaten": "beat"}


@cache
def _symmetric() -> frozenset[str]:
    return frozenset(map(stem, _SYMMETRIC.split()))


@cache
def _converses() -> dict[str, tuple[str, bool]]:
    """Map a word's stem to the first word of its row, and to whether it is on the row's other side."""
    table: dict[str, tuple[str, bool]] = {}
    for row in _CONVERSES:
        words, converses = (side.split() for side in row.split("|"))
        for side, is_converse in ((words, False), (converses, True)):
            for word in side:
                table[stem(word)] = (words[0], is_converse)
    return table
