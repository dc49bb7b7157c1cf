"""Small changes of a claim or of its evidence after which the one no longer supports the other, or still does."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import permutations

from propcite.attribution.english.words import MONTH_NAMES, NUMBER_WORDS, content_words
from propcite.attribution.judges.training import wordings
from propcite.attribution.judges.training.lexicon import Lexicon
from propcite.attribution.judges.training.pairs import NO, YES, Pair, both_ways

_WORD = r"[^\W\d_][\w'’.-]*\w|[A-Z]"
_NAME = re.compile(r"(?<![.!?]\s)(?<!^)\b[A-Z][\w'’-]+(?:\s+(?:(?:of|the|de|van|von|and)\s+)?[A-Z][\w'’-]+)*")
_FIRST_NAME = re.compile(r"^(?:[A-Z][\w'’-]+\s+)+[A-Z][\w'’-]+")
_FIGURE = re.compile(r"(?<![\w.,])\d+(?:[.,]\d+)*(?![\w]|[.,]\d)")
_PHRASE = re.compile(
    r"\s(?:in|at|for|during|with|by|from|after|before|since|until|under|near|to) (?:[^\s,.;:()]+ ){1,6}[^\s,.;:()]+"
)
_TOGETHER = re.compile(r"^\s*(?:,|and|or|&|,? and|with|, \w+,? and)\s*$")


def names_in(text: str) -> list[str]:
    """What is written like a name: capitals inside a sentence, or two of them at its beginning."""
    found = [m.group() for m in (*_NAME.finditer(text), *_FIRST_NAME.finditer(text))]
    return list(dict.fromkeys(name for name in found if name not in MONTH_NAMES and len(name) > 2))


def changes(pair: Pair, passage: str, lexicon: Lexicon, dice: random.Random) -> list[list[Pair]]:
    """All ways known here to change a supported pair, each with the pairs that it makes."""
    found = (
        _swapped(pair, dice),
        _other_name(pair, passage, dice),
        _other_number(pair, passage, dice),
        wordings.negated(pair, dice),
        wordings.quantified(pair, dice),
        wordings.other_word(pair, lexicon, dice),
        wordings.same_word(pair, lexicon, dice),
        wordings.hedged(pair, dice),
        _phrase_added(pair, passage, dice),
        _evidence_cut(pair, dice),
        wordings.written_otherwise(pair, dice),
    )
    return [made for made in found if made]


def _swapped(pair: Pair, dice: random.Random) -> list[Pair]:
    """Two names of the claim change places, unless they stand in one list."""
    names = [n for n in names_in(pair.claim) if n in pair.evidence]
    apart = [
        (a, b)
        for a, b in permutations(names, 2)
        if a not in b and b not in a and pair.claim.find(a) < pair.claim.find(b)
        and not _TOGETHER.match(pair.claim[pair.claim.find(a) + len(a) : pair.claim.find(b)])
    ]  # fmt: skip
    if not apart:
        return []
    a, b = dice.choice(apart)
    return both_ways(pair, ((a, b), (b, a)), "swapped", dice)


def _other_name(pair: Pair, passage: str, dice: random.Random) -> list[Pair]:
    """A name of the claim gives way to another of the passage, best one that the evidence holds too."""
    own = [n for n in names_in(pair.claim) if n in pair.evidence]
    if not own:
        return []
    old = dice.choice(own)
    others = [n for n in names_in(passage) if not (set(n.split()) & set(pair.claim.split()))]
    near = [n for n in others if n in pair.evidence]
    others = near if near and dice.random() < 0.6 else others
    return both_ways(pair, ((old, dice.choice(others)),), "name", dice) if others else []


def _other_number(pair: Pair, passage: str, dice: random.Random) -> list[Pair]:
    """A number gives way to another of the passage or to one nearby; a month to another month."""
    figures = [m.group() for m in _FIGURE.finditer(pair.claim)]
    months = [m for m in MONTH_NAMES if re.search(rf"\b{m}\b", pair.claim)]
    words = [w for w in NUMBER_WORDS if w not in ("zero", "one") and re.search(rf"\b{w}\b", pair.claim)]
    if not figures + months + words:
        return []
    old = dice.choice(figures + months + words)
    if old in months:
        new = dice.choice([m for m in MONTH_NAMES if m != old])
    elif old in words:
        new = dice.choice([w for w in NUMBER_WORDS if w not in ("zero", "one", old)])
    else:
        others = {m.group() for m in _FIGURE.finditer(passage)} - set(figures)
        new = dice.choice(sorted(others)) if others and dice.random() < 0.6 else _nearby(old, dice)
    return both_ways(pair, ((old, new),), "number", dice)


def _nearby(figure: str, dice: random.Random) -> str:
    """The figure with one digit changed."""
    places = [i for i, c in enumerate(figure) if c.isdigit()]
    at = dice.choice(places)
    digit = dice.choice([d for d in "123456789" if d != figure[at]])
    return figure[:at] + digit + figure[at + 1 :]


def _phrase_added(pair: Pair, passage: str, dice: random.Random) -> list[Pair]:
    """The claim says more than the evidence: a phrase from elsewhere in the passage."""
    given = set(content_words(pair.evidence))
    phrases = [m.group() for m in _PHRASE.finditer(passage) if not set(content_words(m.group())) <= given]
    if not phrases:
        return []
    phrase = dice.choice(phrases)
    claim, evidence = pair.claim.rstrip(" .") + phrase + ".", pair.evidence.rstrip(" .") + phrase + "."
    return [
        replace(pair, claim=claim, label=NO, kind="added"),
        replace(pair, claim=claim, evidence=evidence, kind="added both")
        if dice.random() < 0.6
        else replace(pair, evidence=evidence, kind="added evidence"),
    ]


def _evidence_cut(pair: Pair, dice: random.Random) -> list[Pair]:
    """The evidence loses a few words: those that the claim needs, or others."""
    words = pair.evidence.split(" ")
    wanted = set(content_words(pair.claim))
    needed = [i for i, word in enumerate(words) if set(content_words(word)) & wanted]
    made = list(_cuts(pair, words, set(needed), dice))
    return made if len(needed) >= 3 else made[:1]


def _cuts(pair: Pair, words: Sequence[str], needed: set[int], dice: random.Random) -> Iterator[Pair]:
    """One piece without a needed word, and one with at least half of them."""
    sizes = [(i, n) for n in (2, 3, 4) for i in range(len(words) - n)]
    free = [(i, n) for i, n in sizes if not needed & set(range(i, i + n))]
    key = [(i, n) for i, n in sizes if i > 0 and len(needed & set(range(i, i + n))) >= max(2, n - 1)]
    for places, label, kind in ((free, YES, "other words cut"), (key, NO, "needed words cut")):
        if places:
            i, n = dice.choice(places)
            yield replace(pair, evidence=" ".join([*words[:i], *words[i + n :]]), label=label, kind=kind)
