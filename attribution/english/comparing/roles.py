"""Who did what to whom, as far as the order of words tells: does the claim say it the other way round?  No model."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache, lru_cache

from propcite.attribution.english.grammar import Tagged, tag
from propcite.attribution.english.grammar.verbs import IRREGULAR, THIRD_PERSON
from propcite.attribution.english.words import plain_share, stem

LONGEST = 60  # words of a sentence that is read: the order of a longer one tells little
_NAMES = frozenset("NXJG")
_VERBS = frozenset("VEL")
_ENDS = frozenset(";:.SutWY-B")  # where a clause ends that a verb's doer or object stands in
_CLAUSE = _ENDS - {"B"}
_STOPS = _ENDS | frozenset("VHM")
_SENTENCE = re.compile(r"(?<=[.!?])\s+")
# Each row: what says the same | what says it from the other end.
_ENDWISE = (
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
# What two do together is true from either end, and some verbs tell of no doer.
_MUTUAL = (
    "meet marry merge fight border resemble equal differ agree talk speak play trade compete cooperate sign join share "
    "face accompany neighbour date divorce match connect link combine say state have include become remain report show "
    "see know call name"
)
_TIMES, _SIDES = frozenset(("before", "after", "above", "below")), frozenset(("north", "south", "east", "west"))


@dataclass(frozen=True, slots=True)
class Deed:
    """What was done, by whom (`doer`) and to whom or what (`other`), as stems of words."""

    what: str
    doer: frozenset[str]
    other: frozenset[str]


def exchanged(claim: str, evidence: str, *, share: float) -> str:
    """Why the claim has doer and sufferer the other way round from the evidence; "" where it has not.

    A sentence of the evidence must hold that share of the claim's content words.

    >>> exchanged("Alpina bought Northwind.", "Northwind bought Alpina in 2016.", share=0.6)
    'who did it and to whom are exchanged'
    >>> exchanged("Alpina was bought by Northwind.", "Northwind bought Alpina in 2016.", share=0.6)
    ''
    """
    claimed = _deeds(claim)
    if not claimed:
        return ""
    speaking = [sentence for sentence in _SENTENCE.split(evidence) if plain_share(claim, sentence) >= share]
    given = [deed for sentence in speaking for deed in _deeds(sentence)]
    for deed in claimed:
        same = [_sides(deed, other) for other in given if other.what == deed.what]
        if "turned" in same and "kept" not in same:
            return "who did it and to whom are exchanged"
    return ""


def _sides(claimed: Deed, given: Deed) -> str:
    """Whether the claim's doer is one in the evidence too, or is there what the claim's doer did it to."""
    doer, other = claimed.doer - claimed.other, claimed.other - claimed.doer
    if doer & given.doer:
        return "kept"
    return "turned" if doer & given.other and other & given.doer else ""


@lru_cache(maxsize=4096)
def _deeds(sentence: str) -> tuple[Deed, ...]:
    tagged = tag(sentence, sentence)
    if not 3 <= len(tagged.words) <= LONGEST:
        return ()
    return tuple(deed for at in range(len(tagged.words)) if (deed := _deed(tagged, at)) and deed.doer and deed.other)


def _deed(s: Tagged, at: int) -> Deed | None:
    """What the word at this place tells, if it tells who did something to whom, or what stands how to what."""
    low, following = s.lows[at], s.lows[at + 1 : at + 2]
    if low in _TIMES or (low in _SIDES and following == ["of"]) or (following == ["than"] and low.endswith("er")):
        end = at + 1 if low in _TIMES else at + 2
        return _told(low, _names(s, _left(s, at, whole=True)), _names(s, _right(s, end)))
    base = _bases().get(low, low)
    if at == 0 or (s.tags[at] not in _VERBS and low not in _bases()) or stem(base) in _mutual():
        return None
    if _is_passive(s, at) or s.lows[at + 1 : at + 2] == ["by"]:
        by = next((i for i in _right(s, at + 1) if s.lows[i] == "by"), 0)
        return _told(base, _names(s, _right(s, by + 1, phrase=True)), _names(s, _left(s, at))) if by else None
    after = _right(s, at + 1)
    if s.tags[at] in "EL" and any(s.lows[i] == "by" for i in after):
        return None  # "a plan made in May by Ann" and "Ann made a plan by May" look alike
    return _told(base, _names(s, _left(s, at)), _names(s, after))


def _told(base: str, doer: frozenset[str], other: frozenset[str]) -> Deed:
    what, turned = _same_word().get(stem(base), (stem(base), False))
    return Deed(what, other, doer) if turned else Deed(what, doer, other)


def _is_passive(s: Tagged, at: int) -> bool:
    """Whether a form of "be" stands before the participle, adverbs between."""
    before = at - 1
    while before > 0 and s.tags[before] in "an":
        before -= 1
    return s.tags[at] in "EL" and s.tags[before] in "Bb"


def _left(s: Tagged, at: int, *, whole: bool = False) -> list[int]:
    """The places of the clause before a word, back to another verb; of a `whole` clause verbs are no end.

    None where the clause goes on after another verb: its doer stands before that.
    """
    found: list[int] = []
    for i in range(at - 1, -1, -1):
        tag_here = s.tags[i]
        if not whole and tag_here == "c" and set(s.tags[:i]) & _VERBS:
            return []
        if tag_here in _CLAUSE or (not whole and tag_here in "VE") or (tag_here == "B" and found and not whole):
            break
        found.append(i)
    return found


def _right(s: Tagged, start: int, *, phrase: bool = False) -> list[int]:
    """The places of the clause after a word; of a `phrase` only as far as the next preposition or comma."""
    found: list[int] = []
    for i in range(start, len(s.words)):
        infinitive = s.tags[i] == "T" and s.tags[i + 1 : i + 2] == "I"
        if infinitive or s.tags[i] in _STOPS or (phrase and found and s.tags[i] in "P,T"):
            break
        found.append(i)
    return found


def _names(s: Tagged, places: list[int]) -> frozenset[str]:
    return frozenset(stem(s.lows[i]) for i in places if s.tags[i] in _NAMES and len(s.lows[i]) > 1)


@cache
def _bases() -> dict[str, str]:
    """Irregular and third-person forms with their verb's base."""
    found = {form: base for base, *forms in IRREGULAR for form in forms if form != "-"}
    thirds = {form: base for form, base in THIRD_PERSON.items() if base in found.values()}
    return {**thirds, **found, "beat": "beat", "beaten": "beat"}


@cache
def _mutual() -> frozenset[str]:
    return frozenset(map(stem, _MUTUAL.split()))


@cache
def _same_word() -> dict[str, tuple[str, bool]]:
    """For a word's stem: the word that stands for its row, and whether it tells the same from the other end."""
    table: dict[str, tuple[str, bool]] = {}
    for row in _ENDWISE:
        this, other = (side.split() for side in row.split("|"))
        for words, turned in ((this, False), (other, True)):
            for word in words:
                table[stem(word)] = (this[0], turned)
    return table
