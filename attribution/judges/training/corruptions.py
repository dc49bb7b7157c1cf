"""Change a supported pair of claim and evidence a little, so that the claim is no longer supported, or still is."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import permutations

from propcite.attribution.english import MONTH_NAMES, NUMBER_WORDS, content_words
from propcite.attribution.judges.training import word_changes
from propcite.attribution.judges.training.lexicon import Lexicon
from propcite.attribution.judges.training.pairs import NO, YES, Pair, one_and_both_sides

_NAME = re.compile(r"(?<![.!?]\s)(?<!^)\b[A-Z][\w'’-]+(?:\s+(?:(?:of|the|de|van|von|and)\s+)?[A-Z][\w'’-]+)*")
_FIRST_NAME = re.compile(r"^(?:[A-Z][\w'’-]+\s+)+[A-Z][\w'’-]+")
_FIGURE = re.compile(r"(?<![\w.,])\d+(?:[.,]\d+)*(?![\w]|[.,]\d)")
_PHRASE = re.compile(
    r"\s(?:in|at|for|during|with|by|from|after|before|since|until|under|near|to) (?:[^\s,.;:()]+ ){1,6}[^\s,.;:()]+"
)
_LISTED_TOGETHER = re.compile(r"^\s*(?:,|and|or|&|,? and|with|, \w+,? and)\s*$")


def names_in(text: str) -> list[str]:
    """Find names: capitalised words inside a sentence, or two of them at its beginning."""
    matches = [m.group() for m in (*_NAME.finditer(text), *_FIRST_NAME.finditer(text))]
    return list(dict.fromkeys(name for name in matches if name not in MONTH_NAMES and len(name) > 2))


def changed_pairs(pair: Pair, passage: str, lexicon: Lexicon, rng: random.Random) -> list[list[Pair]]:
    """Change a supported pair in every possible way; each way gives a list of pairs."""
    ways = (
        _swap_names(pair, rng),
        _replace_name(pair, passage, rng),
        _replace_number(pair, passage, rng),
        word_changes.negate(pair, rng),
        word_changes.change_quantity(pair, rng),
        word_changes.replace_word(pair, lexicon, rng),
        word_changes.replace_synonyms(pair, lexicon, rng),
        word_changes.hedge(pair, rng),
        _add_phrase(pair, passage, rng),
        _shorten_evidence(pair, rng),
        word_changes.rewrite_numbers(pair, rng),
    )
    return [way for way in ways if way]


def _swap_names(pair: Pair, rng: random.Random) -> list[Pair]:
    """Swap two names of the claim, unless they are items of one list."""
    names = [n for n in names_in(pair.claim) if n in pair.evidence]
    apart = [
        (a, b)
        for a, b in permutations(names, 2)
        if a not in b and b not in a and pair.claim.find(a) < pair.claim.find(b)
        and not _LISTED_TOGETHER.match(pair.claim[pair.claim.find(a) + len(a) : pair.claim.find(b)])
    ]  # fmt: skip
    if not apart:
        return []
    a, b = rng.choice(apart)
    return one_and_both_sides(pair, ((a, b), (b, a)), "swapped", rng)


def _replace_name(pair: Pair, passage: str, rng: random.Random) -> list[Pair]:
    """Replace a name of the claim by another name of the passage, preferably one in the evidence."""
    own = [n for n in names_in(pair.claim) if n in pair.evidence]
    if not own:
        return []
    old = rng.choice(own)
    others = [n for n in names_in(passage) if not (set(n.split()) & set(pair.claim.split()))]
    in_evidence = [n for n in others if n in pair.evidence]
    others = in_evidence if in_evidence and rng.random() < 0.6 else others
    return one_and_both_sides(pair, ((old, rng.choice(others)),), "name", rng) if others else []


def _replace_number(pair: Pair, passage: str, rng: random.Random) -> list[Pair]:
    """Replace a number by another of the passage or by a similar one, or a month by another month."""
    figures = [m.group() for m in _FIGURE.finditer(pair.claim)]
    months = [m for m in MONTH_NAMES if re.search(rf"\b{m}\b", pair.claim)]
    words = [w for w in NUMBER_WORDS if w not in ("zero", "one") and re.search(rf"\b{w}\b", pair.claim)]
    if not figures + months + words:
        return []
    old = rng.choice(figures + months + words)
    if old in months:
        new = rng.choice([m for m in MONTH_NAMES if m != old])
    elif old in words:
        new = rng.choice([w for w in NUMBER_WORDS if w not in ("zero", "one", old)])
    else:
        others = {m.group() for m in _FIGURE.finditer(passage)} - set(figures)
        new = rng.choice(sorted(others)) if others and rng.random() < 0.6 else _change_digit(old, rng)
    return one_and_both_sides(pair, ((old, new),), "number", rng)


def _change_digit(figure: str, rng: random.Random) -> str:
    places = [i for i, c in enumerate(figure) if c.isdigit()]
    at = rng.choice(places)
    digit = rng.choice([d for d in "123456789" if d != figure[at]])
    return figure[:at] + digit + figure[at + 1 :]


def _add_phrase(pair: Pair, passage: str, rng: random.Random) -> list[Pair]:
    """Add a phrase from elsewhere in the passage to the claim, so that it says more than the evidence."""
    evidence_words = set(content_words(pair.evidence))
    phrases = [m.group() for m in _PHRASE.finditer(passage) if not set(content_words(m.group())) <= evidence_words]
    if not phrases:
        return []
    phrase = rng.choice(phrases)
    claim, evidence = pair.claim.rstrip(" .") + phrase + ".", pair.evidence.rstrip(" .") + phrase + "."
    return [
        replace(pair, claim=claim, label=NO, kind="added"),
        replace(pair, claim=claim, evidence=evidence, kind="added both")
        if rng.random() < 0.6
        else replace(pair, evidence=evidence, kind="added evidence"),
    ]


def _shorten_evidence(pair: Pair, rng: random.Random) -> list[Pair]:
    """Cut a few words from the evidence: some that the claim needs, or some that it does not need."""
    words = pair.evidence.split(" ")
    claim_words = set(content_words(pair.claim))
    needed = [i for i, word in enumerate(words) if set(content_words(word)) & claim_words]
    cuts = list(_cuts(pair, words, set(needed), rng))
    return cuts if len(needed) >= 3 else cuts[:1]


def _cuts(pair: Pair, words: Sequence[str], needed: set[int], rng: random.Random) -> Iterator[Pair]:
    """Yield a pair without a run of words that are not needed, and one without at least half of the needed words."""
    runs = [(i, n) for n in (2, 3, 4) for i in range(len(words) - n)]
    free = [(i, n) for i, n in runs if not needed & set(range(i, i + n))]
    key = [(i, n) for i, n in runs if i > 0 and len(needed & set(range(i, i + n))) >= max(2, n - 1)]
    for places, label, kind in ((free, YES, "other words cut"), (key, NO, "needed words cut")):
        if places:
            i, n = rng.choice(places)
            yield replace(pair, evidence=" ".join([*words[:i], *words[i + n :]]), label=label, kind=kind)
