"""score_spans (the paper's case D) against a slow loop over tokens."""

from __future__ import annotations

import numpy as np
import pytest
import tiny_models as tiny

from propcite.retrieval import score_spans
from propcite.retrieval.encoding.encoder import Encoder
from propcite.retrieval.errors import RetrievalError
from propcite.retrieval.splitter import passage_from_text
from propcite.retrieval.text import Granularity, Span

QUERY = "The harbour was dredged in spring, and its gates are made of steel"
PASSAGE = passage_from_text(
    "p", "Its gates are steel. In spring the harbour was dredged. Query, document.", "The harbour"
)


@pytest.fixture(scope="module")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> Encoder:
    prompts = {"query": "query: ", "query_proposition": "query spring: "}
    return Encoder(str(tiny.save_native(tmp_path_factory.mktemp("model"), prompts)), precision="float32")


def span_of(words: str, text: str) -> Span:
    return Span(text.index(words), text.index(words) + len(words))


def slow(encoder: Encoder, pieces, units, level: Granularity) -> np.ndarray:
    query, passage = encoder.encode_queries([QUERY], level)[0], encoder.encode_passages([PASSAGE])[0]

    def tokens_in(tokens, spans) -> list[int]:
        return [
            i for i, (start, end) in enumerate(tokens.offsets.tolist())
            if start >= 0 and any(start < s.end and end > s.start for s in spans)
        ]  # fmt: skip

    def score(spans, unit) -> float:
        words, others = tokens_in(query, spans), tokens_in(passage, unit)
        return sum(max(float(query.vectors[i] @ passage.vectors[j]) for j in others) for i in words) / len(words)

    return np.array([[score(spans, unit) for unit in units] for spans in pieces])


@pytest.mark.parametrize("level", list(Granularity))
def test_pieces_are_scored_by_their_own_words_in_context(encoder: Encoder, level: Granularity) -> None:
    pieces = [
        [span_of("The harbour was dredged in spring", QUERY)],
        [span_of("its gates are made of steel", QUERY)],
        [span_of("The harbour", QUERY), span_of("steel", QUERY)],
        [span_of("arb", QUERY)],
    ]
    text = PASSAGE.text
    units = [
        [span_of("gates are steel", text)],
        [span_of("the harbour", text), span_of("document", text)],
        [span_of("dredged. Query", text)],
        [Span(0, len(text))],
    ]
    scores = score_spans(encoder, QUERY, pieces, PASSAGE, units, level)
    assert scores.shape == (4, 4)
    assert scores == pytest.approx(slow(encoder, pieces, units, level), abs=1e-5)


def test_scores_depend_on_the_context(encoder: Encoder) -> None:
    gates, whole = span_of("gates", QUERY), [[Span(0, len(PASSAGE.text))]]
    inside = score_spans(encoder, QUERY, [[gates]], PASSAGE, whole)
    alone = score_spans(encoder, "gates", [[Span(0, 5)]], PASSAGE, whole)
    assert abs(float(inside[0, 0] - alone[0, 0])) > 1e-3


def test_spans_without_words_score_minus_infinity_and_bad_spans_raise(encoder: Encoder) -> None:
    space = Span(3, 4)
    whole = [[Span(0, len(PASSAGE.text))]]
    assert score_spans(encoder, QUERY, [[space]], PASSAGE, whole).tolist() == [[-np.inf]]
    assert score_spans(encoder, QUERY, [[Span(0, 3)]], PASSAGE, [[space]]).tolist() == [[-np.inf]]
    assert score_spans(encoder, QUERY, [], PASSAGE, whole).shape == (0, 1)
    with pytest.raises(RetrievalError, match="the query has no characters 60 to 99"):
        score_spans(encoder, QUERY, [[Span(60, 99)]], PASSAGE, whole)
    with pytest.raises(RetrievalError, match="the passage has no characters 5 to 5"):
        score_spans(encoder, QUERY, [[Span(0, 3)]], PASSAGE, [[Span(5, 5)]])
