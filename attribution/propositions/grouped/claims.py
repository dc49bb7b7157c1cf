"""Take the network's own claims where they read as sentences, and the rules' nearest where they do not."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from propcite.attribution.english import Fact, Tagged
from propcite.attribution.english import lexicon as lex
from propcite.attribution.propositions.claim_selection import (
    MIN_HELD,
    MIN_OWN,
    NetworkOutput,
    agreeing,
    agreement,
)
from propcite.attribution.propositions.grouped.meaning import changes_meaning
from propcite.attribution.propositions.grouped.steps import fact_of
from propcite.attribution.propositions.metrics import jaccard
from propcite.attribution.propositions.parses import Parse
from propcite.attribution.propositions.reading import is_complete
from propcite.attribution.propositions.rules import loses_words

if TYPE_CHECKING:
    from propcite.attribution.propositions.grouped.writer import Written

MIN_PROBABILITY = 0.85  # geometric mean of a claim's words, from which it is taken as written
MIN_ALIKE = 0.6  # Jaccard of the words that a claim should say and those that it says


def held_tokens(output: NetworkOutput) -> list[frozenset[int]]:
    """Return the tokens of the words that each claim of the network holds; empty if there are fewer than two."""
    return [
        frozenset(token for token, of_token in enumerate(output.words) if words & set(of_token))
        for words in _grouped_words(output)
    ]


def _grouped_words(output: NetworkOutput) -> list[frozenset[int]]:
    anchors = np.flatnonzero(output.own >= MIN_OWN).tolist()
    if len(anchors) < 2:
        return []
    groups = agreeing(anchors, 1 - agreement(output.pairs, anchors).astype(np.float64))
    held = [np.flatnonzero(output.pairs[own].mean(0) >= MIN_HELD) for own in groups]
    claims = dict.fromkeys(frozenset([*own, *more.tolist()]) for own, more in zip(groups, held, strict=True))
    return list(claims) if len(claims) > 1 else []


def grouped_claims(
    s: Tagged,
    parse: Parse,
    held: Sequence[frozenset[int]],
    written: Sequence[Written | None],
    of_rules: Sequence[Fact],
) -> list[Fact]:
    """Return the network's claims, in the sentence's order; empty if these and the rules' do not hold all its words.

    `held` are the tokens of each claim, `written` is what the network wrote of them.  For a claim that does not read as
    a sentence the rules' nearest stands, and further ones for words that are lost.
    """
    by_words: dict[frozenset[int], Fact] = {}
    for tokens, claim in zip(held, written, strict=True):
        fact = _trusted(s, parse, tokens, claim)
        if fact is None:
            fact = max(of_rules, key=lambda one: jaccard(_words(s, one), tokens), default=None)
        if fact is not None:
            by_words.setdefault(_words(s, fact), fact)
    for fact in of_rules if by_words else ():
        if not loses_words(s, list(by_words.values())):
            break
        if _words(s, fact) - frozenset().union(*by_words):
            by_words[_words(s, fact)] = fact
    for whole in [words for words in by_words if by_words[words] in of_rules]:
        parts = [words for words in by_words if words < whole]
        if len(parts) > 1 and not whole - frozenset().union(*parts):
            del by_words[whole]
    claims = [by_words[words] for words in sorted(by_words, key=lambda words: (max(words, default=0), len(words)))]
    return [] if loses_words(s, claims) else claims


def _trusted(s: Tagged, parse: Parse, tokens: frozenset[int], claim: Written | None) -> Fact | None:
    """Return what the network wrote; None if it is not sure, or if that says something else than these tokens."""
    if claim is None or claim.probability < MIN_PROBABILITY:
        return None
    fact = fact_of(s, claim.steps)
    said = {step.token for step in claim.steps if step.token is not None}
    lost = {at for at in tokens if s.lows[at] not in lex.FUNCTION_WORDS} - said
    is_alike = jaccard(_words(s, fact), tokens) >= MIN_ALIKE
    is_true = not changes_meaning(s, parse, said)
    return fact if is_alike and not lost and is_true and is_complete(s, parse, fact) else None


def _words(s: Tagged, fact: Fact) -> frozenset[int]:
    return frozenset(at for piece in fact for at in range(piece.start, piece.end) if s.words[at][:1].isalnum())
