"""Changes of single words: "not", quantities, opposites, synonyms, a mere "may", numbers written otherwise."""

from __future__ import annotations

import random
import re
from dataclasses import replace

from propcite.attribution.english.words import FUNCTION_WORDS, NUMBER_WORDS
from propcite.attribution.judges.training.lexicon import Lexicon
from propcite.attribution.judges.training.pairs import MOSTLY, NO, Change, Pair, both_ways

_AUXILIARY = "is are was were has have had can could will would should must may might".split()
_QUANTITIES = (
    ("all", "some", 1), ("all", "most", 1), ("every", "some", 1), ("most", "some", 1), ("many", "some", 1),
    ("always", "often", 1), ("always", "sometimes", 1), ("usually", "sometimes", 1), ("both", "one of the two", 0),
    ("only", "also", 0), ("few", "many", 0), ("more than", "less than", 0), ("at least", "at most", 0),
    ("before", "after", 0), ("largest", "smallest", 0), ("first", "last", 0), ("first", "second", 0),
    ("increased", "decreased", 0), ("higher", "lower", 0), ("early", "late", 0), ("highest", "lowest", 0),
    ("north", "south", 0), ("east", "west", 0), ("male", "female", 0), ("win", "lose", 0), ("won", "lost", 0),
)  # fmt: skip


def negated(pair: Pair, dice: random.Random) -> list[Pair]:
    """A "not" comes in, or goes out."""
    if re.search(r"\bnot\b", pair.claim) and re.search(r"\bnot\b", pair.evidence):
        return both_ways(pair, (("not", "indeed"),), "denial gone", dice)
    here = [w for w in _AUXILIARY if re.search(rf"\b{w}\b", pair.claim)]
    if here:
        old = dice.choice(here)
        return both_ways(pair, ((old, dice.choice([f"{old} not", f"{old} never", f"{old} not"])),), "denied", dice)
    verb = re.search(r"\b([a-z]{3,})ed\b", pair.claim)
    return both_ways(pair, ((verb.group(), f"never {verb.group()}"),), "denied", dice) if verb else []


def quantified(pair: Pair, dice: random.Random) -> list[Pair]:
    """More is claimed than the evidence says, or less; or the opposite."""
    made: list[Pair] = []
    for strong, weak, implied in dice.sample(_QUANTITIES, len(_QUANTITIES)):
        for old, new, label in ((strong, weak, MOSTLY if implied else NO), (weak, strong, NO)):
            claim = re.sub(rf"\b{old}\b", new, pair.claim, count=1)
            if claim != pair.claim and re.search(rf"\b{old}\b", pair.evidence):
                made.append(replace(pair, claim=claim, label=label, kind="quantity"))
                evidence = re.sub(rf"\b{old}\b", new, pair.evidence, count=1)
                made.append(replace(pair, claim=claim, evidence=evidence, kind="quantity both"))
                return made
    return made


def other_word(pair: Pair, lexicon: Lexicon, dice: random.Random) -> list[Pair]:
    """A word gives way to its opposite or to another kind of the same thing."""
    words = [w for w in _plain(pair.claim) if lexicon.others(w) and re.search(rf"\b{w}\b", pair.evidence)]
    if not words:
        return []
    old = dice.choice(words)
    new = dice.choice(lexicon.others(old))
    return [] if new in pair.evidence else both_ways(pair, ((old, new),), "word", dice)


def same_word(pair: Pair, lexicon: Lexicon, dice: random.Random) -> list[Pair]:
    """Words give way to others that mean the same: still supported."""
    words = [w for w in _plain(pair.claim) if lexicon.same(w)]
    if not words:
        return []
    table: Change = tuple((w, dice.choice(lexicon.same(w))) for w in dice.sample(words, min(len(words), 2)))
    made = both_ways(pair, table, "synonym", dice, label=MOSTLY)
    return [made[0]] if made else []


def _plain(text: str) -> list[str]:
    return [w for w in dict.fromkeys(re.findall(r"(?<![\w'’-])[a-z]{3,}(?![\w'’-])", text)) if w not in FUNCTION_WORDS]


def hedged(pair: Pair, dice: random.Random) -> list[Pair]:
    """The evidence only holds possible what the claim states; or both do."""
    softer = {"is": "may be", "are": "might be", "was": "may have been", "were": "may have been", "has": "may have",
              "had": "might have had", "will": "might", "can": "might", "have": "may have"}  # fmt: skip
    here = [w for w in softer if re.search(rf"\b{w}\b", pair.claim) and re.search(rf"\b{w}\b", pair.evidence)]
    if not here:
        return []
    old = dice.choice(here)
    claim = re.sub(rf"\b{old}\b", softer[old], pair.claim, count=1)
    evidence = re.sub(rf"\b{old}\b", softer[old], pair.evidence)
    return [
        replace(pair, evidence=evidence, label=0.15, kind="hedged"),
        replace(pair, claim=claim, evidence=evidence, kind="hedged both"),
    ]


def written_otherwise(pair: Pair, dice: random.Random) -> list[Pair]:
    """The same number in another writing: still supported."""
    names = {str(v): w for w, v in NUMBER_WORDS.items() if 2 <= v <= 20}
    claim = re.sub(r"(?<![\w.,:])(\d{1,2})(?![\w]|[.,:]\d)", lambda m: names.get(m[1], m[1]), pair.claim)
    claim = re.sub(r"\b(\d{1,2}) ([A-Z][a-z]+) (\d{4})\b", r"\2 \1, \3", claim)
    claim = re.sub(r"(\d)\s?%", r"\1 percent", claim) if dice.random() < 0.7 else claim
    claim = re.sub(r"(\d),(\d{3})\b", r"\1\2", claim)
    return [replace(pair, claim=claim, kind="writing")] if claim != pair.claim else []
