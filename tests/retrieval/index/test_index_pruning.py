"""Fewer tokens that are searched or stored: each passage keeps its most salient, each sentence at least one."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from small_passages import Item, item, items
from test_index_regimes import ALL, REGIMES, Drawn, drawn, scores

from propcite.retrieval import RetrievalError
from propcite.retrieval.index.pruning import most_worth
from propcite.retrieval.index.segment import pruned
from propcite.retrieval.index.token_index import TokenIndex
from propcite.retrieval.text import Granularity

SHARES = st.sampled_from([0.05, 0.2, 0.4, 0.75, 1.0])


def sentence_of(one: Item, token: int) -> int:
    """Written out: the last sentence that begins at the token's place or before it."""
    place = one.tokens.offsets[token, 0]
    starts = [number for number, s in enumerate(one.passage.sentences) if s.span.start <= place]
    return -1 if place < 0 or not starts else starts[-1]


@given(items(), SHARES)
@settings(max_examples=150)
def test_a_passage_keeps_its_most_salient_tokens_and_each_sentence_one(one: Item, share: float) -> None:
    kept = pruned(one.passage, one.tokens, share, "salience")
    salience = one.tokens.salience.tolist()
    number = math.ceil(share * len(salience) - 1e-9)
    places = [next(i for i in range(len(salience)) if same(one, i, kept, k)) for k in range(len(kept))]
    assert places == sorted(places)
    sentences = {sentence_of(one, i) for i in range(len(salience))} - {-1}
    assert {sentence_of(one, i) for i in places} >= sentences
    assert number <= len(kept) <= number + len(sentences)
    least = sorted(salience, reverse=True)[number - 1]
    assert {i for i, s in enumerate(salience) if s > least} <= set(places)


def same(one: Item, i: int, kept, k: int) -> bool:
    return (one.tokens.offsets[i] == kept.offsets[k]).all() and (one.tokens.vectors[i] == kept.vectors[k]).all()


def test_by_hand() -> None:
    salience = np.array([0.1, 0.9, 0.8, 0.2, 0.3, 0.7], np.float32)
    passages, units = np.array([0, 3, 6]), np.array([0, 1, 3, 5, 6])
    kept = most_worth(salience, passages, units, np.array([False, True, True, False]), 0.3)
    # One of three each (0.9; 0.7), and the best of the second and third units (0.9; 0.3).
    assert kept.tolist() == [False, True, False, False, True, True]


def made(case: Drawn, folder: str, **options) -> TokenIndex:
    index = TokenIndex(3, "made-up", bits=16, regime=REGIMES[-1], pruning="salience", **options)
    index.add([o.passage for o in case.held], [o.tokens for o in case.held])
    index.delete(case.gone)
    index.save(Path(folder))
    return index


@given(drawn(), SHARES, st.sampled_from([0, 3, ALL]))
@settings(max_examples=80, deadline=None)
def test_searching_by_fewer_tokens_finds_candidates_that_score_as_ever(case: Drawn, share: float, refine: int) -> None:
    with TemporaryDirectory() as folder:
        index = made(case, folder, searched_share=share)
        exact = index.search(case.query, case.weights, k=ALL, regime="exact", **case.options)
        for regime in REGIMES[1:]:
            options = {"k": ALL, "refine": refine or ALL, "retrieved": ALL, "regime": regime} | case.options
            for hits, read in zip(index.search(case.query, case.weights, **options), exact, strict=True):
                known = scores(read)
                for unit, values in scores(hits).items():
                    assert values == pytest.approx(known[unit], abs=1e-6)
                if refine == ALL:  # every passage keeps a token, so all of them are found
                    assert scores(hits).keys() == known.keys()


@given(drawn(), SHARES)
@settings(max_examples=60, deadline=None)
def test_storing_fewer_tokens_is_adding_fewer(case: Drawn, share: float) -> None:
    fewer = [replace(one, tokens=pruned(one.passage, one.tokens, share, "salience")) for one in case.held]
    with TemporaryDirectory() as one, TemporaryDirectory() as other:
        stored = made(case, one, stored_share=share)
        by_hand = made(replace(case, held=fewer), other)
        for regime in REGIMES:
            options = {"k": ALL, "refine": ALL, "retrieved": ALL, "regime": regime} | case.options
            assert stored.search(case.query, case.weights, **options) == by_hand.search(
                case.query, case.weights, **options
            )
        read = stored.search(case.query, case.weights, k=ALL, granularity=Granularity.SENTENCE)[0]
        assert {(h.passage_id, h.sentence) for h in read} == {
            (one.passage.id, sentence_of(one, i))
            for one in case.rest
            for i in range(len(one.tokens))
            if sentence_of(one, i) >= 0 and not one.passage.sentences[sentence_of(one, i)].is_heading
        }


def test_what_is_searched_is_smaller_on_disk(tmp_path: Path) -> None:
    random = np.random.default_rng(0)
    held = []
    for n in range(200):
        vectors = random.standard_normal((20, 3))
        held.append(item(f"p{n}", vectors.tolist(), range(20), [10, 10], words=range(20), salience=random.random(20)))
    sizes = {}
    for share in (1.0, 0.2):
        index = TokenIndex(3, "made-up", bits=8, regime="tokens", exact_up_to=0, searched_share=share)
        index.add([one.passage for one in held], [one.tokens for one in held])
        index.save(tmp_path / str(share))
        sizes[share] = sum(path.stat().st_size for path in (tmp_path / str(share)).glob("*.codes-*"))
    assert sizes[0.2] < 0.6 * sizes[1.0]


@pytest.mark.parametrize("regime", REGIMES[1:])
def test_another_share_is_made_anew_when_saving_and_read_as_it_is_before(tmp_path: Path, regime: str) -> None:
    random = np.random.default_rng(1)
    held = [
        item(
            f"p{n}",
            random.standard_normal((6, 3)).tolist(),
            range(6),
            [3, 3],
            words=range(6),
            salience=random.random(6),
        )
        for n in range(40)
    ]
    first = TokenIndex(3, "made-up", regime=regime, exact_up_to=0)
    first.add([one.passage for one in held], [one.tokens for one in held])
    first.save(tmp_path)
    again = TokenIndex.load(tmp_path, regime=regime, exact_up_to=0, searched_share=0.34)
    assert again.stats().searched_share == 1.0
    assert again.stats().regime == regime
    again.save(tmp_path)
    assert TokenIndex.load(tmp_path, regime=regime, exact_up_to=0).stats().searched_share == 0.34
    again.compact(tmp_path)
    assert TokenIndex.load(tmp_path, regime=regime).stats().searched_share == 0.34


def test_without_salience_coverage_is_what_can_choose() -> None:
    one = item("p", [[1, 0, 0], [1, 0, 0], [0, 1, 0]], [0, 1, 2], [3])
    index = TokenIndex(3, "made-up", stored_share=0.5, pruning="salience")
    with pytest.raises(RetrievalError, match="prune by sentences"):
        index.add([one.passage], [one.tokens])
    assert len(index) == 0
    index = TokenIndex(3, "made-up", stored_share=0.5)
    index.add([one.passage], [one.tokens])
    assert index.vectors("p").offsets[:, 0].tolist() == [0, 2]  # of two alike the first


@pytest.mark.parametrize("pruning", ["coverage", "sentences"])
@given(items(), SHARES)
def test_coverage_chooses_as_many(pruning: str, one: Item, share: float) -> None:
    number = math.ceil(share * len(one.tokens) - 1e-9)
    kept = len(pruned(one.passage, one.tokens, share, pruning))
    assert number <= kept <= number + len(one.passage.sentences)


def test_each_sentence_keeps_what_stands_for_it_though_another_says_the_same() -> None:
    """Two sentences of the same two words: the passage is covered by one of each, the sentences by their own."""
    vectors = [[1, 0, 0], [0, 1, 0], [1, 0, 0], [0, 1, 0]]
    one = item("p", vectors, [0, 1, 2, 3], [2, 2], words=[1, 2, 1, 2], salience=[2.0, 1.0, 1.0, 1.0])
    of_sentences = pruned(one.passage, one.tokens, 0.5, "sentences")
    assert of_sentences.offsets[:, 0].tolist() == [0, 2]
    assert pruned(one.passage, one.tokens, 0.75, "sentences").offsets[:, 0].tolist() == [0, 1, 2]


@pytest.mark.parametrize("name", ["searched_share", "stored_share"])
@pytest.mark.parametrize("share", [0.0, -0.5, 1.5, math.nan])
def test_a_share_that_is_none_is_told(name: str, share: float) -> None:
    with pytest.raises(ValueError, match="a share of a passage's tokens"):
        TokenIndex(3, "made-up", **{name: share})


def test_a_pruning_that_is_none_is_told() -> None:
    with pytest.raises(ValueError, match="by sentences or coverage or salience"):
        TokenIndex(3, "made-up", pruning="random")
