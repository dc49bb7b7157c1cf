"""A smooth choice of k out of m: argmax s . l + eps * H(l) with sum l = k, 0 <= l <= 1 and H(l) = -sum l log l.

The solution is l_i = min(1, exp((s_i + a) / eps)) with the one a that makes the sum k.  ALIGNER (Qian et al. 2022)
climbs to it on the dual by coordinate ascent in "a few" steps, which is far from enough if scores lie many eps apart;
after sorting, the solution has a closed form.
"""

from __future__ import annotations

import torch
from torch import Tensor

LOW = -1e4  # the score of absent items: finite, so that no gradient becomes nan
EPS = 0.002  # ALIGNER's


def gate(
    scores: Tensor, k: int | float | Tensor, eps: float = EPS, present: Tensor | None = None, iterations: int = 0
) -> Tensor:
    """Return how much each of m items is chosen when k are.  scores (..., m), k (...) or a number -> (..., m) in 0..1

    `present` (..., m) masks items out; if fewer than k are present all of them are chosen.  The result is exact, or
    that of the paper's ascent after so many `iterations`.  As eps approaches 0 it becomes the k largest.

    >>> gate(torch.tensor([0.3, 0.1, 0.2]), 2, eps=0.001).round(decimals=3)
    tensor([1., 0., 1.])
    >>> gate(torch.tensor([0.2, 0.2, 0.2, 0.2]), 1)
    tensor([0.2500, 0.2500, 0.2500, 0.2500])
    """
    if eps <= 0:
        raise ValueError(f"eps must be above 0, got {eps}: near 0 the gate is a hard choice")
    present = torch.ones_like(scores, dtype=torch.bool) if present is None else present
    number = torch.as_tensor(k, dtype=scores.dtype, device=scores.device)
    if not bool((number > 0).all()):
        raise ValueError(f"k must be above 0, got {number.min().item():g}")
    number = torch.minimum(number.expand(scores.shape[:-1]), present.sum(-1).to(scores.dtype))
    scores = scores.masked_fill(~present, LOW) / eps
    chosen = _by_ascent(scores, number, iterations) if iterations else _exact(scores, number)
    return chosen.masked_fill(~present, 0.0)


def _by_ascent(scores: Tensor, number: Tensor, iterations: int) -> Tensor:
    """Run the paper's coordinate ascent, all divided by eps: a for the sum, b_i <= 0 for the bound of one."""
    log_number = number.clamp_min(torch.finfo(scores.dtype).tiny).log()[..., None]
    b = torch.zeros_like(scores)
    a = torch.zeros_like(log_number)
    for _ in range(iterations):
        a = log_number - torch.logsumexp(scores + b, dim=-1, keepdim=True)
        b = torch.clamp(-scores - a, max=0.0)
    return torch.exp(scores + a + b)


def _exact(scores: Tensor, number: Tensor) -> Tensor:
    """Set the n largest to one and let the others share the rest, with the smallest n that keeps them below one."""
    ordered = scores.sort(dim=-1, descending=True).values
    # For every n the log of the sum of all but the n largest.
    rest = torch.logcumsumexp(ordered.flip(-1), dim=-1).flip(-1)
    counts = torch.arange(scores.shape[-1], device=scores.device, dtype=scores.dtype)
    left = number[..., None] - counts
    a = left.clamp_min(torch.finfo(scores.dtype).tiny).log() - rest
    fits = (left > 0) & (ordered + a <= 1e-6)
    smallest = fits.to(torch.uint8).argmax(dim=-1, keepdim=True)  # no n fits only if all present items are chosen
    shift = torch.where(fits.any(-1, keepdim=True), a.gather(-1, smallest), torch.full_like(a[..., :1], -LOW))
    return torch.exp((scores + shift).clamp_max(0.0))
