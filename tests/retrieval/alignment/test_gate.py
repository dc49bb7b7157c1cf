"""The smooth choice of k out of m: as a general solver finds it, as the paper climbs to it, what must hold of it."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from torch import Tensor

from propcite.retrieval.alignment.gate import gate

DEVICES = ["cpu", pytest.param("cuda", marks=pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA"))]


def drawn(seed: int, rows: int = 3, size: int = 9) -> Tensor:
    return torch.rand(rows, size, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def solved(scores: np.ndarray, k: float, eps: float) -> np.ndarray:
    """By a general solver of constrained problems."""
    size = len(scores)
    found = minimize(
        lambda x: -scores @ x + eps * (x * np.log(x)).sum(),
        np.full(size, k / size),
        jac=lambda x: -scores + eps * (np.log(x) + 1),
        bounds=[(1e-12, 1.0)] * size,
        constraints={"type": "eq", "fun": lambda x: x.sum() - k, "jac": np.ones_like},
        method="SLSQP",
        options={"ftol": 1e-14, "maxiter": 2000},
    )
    assert found.success, found.message
    return np.asarray(found.x)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize(("k", "eps"), [(1, 0.5), (3, 0.1), (4.5, 0.3), (8, 0.2), (9, 1.0)])
def test_it_is_what_a_general_solver_finds(seed: int, k: float, eps: float) -> None:
    scores = drawn(seed, rows=1)[0]
    np.testing.assert_allclose(gate(scores, k, eps).numpy(), solved(scores.numpy(), k, eps), atol=2e-4)


def test_by_hand() -> None:
    # With eps = 1 and k = 1 it is the softmax; the bound of one is not reached.
    scores = torch.tensor([0.0, 1.0, 2.0], dtype=torch.float64)
    torch.testing.assert_close(gate(scores, 1, eps=1.0), scores.softmax(-1))
    # The largest is at its bound, and the other two share what is left equally.
    found = gate(torch.tensor([5.0, 0.0, 0.0]), 2, eps=0.1)
    torch.testing.assert_close(found, torch.tensor([1.0, 0.5, 0.5]))


@pytest.mark.parametrize(("k", "eps"), [(1, 0.05), (3, 0.1), (5, 0.3)])
def test_the_papers_ascent_comes_to_the_same(k: int, eps: float) -> None:
    scores = drawn(2)
    far = (gate(scores, k, eps, iterations=1) - gate(scores, k, eps)).abs().max()
    near = (gate(scores, k, eps, iterations=3_000) - gate(scores, k, eps)).abs().max()
    assert near < 1e-4
    assert near <= far


@given(st.integers(0, 10_000), st.integers(1, 9), st.sampled_from([0.002, 0.02, 0.2, 2.0]))
@settings(max_examples=80, deadline=None)
def test_sum_bounds_and_order(seed: int, k: int, eps: float) -> None:
    scores = drawn(seed)
    chosen = gate(scores, k, eps)
    torch.testing.assert_close(chosen.sum(-1), torch.full((3,), float(k), dtype=torch.float64), atol=1e-4, rtol=0)
    assert ((chosen >= 0) & (chosen <= 1)).all()
    ordered = chosen.gather(-1, scores.argsort(-1, descending=True))
    assert (ordered.diff(dim=-1) <= 1e-9).all()


@given(st.integers(0, 10_000), st.integers(1, 8))
@settings(max_examples=40, deadline=None)
def test_a_small_eps_chooses_the_k_largest(seed: int, k: int) -> None:
    scores = drawn(seed)
    hard = torch.zeros_like(scores).scatter(-1, scores.topk(k).indices, 1.0)
    torch.testing.assert_close(gate(scores, k, eps=1e-7), hard, atol=1e-3, rtol=0)


def test_it_is_differentiable() -> None:
    scores = drawn(4).requires_grad_(True)
    torch.autograd.gradcheck(lambda s: gate(s, 3, eps=0.3), [scores])
    torch.autograd.gradcheck(lambda s: gate(s, 3, eps=0.3, iterations=8), [scores])


def test_each_row_has_its_own_k_and_its_own_length() -> None:
    scores = drawn(6)
    there = torch.ones(3, 9, dtype=torch.bool)
    there[1, 4:] = False
    chosen = gate(scores, torch.tensor([2.0, 3.0, 9.0]), 0.05, there)
    torch.testing.assert_close(chosen.sum(-1), torch.tensor([2.0, 3.0, 9.0], dtype=torch.float64), atol=1e-6, rtol=0)
    assert (chosen[1, 4:] == 0).all()
    torch.testing.assert_close(chosen[1, :4], gate(scores[1, :4], 3, 0.05))


def test_more_than_there_are_choose_all_and_nothing_chooses_nothing() -> None:
    scores = drawn(7)
    assert (gate(scores, 50) == 1).all()
    nothing = torch.zeros(3, 9, dtype=torch.bool)
    assert (gate(scores, 2, 0.1, nothing) == 0).all()
    assert (gate(scores, 2, 0.1, nothing, iterations=5) == 0).all()


def test_gradients_pass_by_what_is_not_there() -> None:
    scores = drawn(8).float().requires_grad_(True)
    there = torch.ones(3, 9, dtype=torch.bool)
    there[:, 6:] = False
    (gradient,) = torch.autograd.grad((gate(scores, 2, 0.002, there) * torch.arange(9)).sum(), scores)
    assert torch.isfinite(gradient).all()
    assert (gradient[:, 6:] == 0).all()


@pytest.mark.parametrize("device", DEVICES)
def test_long_rows_of_scores_far_apart(device: str) -> None:
    scores = torch.randn(64, 512, generator=torch.Generator().manual_seed(0)).to(device) * 30
    chosen = gate(scores, 200, 0.002)
    torch.testing.assert_close(chosen.sum(-1).cpu(), torch.full((64,), 200.0), atol=0.05, rtol=0)


@pytest.mark.parametrize(("k", "eps", "told"), [(0, 0.1, "a k above 0"), (2, 0.0, "an eps above 0")])
def test_what_cannot_be_is_told(k: float, eps: float, told: str) -> None:
    with pytest.raises(ValueError, match=told):
        gate(drawn(1), k, eps)
