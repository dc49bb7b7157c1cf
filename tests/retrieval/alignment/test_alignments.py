"""Alignments: values computed by hand, slow loops for comparison, and properties."""

from __future__ import annotations

import math
from random import Random

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from propcite.retrieval import RetrievalError
from propcite.retrieval.alignment import NEAREST, Alignment, alignment_of
from propcite.retrieval.alignment.pairs import (
    differentiable,
    exact_match,
    first_k,
    nearest_retrieved,
    similarity,
    top_k,
    top_p,
)

S = torch.tensor([[0.1, 0.9, 0.4, 0.2], [0.7, 0.3, 0.5, 0.6]])
ALL = torch.ones(4, dtype=torch.bool)
THREE = torch.tensor([True, True, True, False])
DEVICES = ["cpu", pytest.param("cuda", marks=pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA"))]
NAMES = ["top-k=1", "top-k=3", "top-p=20%", "top-p=100%", "da:k=2,eps=0.02", "first", "first-k=2", "xtr"]


def random_similarities(seed: int, queries: int = 3, tokens: int = 7, texts: int = 4) -> tuple[Tensor, Tensor]:
    random = torch.Generator().manual_seed(seed)
    present = torch.rand(texts, tokens, generator=random) < 0.7
    present[:, 0] = True
    return torch.rand(texts, queries, tokens, generator=random) * 2 - 1, present


def nearest(row: list[float], present: list[bool], number: int) -> list[float]:
    places = sorted((i for i, is_present in enumerate(present) if is_present), key=lambda i: -row[i])[:number]
    return [1.0 if i in places else 0.0 for i in range(len(row))]


# Values by hand


def test_top_k_by_hand() -> None:
    assert top_k(S, ALL, 2).tolist() == [[0, 1, 1, 0], [1, 0, 0, 1]]
    assert similarity(S, top_k(S, ALL, 2)).item() == pytest.approx((0.9 + 0.4 + 0.7 + 0.6) / 4)


def test_absent_tokens_are_never_aligned() -> None:
    assert top_k(S, THREE, 2).tolist() == [[0, 1, 1, 0], [1, 0, 1, 0]]
    below = torch.full((1, 2), -0.5)
    assert top_k(below, torch.tensor([True, False]), 1).tolist() == [[1, 0]]
    assert similarity(below, top_k(below, torch.tensor([True, False]), 1)).item() == pytest.approx(-0.5)


def test_top_p_rounds_down_to_at_least_one() -> None:
    assert top_p(S, ALL, 0.74).sum(-1).tolist() == [2, 2]
    assert top_p(S, ALL, 0.75).sum(-1).tolist() == [3, 3]
    assert top_p(S, ALL, 0.01).sum(-1).tolist() == [1, 1]
    hundred = torch.rand(1, 100)
    assert top_p(hundred, torch.ones(100, dtype=torch.bool), 0.07).sum().item() == 7


def test_top_p_of_a_batch_uses_the_length_of_each_text() -> None:
    values, present = torch.rand(2, 1, 8), torch.tensor([[True] * 8, [True] * 4 + [False] * 4])
    assert top_p(values, present, 0.5).sum(-1).tolist() == [[4], [2]]


def test_first_k_by_hand() -> None:
    assert similarity(S, first_k(S, ALL, 1)).item() == pytest.approx(0.1)
    assert similarity(S, first_k(S, ALL, 3)).item() == pytest.approx(0.9)
    late = torch.tensor([False, False, True, True])
    assert similarity(S, first_k(S, late, 1)).item() == pytest.approx(0.4)


def test_exact_match_by_hand() -> None:
    same = torch.tensor([[True, False, True, False], [False, False, False, False]])
    pairs = exact_match(S, ALL, same)
    assert pairs.tolist() == [[0, 0, 1, 0], [0, 0, 0, 0]]
    assert similarity(S, pairs, count_unmatched=True).item() == pytest.approx(0.4 / 2)


def test_tokens_that_were_not_retrieved_are_imputed() -> None:
    floors = torch.tensor([0.8, 0.75])
    pairs = nearest_retrieved(S, ALL, floors)
    assert pairs.tolist() == [[0, 1, 0, 0], [0, 0, 0, 0]]
    assert similarity(S, pairs).item() == pytest.approx(0.9)  # the mean over the rows that retrieved, as in training
    assert similarity(S, pairs, missing=floors).item() == pytest.approx((0.9 + 0.75) / 2)


def test_salience_weights_rows_and_columns() -> None:
    pairs = top_k(S, ALL, 2)
    query_salience, salience = torch.tensor([3.0, 1.0]), torch.tensor([2.0, 1.0, 0.0, 1.0])
    expected = (3 * 1 * 0.9 + 1 * 2 * 0.7 + 1 * 1 * 0.6) / (3 + 2 + 1)
    assert similarity(S, pairs, query_salience, salience).item() == pytest.approx(expected)


# Comparison with slow loops


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("seed", range(5))
def test_top_k_and_top_p_equal_loops(seed: int, device: str) -> None:
    values, present = random_similarities(seed)
    for k in (1, 2, 5, 50):
        pairs = top_k(values.to(device), present.to(device), k).cpu()
        assert pairs.tolist() == [
            [nearest(r, t, k) for r in v] for v, t in zip(values.tolist(), present.tolist(), strict=True)
        ]
    for share in (0.1, 0.34, 0.5, 1.0):
        pairs = top_p(values.to(device), present.to(device), share).cpu()
        expected = [
            [nearest(r, t, max(math.floor(share * sum(t)), 1)) for r in v]
            for v, t in zip(values.tolist(), present.tolist(), strict=True)
        ]
        assert pairs.tolist() == expected


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("name", NAMES)
def test_texts_score_the_same_in_a_batch_and_alone(name: str, device: str) -> None:
    form = alignment_of(name)
    values, present = random_similarities(11)
    batch = similarity(values.to(device), form.pairs(values.to(device), present.to(device))).cpu()
    for text in range(len(values)):
        own = values[text][:, present[text]]
        pairs = form.pairs(own, torch.ones(own.shape[-1], dtype=torch.bool))
        total = sum(float(s) * float(a) for s, a in zip(own.flatten(), pairs.flatten(), strict=True))
        assert batch[text].item() == pytest.approx(total / float(pairs.sum()), abs=1e-5)


# Properties


@given(st.integers(0, 10_000), st.sampled_from(NAMES))
@settings(max_examples=60, deadline=None)
def test_alignments_and_scores_are_within_bounds(seed: int, name: str) -> None:
    form: Alignment = alignment_of(name)
    values, present = random_similarities(seed)
    pairs = form.pairs(values, present)
    assert pairs.shape == values.shape
    assert ((pairs >= 0) & (pairs <= 1 + 1e-6)).all()
    assert (pairs[~present[:, None, :].expand_as(pairs)] == 0).all()
    scores = similarity(values, pairs)
    assert torch.isfinite(scores).all()
    assert (scores <= values.masked_fill(~present[:, None, :], -2).amax(dim=(1, 2)) + 1e-6).all()


@given(st.integers(0, 10_000), st.integers(1, 6))
@settings(max_examples=40, deadline=None)
def test_nearest_is_the_mean_of_maxima(seed: int, queries: int) -> None:
    values, present = random_similarities(seed, queries)
    maxima = values.masked_fill(~present[:, None, :], -torch.inf).amax(-1).mean(-1)
    torch.testing.assert_close(similarity(values, NEAREST.pairs(values, present)), maxima)
    torch.testing.assert_close(similarity(values, alignment_of("top-p=1%").pairs(values, present)), maxima)


@given(st.permutations(range(7)), st.integers(1, 4))
@settings(max_examples=40, deadline=None)
def test_da_with_small_eps_is_top_k(order: list[int], k: int) -> None:
    values, present = torch.tensor([order]) / 10, torch.tensor([True] * 6 + [False])
    torch.testing.assert_close(differentiable(values, present, k, 1e-3), top_k(values, present, k), atol=1e-3, rtol=0)


def test_gradients_pass_through_the_pairs_of_da() -> None:
    values, present = random_similarities(3)
    values.requires_grad_(True)
    smooth = differentiable(values, present, 2, 0.1)
    (gradient,) = torch.autograd.grad(smooth[:, :, 0].sum(), values)
    assert torch.isfinite(gradient).all()
    assert gradient.abs().max() > 0


@pytest.mark.parametrize("name", [*NAMES, "exact"])
def test_a_text_without_tokens_scores_below_all_others(name: str) -> None:
    form = alignment_of(name)
    absent = torch.zeros(4, dtype=torch.bool)
    pairs = form.pairs(S, absent, torch.zeros(2, 4, dtype=torch.bool))
    assert pairs.sum() == 0
    expected = 0.0 if form.counts_unmatched else -math.inf
    assert similarity(S, pairs, count_unmatched=form.counts_unmatched).item() == expected


def test_scores_do_not_depend_on_the_order_of_tokens() -> None:
    values, present = random_similarities(5)
    order = list(range(values.shape[-1]))
    Random(1).shuffle(order)
    for name in ("top-k=2", "top-p=30%", "da:k=2,eps=0.05"):
        form = alignment_of(name)
        plain = similarity(values, form.pairs(values, present))
        mixed = similarity(values[..., order], form.pairs(values[..., order], present[..., order]))
        torch.testing.assert_close(plain, mixed)


# Names


@pytest.mark.parametrize("name", [*NAMES, "exact", "first-k=8", "xtr:k=50", "da:k=1,eps=0.002"])
def test_names_survive_parsing_and_printing(name: str) -> None:
    assert alignment_of(str(alignment_of(name))) == alignment_of(name)


@pytest.mark.parametrize(
    ("name", "same"), [("colbert", "top-k=1"), ("dpr", "first"), ("COIL", "exact"), (" top-p=0.015 ", "top-p=1.5%")]
)
def test_names_of_earlier_models(name: str, same: str) -> None:
    assert alignment_of(name) == alignment_of(same)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("", "no alignment ''"),
        ("nearest", "no alignment 'nearest'"),
        ("top-k", "a whole number from 1"),
        ("top-k=0", "got 0"),
        ("top-k=-1", "got -1"),
        ("top-k=1.5", "got 1.5"),
        ("top-p=0", "a share above 0%"),
        ("top-p=120%", "got 120%"),
        ("top-p=nan", "got nan"),
        ("da:eps=0", "an eps from"),
        ("da:k=2,z=1", "no value 'z'"),
        ("exact=2", "takes no value"),
        ("xtr=5", "a value without a name"),
    ],
)
def test_a_wrong_name_raises_with_the_reason(name: str, message: str) -> None:
    with pytest.raises(RetrievalError, match="give one like top-k=2") as raised:
        alignment_of(name)
    assert message in str(raised.value)


def test_exact_needs_vocabulary_ids() -> None:
    with pytest.raises(RetrievalError, match="vocabulary ids"):
        alignment_of("exact").pairs(S, ALL)
