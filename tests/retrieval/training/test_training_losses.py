"""The losses against values computed by hand and against slow loops."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from propcite.retrieval.alignment import alignment_of
from propcite.retrieval.alignment.pairs import similarity, top_k
from propcite.retrieval.training.losses import (
    LOW,
    aligned_scores,
    any_positive_loss,
    distillation_loss,
    gate_salience,
    packed_unit_scores,
    passage_scores,
    passage_shares,
    ranking_divergence,
    salient_scores,
    sentence_loss,
    unit_scores,
    xtr_scores,
)

# Two queries of two tokens, three passage tokens, two units: tokens 0 and 1, tokens 1 and 2.
QUERIES = torch.tensor([[[1.0, 0.0], [0.0, 1.0]], [[1.0, 0.0], [1.0, 0.0]]])
WEIGHTS = torch.tensor([[1.0, 2.0], [0.5, 0.0]])
TOKENS = torch.tensor([[1.0, 0.0], [0.6, 0.8], [0.0, 1.0]])
MEMBERS, LENGTHS = torch.tensor([0, 1, 1, 2]), torch.tensor([2, 2])


def test_a_units_score_is_the_weighted_sum_of_the_best_similarities() -> None:
    scores = unit_scores(QUERIES, WEIGHTS, TOKENS, MEMBERS, LENGTHS)
    # Query 0: best of unit 0 is 1 and .8, of unit 1 .6 and 1.  Query 1: 1 and nothing; .6 and nothing.
    assert scores.numpy() == pytest.approx(np.array([[1 + 2 * 0.8, 0.6 + 2 * 1.0], [0.5, 0.3]]), abs=1e-6)


def test_the_nearest_token_alone_is_an_alignment() -> None:
    full = unit_scores(QUERIES, WEIGHTS, TOKENS, MEMBERS, LENGTHS)
    for name in ("top-k=1", "top-p=1%"):
        scores = aligned_scores(QUERIES, WEIGHTS, TOKENS, MEMBERS, LENGTHS, alignment_of(name))
        assert scores.numpy() == pytest.approx(full.numpy(), abs=1e-6)


def test_several_aligned_tokens_count_by_their_mean() -> None:
    members, lengths = torch.tensor([0, 1, 1, 2, 0]), torch.tensor([2, 3])
    scores = aligned_scores(QUERIES, WEIGHTS, TOKENS, members, lengths, alignment_of("top-k=2"))
    # Query 0, unit 0: means .8 and .4.  Unit 1 has all three tokens: the best two of 1, .6, 0 and of 0, .8, 1.
    assert scores[0].tolist() == pytest.approx([0.8 + 2 * 0.4, 0.8 + 2 * 0.9])
    assert scores[1].tolist() == pytest.approx([0.5 * 0.8, 0.5 * 0.8])


def test_packed_queries_score_as_padded_ones_do() -> None:
    vectors, weights = torch.cat([QUERIES[0], QUERIES[1, :1]]), torch.tensor([1.0, 2.0, 0.5])
    scores = packed_unit_scores(vectors, weights, torch.tensor([2, 1]), TOKENS, MEMBERS, LENGTHS)
    assert scores.numpy() == pytest.approx(unit_scores(QUERIES, WEIGHTS, TOKENS, MEMBERS, LENGTHS).numpy(), abs=1e-6)


def test_xtr_counts_only_retrieved_tokens_and_their_weights() -> None:
    scores = xtr_scores(QUERIES, WEIGHTS, TOKENS, MEMBERS, LENGTHS, k=1)
    # k = 1: query 0 retrieves token 0 by its first and token 2 by its second token; the weights are 1 and 2.
    assert scores[0].tolist() == pytest.approx([(1.0 / 1.0) * 3, (2.0 / 2.0) * 3])
    # Query 1 retrieves token 0 alone: unit 1 has no match and scores 0.
    assert scores[1].tolist() == pytest.approx([0.5, 0.0])


def test_xtr_with_all_tokens_is_the_full_score() -> None:
    full = unit_scores(QUERIES, WEIGHTS, TOKENS, MEMBERS, LENGTHS)
    assert xtr_scores(QUERIES, WEIGHTS, TOKENS, MEMBERS, LENGTHS, k=99).numpy() == pytest.approx(full.numpy())


def test_one_winning_positive_is_enough() -> None:
    scores = torch.tensor([[0.0, math.log(2.0), math.log(5.0), 50.0]])
    candidates = torch.tensor([[True, True, True, False]])
    positive = torch.tensor([[True, True, False, False]])
    loss = any_positive_loss(scores, candidates, positive, torch.tensor([2.0]))
    assert loss.item() == pytest.approx(-2 * math.log((1 + 2) / (1 + 2 + 5)), abs=1e-5)


@pytest.mark.parametrize("far", [-9.0, 0.0, 9.0])
def test_masked_units_do_not_change_the_loss(far: float) -> None:
    scores, masked = torch.tensor([[0.3, 0.1, far]]), torch.tensor([[True, True, False]])
    positive = torch.tensor([[True, False, False]])
    loss = any_positive_loss(scores, masked, positive, torch.ones(1))
    alone = any_positive_loss(scores[:, :2], masked[:, :2], positive[:, :2], torch.ones(1))
    assert loss.item() == pytest.approx(alone.item(), abs=1e-6)


@st.composite
def problems(draw) -> tuple[torch.Tensor, ...]:
    seed = draw(st.integers(0, 9999))
    b, q, n, u = (draw(st.integers(1, maximum)) for maximum in (4, 5, 9, 6))
    rng = torch.Generator().manual_seed(seed)
    lengths = torch.randint(1, n + 1, (u,), generator=rng)
    members = torch.cat([torch.randperm(n, generator=rng)[:k] for k in lengths.tolist()])
    return (
        torch.randn(b, q, 3, generator=rng),
        torch.rand(b, q, generator=rng),
        torch.randn(n, 3, generator=rng),
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


def test_gradients_flow_only_to_the_query_by_its_best_tokens() -> None:
    queries = QUERIES.clone().requires_grad_()
    unit_scores(queries, WEIGHTS, TOKENS, MEMBERS, LENGTHS)[0, 0].backward()
    assert queries.grad is not None
    assert queries.grad[0].numpy() == pytest.approx(np.array([[1.0, 0.0], [1.2, 1.6]]), abs=1e-6)
    assert not queries.grad[1].any()


# Salience of passage tokens


SALIENCE = torch.tensor([1.0, 0.5, 2.0])


def test_a_pair_is_weighted_by_the_salience_of_its_passage_token() -> None:
    scores = salient_scores(QUERIES, WEIGHTS, TOKENS, SALIENCE, MEMBERS, LENGTHS)
    # Query 0 in unit 0: 1 of token 0 (weight 1 x 1), .8 of token 1 (2 x .5); in unit 1: .6 of token 1, 1 of token 2.
    assert scores[0].tolist() == pytest.approx([3 * (1 * 1 + 1 * 0.8) / 2, 3 * (0.5 * 0.6 + 4 * 1) / 4.5])
    assert scores[1].tolist() == pytest.approx([0.5 * 1.0, 0.5 * 0.6])


def test_equal_salience_changes_no_score() -> None:
    plain = unit_scores(QUERIES, WEIGHTS, TOKENS, MEMBERS, LENGTHS)
    scores = salient_scores(QUERIES, WEIGHTS, TOKENS, torch.full((3,), 0.7), MEMBERS, LENGTHS)
    assert scores.numpy() == pytest.approx(plain.numpy())


def test_salient_scores_equal_the_formula_of_alignment() -> None:
    scores = salient_scores(QUERIES, WEIGHTS, TOKENS, SALIENCE, MEMBERS, LENGTHS)
    for unit, tokens in enumerate(([0, 1], [1, 2])):
        similarities = QUERIES @ TOKENS[tokens].T
        pairs = top_k(similarities, torch.tensor([True, True]).expand(2, 2), 1)
        expected = similarity(similarities, pairs, WEIGHTS, SALIENCE[tokens].expand(2, 2)) * WEIGHTS.sum(-1)
        assert scores[:, unit].tolist() == pytest.approx(expected.tolist())


def test_a_share_of_the_tokens_of_each_text_is_selected() -> None:
    salience, lengths = torch.tensor([0.9, 0.2, 0.5, 0.1, 0.4]), torch.tensor([3, 2])
    assert gate_salience(salience, lengths, "top-k", 0.5, 0.002).tolist() == pytest.approx([0.9, 0, 0.5, 0, 0.4])
    assert gate_salience(salience, lengths, "gate", 0.5, 0.002).tolist() == pytest.approx(
        [0.9, 0, 0.5, 0, 0.4], abs=1e-3
    )
    assert gate_salience(salience, lengths, "relu", 0.5, 0.002).tolist() == pytest.approx(salience.tolist())
    smooth = gate_salience(salience, lengths, "gate", 0.5, 1.0)
    assert 0 < smooth[1] < smooth[2] < smooth[0]


def test_the_gate_passes_gradients_to_tokens_not_selected_and_hard_top_k_does_not() -> None:
    for kind, passes in (("gate", True), ("top-k", False)):
        salience = torch.tensor([0.50, 0.49, 0.48], requires_grad=True)
        (gradient,) = torch.autograd.grad(gate_salience(salience, torch.tensor([3]), kind, 0.3, 0.1)[0], salience)
        assert bool(gradient[2] != 0) == passes


# Teachers


def test_a_teachers_loss_is_binary_cross_entropy() -> None:
    scores, positive = torch.tensor([0.0, math.log(3.0)]), torch.tensor([True, False])
    loss = sentence_loss(scores, positive, torch.tensor([1.0, 2.0]))
    # -log(1/2), and twice -log(1 - 3/4)
    assert loss.item() == pytest.approx((math.log(2) + 2 * math.log(4)) / 2)


def test_a_sentences_probability_is_the_sum_of_its_units() -> None:
    # Sentence 0 has two units of e^0 + e^log 2 = 3, sentence 1 one of 1; the last unit is of another passage.
    scores = torch.tensor([[0.0, math.log(2.0), 0.0, 9.0]])
    sentences = torch.tensor([[0, 0, 1, -1]])
    teacher = torch.tensor([[0.0, 0.0, LOW]])  # one half each; a third sentence has no unit
    expected = 0.5 * math.log(0.5 / 0.75) + 0.5 * math.log(0.5 / 0.25)
    assert distillation_loss(scores, sentences, teacher, torch.tensor([2.0])).item() == pytest.approx(
        2 * expected, abs=1e-6
    )


def test_a_student_that_agrees_with_its_teacher_has_no_loss() -> None:
    teacher = torch.tensor([[0.3, -1.0], [LOW, LOW]])
    sentences = torch.tensor([[0, 1, -1], [-1, -1, 0]])
    scores = torch.tensor([[5.3, 4.0, 9.0], [0.0, 0.0, 1.0]], requires_grad=True)
    loss = distillation_loss(
        scores, sentences, teacher, torch.tensor([1.0, 0.0])
    )  # the second row has no teacher scores
    (gradient,) = torch.autograd.grad(loss, scores)
    assert loss.item() == pytest.approx(0.0, abs=1e-6)
    assert gradient.abs().max().item() == pytest.approx(0.0, abs=1e-6)


# Ranking passages as before


def test_a_passages_score_is_the_sum_of_the_best_similarities() -> None:
    tokens = torch.tensor([[1.0, 0.0], [0.6, 0.8], [0.0, 1.0]])
    queries = torch.tensor([[1.0, 0.0], [0.0, 1.0], [0.8, 0.6]])
    scores = passage_scores(tokens, torch.tensor([2, 1]), queries, torch.tensor([2, 1]))
    # Passage 0 holds tokens 0 and 1, passage 1 token 2; query 0 the first two of the queries' tokens.
    assert scores.numpy() == pytest.approx(np.array([[1.0 + 0.8, 0.0 + 1.0], [0.96, 0.6]]), abs=1e-6)


def test_the_ranking_loss_is_the_divergence_of_the_distributions() -> None:
    ours, target = torch.tensor([[0.0, 0.0], [1.0, 2.0]]), torch.tensor([[math.log(3.0), 0.0], [3.0, 4.0]])
    # The first: 3/4 and 1/4 is the target, ours is one half each; the second differs by a constant only.
    divergence = 0.75 * math.log(0.75 / 0.5) + 0.25 * math.log(0.25 / 0.5)
    assert ranking_divergence(ours, target).item() == pytest.approx(divergence / 2, abs=1e-6)


def test_sentence_losses_are_weighted_by_the_distribution_over_passages() -> None:
    scores = torch.tensor([[math.log(3.0), 0.0, 9.0], [1.0, 1.0, 1.0]])
    candidates = torch.tensor([[True, True, False], [False, True, False]])
    shares = passage_shares(scores, candidates)
    assert shares.numpy() == pytest.approx(np.array([[0.75, 0.25, 0.0], [0.0, 1.0, 0.0]]), abs=1e-6)
    # AGRaME's L_sent of query 0 with sentence losses of .4 and .8: .75 * .4 + .25 * .8
    assert (shares[0] * torch.tensor([0.4, 0.8, 7.0])).sum().item() == pytest.approx(0.5)
