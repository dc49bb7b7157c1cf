"""Any citation is explained word by word, at every granularity, from the answer alone; what cannot be is told."""

from __future__ import annotations

import json
from dataclasses import replace
from html.parser import HTMLParser

import jsonschema
import pytest

from propcite.attribution.citations import (
    CitedAnswer,
    CitedProposition,
    CitedSentence,
    Evidence,
    Label,
    Proposition,
    Verdict,
)
from propcite.attribution.citing.explaining import Explained
from propcite.attribution.errors import AttributionError, NotInAnswerError
from propcite.attribution.formats.explanations import html as why
from propcite.attribution.formats.explanations import text as why_words
from propcite.attribution.formats.explanations.text import WordMatch, score_line, summary_line, verdict_line, word_match
from propcite.attribution.formats.json import from_json, to_json
from propcite.attribution.formats.json.explanations import explanation_json, explanation_schema
from propcite.attribution.propcite import PropCite
from propcite.retrieval.alignment import alignment_of
from propcite.retrieval.encoding.encoder import Encoder
from propcite.retrieval.errors import PropCiteError
from propcite.retrieval.splitter import passage_from_text
from propcite.retrieval.text import Granularity, Passage, Span

PASSAGES = [
    passage_from_text(
        "gates",
        "The tidal barrier has fourteen steel gates and was opened by the mayor. It is 9 metres high.",
        "Barrier & <b>",
    ),
    passage_from_text("cost", "The barrier cost 410 million euros. The state paid two thirds of it.", "The barrier"),
    passage_from_text("terns", "Terns breed on the gravel roof of the warehouse."),
]
TEXT = "The barrier cost 410 million euros and has fifteen steel gates. Pelicans dance on volcanoes."


@pytest.fixture(scope="module")
def propcite(encoder: Encoder) -> PropCite:
    return PropCite(encoder)


@pytest.fixture(scope="module")
def answer(propcite: PropCite) -> CitedAnswer:
    return propcite.cite(TEXT, PASSAGES)


@pytest.fixture(scope="module")
def cost(propcite: PropCite, answer: CitedAnswer) -> Explained:
    return propcite.explain(answer, 1)


def words(explained: Explained) -> list[str]:
    return [word.text for word in explained.explanation.query]


def test_a_citation_is_explained_by_the_words_of_its_fact(answer: CitedAnswer, cost: Explained) -> None:
    assert (cost.number, cost.fact, cost.citation) == (1, answer.facts[0], answer.facts[0].citations[0])
    assert words(cost) == "The barrier cost 410 million euros".split()
    found = cost.explanation
    best = [found.source[found.matches(i)[0].source].text for i in range(len(found.query))]
    assert best == words(cost)
    assert cost.unit_text == "The barrier cost 410 million euros."
    assert found.score == pytest.approx(cost.evidence.score, abs=2e-3)
    assert found.passage_score == pytest.approx(cost.evidence.passage_score, abs=2e-3)
    assert [w.span.shifted(cost.start or 0).of(answer.text) for w in found.query if w.span] == words(cost)


def test_a_near_miss_is_explained_too(propcite: PropCite, answer: CitedAnswer) -> None:
    gates = propcite.explain(answer, 2)
    assert gates.citation is None
    assert gates.evidence == answer.facts[1].nearest
    number = words(gates).index("fifteen")
    assert word_match(gates.explanation, number) is WordMatch.OTHER
    assert "1 met by another word (“fifteen” by “fourteen”)" in summary_line(gates.explanation)
    assert verdict_line(gates).startswith("The judge says contradicted")
    pelicans = propcite.explain(answer, 3)
    assert "not found: " in summary_line(pelicans.explanation)
    assert "“Pelicans”" in summary_line(pelicans.explanation)


def test_a_fact_and_its_citation_are_named_by_number_or_id(propcite: PropCite, answer: CitedAnswer) -> None:
    fact = answer.facts[0]
    for name, citation in ((1, 1), ("1", "1"), (fact.id, fact.citations[0].id), (1, "")):
        assert propcite.explain(answer, name, citation).citation == fact.citations[0]


@pytest.mark.parametrize("granularity", Granularity)
def test_it_is_compared_with_a_sentence_its_passage_or_a_proposition(
    propcite: PropCite, answer: CitedAnswer, granularity: Granularity
) -> None:
    gates = propcite.explain(answer, 2, granularity=granularity)
    assert gates.explanation.granularity is granularity
    expected = {
        Granularity.PASSAGE: PASSAGES[0].text,
        Granularity.SENTENCE: "The tidal barrier has fourteen steel gates and was opened by the mayor.",
        Granularity.PROPOSITION: "The tidal barrier has fourteen steel gates",
    }
    assert gates.unit_text.rstrip(",") == expected[granularity]
    assert gates.explanation.passage_share == (0.0 if granularity is Granularity.PASSAGE else 0.3)
    whole = granularity is Granularity.PASSAGE
    assert ("which counts for 30%" in score_line(gates.explanation)) is not whole


def test_other_alignments_are_named(propcite: PropCite, answer: CitedAnswer) -> None:
    found = propcite.explain(answer, 1, alignment=alignment_of("top-k=2")).explanation
    assert all(len(found.matches(i)) >= 2 for i in range(len(found.query)))
    assert "Words are aligned by top-k=2." in score_line(found)
    cited_so = replace(answer, models={**answer.models, "alignment": "top-k=2"})
    assert str(propcite.explain(cited_so, 1).explanation.alignment) == "top-k=2"


def test_a_kept_answer_is_explained_without_its_collection(propcite: PropCite, answer: CitedAnswer) -> None:
    again = propcite.explain(from_json(to_json(answer)), 1)
    assert explanation_json(again) == explanation_json(propcite.explain(answer, 1))


@pytest.mark.parametrize(
    ("method", "granularity", "read"),
    [
        ("paper", Granularity.PASSAGE, TEXT.split(". ")[0] + "."),
        ("sentence", Granularity.SENTENCE, TEXT.split(". ")[0] + "."),
        ("alone", Granularity.SENTENCE, "The barrier cost 410 million euros."),
    ],
)
def test_what_was_compared_is_what_the_method_asked_for(
    encoder: Encoder, method: str, granularity: Granularity, read: str
) -> None:
    propcite = PropCite(encoder, method=method)
    found = propcite.explain(propcite.cite(TEXT, PASSAGES), 1)
    assert (found.explanation.granularity, found.text) == (granularity, read)
    assert found.explanation.score == pytest.approx(found.evidence.score, abs=2e-3)
    assert (found.start is None) is (method == "alone")


def test_of_a_whole_passage_the_nearest_sentence_is_compared(encoder: Encoder) -> None:
    propcite = PropCite(encoder, method="paper")
    found = propcite.explain(propcite.cite(TEXT, PASSAGES[1:]), 1, granularity=Granularity.SENTENCE)
    assert found.unit_text == "The barrier cost 410 million euros."


# What cannot be explained


def test_what_is_not_there_is_told(propcite: PropCite, answer: CitedAnswer) -> None:
    for name, citation, said in (
        (4, "", "it has 3, counted from 1"),
        (0, "", "no fact '0'"),
        (1, 9, r"citations \[1\]"),
    ):
        with pytest.raises(NotInAnswerError, match=said):
            propcite.explain(answer, name, citation)
    with pytest.raises(NotInAnswerError, match="it has 0"):
        propcite.explain(CitedAnswer(""), 1)


def test_a_fact_that_nothing_came_near_has_no_explanation(propcite: PropCite) -> None:
    with pytest.raises(NotInAnswerError, match="fact 1 has no evidence to explain"):
        propcite.explain(propcite.cite(TEXT, []), 1)


@pytest.mark.parametrize("method", ["bm25", "postcite"])
def test_a_method_without_token_vectors_is_told(propcite: PropCite, answer: CitedAnswer, method: str) -> None:
    with pytest.raises(AttributionError, match=f"cited by {method}, which compares no token vectors: cite it again"):
        propcite.explain(replace(answer, models={**answer.models, "method": method}), 1)


def test_another_encoder_is_told(propcite: PropCite, answer: CitedAnswer) -> None:
    with pytest.raises(AttributionError, match="cited with the encoder colbert@1, not propcite-minilm@"):
        propcite.explain(replace(answer, models={**answer.models, "encoder": "colbert@1"}), 1)
    assert propcite.explain(replace(answer, models={}), 1)


def test_a_source_without_a_word_is_told(propcite: PropCite) -> None:
    text, passage = "It rained.", Passage("p", "   It rained.")
    fact = CitedProposition(
        Proposition((Span(0, 10),), text), Verdict(Label.UNSUPPORTED, 0.1), (), Evidence(passage, Span(0, 2), 0.1, 0.1)
    )
    answer = CitedAnswer(text, (CitedSentence(Span(0, 10), (fact,)),))
    with pytest.raises(PropCiteError, match="no word to compare"):
        propcite.explain(answer, 1)


# As JSON and as HTML


def test_what_is_written_fits_its_schema_and_adds_up(cost: Explained) -> None:
    written = json.loads(json.dumps(explanation_json(cost)))
    jsonschema.validate(written, explanation_schema())
    assert written["schema"] == "propcite/explanation/1"
    assert sum(map(sum, written["contributions"])) == pytest.approx(written["unit_score"])
    share = written["passage_share"]
    assert written["score"] == pytest.approx((1 - share) * written["unit_score"] + share * written["passage_score"])
    assert [row["text"] for row in written["query"]["words"]] == words(cost)
    assert sum(word["weight"] for word in written["query"]["words"]) == pytest.approx(1.0)


class Table(HTMLParser):
    """What a page holds: its tags, its cells by row, and its text."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.rows: list[int] = []
        self.words = ""
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag == "tr":
            self.rows.append(0)
        self.rows[-1:] = [self.rows[-1] + (tag in ("td", "th"))] if self.rows else []

    def handle_data(self, data: str) -> None:
        self.words += data


def test_words_that_met_have_the_same_number_in_both_texts(cost: Explained) -> None:
    html = why.explanation_html(cost)
    for number, word in enumerate(words(cost), start=1):
        assert html.count(f">{word}<sup>{number}</sup></span>") == 2
    assert '<span class="around"> and has fifteen steel gates.</span>' in html


def test_the_heat_map_is_a_table_that_can_be_read_aloud(cost: Explained) -> None:
    table = Table(why.heat_map_html(cost.explanation))
    found = cost.explanation
    assert table.rows == [len(found.source) + 1] * (len(found.query) + 1)
    scopes = [attrs["scope"] for tag, attrs in table.tags if tag == "th"]
    assert (scopes.count("row"), scopes.count("col")) == (len(found.query), len(found.source) + 1)
    assert {"table", "caption", "thead", "tbody"} <= {tag for tag, _ in table.tags}
    counted = [attrs["title"] for tag, attrs in table.tags if tag == "td" and "counts" in str(attrs["class"])]
    assert any(str(title).startswith("cost and cost: similarity 0.") for title in counted)


def test_weights_stand_beside_the_words_where_they_are_known(cost: Explained) -> None:
    found = cost.explanation
    bare, weighed = (
        replace(found, source=tuple(replace(word, weight=weight) for word in found.source)) for weight in (None, 0.1)
    )
    assert why.heat_map_html(bare).count('class="weight"') == len(found.query)
    assert why.heat_map_html(weighed).count('class="weight"') == len(found.query) + len(found.source)
    told = "count under an alignment with +salience"
    salient = replace(weighed, alignment=alignment_of("top-k=1+salience"))
    assert [told in why.heat_map_html(one) for one in (bare, weighed, salient)] == [False, True, False]
    assert (
        "w4" in why.explanation_html(replace(cost, explanation=weighed)).partition("[1]")[2].partition("</figure>")[0]
    )


def test_of_a_long_source_only_what_counts_stands_in_the_heat_map(propcite: PropCite, answer: CitedAnswer) -> None:
    evidence = answer.facts[0].citations[0].evidence
    long = replace(evidence.passage, text=evidence.passage.text + " It was wet in the town." * 20, sentences=())
    fact = replace(answer.facts[0], citations=(), nearest=replace(evidence, passage=long))
    sentence = replace(answer.sentences[0], propositions=(fact,))
    found = propcite.explain(replace(answer, sentences=(sentence,)), 1, granularity=Granularity.PASSAGE)
    html = why.heat_map_html(found.explanation)
    assert "that count for nothing are left out" in html
    assert max(Table(html).rows) <= why.MAX_COLUMNS + 1


def test_nothing_that_was_written_becomes_markup(propcite: PropCite) -> None:
    hostile = '<img src=x onerror="alert(1)"> & <script>alert(2)</script> costs 5 euros.'
    passage = passage_from_text("p", f"{hostile} More.", '"><script>alert(3)</script>')
    text = 'It <b>costs</b> 5 euros & "more" <script>alert(4)</script>.'
    answer = propcite.cite(text, [passage])
    for number in range(1, len(answer.facts) + 1):
        for granularity in Granularity:
            page = why.explanation_page(propcite.explain(answer, number, granularity=granularity))
            body = Table(page[page.index("<body>") :])
            tags = {tag for tag, _ in body.tags}
            assert not tags & {"script", "img", "b", "a"}
            assert not any(name.startswith("on") for _, attrs in body.tags for name in attrs)


def test_texts_stay_as_they_were(cost: Explained) -> None:
    marked = Table(why.explanation_html(cost).replace("<sup>", "<!--").replace("</sup>", "-->"))
    assert TEXT.split(". ")[0] + "." in marked.words
    assert cost.unit_text in marked.words


def test_a_line_says_when_no_judge_was_asked(encoder: Encoder) -> None:
    propcite = PropCite(encoder, judge=None)
    found = propcite.explain(propcite.cite(TEXT, PASSAGES), 1)
    assert verdict_line(found) == "No judge was asked; by similarity alone: supported."
    assert len(why_words.explanation_lines(found)) == 3
