"""Find the clause of a sentence that states a claim, by rules and shared words."""

from __future__ import annotations

import re
from functools import cache

from propcite.attribution.propositions.rules import RuleSplitter
from propcite.retrieval.text import Span, join_spans

MIN_F1 = 0.3  # of the words of clause and claim
_WORDS = re.compile(r"\w+(?:[.,]\d+)*")


def nearest_clause(claim: str, sentence: str) -> tuple[Span, ...]:
    """Return where in a sentence its clause nearest to a claim is; empty if it has one clause only, or none is near.

    >>> [span.of("It is 96 metres long, and it carries walkers only.") for span in
    ...  nearest_clause("The bridge is 96 metres long.", "It is 96 metres long, and it carries walkers only.")]
    ['It is 96 metres long']
    """
    clauses = [proposition.spans for proposition in _splitter().split_many([sentence], [()])[0]]
    if len(clauses) < 2:
        return ()
    claim_words = _words(claim)
    scores = [_f1(claim_words, _words(join_spans(spans, sentence))) for spans in clauses]
    best = max(scores)
    return clauses[scores.index(best)] if best >= MIN_F1 else ()


@cache
def _splitter() -> RuleSplitter:
    return RuleSplitter()


def _words(text: str) -> set[str]:
    return {word.casefold() for word in _WORDS.findall(text)}


def _f1(one: set[str], other: set[str]) -> float:
    """Return the F1 of two sets: of two clauses that share as many words, the shorter is nearer."""
    return 2 * len(one & other) / max(1, len(one) + len(other))
