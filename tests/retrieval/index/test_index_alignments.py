"""Whatever the alignment, an index scores units as the formula written out does, in every regime and granularity."""

from __future__ import annotations

import math
from dataclasses import replace
from tempfile import TemporaryDirectory

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from small_passages import Item, item
from test_index_regimes import ALL, REGIMES, Drawn, drawn, saved, scores

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
    """One query token's row of A, written out."""
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


def slow_score(alignment: Alignment, query: Floats, weights: Floats, words: list[int], tokens: TokenVectors) -> float:
    if not len(tokens):
        return -math.inf
    total = float(weights.sum())
    sums = counts = 0.0
    asking = [i for i in range(len(query)) if weights[i]]
    for i in asking[:1] if alignment.kind == "first" else asking:
        row = [float(np.dot(query[i], vector)) for vector in tokens.vectors]
        pairs = pairs_of(alignment, row, [words[i] == word for word in tokens.ids])
        if alignment.salient:
            pairs = [a * float(u) for a, u in zip(pairs, tokens.salience, strict=True)]
        sums += float(weights[i]) * sum(s * a for s, a in zip(row, pairs, strict=True))
        counts += float(weights[i]) * sum(pairs)
    if alignment.kind == "exact":
        return sums
    if not asking:
        return 0.0
    return total * sums / counts if counts else -math.inf


def slow(case: Drawn, row: int, alignment: Alignment, words: list[int]) -> dict[tuple[str, int | None], float]:
    options = case.options
    sentences, share = "granularity" in options, options.get("passage_share", 0.0)
    found: dict[tuple[str, int | None], float] = {}
    for one in case.rest:
        if options["allow"] is not None and one.passage.id not in options["allow"]:
            continue
        of_passage = options.get("passage_weights", case.weights)[row]
        everything = slow_score(alignment, case.query, of_passage, words, laid(one))
        if not sentences:
            found[one.passage.id, None] = everything
            continue
        starts = one.tokens.offsets[:, 0]
        for number, sentence in enumerate(one.passage.sentences):
            own = one.tokens.only((starts >= sentence.span.start) & (starts < sentence.span.end))
            if len(own) and not sentence.is_heading:
                score = slow_score(alignment, case.query, case.weights[row], words, own)
                of_each = [s for s in ((1 - share, score), (share, everything)) if s[0]]
                found[one.passage.id, number] = sum(part * value for part, value in of_each)
    return {unit: score for unit, score in found.items() if math.isfinite(score)}


def laid(one: Item) -> TokenVectors:
    """A passage's tokens as an index lays them: those of no sentence first."""
    return one.tokens.only(np.argsort(one.tokens.offsets[:, 0], kind="stable"))


@given(drawn(), st.sampled_from(NAMES), st.data())
@settings(max_examples=150, deadline=None)
def test_it_scores_as_the_formula_written_out(case: Drawn, name: str, data: st.DataObject) -> None:
    alignment = alignment_of(name)
    words = data.draw(st.lists(st.integers(0, 3), min_size=len(case.query), max_size=len(case.query)))
    with TemporaryDirectory() as folder:
        index = saved(case, 16, folder)
        for regime in REGIMES:
            options = {"k": ALL, "refine": ALL, "retrieved": ALL, "regime": regime} | case.options
            rows = index.search(case.query, case.weights, alignment=alignment, words=np.array(words), **options)
            for row, hits in enumerate(rows):
                wanted = slow(case, row, alignment, words)
                assert {unit: score for unit, (score, _) in scores(hits).items()} == pytest.approx(wanted, abs=1e-5)


@given(drawn(), st.sampled_from([8, 4, 1]))
@settings(max_examples=40, deadline=None)
def test_the_nearest_by_the_long_way_is_the_nearest(case: Drawn, bits: int) -> None:
    """The share of a text that is one token long is its nearest token, which compiled loops find by themselves."""
    with TemporaryDirectory() as folder:
        index = saved(case, bits, folder)
        plain = index.search(case.query, case.weights, k=ALL, **case.options)
        long = index.search(case.query, case.weights, k=ALL, alignment=alignment_of("top-p=1%"), **case.options)
    for one, other in zip(plain, long, strict=True):
        left, right = scores(one), scores(other)
        assert left.keys() == right.keys()
        for unit in left:
            assert left[unit] == pytest.approx(right[unit], abs=1e-5)


@given(drawn(), st.integers(1, 12))
@settings(max_examples=40, deadline=None)
def test_xtr_as_alignment_is_ranking_without_refining(case: Drawn, k: int) -> None:
    with TemporaryDirectory() as folder:
        index = saved(case, 16, folder)
        options = {"k": ALL, "regime": "exact"} | case.options
        by_name = index.search(case.query, case.weights, alignment=alignment_of(f"xtr:k={k}"), **options)
        assert by_name == index.search(case.query, case.weights, refine=0, retrieved=k, **options)


@given(drawn(), st.sampled_from([0.3, 0.5, 1.0]))
@settings(max_examples=60, deadline=None)
def test_fewer_tokens_that_look_change_candidates_and_never_a_score(case: Drawn, asking: float) -> None:
    with TemporaryDirectory() as folder:
        index = saved(case, 16, folder)
        exact = index.search(case.query, case.weights, k=ALL, regime="exact", **case.options)
        for regime in REGIMES[1:]:
            options = {"k": ALL, "refine": 2, "retrieved": 2, "regime": regime, "asking": asking} | case.options
            for row, hits in enumerate(index.search(case.query, case.weights, **options)):
                read = scores(exact[row])
                for unit, values in scores(hits).items():
                    assert values == pytest.approx(read[unit], abs=1e-6)
                assert all(hit.bound is None or hit.bound >= hit.score - 1e-6 for hit in hits if regime == "exact")


def test_the_foremost_tokens_of_each_row_look_for_candidates() -> None:
    """A passage that only the light token of the query is near is no candidate when the heavy half looks."""
    index = TokenIndex(3, "made-up", bits=16, regime="tokens", exact_up_to=0)
    near_heavy = [item(f"h{n}", [[1, 0, 0.1 * n]], [0], [1]) for n in range(1, 4)]
    near_light = [item(f"l{n}", [[0, 1, 0.1 * n]], [0], [1]) for n in range(1, 4)]
    for one in near_heavy + near_light:
        index.add([one.passage], [one.tokens])
    with TemporaryDirectory() as folder:
        from pathlib import Path

        index.save(Path(folder))
        query, weights = np.array([[1, 0, 0], [0, 1, 0]], np.float32), np.array([[0.6, 0.4]], np.float32)
        options = {"k": 6, "refine": 3, "regime": "tokens", "asking": 0.5}
        by_weight = index.search(query, weights, **options)[0]
        by_worth = index.search(query, weights, worths=np.array([1.0, 2.0], np.float32), **options)[0]
    assert {hit.passage_id for hit in by_weight} == {one.passage.id for one in near_heavy}
    assert {hit.passage_id for hit in by_worth} == {one.passage.id for one in near_light}


# One passage's units, without an index


@pytest.mark.parametrize("name", NAMES)
def test_units_of_one_passage_score_as_the_formula(name: str) -> None:
    random = np.random.default_rng(3)
    words, salience = random.integers(0, 3, 8).tolist(), random.random(8).tolist()
    one = item("p", random.standard_normal((8, 4)).tolist(), [-1, *range(7)], [3, 4], words=words, salience=salience)
    query, asked = random.standard_normal((3, 4)).astype(np.float32), [0, 1, 2]
    weights = np.array([0.0, 0.75, 0.25], np.float32)
    units = [(Span(0, 3),), (Span(3, 7),), (Span(0, 1), Span(5, 7)), (Span(90, 91),)]
    found = score_units(query, weights, one.tokens, units, alignment_of(name), np.array(asked))
    wanted = [
        slow_score(alignment_of(name), query, weights, asked, one.tokens.only(one.tokens.within(unit)))
        for unit in units
    ]
    assert found.tolist() == pytest.approx(wanted, abs=1e-5)


# What cannot be


def plain_index() -> TokenIndex:
    """Made by an encoder that tells neither words nor salience."""
    index = TokenIndex(3, "made-up", bits=16)
    one = item("p", [[1, 0, 0], [0, 1, 0]], [0, 1], [2])
    index.add([one.passage], [replace(one.tokens, ids=None, salience=None)])
    return index


@pytest.mark.parametrize(("name", "told"), [("exact", "words: run propcite reindex"), ("top-k=2+salience", "salience")])
def test_an_index_that_was_not_told_says_what_to_do(name: str, told: str) -> None:
    query, weights = np.eye(3, dtype=np.float32)[:1], np.ones((1, 1), np.float32)
    with pytest.raises(RetrievalError, match=told):
        plain_index().search(query, weights, k=1, alignment=alignment_of(name), words=np.array([0]))


def test_a_query_without_words_is_told() -> None:
    one = item("p", [[1, 0, 0]], [0], [1], words=[1], salience=[1.0])
    index = TokenIndex(3, "made-up", bits=16)
    index.add([one.passage], [one.tokens])
    with pytest.raises(ValueError, match="give their ids"):
        index.search(np.eye(3, dtype=np.float32)[:1], np.ones((1, 1), np.float32), k=1, alignment=alignment_of("exact"))


@pytest.mark.parametrize("asking", [0.0, -1.0, 1.5])
def test_a_share_of_query_tokens_that_is_none(asking: float) -> None:
    with pytest.raises(ValueError, match="a share of query tokens"):
        plain_index().search(np.eye(3, dtype=np.float32)[:1], np.ones((1, 1), np.float32), k=1, asking=asking)


def test_words_and_salience_come_back_from_disk_and_through_joining(tmp_path) -> None:
    index = TokenIndex(3, "made-up", bits=8)
    told = [item(f"p{n}", [[1, 0, n], [0, 1, n]], [0, 1], [2], words=[n, 7], salience=[0.5, n]) for n in range(3)]
    for one in told:
        index.add([one.passage], [one.tokens])
        index.save(tmp_path)
    index.compact(tmp_path)
    back = TokenIndex.load(tmp_path)
    for n, one in enumerate(told):
        tokens = back.vectors(one.passage.id)
        assert tokens.ids.tolist() == [n, 7]
        assert tokens.salience.tolist() == [0.5, n]
    other = plain_index()
    other.add([told[1].passage], [told[1].tokens])
    other.compact(tmp_path / "other")
    assert TokenIndex.load(tmp_path / "other").vectors("p1").ids is None
