"""Change single words of a pair: negations, quantities, opposites, synonyms, hedges and the spelling of numbers."""

from __future__ import annotations

import random
import re
from dataclasses import replace

from propcite.attribution.english import FUNCTION_WORDS, NUMBER_WORDS
from propcite.attribution.judges.training.lexicon import Lexicon
from propcite.attribution.judges.training.pairs import MOSTLY, NO, Pair, Replacements, one_and_both_sides

_AUXILIARIES = "is are was were has have had can could will would should must may might".split()
# A stronger and a weaker quantity, and whether the stronger one implies the weaker one.
_QUANTITIES = (
    ("all", "some", 1), ("all", "most", 1), ("every", "some", 1), ("most", "some", 1), ("many", "some", 1),
    ("always", "often", 1), ("always", "sometimes", 1), ("usually", "sometimes", 1), ("both", "one of the two", 0),
    ("only", "also", 0), ("few", "many", 0), ("more than", "less than", 0), ("at least", "at most", 0),
    ("before", "after", 0), ("largest", "smallest", 0), ("first", "last", 0), ("first", "second", 0),
    ("increased", "decreased", 0), ("higher", "lower", 0), ("early", "late", 0), ("highest", "lowest", 0),
    ("north", "south", 0), ("east", "west", 0), ("male", "female", 0), ("win", "lose", 0), ("won", "lost", 0),
)  # fmt: skip
_HEDGES = {
    "is": "may be", "are": "might be", "was": "may have been", "were": "may have been", "has": "may have",
    "had": "might have had", "will": "might", "can": "might", "have": "may have",
}  # fmt: skip


def negate(pair: Pair, rng: random.Random) -> list[Pair]:
    """Add a "not" or "never", or remove a "not"."""
    if re.search(r"\bnot\b", pair.claim) and re.search(r"\bnot\b", pair.evidence):
        return one_and_both_sides(pair, (("not", "indeed"),), "denial gone", rng)
    auxiliaries = [w for w in _AUXILIARIES if re.search(rf"\b{w}\b", pair.claim)]
    if auxiliaries:
        old = rng.choice(auxiliaries)
        new = rng.choice([f"{old} not", f"{old} never", f"{old} not"])
        return one_and_both_sides(pair, ((old, new),), "denied", rng)
    verb = re.search(r"\b([a-z]{3,})ed\b", pair.claim)
    return one_and_both_sides(pair, ((verb.group(), f"never {verb.group()}"),), "denied", rng) if verb else []


def change_quantity(pair: Pair, rng: random.Random) -> list[Pair]:
    """Let the claim say more than the evidence, or less, or the opposite."""
    pairs: list[Pair] = []
    for strong, weak, implied in rng.sample(_QUANTITIES, len(_QUANTITIES)):
        for old, new, label in ((strong, weak, MOSTLY if implied else NO), (weak, strong, NO)):
            claim = re.sub(rf"\b{old}\b", new, pair.claim, count=1)
            if claim != pair.claim and re.search(rf"\b{old}\b", pair.evidence):
                pairs.append(replace(pair, claim=claim, label=label, kind="quantity"))
                evidence = re.sub(rf"\b{old}\b", new, pair.evidence, count=1)
                pairs.append(replace(pair, claim=claim, evidence=evidence, kind="quantity both"))
                return pairs
    return pairs


def replace_word(pair: Pair, lexicon: Lexicon, rng: random.Random) -> list[Pair]:
    """Replace a word by its opposite or by another word of the same kind."""
    words = [w for w in _plain_words(pair.claim) if lexicon.contrasts(w) and re.search(rf"\b{w}\b", pair.evidence)]
    if not words:
        return []
    old = rng.choice(words)
    new = rng.choice(lexicon.contrasts(old))
    return [] if new in pair.evidence else one_and_both_sides(pair, ((old, new),), "word", rng)


def replace_synonyms(pair: Pair, lexicon: Lexicon, rng: random.Random) -> list[Pair]:
    """Replace words by synonyms; the claim is still supported."""
    words = [w for w in _plain_words(pair.claim) if lexicon.synonyms(w)]
    if not words:
        return []
    chosen = rng.sample(words, min(len(words), 2))
    replacements: Replacements = tuple((w, rng.choice(lexicon.synonyms(w))) for w in chosen)
    pairs = one_and_both_sides(pair, replacements, "synonym", rng, label=MOSTLY)
    return [pairs[0]] if pairs else []


def _plain_words(text: str) -> list[str]:
    """Return the lower-case words that are no function words."""
    return [w for w in dict.fromkeys(re.findall(r"(?<![\w'’-])[a-z]{3,}(?![\w'’-])", text)) if w not in FUNCTION_WORDS]


def hedge(pair: Pair, rng: random.Random) -> list[Pair]:
    """Let the evidence only call possible what the claim states, or hedge both."""
    verbs = [w for w in _HEDGES if re.search(rf"\b{w}\b", pair.claim) and re.search(rf"\b{w}\b", pair.evidence)]
    if not verbs:
        return []
    old = rng.choice(verbs)
    claim = re.sub(rf"\b{old}\b", _HEDGES[old], pair.claim, count=1)
    evidence = re.sub(rf"\b{old}\b", _HEDGES[old], pair.evidence)
    return [
        replace(pair, evidence=evidence, label=0.15, kind="hedged"),
        replace(pair, claim=claim, evidence=evidence, kind="hedged both"),
    ]


def rewrite_numbers(pair: Pair, rng: random.Random) -> list[Pair]:
    """Write the claim's numbers and dates in another form; the claim is still supported."""
    names = {str(v): w for w, v in NUMBER_WORDS.items() if 2 <= v <= 20}
    claim = re.sub(r"(?<![\w.,:])(\d{1,2})(?![\w]|[.,:]\d)", lambda m: names.get(m[1], m[1]), pair.claim)
    claim = re.sub(r"\b(\d{1,2}) ([A-Z][a-z]+) (\d{4})\b", r"\2 \1, \3", claim)
    claim = re.sub(r"(\d)\s?%", r"\1 percent", claim) if rng.random() < 0.7 else claim
    claim = re.sub(r"(\d),(\d{3})\b", r"\1\2", claim)
    return [replace(pair, claim=claim, kind="writing")] if claim != pair.claim else []
