"""How much exact words count beside vectors, and what a query puts in quotes."""

from __future__ import annotations

import re

from propcite.retrieval.text import Granularity, Span

# What all words of a query together add to a similarity.
QUESTION_SHARES = {Granularity.PASSAGE: 0.1, Granularity.SENTENCE: 0.05, Granularity.PROPOSITION: 0.05}
CLAIM_SHARES = {Granularity.PASSAGE: 0.15, Granularity.SENTENCE: 0.15, Granularity.PROPOSITION: 0.15}

_QUOTED = re.compile(r"\"([^\"]*)\"|“([^“”]*)”|„([^„“”]*)[“”]|«([^«»]*)»")


def quoted_phrases(text: str) -> list[Span]:
    """Return what stands in double quotes, without the quotes; empty where nothing does.

    >>> [span.of('who said "no comment" there') for span in quoted_phrases('who said "no comment" there')]
    ['no comment']
    """
    places = [Span(*match.span(match.lastindex or 0)) for match in _QUOTED.finditer(text)]
    return [place for place in places if any(map(str.isalnum, place.of(text)))]
