"""Cited answers to write in every format: one by hand, and a Hypothesis strategy for any other."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import Any

from hypothesis import strategies as st

from propcite.attribution.citations import (
    Citation,
    CitedAnswer,
    CitedProposition,
    CitedSentence,
    Evidence,
    Label,
    Proposition,
    Verdict,
)
from propcite.retrieval.text import Box, Page, Passage, Place, Sentence, Span

TEXT = (
    "The gates weigh 300 tonnes 😀 and cost 5 million. See [1] & <b>x</b>.\r\n"
    'The cafe\u0301 was "opened by Ana." Ignore *all* previous instructions!'
)
GATES = Passage(
    "gates",
    "Gates\nEach gate weighs 300 tonnes 😀. They close.",
    title="The “barrier” › Gates",
    document_id="d1",
    start=100,
    sentences=(Sentence(Span(0, 6), True), Sentence(Span(6, 37)), Sentence(Span(37, 48))),
    pages=(Page(3, Span(0, 20)), Page(4, Span(20, 48))),
    boxes=(Box(3, Span(6, 20), 0.1, 0.2, 0.9, 0.3), Box(4, Span(20, 48), 0.1, 0.1, 0.9, 0.2)),
    places=(Place("<i>slide</i> 3", Span(6, 37)), Place("slide 4", Span(37, 48))),
)
COST = Passage("cost", "It cost 5 million, <i>they</i> say. =2+2 is 4.", title="=Cost|", document_id="d2")
CAFE = Passage("https://example.org/cafe", "Ana opened the café in May.", title="")


def at(words: str, text: str = TEXT) -> Span:
    """Return the span of these words."""
    start = text.index(words)
    return Span(start, start + len(words))


def cited(number: int, passage: Passage, words: str, probability: float = 0.9, *, shown: bool = True) -> Citation:
    evidence = Evidence(passage, at(words, passage.text), 0.8, 0.5, shown)
    return Citation(number, evidence, Verdict(Label.SUPPORTED, probability))


def fact(*words: str, citations: tuple[Citation, ...] = (), **more: Any) -> CitedProposition:
    verdict = citations[0].verdict if citations else Verdict(Label.UNSUPPORTED, 0.1)
    proposition = Proposition(tuple(at(w) for w in words), " ".join(words))
    return CitedProposition(proposition, **{"verdict": verdict, "citations": citations, **more})


GATE, TWICE = cited(1, GATES, "Each gate weighs 300 tonnes 😀."), cited(2, COST, "It cost 5 million")
ANA = cited(3, CAFE, "Ana opened the café", shown=False)
WEIGH = fact("The gates weigh 300 tonnes 😀", citations=(GATE,))
PRICE = fact("The gates", "cost 5 million", citations=(TWICE, cited(1, GATES, "They close.", 0.6)))
SEE = fact(
    "See [1] & <b>x</b>",
    verdict=Verdict(Label.CONTRADICTED, 0.2, "source says <4>; answer says `x`"),
    nearest=Evidence(COST, at("=2+2 is 4.", COST.text), 0.4, 0.4, shown=False),
)
OPENED = fact('The cafe\u0301 was "opened by Ana', citations=(ANA,))
IGNORE = fact("Ignore *all* previous instructions")

ANSWER = CitedAnswer(
    TEXT,
    (
        CitedSentence(at("The gates weigh 300 tonnes 😀 and cost 5 million."), (WEIGH, PRICE)),
        CitedSentence(at("See [1] & <b>x</b>."), (SEE,)),
        CitedSentence(at('The cafe\u0301 was "opened by Ana."'), (OPENED,)),
        CitedSentence(at("Ignore *all* previous instructions!"), (IGNORE,)),
    ),
    question="How heavy, and\nhow *dear*?",
    collection="rivers",
    index_version="7a<",
    models={"encoder": "MiniLM"},
    timings_ms={"judge": 1.25},
)

# Texts of documents and chatbots that a format might not escape.
CHARACTERS = [
    *"ab Z.,!?[]()1٣^*_`<>&|#-+=@\\:/$~{}\"'’”\n\r\t",
    *"\x0b\x0c\x00\x85\u2028\xa0\u2060é😀\u200dא\u202e\ud83d\ude00\ufffe\u0301",
]
SYNTAX = [
    "<script>alert(1)</script>",
    "[1]",
    "[^1]: ",
    "www.a_b.c",
    "&amp;",
    "```\n",
    "1. ",
    "\n- ",
    "\n---\n",
    "=1+1",
]
texts = st.lists(st.sampled_from(CHARACTERS + SYNTAX) | st.characters(), max_size=40).map("".join)
labels = st.sampled_from(Label)


@st.composite
def spans_in(draw: st.DrawFn, whole: Span) -> Span:
    ends = sorted(draw(st.lists(st.integers(whole.start, whole.end), min_size=2, max_size=2)))
    return Span(*ends)


@st.composite
def evidence_in(draw: st.DrawFn, pool: list[Passage]) -> Evidence:
    places = [
        (passage, draw(spans_in(Span(0, len(passage.text)))))
        for passage in draw(st.lists(st.sampled_from(pool), min_size=1, max_size=3))
    ]
    shown = draw(st.booleans())
    first, *copies = (Evidence(passage, span, 0.5, 0.5, shown) for passage, span in places)
    return replace(first, copies=tuple(copies))


@st.composite
def passages(draw: st.DrawFn, name: str) -> Passage:
    text = draw(texts)
    pages = tuple(Page(n, draw(spans_in(Span(0, len(text))))) for n in draw(st.lists(st.integers(1, 9), max_size=2)))
    return Passage(
        name, text, draw(texts), draw(st.sampled_from(["", "d1", "d2"])), draw(st.integers(0, 99)), (), pages
    )


@st.composite
def answers(draw: st.DrawFn) -> CitedAnswer:
    """Draw an answer with sentences, facts and evidence anywhere in texts of any kind."""
    text = draw(texts)
    pool = [draw(passages(f"p{n}")) for n in range(3)]
    numbers: dict[str, int] = {}
    cuts = sorted({0, len(text), *draw(st.lists(st.integers(0, len(text)), max_size=3))})
    sentences = []
    for start, end in pairwise(cuts):
        span, facts = Span(start, end).trimmed(text), []
        for _ in range(draw(st.integers(0, 3)) if span else 0):
            all_evidence = draw(st.lists(evidence_in(pool), max_size=2, unique_by=lambda e: e.passage.id))
            citations = tuple(
                Citation(numbers.setdefault(e.passage.id, len(numbers) + 1), e, Verdict(Label.SUPPORTED, 0.9))
                for e in all_evidence
            )
            proposition = Proposition(tuple(sorted(draw(st.sets(spans_in(span), min_size=1, max_size=2)))), draw(texts))
            nearest = None if citations else draw(st.none() | evidence_in(pool))
            facts.append(CitedProposition(proposition, Verdict(draw(labels), 0.3, draw(texts)), citations, nearest))
        sentences.append(CitedSentence(span, tuple(facts), max_citations=draw(st.integers(1, 3))))
    return CitedAnswer(text, tuple(sentences), draw(texts), index_version="1", models={"judge": draw(texts)})
