"""The losses against hand-made values and against loops that do the same slowly."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from propcite.retrieval.alignment.pairs import similarity, top_k
from propcite.retrieval.training.losses import (
    LOW,
    any_positive,
    gated,
    passage_scores,
    salient_scores,
    shares_of_passages,
    side_by_side_scores,
    taught,
    told_apart,
    unit_scores,
    unlike,
    xtr_scores,
)

# Two queries of two tokens, three passage tokens, two units: tokens 0 and 1, tokens 1 and 2.
QUERIES = torch.tensor([[[1.0, 0.0], [0.0, 1.0]], [[1.0, 0.0], [1.0, 0.0]]])
WEIGHTS = torch.tensor([[1.0, 2.0], [0.5, 0.0]])
TOKENS = torch.tensor([[1.0, 0.0], [0.6, 0.8], [0.0, 1.0]])
MEMBERS, LENGTHS = torch.tensor([0, 1, 1, 2]), torch.tensor([2, 2])


def test_a_units_score_is_the_weighted_sum_of_each_tokens_best() -> None:
    scores = unit_scores(QUERIES, WEIGHTS, TOKENS, MEMBERS, LENGTHS)
    # Query 0: best of unit 0 is 1 and .8, of unit 1 .6 and 1.  Query 1: 1 and nothing; .6 and nothing.
    assert scores.numpy() == pytest.approx(np.array([[1 + 2 * 0.8, 0.6 + 2 * 1.0], [0.5, 0.3]]), abs=1e-6)


def test_queries_side_by_side_score_as_padded_ones_do() -> None:
    vectors, weights = torch.cat([QUERIES[0], QUERIES[1, :1]]), torch.tensor([1.0, 2.0, 0.5])
    scores = side_by_side_scores(vectors, weights, torch.tensor([2, 1]), TOKENS, MEMBERS, LENGTHS)
    assert scores.numpy() == pytest.approx(unit_scores(QUERIES, WEIGHTS, TOKENS, MEMBERS, LENGTHS).numpy(), abs=1e-6)


def test_xtr_counts_retrieved_tokens_alone_over_the_weights_that_found_one() -> None:
    scores = xtr_scores(QUERIES, WEIGHTS, TOKENS, MEMBERS, LENGTHS, k=1)
    # k = 1: query 0 retrieves token 0 by its first and token 2 by its second token; the weights are 1 and 2.
    assert scores[0].tolist() == pytest.approx([(1.0 / 1.0) * 3, (2.0 / 2.0) * 3])
    # Query 1 retrieves token 0 alone: unit 1 has found nothing and scores 0.
    assert scores[1].tolist() == pytest.approx([0.5, 0.0])


def test_xtr_that_retrieves_everything_is_the_full_score() -> None:
    full = unit_scores(QUERIES, WEIGHTS, TOKENS, MEMBERS, LENGTHS)
    assert xtr_scores(QUERIES, WEIGHTS, TOKENS, MEMBERS, LENGTHS, k=99).numpy() == pytest.approx(full.numpy())


def test_one_winning_positive_is_enough() -> None:
    scores = torch.tensor([[0.0, math.log(2.0), math.log(5.0), 50.0]])
    taking_part = torch.tensor([[True, True, True, False]])
    positive = torch.tensor([[True, True, False, False]])
    loss = any_positive(scores, taking_part, positive, torch.tensor([2.0]))
    assert loss.item() == pytest.approx(-2 * math.log((1 + 2) / (1 + 2 + 5)), abs=1e-5)


@pytest.mark.parametrize("far", [-9.0, 0.0, 9.0])
def test_what_takes_no_part_changes_no_loss(far: float) -> None:
    scores, masked = torch.tensor([[0.3, 0.1, far]]), torch.tensor([[True, True, False]])
    positive = torch.tensor([[True, False, False]])
    told = any_positive(scores, masked, positive, torch.ones(1))
    alone = any_positive(scores[:, :2], masked[:, :2], positive[:, :2], torch.ones(1))
    assert told.item() == pytest.approx(alone.item(), abs=1e-6)


@st.composite
def problems(draw) -> tuple[torch.Tensor, ...]:
    seed = draw(st.integers(0, 9999))
    b, q, n, u = (draw(st.integers(1, most)) for most in (4, 5, 9, 6))
    dice = torch.Generator().manual_seed(seed)
    lengths = torch.randint(1, n + 1, (u,), generator=dice)
    members = torch.cat([torch.randperm(n, generator=dice)[:k] for k in lengths.tolist()])
    return (
        torch.randn(b, q, 3, generator=dice),
        torch.rand(b, q, generator=dice),
        torch.randn(n, 3, generator=dice),
        members,
        lengths,
    )


@given(problems())
def test_scores_equal_a_slow_loop(problem) -> None:
    queries, weights, tokens, members, lengths = problem
    starts = torch.cat([torch.zeros(1, dtype=torch.long), lengths.cumsum(0)]).tolist()
    slow = [
        [
            sum(
                float(weights[b, i]) * max(float(queries[b, i] @ tokens[t]) for t in members[start:end].tolist())
                for i in range(queries.shape[1])
            )
            for start, end in itertools.pairwise(starts)
        ]
        for b in range(len(queries))
    ]
    assert unit_scores(*problem).numpy() == pytest.approx(np.array(slow), abs=1e-4)


def test_gradients_flow_to_the_best_tokens_of_the_query_only() -> None:
    queries = QUERIES.clone().requires_grad_()
    unit_scores(queries, WEIGHTS, TOKENS, MEMBERS, LENGTHS)[0, 0].backward()
    assert queries.grad is not None
    assert queries.grad[0].numpy() == pytest.approx(np.array([[1.0, 0.0], [1.2, 1.6]]), abs=1e-6)
    assert not queries.grad[1].any()


# Salience of passages' tokens


SALIENCE = torch.tensor([1.0, 0.5, 2.0])


def test_a_pair_counts_as_much_as_its_token_of_the_passage_is_salient() -> None:
    scores = salient_scores(QUERIES, WEIGHTS, TOKENS, SALIENCE, MEMBERS, LENGTHS)
    # Query 0 in unit 0: 1 of token 0 (weight 1 x 1), .8 of token 1 (2 x .5); in unit 1: .6 of token 1, 1 of token 2.
    assert scores[0].tolist() == pytest.approx([3 * (1 * 1 + 1 * 0.8) / 2, 3 * (0.5 * 0.6 + 4 * 1) / 4.5])
    assert scores[1].tolist() == pytest.approx([0.5 * 1.0, 0.5 * 0.6])


def test_equal_salience_changes_no_score() -> None:
    plain = unit_scores(QUERIES, WEIGHTS, TOKENS, MEMBERS, LENGTHS)
    told = salient_scores(QUERIES, WEIGHTS, TOKENS, torch.full((3,), 0.7), MEMBERS, LENGTHS)
    assert told.numpy() == pytest.approx(plain.numpy())


def test_it_is_the_formula_of_alignment() -> None:
    scores = salient_scores(QUERIES, WEIGHTS, TOKENS, SALIENCE, MEMBERS, LENGTHS)
    for unit, tokens in enumerate(([0, 1], [1, 2])):
        similarities = QUERIES @ TOKENS[tokens].T
        pairs = top_k(similarities, torch.tensor([True, True]).expand(2, 2), 1)
        wanted = similarity(similarities, pairs, WEIGHTS, SALIENCE[tokens].expand(2, 2)) * WEIGHTS.sum(-1)
        assert scores[:, unit].tolist() == pytest.approx(wanted.tolist())


def test_a_share_of_each_texts_tokens_is_left() -> None:
    salience, lengths = torch.tensor([0.9, 0.2, 0.5, 0.1, 0.4]), torch.tensor([3, 2])
    assert gated(salience, lengths, "top-k", 0.5, 0.002).tolist() == pytest.approx([0.9, 0, 0.5, 0, 0.4])
    assert gated(salience, lengths, "gate", 0.5, 0.002).tolist() == pytest.approx([0.9, 0, 0.5, 0, 0.4], abs=1e-3)
    assert gated(salience, lengths, "relu", 0.5, 0.002).tolist() == pytest.approx(salience.tolist())
    smooth = gated(salience, lengths, "gate", 0.5, 1.0)
    assert 0 < smooth[1] < smooth[2] < smooth[0]


def test_the_gate_lets_a_gradient_pass_to_what_it_leaves_out_and_the_hard_choice_does_not() -> None:
    for way, passes in (("gate", True), ("top-k", False)):
        salience = torch.tensor([0.50, 0.49, 0.48], requires_grad=True)
        (gradient,) = torch.autograd.grad(gated(salience, torch.tensor([3]), way, 0.3, 0.1)[0], salience)
        assert bool(gradient[2] != 0) == passes


# Teachers


def test_a_teachers_loss_is_binary_cross_entropy() -> None:
    scores, positive = torch.tensor([0.0, math.log(3.0)]), torch.tensor([True, False])
    loss = told_apart(scores, positive, torch.tensor([1.0, 2.0]))
    # -log(1/2), and twice -log(1 - 3/4)
    assert loss.item() == pytest.approx((math.log(2) + 2 * math.log(4)) / 2)


def test_a_sentences_probability_is_that_of_its_units_together() -> None:
    # Sentence 0 has two units of e^0 + e^log 2 = 3, sentence 1 one of 1; the last unit is of another passage.
    scores = torch.tensor([[0.0, math.log(2.0), 0.0, 9.0]])
    sentences = torch.tensor([[0, 0, 1, -1]])
    teacher = torch.tensor([[0.0, 0.0, LOW]])  # one half each; a third sentence has no unit
    wanted = 0.5 * math.log(0.5 / 0.75) + 0.5 * math.log(0.5 / 0.25)
    assert taught(scores, sentences, teacher, torch.tensor([2.0])).item() == pytest.approx(2 * wanted, abs=1e-6)


def test_a_student_that_agrees_with_its_teacher_loses_nothing() -> None:
    teacher = torch.tensor([[0.3, -1.0], [LOW, LOW]])
    sentences = torch.tensor([[0, 1, -1], [-1, -1, 0]])
    scores = torch.tensor([[5.3, 4.0, 9.0], [0.0, 0.0, 1.0]], requires_grad=True)
    loss = taught(scores, sentences, teacher, torch.tensor([1.0, 0.0]))  # the second row has no lesson
    (gradient,) = torch.autograd.grad(loss, scores)
    assert loss.item() == pytest.approx(0.0, abs=1e-6)
    assert gradient.abs().max().item() == pytest.approx(0.0, abs=1e-6)


# Passages that rank as before


def test_a_passages_score_is_each_query_tokens_best_over_its_tokens() -> None:
    tokens = torch.tensor([[1.0, 0.0], [0.6, 0.8], [0.0, 1.0]])
    queries = torch.tensor([[1.0, 0.0], [0.0, 1.0], [0.8, 0.6]])
    scores = passage_scores(tokens, torch.tensor([2, 1]), queries, torch.tensor([2, 1]))
    # Passage 0 holds tokens 0 and 1, passage 1 token 2; query 0 the first two of the queries' tokens.
    assert scores.numpy() == pytest.approx(np.array([[1.0 + 0.8, 0.0 + 1.0], [0.96, 0.6]]), abs=1e-6)


def test_a_ranking_is_unlike_another_by_their_divergence() -> None:
    ours, wanted = torch.tensor([[0.0, 0.0], [1.0, 2.0]]), torch.tensor([[math.log(3.0), 0.0], [3.0, 4.0]])
    # The first: 3/4 and 1/4 are wanted, one half each is there; the second is the same but for a constant.
    divergence = 0.75 * math.log(0.75 / 0.5) + 0.25 * math.log(0.25 / 0.5)
    assert unlike(ours, wanted).item() == pytest.approx(divergence / 2, abs=1e-6)


def test_what_sentences_cost_counts_by_the_passages_distribution() -> None:
    scores = torch.tensor([[math.log(3.0), 0.0, 9.0], [1.0, 1.0, 1.0]])
    there = torch.tensor([[True, True, False], [False, True, False]])
    shares = shares_of_passages(scores, there)
    assert shares.numpy() == pytest.approx(np.array([[0.75, 0.25, 0.0], [0.0, 1.0, 0.0]]), abs=1e-6)
    # AGRaME's L_sent of query 0 with sentence losses of .4 and .8: .75 * .4 + .25 * .8
    assert (shares[0] * torch.tensor([0.4, 0.8, 7.0])).sum().item() == pytest.approx(0.5)
