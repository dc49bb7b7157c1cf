"""The clause of a sentence that states a claim, found by rules and by the words of both: no model is needed."""

from __future__ import annotations

import re
from functools import cache

from propcite.attribution.propositions.rules import RuleSplitter
from propcite.retrieval.text import Span, words_of

LEAST = 0.3  # of the words of clause and claim that must be shared
_WORDS = re.compile(r"\w+(?:[.,]\d+)*")


def stating(claim: str, sentence: str) -> tuple[Span, ...]:
    """Where in a sentence its clause nearest to a claim stands; empty where it has one clause alone, or none is near.

    >>> [span.of("It is 96 metres long, and it carries walkers only.") for span in
    ...  stating("The bridge is 96 metres long.", "It is 96 metres long, and it carries walkers only.")]
    ['It is 96 metres long']
    """
    clauses = [proposition.spans for proposition in _splitter().split_many([sentence], [()])[0]]
    if len(clauses) < 2:
        return ()
    wanted = _words(claim)
    shares = [_shared(wanted, _words(words_of(spans, sentence))) for spans in clauses]
    best = max(shares)
    return clauses[shares.index(best)] if best >= LEAST else ()


@cache
def _splitter() -> RuleSplitter:
    return RuleSplitter()


def _words(text: str) -> set[str]:
    return {word.casefold() for word in _WORDS.findall(text)}


def _shared(one: set[str], other: set[str]) -> float:
    """F1 of their words: of two clauses that share as many, the shorter is nearer."""
    return 2 * len(one & other) / max(1, len(one) + len(other))
