"""Alignments: golden values by hand, the same as slow loops, and what must hold of each."""

from __future__ import annotations

import math
import random

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from propcite.retrieval import RetrievalError
from propcite.retrieval.alignment import NEAREST, Alignment, alignment_of
from propcite.retrieval.alignment.pairs import differentiable, exact_match, first_k, retrieved, similarity, top_k, top_p

S = torch.tensor([[0.1, 0.9, 0.4, 0.2], [0.7, 0.3, 0.5, 0.6]])
ALL = torch.ones(4, dtype=torch.bool)
THREE = torch.tensor([True, True, True, False])
DEVICES = ["cpu", pytest.param("cuda", marks=pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA"))]
NAMES = ["top-k=1", "top-k=3", "top-p=20%", "top-p=100%", "da:k=2,eps=0.02", "first", "first-k=2", "xtr"]


def drawn(seed: int, queries: int = 3, tokens: int = 7, texts: int = 4) -> tuple[Tensor, Tensor]:
    dice = torch.Generator().manual_seed(seed)
    there = torch.rand(texts, tokens, generator=dice) < 0.7
    there[:, 0] = True
    return torch.rand(texts, queries, tokens, generator=dice) * 2 - 1, there


def slowly(row: list[float], there: list[bool], number: int) -> list[float]:
    places = sorted((i for i, yes in enumerate(there) if yes), key=lambda i: -row[i])[:number]
    return [1.0 if i in places else 0.0 for i in range(len(row))]


# Golden values


def test_top_k_by_hand() -> None:
    assert top_k(S, ALL, 2).tolist() == [[0, 1, 1, 0], [1, 0, 0, 1]]
    assert similarity(S, top_k(S, ALL, 2)).item() == pytest.approx((0.9 + 0.4 + 0.7 + 0.6) / 4)


def test_what_is_not_there_is_never_aligned() -> None:
    assert top_k(S, THREE, 2).tolist() == [[0, 1, 1, 0], [1, 0, 1, 0]]
    below = torch.full((1, 2), -0.5)
    assert top_k(below, torch.tensor([True, False]), 1).tolist() == [[1, 0]]
    assert similarity(below, top_k(below, torch.tensor([True, False]), 1)).item() == pytest.approx(-0.5)


def test_top_p_rounds_down_but_takes_one() -> None:
    assert top_p(S, ALL, 0.74).sum(-1).tolist() == [2, 2]
    assert top_p(S, ALL, 0.75).sum(-1).tolist() == [3, 3]
    assert top_p(S, ALL, 0.01).sum(-1).tolist() == [1, 1]
    hundred = torch.rand(1, 100)
    assert top_p(hundred, torch.ones(100, dtype=torch.bool), 0.07).sum().item() == 7


def test_each_text_of_a_batch_takes_its_own_share() -> None:
    many, there = torch.rand(2, 1, 8), torch.tensor([[True] * 8, [True] * 4 + [False] * 4])
    assert top_p(many, there, 0.5).sum(-1).tolist() == [[4], [2]]


def test_a_single_vector_is_the_first_against_the_first() -> None:
    assert similarity(S, first_k(S, ALL, 1)).item() == pytest.approx(0.1)
    assert similarity(S, first_k(S, ALL, 3)).item() == pytest.approx(0.9)
    late = torch.tensor([False, False, True, True])
    assert similarity(S, first_k(S, late, 1)).item() == pytest.approx(0.4)


def test_common_words_count_and_others_are_zero() -> None:
    same = torch.tensor([[True, False, True, False], [False, False, False, False]])
    pairs = exact_match(S, ALL, same)
    assert pairs.tolist() == [[0, 0, 1, 0], [0, 0, 0, 0]]
    assert similarity(S, pairs, of_all=True).item() == pytest.approx(0.4 / 2)


def test_what_was_not_retrieved_is_imputed() -> None:
    floors = torch.tensor([0.8, 0.75])
    pairs = retrieved(S, ALL, floors)
    assert pairs.tolist() == [[0, 1, 0, 0], [0, 0, 0, 0]]
    assert similarity(S, pairs).item() == pytest.approx(0.9)  # the mean over the rows that retrieved, as in training
    assert similarity(S, pairs, missing=floors).item() == pytest.approx((0.9 + 0.75) / 2)


def test_salience_weighs_rows_and_columns() -> None:
    pairs = top_k(S, ALL, 2)
    asked, said = torch.tensor([3.0, 1.0]), torch.tensor([2.0, 1.0, 0.0, 1.0])
    wanted = (3 * 1 * 0.9 + 1 * 2 * 0.7 + 1 * 1 * 0.6) / (3 + 2 + 1)
    assert similarity(S, pairs, asked, said).item() == pytest.approx(wanted)


# The same as slow loops


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("seed", range(5))
def test_top_k_and_top_p_equal_loops(seed: int, device: str) -> None:
    values, there = drawn(seed)
    for k in (1, 2, 5, 50):
        found = top_k(values.to(device), there.to(device), k).cpu()
        assert found.tolist() == [
            [slowly(r, t, k) for r in v] for v, t in zip(values.tolist(), there.tolist(), strict=True)
        ]
    for share in (0.1, 0.34, 0.5, 1.0):
        found = top_p(values.to(device), there.to(device), share).cpu()
        wanted = [
            [slowly(r, t, max(math.floor(share * sum(t)), 1)) for r in v]
            for v, t in zip(values.tolist(), there.tolist(), strict=True)
        ]
        assert found.tolist() == wanted


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("name", NAMES)
def test_a_batch_scores_as_its_texts_do_alone(name: str, device: str) -> None:
    form = alignment_of(name)
    values, there = drawn(11)
    batch = similarity(values.to(device), form.pairs(values.to(device), there.to(device))).cpu()
    for text in range(len(values)):
        own = values[text][:, there[text]]
        pairs = form.pairs(own, torch.ones(own.shape[-1], dtype=torch.bool))
        total = sum(float(s) * float(a) for s, a in zip(own.flatten(), pairs.flatten(), strict=True))
        assert batch[text].item() == pytest.approx(total / float(pairs.sum()), abs=1e-5)


# Properties


@given(st.integers(0, 10_000), st.sampled_from(NAMES))
@settings(max_examples=60, deadline=None)
def test_an_alignment_keeps_its_bounds(seed: int, name: str) -> None:
    form: Alignment = alignment_of(name)
    values, there = drawn(seed)
    pairs = form.pairs(values, there)
    assert pairs.shape == values.shape
    assert ((pairs >= 0) & (pairs <= 1 + 1e-6)).all()
    assert (pairs[~there[:, None, :].expand_as(pairs)] == 0).all()
    scores = similarity(values, pairs)
    assert torch.isfinite(scores).all()
    assert (scores <= values.masked_fill(~there[:, None, :], -2).amax(dim=(1, 2)) + 1e-6).all()


@given(st.integers(0, 10_000), st.integers(1, 6))
@settings(max_examples=40, deadline=None)
def test_the_nearest_one_is_colberts_sum_of_maxima(seed: int, queries: int) -> None:
    values, there = drawn(seed, queries)
    maxima = values.masked_fill(~there[:, None, :], -torch.inf).amax(-1).mean(-1)
    torch.testing.assert_close(similarity(values, NEAREST.pairs(values, there)), maxima)
    torch.testing.assert_close(similarity(values, alignment_of("top-p=1%").pairs(values, there)), maxima)


@given(st.permutations(range(7)), st.integers(1, 4))
@settings(max_examples=40, deadline=None)
def test_the_differentiable_one_becomes_top_k(order: list[int], k: int) -> None:
    values, there = torch.tensor([order]) / 10, torch.tensor([True] * 6 + [False])
    torch.testing.assert_close(differentiable(values, there, k, 1e-3), top_k(values, there, k), atol=1e-3, rtol=0)


def test_a_gradient_reaches_the_pairs_of_the_differentiable_one_alone() -> None:
    values, there = drawn(3)
    values.requires_grad_(True)
    smooth = differentiable(values, there, 2, 0.1)
    (gradient,) = torch.autograd.grad(smooth[:, :, 0].sum(), values)
    assert torch.isfinite(gradient).all()
    assert gradient.abs().max() > 0


@pytest.mark.parametrize("name", [*NAMES, "exact"])
def test_a_text_without_a_token_scores_below_everything(name: str) -> None:
    form = alignment_of(name)
    nothing = torch.zeros(4, dtype=torch.bool)
    pairs = form.pairs(S, nothing, torch.zeros(2, 4, dtype=torch.bool))
    assert pairs.sum() == 0
    wanted = 0.0 if form.of_all else -math.inf
    assert similarity(S, pairs, of_all=form.of_all).item() == wanted


def test_order_of_tokens_changes_nothing() -> None:
    values, there = drawn(5)
    order = list(range(values.shape[-1]))
    random.Random(1).shuffle(order)
    for name in ("top-k=2", "top-p=30%", "da:k=2,eps=0.05"):
        form = alignment_of(name)
        plain = similarity(values, form.pairs(values, there))
        mixed = similarity(values[..., order], form.pairs(values[..., order], there[..., order]))
        torch.testing.assert_close(plain, mixed)


# Names


@pytest.mark.parametrize("name", [*NAMES, "exact", "first-k=8", "xtr:k=50", "da:k=1,eps=0.002"])
def test_a_name_read_and_written_is_the_same(name: str) -> None:
    assert alignment_of(str(alignment_of(name))) == alignment_of(name)


@pytest.mark.parametrize(
    ("name", "same"), [("colbert", "top-k=1"), ("dpr", "first"), ("COIL", "exact"), (" top-p=0.015 ", "top-p=1.5%")]
)
def test_earlier_models_have_their_names(name: str, same: str) -> None:
    assert alignment_of(name) == alignment_of(same)


@pytest.mark.parametrize(
    ("name", "told"),
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
def test_a_wrong_name_tells_what_is_wanted(name: str, told: str) -> None:
    with pytest.raises(RetrievalError, match="give one like top-k=2") as raised:
        alignment_of(name)
    assert told in str(raised.value)


def test_common_words_need_to_be_told() -> None:
    with pytest.raises(RetrievalError, match="the same word"):
        alignment_of("exact").pairs(S, ALL)
