"""The gate: comparison with a general solver and with the paper's ascent, and properties."""

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


def random_scores(seed: int, rows: int = 3, size: int = 9) -> Tensor:
    return torch.rand(rows, size, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def solved(scores: np.ndarray, k: float, eps: float) -> np.ndarray:
    """Solve the problem with a general solver."""
    size = len(scores)
    result = minimize(
        lambda x: -scores @ x + eps * (x * np.log(x)).sum(),
        np.full(size, k / size),
        jac=lambda x: -scores + eps * (np.log(x) + 1),
        bounds=[(1e-12, 1.0)] * size,
        constraints={"type": "eq", "fun": lambda x: x.sum() - k, "jac": np.ones_like},
        method="SLSQP",
        options={"ftol": 1e-14, "maxiter": 2000},
    )
    assert result.success, result.message
    return np.asarray(result.x)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize(("k", "eps"), [(1, 0.5), (3, 0.1), (4.5, 0.3), (8, 0.2), (9, 1.0)])
def test_the_gate_equals_the_result_of_a_general_solver(seed: int, k: float, eps: float) -> None:
    scores = random_scores(seed, rows=1)[0]
    np.testing.assert_allclose(gate(scores, k, eps).numpy(), solved(scores.numpy(), k, eps), atol=2e-4)


def test_values_by_hand() -> None:
    # With eps = 1 and k = 1 it is the softmax; the bound of one is not reached.
    scores = torch.tensor([0.0, 1.0, 2.0], dtype=torch.float64)
    torch.testing.assert_close(gate(scores, 1, eps=1.0), scores.softmax(-1))
    # The largest is at its bound, and the other two share the rest equally.
    chosen = gate(torch.tensor([5.0, 0.0, 0.0]), 2, eps=0.1)
    torch.testing.assert_close(chosen, torch.tensor([1.0, 0.5, 0.5]))


@pytest.mark.parametrize(("k", "eps"), [(1, 0.05), (3, 0.1), (5, 0.3)])
def test_the_ascent_converges_to_the_exact_solution(k: int, eps: float) -> None:
    scores = random_scores(2)
    far = (gate(scores, k, eps, iterations=1) - gate(scores, k, eps)).abs().max()
    near = (gate(scores, k, eps, iterations=3_000) - gate(scores, k, eps)).abs().max()
    assert near < 1e-4
    assert near <= far


@given(st.integers(0, 10_000), st.integers(1, 9), st.sampled_from([0.002, 0.02, 0.2, 2.0]))
@settings(max_examples=80, deadline=None)
def test_sum_bounds_and_order_are_kept(seed: int, k: int, eps: float) -> None:
    scores = random_scores(seed)
    chosen = gate(scores, k, eps)
    torch.testing.assert_close(chosen.sum(-1), torch.full((3,), float(k), dtype=torch.float64), atol=1e-4, rtol=0)
    assert ((chosen >= 0) & (chosen <= 1)).all()
    ordered = chosen.gather(-1, scores.argsort(-1, descending=True))
    assert (ordered.diff(dim=-1) <= 1e-9).all()


@given(st.integers(0, 10_000), st.integers(1, 8))
@settings(max_examples=40, deadline=None)
def test_a_small_eps_chooses_the_k_largest(seed: int, k: int) -> None:
    scores = random_scores(seed)
    hard = torch.zeros_like(scores).scatter(-1, scores.topk(k).indices, 1.0)
    torch.testing.assert_close(gate(scores, k, eps=1e-7), hard, atol=1e-3, rtol=0)


def test_the_gate_is_differentiable() -> None:
    scores = random_scores(4).requires_grad_(True)
    torch.autograd.gradcheck(lambda s: gate(s, 3, eps=0.3), [scores])
    torch.autograd.gradcheck(lambda s: gate(s, 3, eps=0.3, iterations=8), [scores])


def test_each_row_may_have_its_own_k_and_length() -> None:
    scores = random_scores(6)
    present = torch.ones(3, 9, dtype=torch.bool)
    present[1, 4:] = False
    chosen = gate(scores, torch.tensor([2.0, 3.0, 9.0]), 0.05, present)
    torch.testing.assert_close(chosen.sum(-1), torch.tensor([2.0, 3.0, 9.0], dtype=torch.float64), atol=1e-6, rtol=0)
    assert (chosen[1, 4:] == 0).all()
    torch.testing.assert_close(chosen[1, :4], gate(scores[1, :4], 3, 0.05))


def test_large_k_chooses_all_and_absent_items_are_never_chosen() -> None:
    scores = random_scores(7)
    assert (gate(scores, 50) == 1).all()
    absent = torch.zeros(3, 9, dtype=torch.bool)
    assert (gate(scores, 2, 0.1, absent) == 0).all()
    assert (gate(scores, 2, 0.1, absent, iterations=5) == 0).all()


def test_absent_items_have_no_gradient() -> None:
    scores = random_scores(8).float().requires_grad_(True)
    present = torch.ones(3, 9, dtype=torch.bool)
    present[:, 6:] = False
    (gradient,) = torch.autograd.grad((gate(scores, 2, 0.002, present) * torch.arange(9)).sum(), scores)
    assert torch.isfinite(gradient).all()
    assert (gradient[:, 6:] == 0).all()


@pytest.mark.parametrize("device", DEVICES)
def test_long_rows_of_distant_scores(device: str) -> None:
    scores = torch.randn(64, 512, generator=torch.Generator().manual_seed(0)).to(device) * 30
    chosen = gate(scores, 200, 0.002)
    torch.testing.assert_close(chosen.sum(-1).cpu(), torch.full((64,), 200.0), atol=0.05, rtol=0)


@pytest.mark.parametrize(("k", "eps", "message"), [(0, 0.1, "k must be above 0"), (2, 0.0, "eps must be above 0")])
def test_values_out_of_range_raise(k: float, eps: float, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        gate(random_scores(1), k, eps)
