"""The contributions of an explanation add up to the score of the search, under every alignment."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from propcite.retrieval.alignment import NEAREST, alignment_of
from propcite.retrieval.encoding.base import TokenVectors
from propcite.retrieval.encoding.encoder import Encoder
from propcite.retrieval.encoding.windows import NO_CHARACTER
from propcite.retrieval.errors import RetrievalError
from propcite.retrieval.explanation import EncodedText, compare, explain, explain_hit
from propcite.retrieval.granularity import score_units
from propcite.retrieval.retriever import Retriever
from propcite.retrieval.splitter import passage_from_text
from propcite.retrieval.text import Granularity, Span

TEXTS = {
    "gates": "The tidal barrier has fourteen steel gates. They close when the water rises above 2.1 metres.",
    "funding": "The barrier cost 410 million euros. The state paid two thirds of it, and the city paid the rest.",
    "ferries": "Ferries to the islands leave every forty minutes. In winter the last one leaves at six.",
}
PASSAGES = [passage_from_text(name, text, "The harbour") for name, text in TEXTS.items()]
ALIGNMENTS = ["top-k=1", "top-k=2", "top-p=30%", "da:k=2,eps=0.05", "exact", "first-k=3"]
QUESTION = "What did the barrier cost the state?"


def encoded(
    text: str, vectors: Sequence[Sequence[float]], places: Sequence[tuple[int, int]], **options: object
) -> EncodedText:
    return EncodedText(text, TokenVectors(np.array(vectors, np.float32), np.array(places, np.int32), **options))  # type: ignore[arg-type]


# By hand


def test_contributions_are_summed_over_the_tokens_of_each_word() -> None:
    query = encoded(
        "barriers cost", [[1, 0], [0, 1], [0.6, 0.8]], [(0, 7), (7, 8), (9, 13)], salience=np.array([2, 1, 1])
    )
    source = encoded("cost, barrier", [[0, 1], [1, 0], [0.8, 0.6]], [(0, 4), (4, 5), (6, 13)])
    explanation = compare(query, source)
    assert [word.text for word in explanation.query] == ["barriers", "cost"]
    assert [word.text for word in explanation.source] == ["cost", "barrier"]
    assert [word.weight for word in explanation.query] == pytest.approx([0.75, 0.25])
    assert [word.weight for word in explanation.source] == [None, None]
    # The comma is a token of "cost,": both tokens of "barriers" are nearest to tokens of this word.
    assert explanation.contributions == pytest.approx(np.array([[0.5 * 1 + 0.25 * 1, 0], [0, 0.25 * 0.96]]))
    assert explanation.similarities == pytest.approx(np.array([[1, 0.8], [0.8, 0.96]]))
    assert explanation.nearness == pytest.approx([1.0, 0.96])
    assert explanation.unit_score == explanation.score == pytest.approx(0.99)


def test_matches_have_shares() -> None:
    query = encoded("cost", [[1.0, 0.0]], [(0, 4)])
    source = encoded("cost price", [[0.9, 0], [0.3, 0]], [(0, 4), (5, 10)])
    assert [(m.source, round(m.share, 3)) for m in compare(query, source).matches(0)] == [(0, 1.0)]
    both = compare(query, source, alignment_of("top-k=2"))
    assert [(m.source, round(m.share, 3)) for m in both.matches(0)] == [(0, 0.75), (1, 0.25)]
    assert both.unit_score == pytest.approx((0.9 + 0.3) / 2)


def test_source_salience_counts_under_a_salient_alignment() -> None:
    query = encoded("cost", [[1.0, 0.0]], [(0, 4)])
    source = encoded("cost price", [[0.9, 0], [0.3, 0]], [(0, 4), (5, 10)], salience=np.array([1, 3], np.float32))
    assert [word.weight for word in compare(query, source).source] == pytest.approx([0.25, 0.75])
    explanation = compare(query, source, alignment_of("top-k=2+salience"))
    assert explanation.unit_score == pytest.approx((0.9 * 1 + 0.3 * 3) / 4)


def test_missing_token_data_raises() -> None:
    query, source = encoded("a", [[1.0, 0.0]], [(0, 1)]), encoded("b", [[1.0, 0.0]], [(0, 1)])
    for name in ("exact", "top-k=1+salience"):
        with pytest.raises(RetrievalError, match="needs token data that this encoder lacks"):
            compare(query, source, alignment_of(name))
    with pytest.raises(ValueError, match="both texts need words to compare, got 1 and 0 tokens"):
        compare(query, EncodedText("b", source.tokens.only(np.array([False]))))


@pytest.mark.parametrize(
    ("text", "places", "words"),
    [
        ("2.1 metres", [(0, 1), (1, 2), (2, 3), (4, 10)], ["2.1", "metres"]),
        ("(cost), then", [(0, 1), (1, 5), (5, 6), (6, 7), (8, 12)], ["cost", "then"]),
        ("a - b", [(0, 1), (2, 3), (4, 5)], ["a", "-", "b"]),
        ("… !", [(0, 1), (2, 3)], ["…", "!"]),
        ("€212.4", [(0, 1), (1, 4), (4, 5), (5, 6)], ["€212.4"]),
        ("東京 tower", [(0, 1), (1, 2), (3, 8)], ["東", "京", "tower"]),
        ("한국어 말", [(0, 1), (1, 3), (4, 5)], ["한국어", "말"]),
        ("🏔 é", [(0, 1), (0, 1), (2, 3)], ["🏔", "é"]),
        ("ab", [(NO_CHARACTER, NO_CHARACTER), (0, 2), (NO_CHARACTER, NO_CHARACTER)], ["", "ab"]),
    ],
)
def test_tokens_are_joined_into_words(text: str, places: list[tuple[int, int]], words: list[str]) -> None:
    one = encoded(text, np.eye(len(places)).tolist(), places)
    explanation = compare(one, one)
    assert [word.text for word in explanation.query] == words
    assert [word.span.of(text) for word in explanation.query if word.span] == [word for word in words if word]
    assert explanation.unit_score == pytest.approx(1.0)
    assert [word.has_content for word in explanation.query] == [any(c not in "…!" for c in word) for word in words]


# Random texts


@st.composite
def texts(draw: st.DrawFn) -> EncodedText:
    text = draw(st.text(alphabet="ab .,東", min_size=1, max_size=8))
    num_special = draw(st.integers(0, 1))
    places = [(NO_CHARACTER, NO_CHARACTER)] * num_special + [(i, i + 1) for i, c in enumerate(text) if c != " "]
    if not places:
        places = [(NO_CHARACTER, NO_CHARACTER)]
    n = len(places)
    numbers = st.floats(-1, 1, width=16)
    return encoded(
        text,
        draw(arrays(np.float32, (n, 3), elements=numbers)).tolist(),
        places,
        salience=draw(arrays(np.float32, n, elements=st.floats(0, 2, width=16))),
        ids=np.array(draw(st.lists(st.integers(0, 2), min_size=n, max_size=n))),
    )


@given(texts(), texts(), st.sampled_from([*ALIGNMENTS, "top-k=2+salience", "exact+salience"]))
def test_contributions_add_up_to_the_score(query: EncodedText, source: EncodedText, name: str) -> None:
    alignment = alignment_of(name)
    explanation = compare(query, source, alignment)
    everything = [Span(0, 99)]
    anywhere = replace(source.tokens, offsets=np.tile([0, 99], (len(source.tokens), 1)).astype(np.int32))
    (score,) = score_units(
        query.tokens.vectors, query.tokens.weights(), anywhere, [everything], alignment, query.tokens.ids
    )
    assert explanation.contributions.shape == (len(explanation.query), len(explanation.source))
    assert explanation.unit_score == pytest.approx(score if np.isfinite(score) else 0.0, abs=1e-5)
    assert sum(word.weight or 0.0 for word in explanation.query) == pytest.approx(1.0, abs=1e-5)
    for i in range(len(explanation.query)):
        assert sum(match.share for match in explanation.matches(i)) in (0, pytest.approx(1.0))


# Explanations of hits


@pytest.fixture(scope="module")
def retriever(encoder: Encoder) -> Retriever:
    return Retriever.over(
        encoder, PASSAGES, lambda texts: [[(Span(0, len(t) // 2),), (Span(0, len(t)),)] for t in texts]
    )


@pytest.mark.parametrize("granularity", Granularity)
@pytest.mark.parametrize("name", ALIGNMENTS)
def test_an_explanation_has_the_score_of_its_hit(retriever: Retriever, granularity: Granularity, name: str) -> None:
    aligned = replace(retriever, alignment=alignment_of(name))
    hits = aligned.search(QUESTION, granularity, k=3)
    assert hits
    for hit in hits:
        explanation = explain_hit(aligned, QUESTION, hit)
        assert explanation.score == pytest.approx(hit.similarity, abs=2e-4)
        assert explanation.passage_score == pytest.approx(hit.passage_score, abs=2e-4)
        share = 0.0 if granularity == Granularity.PASSAGE else 0.3
        own = (1 - share) * explanation.unit_score + share * explanation.passage_score
        assert explanation.contributions.sum() == pytest.approx(explanation.unit_score)
        assert own == pytest.approx(explanation.score)


def test_a_piece_of_a_text_is_explained_in_its_context(retriever: Retriever) -> None:
    text = "The barrier cost 410 million euros and has fourteen gates."
    pieces = [(Span(0, 34),), (Span(0, 11), Span(39, 57))]
    for piece, hits in zip(pieces, retriever.search_spans([text], [pieces], 2)[0], strict=True):
        for hit in hits:
            (explanation,) = explain(retriever.encoder, text, hit.passage, [hit.spans], spans=piece)
            assert explanation.score == pytest.approx(hit.similarity, abs=2e-3)  # an index rounds
            words = [word.span for word in explanation.query if word.span]
            assert all(any(span.start <= w.start and w.end <= span.end for span in piece) for w in words)


def test_the_same_word_contributes_most(retriever: Retriever) -> None:
    (hit,) = retriever.search("fourteen gates", Granularity.SENTENCE, 1)
    explanation = explain_hit(retriever, "fourteen gates", hit)
    words = [word.text for word in explanation.query]
    best = explanation.matches(words.index("fourteen"))[0]
    assert explanation.source[best.source].text == "fourteen"
    assert explanation.granularity is Granularity.SENTENCE
    assert explanation.alignment == NEAREST


def test_the_title_is_compared_for_a_whole_passage(retriever: Retriever) -> None:
    (explanation,) = explain(retriever.encoder, "the harbour", PASSAGES[2], [], granularity=Granularity.PASSAGE)
    assert "" in [word.text for word in explanation.source]
    assert "Ferries" in [word.text for word in explanation.source]
    (alone,) = explain(retriever.encoder, "the harbour", PASSAGES[2], [(Span(0, 7),)])
    assert [word.text for word in alone.source] == ["Ferries"]
