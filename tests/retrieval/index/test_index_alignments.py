"""An index scores units by the formula of each alignment, in every regime and granularity."""

from __future__ import annotations

import math
from dataclasses import replace
from tempfile import TemporaryDirectory

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from small_passages import EncodedPassage, encoded_passage
from test_index_regimes import ALL, REGIMES, SearchCase, saved_index, scores, search_cases

from propcite.retrieval import RetrievalError
from propcite.retrieval.alignment import Alignment, alignment_of
from propcite.retrieval.alignment.gate import gate
from propcite.retrieval.encoding.base import Floats, TokenVectors
from propcite.retrieval.granularity import score_units
from propcite.retrieval.index.token_index import TokenIndex
from propcite.retrieval.text import Span

NAMES = ["top-k=1", "top-k=2", "top-p=40%", "da:k=2,eps=0.1", "exact", "first", "first-k=2"]
NAMES += ["top-k=1+salience", "top-p=40%+salience", "exact+salience"]


def pairs_of(alignment: Alignment, row: list[float], same: list[bool]) -> list[float]:
    """Return one query token's row of A."""
    order = sorted(range(len(row)), key=lambda place: -row[place])
    match alignment.kind:
        case "top-p":
            chosen = order[: max(math.floor(alignment.share * len(row)), 1)]
        case "exact":
            chosen = [place for place in order if same[place]][:1]
        case "first":
            chosen = [place for place in order if place < alignment.k][:1]
        case "da":
            return [float(a) for a in gate(torch.tensor(row), alignment.k, alignment.eps)]
        case _:
            chosen = order[: alignment.k]
    return [1.0 if place in chosen else 0.0 for place in range(len(row))]


def expected_score(
    alignment: Alignment, query: Floats, weights: Floats, words: list[int], tokens: TokenVectors
) -> float:
    if not len(tokens):
        return -math.inf
    total = float(weights.sum())
    sums = counts = 0.0
    active = [i for i in range(len(query)) if weights[i]]
    for i in active[:1] if alignment.kind == "first" else active:
        row = [float(np.dot(query[i], vector)) for vector in tokens.vectors]
        pairs = pairs_of(alignment, row, [words[i] == word for word in tokens.ids])
        if alignment.salient:
            pairs = [a * float(u) for a, u in zip(pairs, tokens.salience, strict=True)]
        sums += float(weights[i]) * sum(s * a for s, a in zip(row, pairs, strict=True))
        counts += float(weights[i]) * sum(pairs)
    if alignment.kind == "exact":
        return sums
    if not active:
        return 0.0
    return total * sums / counts if counts else -math.inf


def expected_scores(
    case: SearchCase, row: int, alignment: Alignment, words: list[int]
) -> dict[tuple[str, int | None], float]:
    options = case.options
    sentences, share = "granularity" in options, options.get("passage_share", 0.0)
    by_unit: dict[tuple[str, int | None], float] = {}
    for one in case.rest:
        if options["allow"] is not None and one.passage.id not in options["allow"]:
            continue
        of_passage = options.get("passage_weights", case.weights)[row]
        passage_score = expected_score(alignment, case.query, of_passage, words, tokens_by_unit(one))
        if not sentences:
            by_unit[one.passage.id, None] = passage_score
            continue
        starts = one.tokens.offsets[:, 0]
        for number, sentence in enumerate(one.passage.sentences):
            own = one.tokens.only((starts >= sentence.span.start) & (starts < sentence.span.end))
            if len(own) and not sentence.is_heading:
                score = expected_score(alignment, case.query, case.weights[row], words, own)
                of_each = [s for s in ((1 - share, score), (share, passage_score)) if s[0]]
                by_unit[one.passage.id, number] = sum(part * value for part, value in of_each)
    return {unit: score for unit, score in by_unit.items() if math.isfinite(score)}


def tokens_by_unit(one: EncodedPassage) -> TokenVectors:
    """Return a passage's tokens in the order of an index: tokens outside of sentences first."""
    return one.tokens.only(np.argsort(one.tokens.offsets[:, 0], kind="stable"))


@given(search_cases(), st.sampled_from(NAMES), st.data())
@settings(max_examples=150, deadline=None)
def test_scores_follow_the_formula(case: SearchCase, name: str, data: st.DataObject) -> None:
    alignment = alignment_of(name)
    words = data.draw(st.lists(st.integers(0, 3), min_size=len(case.query), max_size=len(case.query)))
    with TemporaryDirectory() as folder:
        index = saved_index(case, 16, folder)
        for regime in REGIMES:
            options = {"k": ALL, "refine": ALL, "num_retrieved": ALL, "regime": regime} | case.options
            rows = index.search(case.query, case.weights, alignment=alignment, words=np.array(words), **options)
            for row, hits in enumerate(rows):
                expected = expected_scores(case, row, alignment, words)
                assert {unit: score for unit, (score, _) in scores(hits).items()} == pytest.approx(expected, abs=1e-5)


@given(search_cases(), st.sampled_from([8, 4, 1]))
@settings(max_examples=40, deadline=None)
def test_the_nearest_token_under_the_general_formula_is_the_compiled_result(case: SearchCase, bits: int) -> None:
    """The smallest share of a text is its nearest token, for which there are compiled loops."""
    with TemporaryDirectory() as folder:
        index = saved_index(case, bits, folder)
        plain = index.search(case.query, case.weights, k=ALL, **case.options)
        long = index.search(case.query, case.weights, k=ALL, alignment=alignment_of("top-p=1%"), **case.options)
    for one, other in zip(plain, long, strict=True):
        left, right = scores(one), scores(other)
        assert left.keys() == right.keys()
        for unit in left:
            assert left[unit] == pytest.approx(right[unit], abs=1e-5)


@given(search_cases(), st.integers(1, 12))
@settings(max_examples=40, deadline=None)
def test_xtr_as_alignment_equals_ranking_without_refinement(case: SearchCase, k: int) -> None:
    with TemporaryDirectory() as folder:
        index = saved_index(case, 16, folder)
        options = {"k": ALL, "regime": "exact"} | case.options
        by_name = index.search(case.query, case.weights, alignment=alignment_of(f"xtr:k={k}"), **options)
        assert by_name == index.search(case.query, case.weights, refine=0, num_retrieved=k, **options)


@given(search_cases(), st.sampled_from([0.3, 0.5, 1.0]))
@settings(max_examples=60, deadline=None)
def test_a_share_of_query_tokens_changes_candidates_but_no_score(case: SearchCase, share: float) -> None:
    with TemporaryDirectory() as folder:
        index = saved_index(case, 16, folder)
        exact = index.search(case.query, case.weights, k=ALL, regime="exact", **case.options)
        for regime in REGIMES[1:]:
            options = {"k": ALL, "refine": 2, "num_retrieved": 2, "regime": regime} | case.options
            for row, hits in enumerate(index.search(case.query, case.weights, asking_share=share, **options)):
                exact_scores = scores(exact[row])
                for unit, values in scores(hits).items():
                    assert values == pytest.approx(exact_scores[unit], abs=1e-6)
                assert all(hit.bound is None or hit.bound >= hit.score - 1e-6 for hit in hits if regime == "exact")


def test_the_largest_tokens_of_each_row_look_for_candidates() -> None:
    """A passage near the light token only is no candidate if the heavy half of the query looks for candidates."""
    index = TokenIndex(3, "made-up", bits=16, regime="tokens", exact_up_to=0)
    near_heavy = [encoded_passage(f"h{n}", [[1, 0, 0.1 * n]], [0], [1]) for n in range(1, 4)]
    near_light = [encoded_passage(f"l{n}", [[0, 1, 0.1 * n]], [0], [1]) for n in range(1, 4)]
    for one in near_heavy + near_light:
        index.add([one.passage], [one.tokens])
    with TemporaryDirectory() as folder:
        from pathlib import Path

        index.save(Path(folder))
        query, weights = np.array([[1, 0, 0], [0, 1, 0]], np.float32), np.array([[0.6, 0.4]], np.float32)
        options = {"k": 6, "refine": 3, "regime": "tokens", "asking_share": 0.5}
        by_weight = index.search(query, weights, **options)[0]
        by_worth = index.search(query, weights, worths=np.array([1.0, 2.0], np.float32), **options)[0]
    assert {hit.passage_id for hit in by_weight} == {one.passage.id for one in near_heavy}
    assert {hit.passage_id for hit in by_worth} == {one.passage.id for one in near_light}


# Units of one passage, without an index


@pytest.mark.parametrize("name", NAMES)
def test_units_of_one_passage_are_scored_by_the_formula(name: str) -> None:
    random = np.random.default_rng(3)
    words, salience = random.integers(0, 3, 8).tolist(), random.random(8).tolist()
    one = encoded_passage(
        "p", random.standard_normal((8, 4)).tolist(), [-1, *range(7)], [3, 4], words=words, salience=salience
    )
    query, query_words = random.standard_normal((3, 4)).astype(np.float32), [0, 1, 2]
    weights = np.array([0.0, 0.75, 0.25], np.float32)
    units = [(Span(0, 3),), (Span(3, 7),), (Span(0, 1), Span(5, 7)), (Span(90, 91),)]
    actual = score_units(query, weights, one.tokens, units, alignment_of(name), np.array(query_words))
    expected = [
        expected_score(alignment_of(name), query, weights, query_words, one.tokens.only(one.tokens.within(unit)))
        for unit in units
    ]
    assert actual.tolist() == pytest.approx(expected, abs=1e-5)


# Unsupported cases


def plain_index() -> TokenIndex:
    """Build an index of an encoder without vocabulary ids and salience."""
    index = TokenIndex(3, "made-up", bits=16)
    one = encoded_passage("p", [[1, 0, 0], [0, 1, 0]], [0, 1], [2])
    index.add([one.passage], [replace(one.tokens, ids=None, salience=None)])
    return index


@pytest.mark.parametrize(
    ("name", "message"),
    [("exact", "vocabulary ids of its tokens: run propcite reindex"), ("top-k=2+salience", "salience")],
)
def test_an_index_without_the_data_is_rejected_with_the_next_step(name: str, message: str) -> None:
    query, weights = np.eye(3, dtype=np.float32)[:1], np.ones((1, 1), np.float32)
    with pytest.raises(RetrievalError, match=message):
        plain_index().search(query, weights, k=1, alignment=alignment_of(name), words=np.array([0]))


def test_a_query_without_words_is_rejected() -> None:
    one = encoded_passage("p", [[1, 0, 0]], [0], [1], words=[1], salience=[1.0])
    index = TokenIndex(3, "made-up", bits=16)
    index.add([one.passage], [one.tokens])
    with pytest.raises(ValueError, match="give `words`"):
        index.search(np.eye(3, dtype=np.float32)[:1], np.ones((1, 1), np.float32), k=1, alignment=alignment_of("exact"))


@pytest.mark.parametrize("share", [0.0, -1.0, 1.5])
def test_an_invalid_share_of_query_tokens_is_rejected(share: float) -> None:
    with pytest.raises(ValueError, match="a share of query tokens"):
        plain_index().search(np.eye(3, dtype=np.float32)[:1], np.ones((1, 1), np.float32), k=1, asking_share=share)


def test_words_and_salience_survive_saving_and_merging(tmp_path) -> None:
    index = TokenIndex(3, "made-up", bits=8)
    samples = [
        encoded_passage(f"p{n}", [[1, 0, n], [0, 1, n]], [0, 1], [2], words=[n, 7], salience=[0.5, n]) for n in range(3)
    ]
    for one in samples:
        index.add([one.passage], [one.tokens])
        index.save(tmp_path)
    index.compact(tmp_path)
    loaded = TokenIndex.load(tmp_path)
    for n, one in enumerate(samples):
        tokens = loaded.vectors(one.passage.id)
        assert tokens.ids.tolist() == [n, 7]
        assert tokens.salience.tolist() == [0.5, n]
    other = plain_index()
    other.add([samples[1].passage], [samples[1].tokens])
    other.compact(tmp_path / "other")
    assert TokenIndex.load(tmp_path / "other").vectors("p1").ids is None
