"""Take a quote, a fact or all of an answer, to pin it to a notebook: each is a cited answer of its own."""

from __future__ import annotations

from dataclasses import replace

from propcite.attribution.citations import (
    Citation,
    CitedAnswer,
    CitedProposition,
    CitedSentence,
    Label,
    Proposition,
    Verdict,
)
from propcite.attribution.citing.lookup import citation_of, fact_of
from propcite.attribution.errors import NotInAnswerError
from propcite.retrieval.text import Span


def pinned(answer: CitedAnswer, fact: str = "", citation: str = "", *, quote: bool = False) -> CitedAnswer:
    """Return the whole answer, or one of its facts by number or id, or with `quote` the words that a fact cites.

    `citation` is the marker or id of the quote; without it the first of the fact is taken.
    """
    if not fact:
        return answer
    chosen = fact_of(answer, fact)
    if not quote:
        return _one(answer, chosen.proposition.text, chosen)
    cited = citation_of(chosen, citation) if citation else next(iter(chosen.citations), None)
    if cited is None:
        raise NotInAnswerError(f"the fact {fact} cites nothing: pin the fact itself")
    return _quote(answer, cited)


def _quote(answer: CitedAnswer, cited: Citation) -> CitedAnswer:
    words = f"“{' '.join(cited.quote.split())}”"
    own = replace(cited, number=1, verdict=Verdict(Label.SUPPORTED, 1.0))
    return _one(answer, words, CitedProposition(Proposition((), words), own.verdict, (own,)))


def _one(answer: CitedAnswer, text: str, fact: CitedProposition) -> CitedAnswer:
    """Return an answer of one fact, its passages numbered from 1."""
    whole = Span(0, len(text))
    numbers: dict[str, int] = {}
    citations = tuple(replace(c, number=numbers.setdefault(c.passage.id, len(numbers) + 1)) for c in fact.citations)
    own = replace(fact, proposition=replace(fact.proposition, spans=(whole,), text=text), citations=citations)
    sentence = CitedSentence(whole, (own,))
    return CitedAnswer(text, (sentence,), answer.question, answer.collection, models=answer.models)
