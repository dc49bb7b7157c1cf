"""The retriever ranks the right sentence first and finds the same propositions as an exhaustive search."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest

from propcite.retrieval.encoding.bundled import BASE
from propcite.retrieval.encoding.encoder import Encoder
from propcite.retrieval.retriever import Retriever, whole_sentences
from propcite.retrieval.splitter import PassageSplitter, passage_from_text
from propcite.retrieval.text import Document, Granularity, Heading, Hit, Passage, Span

TEXTS = {
    "gates": "The tidal barrier has fourteen steel gates. They close when the water rises above 2.1 metres. "
    "Each gate weighs 300 tonnes and was made in Gdansk.",
    "funding": "The barrier cost 410 million euros. The state paid two thirds of it, and the city paid the rest. "
    "A loan of the investment bank bridged the first years.",
    "ferries": "Ferries to the islands leave every forty minutes. In winter the last one leaves at six.",
    "museum": "The maritime museum opened in 1987 in an old rope factory. Admission is free on Sundays.",
    "fish": "Herring spawn in the bay in April. Fishing with trawls is forbidden there until the end of June.",
    "school": "The pilot school trains twelve candidates a year. Its simulator shows the harbour in fog and at night.",
    "light": "The lighthouse stands on the northern mole. Its lamp was changed in 2016, and it is seen for 18 miles.",
    "dredging": "The fairway is dredged every second autumn. The sand is pumped onto the beaches south of the town.",
    "birds": "Terns breed on the gravel roof of the warehouse. Dogs must be on a lead near the colony.",
    "bread": "Rye bread needs a sourdough that is at least two days old. It is baked for an hour at 220 degrees.",
    "chess": "The chess club meets on Thursdays. Its youngest member beat a grandmaster in a rapid game.",
    "tax": "The harbour tax is paid by the gross tonnage of a ship. Sailing boats under twelve metres pay nothing.",
    "storm": "The storm of January 1954 flooded the old town. Eleven people drowned, and the railway was cut.",
    "quay": "The new quay takes ships of 340 metres. Two cranes unload them, and a third is being built.",
    "law": "The barrier act was passed in 1998. It names the harbour master as the one who orders the gates closed.",
}
QUESTIONS = {
    "How many gates does the tidal barrier have?": "The tidal barrier has fourteen steel gates.",
    "What did the barrier cost?": "The barrier cost 410 million euros.",
    "How often do ferries to the islands leave?": "Ferries to the islands leave every forty minutes.",
    "When did the maritime museum open?": "The maritime museum opened in 1987 in an old rope factory.",
    "In which month do herring spawn?": "Herring spawn in the bay in April.",
    "Where do terns breed?": "Terns breed on the gravel roof of the warehouse.",
    "On which day does the chess club meet?": "The chess club meets on Thursdays.",
    "When was the barrier act passed?": "The barrier act was passed in 1998.",
    "How often is the fairway dredged?": "The fairway is dredged every second autumn.",
}


def by_commas(sentence: str) -> list[tuple[Span, ...]]:
    """Split a sentence into one proposition per clause, and one of the first and last clause together."""
    pieces = [Span(*m.span()) for m in re.finditer(r"[^,.]+(?:, and )?", sentence) if m.group().strip()]
    return [(piece,) for piece in pieces] + ([(pieces[0], pieces[-1])] if len(pieces) > 1 else [])


@pytest.fixture(scope="module")
def passages() -> list[Passage]:
    return [passage_from_text(name, text) for name, text in TEXTS.items()]


@pytest.fixture(scope="module")
def retriever(encoder: Encoder, passages: list[Passage]) -> Retriever:
    return Retriever.over(encoder, passages, lambda sentences: [by_commas(sentence) for sentence in sentences])


@pytest.mark.parametrize("question", QUESTIONS)
def test_the_right_sentence_is_ranked_first(retriever: Retriever, question: str) -> None:
    best = retriever.search(question, Granularity.SENTENCE, k=3)[0]
    assert best.text == QUESTIONS[question]
    assert best.granularity is Granularity.SENTENCE
    assert retriever.search(question, k=1)[0].passage.id == best.passage.id


def test_a_passage_hit_is_the_whole_passage(retriever: Retriever) -> None:
    hits = retriever.search("How many gates does the tidal barrier have?", k=5)
    assert hits[0].text == TEXTS["gates"]
    assert hits[0].similarity == pytest.approx(hits[0].passage_score)
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
    assert len({hit.passage.id for hit in hits}) == 5


def every_proposition(retriever: Retriever, question: str, passages: list[Passage]) -> dict[tuple, float]:
    """Split every sentence and score every proposition against the vectors of the index."""
    query = retriever.encoder.encode_queries([question], Granularity.PROPOSITION)[0]
    for_passages = retriever.encoder.encode_queries([question])[0]
    scores = {}
    for passage in passages:
        tokens = retriever.index.vectors(passage.id)
        of_passage = (for_passages.vectors @ tokens.vectors.T).max(axis=1).mean()
        for sentence in passage.sentences:
            place = sentence.span.trimmed(passage.text)
            for unit in retriever.split([place.of(passage.text)])[0]:
                spans = tuple(span.shifted(place.start) for span in unit)
                own = tokens.vectors[tokens.within(spans)]
                if len(own) and not sentence.is_heading:
                    alone = np.average((query.vectors @ own.T).max(axis=1), weights=query.salience)
                    scores[passage.id, spans] = (
                        1 - retriever.passage_share
                    ) * alone + retriever.passage_share * of_passage
    return scores


@pytest.mark.parametrize("k", [1, 3, 10, 1000])
@pytest.mark.parametrize("question", ["Who pays for the barrier?", "gates", "What happens in winter and in spring?"])
def test_propositions_equal_an_exhaustive_search(retriever, passages, question: str, k: int) -> None:
    scores = every_proposition(retriever, question, passages)
    hits = retriever.by("vectors").search(question, Granularity.PROPOSITION, k)
    assert [hit.score for hit in hits] == pytest.approx(sorted(scores.values(), reverse=True)[:k], abs=1e-5)
    for hit in hits:
        assert hit.score == pytest.approx(scores[hit.passage.id, hit.spans], abs=1e-5)
    assert len({(hit.passage.id, hit.spans) for hit in hits}) == len(hits) == min(k, len(scores))


def test_without_propositions_there_are_no_hits(retriever: Retriever) -> None:
    unsplit = replace(retriever, split=lambda sentences: [[] for _ in sentences])
    assert unsplit.search("gates", Granularity.PROPOSITION, 3) == []


def test_without_a_splitter_a_proposition_is_its_sentence(passages: list[Passage]) -> None:
    plain = Retriever.over(Encoder(BASE), passages)  # which has one marker for both
    propositions = plain.search("How many gates are there?", Granularity.PROPOSITION, 4)
    sentences = plain.search("How many gates are there?", Granularity.SENTENCE, 4)
    assert [hit.spans for hit in propositions] == [hit.spans for hit in sentences]
    assert [hit.score for hit in propositions] == pytest.approx([hit.score for hit in sentences], abs=1e-5)
    assert whole_sentences(["Hello.", ""]) == [[(Span(0, 6),)], [(Span(0, 0),)]]


@pytest.mark.parametrize("granularity", Granularity)
def test_only_excludes_other_passages_before_ranking(retriever: Retriever, granularity: Granularity) -> None:
    few = retriever.only(["bread", "chess", "unknown"])
    hits = few.search("How many gates does the tidal barrier have?", granularity, k=50)
    assert {hit.passage.id for hit in hits} == {"bread", "chess"}
    assert [passage.id for passage in few.only(["chess", "gates"]).passages()] == ["chess"]
    assert retriever.only([]).search("gates", granularity) == []
    assert retriever.allow is None


@pytest.mark.parametrize("granularity", Granularity)
@pytest.mark.parametrize("text", ["", " ", "\n\t\u00a0"])
def test_a_blank_query_has_no_hits(retriever: Retriever, text: str, granularity: Granularity) -> None:
    assert retriever.search(text, granularity) == []


@pytest.mark.parametrize("k", [0, -3])
def test_k_below_1_has_no_hits(retriever: Retriever, k: int) -> None:
    assert retriever.search("gates", k=k) == []
    assert retriever.search_spans(["gates"], [[(Span(0, 5),)]], k) == [[[]]]


def test_each_piece_of_a_text_is_searched_by_its_own_words(retriever: Retriever) -> None:
    text = "The museum opened in 1987 and herring spawn in April."
    middle = text.index(" and ")
    pieces = [(Span(0, middle),), (Span(middle + 5, len(text)),)]
    museum, herring = retriever.search_spans([text], [pieces], k=2)[0]
    assert museum[0].text == "The maritime museum opened in 1987 in an old rope factory."
    assert herring[0].text == "Herring spawn in the bay in April."


def test_hits_keep_the_order_of_texts_and_pieces(retriever: Retriever) -> None:
    texts = ["Terns breed on a roof.", "no piece", "Rye bread is baked for an hour."]
    pieces = [[(Span(0, 5),), (Span(15, 22),)], [], [(Span(0, len(texts[2])),)]]
    rows = retriever.search_spans(texts, pieces, k=3)
    assert [[len(hits) for hits in row] for row in rows] == [[3, 3], [], [3]]
    assert rows[0][0][0].passage.id == "birds"
    assert rows[2][0][0].passage.id == "bread"
    assert retriever.search_spans([], [], k=3) == []


def test_headings_are_never_evidence(encoder: Encoder) -> None:
    text = "Number of gates\nIt has fourteen of them.\nCost of the barrier\nIt cost 410 million euros."
    lines = text.split("\n")
    headings = tuple(Heading(Span(text.index(line), text.index(line) + len(line)), 1) for line in (lines[0], lines[2]))
    document = Document("d", text, "The barrier", headings=headings)
    retriever = Retriever.over(encoder, PassageSplitter(100).split(document))
    for granularity in (Granularity.SENTENCE, Granularity.PROPOSITION):
        hits = retriever.search("number of gates", granularity, k=10)
        assert {hit.text for hit in hits} == {lines[1], lines[3]}


def test_hits_of_removed_passages_are_left_out(retriever: Retriever, passages: list[Passage]) -> None:
    """A document is removed from the library before it is removed from the index."""
    present = {p.id: p for p in passages if p.id != "gates"}
    stale = replace(retriever, find=lambda ids: {i: present[i] for i in ids if i in present})
    for granularity in Granularity:
        hits = stale.search("How many gates does the tidal barrier have?", granularity, k=5)
        assert hits
        assert "gates" not in {hit.passage.id for hit in hits}


@pytest.mark.parametrize("granularity", list(Granularity))
def test_the_index_is_opened_again_where_all_its_passages_have_vanished(
    encoder: Encoder, granularity: Granularity
) -> None:
    """A writer has saved a new version of the only document since the index was opened."""
    old, new = (passage_from_text(name, f"The bridge is {n} metres long.") for name, n in (("v1", 95), ("v2", 96)))
    now = Retriever.over(encoder, [new])
    before = replace(Retriever.over(encoder, [old]), find=now.find)
    assert before.search("How long is the bridge?", granularity) == []
    [hit] = replace(before, reopen=lambda: now.index).search("How long is the bridge?", granularity)
    assert hit.passage == new
    assert hit.score == now.search("How long is the bridge?", granularity)[0].score


def test_duplicate_ids_raise(encoder: Encoder) -> None:
    with pytest.raises(ValueError, match="two passages have the same id '"):
        Retriever.over(encoder, [passage_from_text("p", "One."), passage_from_text("p", "Two.")])


def test_scores_do_not_grow_with_the_length_of_the_query(retriever: Retriever) -> None:
    for question in ("gates", "How many gates does the tidal barrier have, and of what are they made?"):
        hits: list[Hit] = retriever.search(question, Granularity.SENTENCE, k=20)
        assert all(-1 - 1e-3 <= hit.score <= 1 + 1e-3 for hit in hits)
        assert np.isfinite([hit.passage_score for hit in hits]).all()
