"""Pruning: each passage keeps its most salient tokens for search or storage, each sentence at least one."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from small_passages import EncodedPassage, encoded_passage, encoded_passages
from test_index_regimes import ALL, REGIMES, SearchCase, scores, search_cases

from propcite.retrieval import RetrievalError
from propcite.retrieval.index.pruning import most_important
from propcite.retrieval.index.segment import prune_tokens
from propcite.retrieval.index.token_index import TokenIndex
from propcite.retrieval.text import Granularity

SHARES = st.sampled_from([0.05, 0.2, 0.4, 0.75, 1.0])


def sentence_of(one: EncodedPassage, token: int) -> int:
    """Return the number of the last sentence that begins at or before the token."""
    place = one.tokens.offsets[token, 0]
    starts = [number for number, s in enumerate(one.passage.sentences) if s.span.start <= place]
    return -1 if place < 0 or not starts else starts[-1]


@given(encoded_passages(), SHARES)
@settings(max_examples=150)
def test_a_passage_keeps_its_most_salient_tokens_and_each_sentence_one(one: EncodedPassage, share: float) -> None:
    pruned = prune_tokens(one.passage, one.tokens, share, "salience")
    salience = one.tokens.salience.tolist()
    number = math.ceil(share * len(salience) - 1e-9)
    places = [next(i for i in range(len(salience)) if same(one, i, pruned, k)) for k in range(len(pruned))]
    assert places == sorted(places)
    sentences = {sentence_of(one, i) for i in range(len(salience))} - {-1}
    assert {sentence_of(one, i) for i in places} >= sentences
    assert number <= len(pruned) <= number + len(sentences)
    threshold = sorted(salience, reverse=True)[number - 1]
    assert {i for i, s in enumerate(salience) if s > threshold} <= set(places)


def same(one: EncodedPassage, i: int, pruned, k: int) -> bool:
    return (one.tokens.offsets[i] == pruned.offsets[k]).all() and (one.tokens.vectors[i] == pruned.vectors[k]).all()


def test_most_important_tokens_of_a_small_example() -> None:
    salience = np.array([0.1, 0.9, 0.8, 0.2, 0.3, 0.7], np.float32)
    passages, units = np.array([0, 3, 6]), np.array([0, 1, 3, 5, 6])
    pruned = most_important(salience, passages, units, np.array([False, True, True, False]), 0.3)
    # One of three tokens per passage (0.9; 0.7), and the best of the second and third units (0.9; 0.3).
    assert pruned.tolist() == [False, True, False, False, True, True]


def saved_index(case: SearchCase, folder: str, **options) -> TokenIndex:
    index = TokenIndex(3, "made-up", bits=16, regime=REGIMES[-1], pruning="salience", **options)
    index.add([o.passage for o in case.samples], [o.tokens for o in case.samples])
    index.delete(case.deleted)
    index.save(Path(folder))
    return index


@given(search_cases(), SHARES, st.sampled_from([0, 3, ALL]))
@settings(max_examples=80, deadline=None)
def test_a_search_by_fewer_tokens_does_not_change_scores_of_candidates(
    case: SearchCase, share: float, refine: int
) -> None:
    with TemporaryDirectory() as folder:
        index = saved_index(case, folder, searched_share=share)
        exact = index.search(case.query, case.weights, k=ALL, regime="exact", **case.options)
        for regime in REGIMES[1:]:
            options = {"k": ALL, "refine": refine or ALL, "num_retrieved": ALL, "regime": regime} | case.options
            for hits, read in zip(index.search(case.query, case.weights, **options), exact, strict=True):
                full_scores = scores(read)
                for unit, values in scores(hits).items():
                    assert values == pytest.approx(full_scores[unit], abs=1e-6)
                if refine == ALL:  # every passage keeps a token, so all are candidates
                    assert scores(hits).keys() == full_scores.keys()


@given(search_cases(), SHARES)
@settings(max_examples=60, deadline=None)
def test_a_stored_share_equals_adding_pruned_passages(case: SearchCase, share: float) -> None:
    pruned_samples = [
        replace(one, tokens=prune_tokens(one.passage, one.tokens, share, "salience")) for one in case.samples
    ]
    with TemporaryDirectory() as one, TemporaryDirectory() as other:
        stored = saved_index(case, one, stored_share=share)
        pruned_before = saved_index(replace(case, samples=pruned_samples), other)
        for regime in REGIMES:
            options = {"k": ALL, "refine": ALL, "num_retrieved": ALL, "regime": regime} | case.options
            assert stored.search(case.query, case.weights, **options) == pruned_before.search(
                case.query, case.weights, **options
            )
        hits = stored.search(case.query, case.weights, k=ALL, granularity=Granularity.SENTENCE)[0]
        assert {(h.passage_id, h.sentence) for h in hits} == {
            (one.passage.id, sentence_of(one, i))
            for one in case.rest
            for i in range(len(one.tokens))
            if sentence_of(one, i) >= 0 and not one.passage.sentences[sentence_of(one, i)].is_heading
        }


def test_a_searched_share_makes_codes_smaller_on_disk(tmp_path: Path) -> None:
    random = np.random.default_rng(0)
    samples = []
    for n in range(200):
        vectors = random.standard_normal((20, 3))
        samples.append(
            encoded_passage(f"p{n}", vectors.tolist(), range(20), [10, 10], words=range(20), salience=random.random(20))
        )
    sizes = {}
    for share in (1.0, 0.2):
        index = TokenIndex(3, "made-up", bits=8, regime="tokens", exact_up_to=0, searched_share=share)
        index.add([one.passage for one in samples], [one.tokens for one in samples])
        index.save(tmp_path / str(share))
        sizes[share] = sum(path.stat().st_size for path in (tmp_path / str(share)).glob("*.codes-*"))
    assert sizes[0.2] < 0.6 * sizes[1.0]


@pytest.mark.parametrize("regime", REGIMES[1:])
def test_another_searched_share_applies_from_the_next_save_on(tmp_path: Path, regime: str) -> None:
    random = np.random.default_rng(1)
    samples = [
        encoded_passage(
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
    first.add([one.passage for one in samples], [one.tokens for one in samples])
    first.save(tmp_path)
    again = TokenIndex.load(tmp_path, regime=regime, exact_up_to=0, searched_share=0.34)
    assert again.stats().searched_share == 1.0
    assert again.stats().regime == regime
    again.save(tmp_path)
    assert TokenIndex.load(tmp_path, regime=regime, exact_up_to=0).stats().searched_share == 0.34
    again.compact(tmp_path)
    assert TokenIndex.load(tmp_path, regime=regime).stats().searched_share == 0.34


def test_pruning_by_salience_needs_salience() -> None:
    one = encoded_passage("p", [[1, 0, 0], [1, 0, 0], [0, 1, 0]], [0, 1, 2], [3])
    index = TokenIndex(3, "made-up", stored_share=0.5, pruning="salience")
    with pytest.raises(RetrievalError, match="prune by sentences"):
        index.add([one.passage], [one.tokens])
    assert len(index) == 0
    index = TokenIndex(3, "made-up", stored_share=0.5)
    index.add([one.passage], [one.tokens])
    assert index.vectors("p").offsets[:, 0].tolist() == [0, 2]  # the first of two equal ones


@pytest.mark.parametrize("pruning", ["coverage", "sentences"])
@given(encoded_passages(), SHARES)
def test_coverage_keeps_the_same_number(pruning: str, one: EncodedPassage, share: float) -> None:
    number = math.ceil(share * len(one.tokens) - 1e-9)
    pruned = len(prune_tokens(one.passage, one.tokens, share, pruning))
    assert number <= pruned <= number + len(one.passage.sentences)


def test_pruning_by_sentences_covers_each_sentence_even_if_others_repeat_it() -> None:
    """Two sentences of the same two words: one of each covers the passage, but each sentence needs its own."""
    vectors = [[1, 0, 0], [0, 1, 0], [1, 0, 0], [0, 1, 0]]
    one = encoded_passage("p", vectors, [0, 1, 2, 3], [2, 2], words=[1, 2, 1, 2], salience=[2.0, 1.0, 1.0, 1.0])
    of_sentences = prune_tokens(one.passage, one.tokens, 0.5, "sentences")
    assert of_sentences.offsets[:, 0].tolist() == [0, 2]
    assert prune_tokens(one.passage, one.tokens, 0.75, "sentences").offsets[:, 0].tolist() == [0, 1, 2]


@pytest.mark.parametrize("name", ["searched_share", "stored_share"])
@pytest.mark.parametrize("share", [0.0, -0.5, 1.5, math.nan])
def test_an_invalid_share_is_rejected(name: str, share: float) -> None:
    with pytest.raises(ValueError, match="a share of a passage's tokens"):
        TokenIndex(3, "made-up", **{name: share})


def test_an_unknown_pruning_is_rejected() -> None:
    with pytest.raises(ValueError, match="must be one of sentences, coverage, salience"):
        TokenIndex(3, "made-up", pruning="random")
