"""How much of a claim's words the evidence holds."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

from propcite.attribution.english.words.content import content_words, plain_words, stem
from propcite.attribution.english.words.spellings import NUMBER_WORDS, SCALES


def stands_in(claim: str, evidence: str) -> bool:
    """Whether the evidence holds the claim's very words, one after the other."""
    return f" {' '.join(plain_words(claim))} " in f" {' '.join(plain_words(evidence))} "


def plain_share(claim: str, evidence: str) -> float:
    """The share of the claim's content words, numbers left out, that the evidence holds."""
    wanted = telling_words(claim)
    if wanted:
        return share_found(wanted, content_words(evidence))
    said, given = ([w for w in plain_words(text) if not w[0].isdigit()] for text in (claim, evidence))
    return float(said == given)


def telling_words(text: str) -> list[str]:
    """The content words that are no number."""
    return [word for word in content_words(text) if not any(map(str.isdigit, word)) and word not in _number_stems()]


@cache
def _number_stems() -> frozenset[str]:
    return frozenset(stem(word) for word in (*NUMBER_WORDS, *SCALES))


def share_found(wanted: Iterable[str], given: Iterable[str]) -> float:
    """The share of `wanted` that is in `given`; 1 when nothing is wanted."""
    wanted_set, given_set = set(wanted), set(given)
    return len(wanted_set & given_set) / len(wanted_set) if wanted_set else 1.0
