"""Values of a cited answer: what follows from its propositions, and quotes as slices of their sources."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, fields, replace

import pytest

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
from propcite.retrieval.text import Page, Passage, Span

ANSWER = "The barrier has gates. It cost 410 million euros. Is that much?"
GATES = Passage(
    "gates", "The tidal barrier has fourteen steel gates. They close.", start=50, pages=(Page(7, Span(0, 55)),)
)
COST = Passage("cost", "It cost 410 million euros.")
LAW = Passage("law", "The act was passed in 1998.")
BIRDS = Passage("birds", "Terns breed on the roof.")
SUPPORTED = Verdict(Label.SUPPORTED, 0.9)


def cited(passage: Passage, number: int, score: float = 0.5, span: Span | None = None) -> Citation:
    return Citation(number, Evidence(passage, span or Span(0, len(passage.text)), score, score), SUPPORTED)


def claim(*citations: Citation, check_worthy: bool = True) -> CitedProposition:
    verdict = SUPPORTED if citations else Verdict(Label.UNSUPPORTED, 0.1)
    return CitedProposition(
        Proposition((Span(0, 3),), "A claim.", check_worthy), verdict if check_worthy else None, citations
    )


def test_a_quote_is_a_slice_of_its_passage() -> None:
    citation = cited(GATES, 1, span=Span(0, 43))
    assert citation.quote == "The tidal barrier has fourteen steel gates."
    assert (citation.passage, citation.span, citation.score) == (GATES, Span(0, 43), 0.5)
    assert citation.pages == (7,)


def test_a_citation_beyond_its_passage_has_no_quote() -> None:
    with pytest.raises(ValueError, match="ends after the text's 55 characters"):
        _ = cited(GATES, 1, span=Span(0, 56)).quote


def test_a_sentence_has_one_citation_per_passage_the_strongest() -> None:
    weak, strong = cited(GATES, 1, 0.4, Span(0, 10)), cited(GATES, 1, 0.8, Span(11, 20))
    assert CitedSentence(Span(0, 22), (claim(weak), claim(strong), claim(weak))).citations == (strong,)


def test_a_sentence_has_the_strongest_citations_in_marker_order() -> None:
    one, two, three, four = cited(GATES, 1, 0.6), cited(COST, 2, 0.3), cited(LAW, 3, 0.9), cited(BIRDS, 4, 0.7)
    sentence = CitedSentence(Span(0, 22), (claim(four), claim(one), claim(two), claim(three)))
    assert sentence.citations == (one, three, four)
    assert replace(sentence, max_citations=1).citations == (three,)
    assert replace(sentence, max_citations=0).citations == ()
    assert replace(sentence, max_citations=9).citations == (one, two, three, four)


def test_a_sentence_without_propositions_has_no_citations() -> None:
    assert CitedSentence(Span(0, 22)).citations == ()


@pytest.fixture
def answer() -> CitedAnswer:
    missing, aside = claim(), claim(check_worthy=False)
    return CitedAnswer(
        ANSWER,
        (
            CitedSentence(Span(0, 22), (claim(cited(COST, 2), cited(GATES, 1)), missing)),
            CitedSentence(Span(23, 49), (claim(cited(COST, 2)),)),
            CitedSentence(Span(50, 63), (aside,)),
        ),
        question="What did it cost?",
    )


def test_an_answer_lists_the_propositions_and_citations_of_its_sentences(answer: CitedAnswer) -> None:
    assert len(answer.propositions) == 4
    assert [c.passage.id for c in answer.citations] == ["cost", "gates", "cost"]
    assert answer.passages == (GATES, COST)


def test_unsupported_propositions_are_uncited_and_lower_the_coverage(answer: CitedAnswer) -> None:
    assert answer.uncited == (answer.propositions[1],)
    assert answer.coverage == pytest.approx(2 / 3)


def test_an_answer_without_facts_has_full_coverage() -> None:
    assert CitedAnswer("").coverage == 1.0
    assert CitedAnswer("Hello!", (CitedSentence(Span(0, 6), (claim(check_worthy=False),)),)).coverage == 1.0
    assert CitedAnswer("Gates.", (CitedSentence(Span(0, 6), (claim(),)),)).coverage == 0.0


def test_the_id_depends_on_question_answer_and_citations(answer: CitedAnswer) -> None:
    assert len(answer.id) == 12
    assert replace(answer, timings_ms={"judge": 3.0}, models={"encoder": "x"}).id == answer.id
    others = [
        replace(answer, question="Another?"),
        replace(answer, text=ANSWER + " "),
        replace(answer, sentences=answer.sentences[1:]),
        replace(answer, sentences=(CitedSentence(Span(0, 22), (claim(cited(COST, 1, span=Span(0, 5))),)),)),
    ]
    assert len({answer.id, *(other.id for other in others)}) == 5


def test_a_lone_surrogate_has_an_id() -> None:
    assert CitedAnswer("tide \ud83d").id != CitedAnswer("tide \ud83e").id


def test_words_of_spans(answer: CitedAnswer) -> None:
    assert answer.words([Span(0, 11), Span(16, 21)]) == "The barrier … gates"


@pytest.mark.parametrize(
    "value", [SUPPORTED, Proposition((), ""), claim(), cited(COST, 1), CitedSentence(Span(0, 1)), CitedAnswer("")]
)
def test_values_are_frozen(value: object) -> None:
    name = fields(value)[0].name
    with pytest.raises(FrozenInstanceError):
        setattr(value, name, None)


def test_labels_are_their_names() -> None:
    assert [str(label) for label in Label] == ["supported", "partly", "unsupported", "contradicted", "unchecked"]


def test_uncited_spans_exclude_words_of_cited_claims() -> None:
    def at(start: int, end: int, *citations: Citation) -> CitedProposition:
        return replace(claim(*citations), proposition=Proposition((Span(start, end),), "A claim."))

    gates, barrier, price = at(0, 22), at(0, 11, cited(GATES, 1)), at(23, 49)
    answer = CitedAnswer(ANSWER, (CitedSentence(Span(0, 22), (gates, barrier)), CitedSentence(Span(23, 49), (price,))))
    assert [span.of(ANSWER) for span in answer.uncited_spans] == ["has gates.", "It cost 410 million euros."]
    assert CitedAnswer(ANSWER).uncited_spans == ()


def test_ids_depend_on_the_words_and_their_place_not_on_the_answer() -> None:
    one = cited(GATES, 1, span=Span(0, 11))
    assert one.id == cited(GATES, 7, 0.9, Span(0, 11)).id != cited(GATES, 1, span=Span(0, 12)).id
    assert claim(one).id == claim().id
    assert claim().id != replace(claim(), proposition=Proposition((Span(1, 3),), "A claim.")).id
