"""Scores of units against slow loops over tokens; doctests of retrieval and attribution."""

from __future__ import annotations

import doctest
import importlib
import pkgutil

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from propcite import attribution, retrieval
from propcite.retrieval.encoding.base import Floats, TokenVectors
from propcite.retrieval.granularity import best_matches, combine_scores, score_units, span_weights
from propcite.retrieval.text import Span

MODULES = [
    module.name
    for package in (retrieval, attribution)
    for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}.")
]
OF_CLIENTS = {"haystack": "haystack", "openai_agents": "agents", "pydantic_ai": "pydantic_ai"}  # adapters' packages
SCORES = st.floats(-1, 1, width=32)


@pytest.mark.parametrize("name", MODULES)
def test_doctests(name: str) -> None:
    if package := OF_CLIENTS.get(name.rpartition(".")[2]):
        pytest.importorskip(package, reason=f"{package} is not here: make test-clients has it")
    assert doctest.testmod(importlib.import_module(name)).failed == 0


@st.composite
def runs(draw: st.DrawFn) -> tuple[Floats, list[int]]:
    """Draw similarities (n, q) and the starts of runs of tokens; the first is 0, no run is empty."""
    n, q = draw(st.integers(1, 12)), draw(st.integers(1, 4))
    starts = draw(st.lists(st.integers(0, n - 1), unique=True).map(lambda starts: sorted({0, *starts})))
    return draw(arrays(np.float32, (n, q), elements=SCORES)), starts


@given(runs())
def test_best_matches_equal_a_slow_loop(drawn: tuple[Floats, list[int]]) -> None:
    similarities, starts = drawn
    ends = [*starts[1:], len(similarities)]
    slow = [
        [max(similarities[token][query] for token in range(start, end)) for query in range(similarities.shape[1])]
        for start, end in zip(starts, ends, strict=True)
    ]
    assert best_matches(similarities, np.array(starts)).tolist() == slow


def test_best_matches_of_no_runs_are_empty() -> None:
    assert best_matches(np.zeros((0, 3), np.float32), np.zeros(0, np.int64)).shape == (0, 3)


@given(arrays(bool, st.integers(1, 12)), st.booleans())
def test_weights_add_up_to_one_or_are_all_zero(mask: np.ndarray, salient: bool) -> None:
    n = len(mask)
    salience = np.arange(1, n + 1, dtype=np.float32) if salient else None
    weights = TokenVectors(np.eye(n, dtype=np.float32), np.zeros((n, 2), np.int32), salience).weights(mask)
    assert weights.sum() == pytest.approx(1.0 if mask.any() else 0.0, abs=1e-6)
    assert ((weights > 0) == mask).all()
    if salient and mask.any():
        assert weights[mask] / weights[mask][0] == pytest.approx((np.flatnonzero(mask) + 1) / (np.argmax(mask) + 1))


def test_tokens_without_any_salience_weigh_the_same() -> None:
    tokens = TokenVectors(np.eye(2, dtype=np.float32), np.zeros((2, 2), np.int32), np.zeros(2, np.float32))
    assert tokens.weights().tolist() == [0.5, 0.5]


def tokens_at(*places: tuple[int, int]) -> TokenVectors:
    """Build tokens with orthogonal unit vectors."""
    return TokenVectors(np.eye(len(places), dtype=np.float32), np.array(places, np.int32).reshape(-1, 2))


def test_a_token_is_within_a_span_if_it_shares_a_character() -> None:
    tokens = tokens_at((-1, -1), (0, 3), (4, 7), (8, 11), (-1, -1))
    assert tokens.within([Span(4, 7)]).tolist() == [False, False, True, False, False]
    assert tokens.within([Span(2, 5)]).tolist() == [False, True, True, False, False]
    assert tokens.within([Span(0, 3), Span(8, 9)]).tolist() == [False, True, False, True, False]
    assert tokens.within([Span(3, 4)]).tolist() == [False] * 5
    assert tokens.within([Span(0, 100)]).tolist() == [False, True, True, True, False]
    assert tokens.within([]).tolist() == [False] * 5


def test_span_weights_are_zero_outside_the_spans() -> None:
    tokens = tokens_at((-1, -1), (0, 3), (4, 7), (8, 11))
    weights = span_weights(tokens, [[Span(0, 7)], [Span(8, 11)], [Span(0, 3), Span(8, 11)], [Span(3, 4)]])
    assert weights.tolist() == [[0, 0.5, 0.5, 0], [0, 0, 0, 1], [0, 0.5, 0, 0.5], [0, 0, 0, 0]]
    assert span_weights(tokens, []).shape == (0, 4)


@st.composite
def cases(draw: st.DrawFn) -> tuple[Floats, Floats, TokenVectors, list[list[Span]]]:
    """Draw a query (q, d) with weights, a passage of one-character tokens, and units of up to three spans."""
    q, n, d = draw(st.integers(1, 4)), draw(st.integers(1, 8)), 3
    spans = st.tuples(st.integers(0, n), st.integers(0, n)).map(lambda pair: Span(min(pair), max(pair)))
    passage = TokenVectors(
        draw(arrays(np.float32, (n, d), elements=SCORES)), np.array([(i, i + 1) for i in range(n)], np.int32)
    )
    units = draw(st.lists(st.lists(spans, max_size=3), max_size=4))
    weights = draw(arrays(np.float32, q, elements=st.floats(0, 1, width=32)))
    return draw(arrays(np.float32, (q, d), elements=SCORES)), weights, passage, units


@given(cases())
def test_unit_scores_equal_a_slow_loop(drawn: tuple[Floats, Floats, TokenVectors, list[list[Span]]]) -> None:
    query, weights, passage, units = drawn
    for score, spans in zip(score_units(query, weights, passage, units), units, strict=True):
        own = [i for i in range(len(passage)) if any(span.start <= i < span.end for span in spans)]
        if not own:
            assert score == -np.inf
            continue
        slow = sum(
            float(weight) * max(float(token @ passage.vectors[i]) for i in own)
            for token, weight in zip(query, weights, strict=True)
        )
        assert score == pytest.approx(slow, abs=1e-5)


def test_tokens_outside_the_unit_do_not_raise_a_negative_score() -> None:
    passage = TokenVectors(np.array([[0, 0], [-1, 0], [1, 0]], np.float32), np.array([[-1, -1], [0, 3], [4, 7]]))
    scores = score_units(np.array([[1, 0]], np.float32), np.ones(1, np.float32), passage, [[Span(0, 3)], [Span(4, 7)]])
    assert scores.tolist() == [-1.0, 1.0]


@given(SCORES, SCORES, st.floats(0, 1))
def test_a_combined_score_lies_between_both(unit: float, passage: float, share: float) -> None:
    combined = float(combine_scores(np.array([unit], np.float32), np.array([passage], np.float32), share)[0])
    assert min(unit, passage) - 1e-6 <= combined <= max(unit, passage) + 1e-6


def test_share_0_is_the_unit_and_share_1_the_passage() -> None:
    unit, passage = np.array([0.5], np.float32), np.array([0.25], np.float32)
    assert combine_scores(unit, passage, 0.0).tolist() == [0.5]
    assert combine_scores(unit, passage, 1.0).tolist() == [0.25]
