"""Hits of a claim are ordered by its words beside their similarity."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from propcite.attribution.citing.methods import method_of
from propcite.attribution.citing.words import WORD_SHARE, ordered_by_words
from propcite.attribution.propcite import PropCite
from propcite.attribution.propositions.rules import RuleSplitter
from propcite.retrieval.encoding.encoder import Encoder
from propcite.retrieval.splitter import passage_from_text
from propcite.retrieval.text import Granularity, Hit, Span

TEXTS = [
    "The ferry Osprey was launched in 1931.",
    "The ferry Kestrel was launched in 1934.",
    "The ferry Petrel was launched in 1931.",
    "Herring spawn in the bay.",
]


def hit(text: str, score: float = 0.8, title: str = "") -> Hit:
    return Hit(passage_from_text(text, text, title), Granularity.SENTENCE, (Span(0, len(text)),), score, 0.5)


def texts(hits: list[Hit]) -> list[str]:
    return [one.text for one in hits]


def test_a_name_decides_between_sentences_that_are_equally_similar() -> None:
    hits = [hit(text) for text in TEXTS]
    assert texts(ordered_by_words("The Kestrel was launched in 1934.", hits))[0] == TEXTS[1]
    assert texts(ordered_by_words("In 1931 they launched the Petrel.", hits))[0] == TEXTS[2]


def test_words_that_all_hits_have_decide_nothing_and_similarity_does() -> None:
    hits = [hit(TEXTS[1], 0.81), hit(TEXTS[0], 0.80), hit(TEXTS[2], 0.79)]
    assert ordered_by_words("A ferry was launched.", hits) == hits
    assert ordered_by_words("Terns breed on the roof.", hits) == hits
    assert ordered_by_words("", hits) == hits


def test_the_title_counts_as_words_of_a_sentence() -> None:
    hits = [hit("It is 652 kilometres long.", title="Adige"), hit("It is 652 kilometres long, they say.", title="Po")]
    assert ordered_by_words("The Po is 652 kilometres long.", hits)[0].passage.title == "Po"


def test_words_never_outweigh_a_similarity_that_leads_by_their_share() -> None:
    hits = [hit(TEXTS[3], 0.9), hit(TEXTS[1], 0.9 - WORD_SHARE - 0.001)]
    assert texts(ordered_by_words("The Kestrel was launched in 1934.", hits))[0] == TEXTS[3]


@given(st.text(max_size=40), st.lists(st.tuples(st.text(max_size=30), st.floats(-1, 1)), max_size=6))
def test_any_claim_keeps_every_hit_with_its_score(claim: str, rows: list[tuple[str, float]]) -> None:
    hits = [hit(text, score) for text, score in rows]
    ordered = ordered_by_words(claim, hits)
    assert sorted(map(id, ordered)) == sorted(map(id, hits))
    assert ordered_by_words(claim, hits, 0.0) == hits


def test_a_fact_is_cited_to_the_sentence_with_its_name(encoder: Encoder) -> None:
    """Of many sentences that differ in a rare name, the one that has it is cited, whatever its number."""
    names = ["Ostrava", "Osijek", "Oslo", "Osh", "Oskarshamn", "Osnabrück", "Ossining", "Oswego"]
    passages = [
        passage_from_text(name, f"The tram depot of {name} was opened by the mayor.", "Trams") for name in names
    ]
    propcite = PropCite(encoder, splitter=RuleSplitter(), judge=None, min_score=0.0, method=method_of("propositions"))
    for name in names:
        answer = propcite.cite(f"The mayor opened a depot for trams in {name}.", passages)
        assert [c.passage.id for c in answer.citations] == [name]
