"""The smooth choice of k out of m: argmax s . l + eps * H(l) with sum l = k, 0 <= l <= 1 and H(l) = -sum l log l.

Its solution is l_i = min(1, exp((s_i + a) / eps)) for the one a that makes the sum k.  ALIGNER (Qian et al. 2022)
climbs to it on the dual, one coordinate after the other, in "a few" steps, which is far from enough where scores lie
many eps apart; sorted, the solution can be written down.
"""

from __future__ import annotations

import torch
from torch import Tensor

LOW = -1e4  # the score of what is not there: finite, so that no gradient is a number lost
EPS = 0.002  # ALIGNER's


def gate(
    scores: Tensor, k: int | float | Tensor, eps: float = EPS, there: Tensor | None = None, iterations: int = 0
) -> Tensor:
    """How much of each of m things is chosen when k are.  scores (..., m), k (...) or one number -> (..., m) in 0..1

    `there` (..., m) leaves things out; where fewer than k are there all are chosen.  With `iterations` by so many steps
    of the paper's ascent, otherwise exactly.  As eps goes to 0 it becomes the k largest.

    >>> gate(torch.tensor([0.3, 0.1, 0.2]), 2, eps=0.001).round(decimals=3)
    tensor([1., 0., 1.])
    >>> gate(torch.tensor([0.2, 0.2, 0.2, 0.2]), 1)
    tensor([0.2500, 0.2500, 0.2500, 0.2500])
    """
    if eps <= 0:
        raise ValueError(f"wanted an eps above 0, got {eps}: near 0 the gate is a hard choice")
    there = torch.ones_like(scores, dtype=torch.bool) if there is None else there
    wanted = torch.as_tensor(k, dtype=scores.dtype, device=scores.device)
    if not bool((wanted > 0).all()):
        raise ValueError(f"wanted a k above 0, got {wanted.min().item():g}")
    wanted = torch.minimum(wanted.expand(scores.shape[:-1]), there.sum(-1).to(scores.dtype))
    scores = scores.masked_fill(~there, LOW) / eps
    chosen = _climbed(scores, wanted, iterations) if iterations else _exactly(scores, wanted)
    return chosen.masked_fill(~there, 0.0)


def _climbed(scores: Tensor, wanted: Tensor, iterations: int) -> Tensor:
    """The paper's ascent, all divided by eps: a for the sum, b_i <= 0 for the bound of one."""
    log_wanted = wanted.clamp_min(torch.finfo(scores.dtype).tiny).log()[..., None]
    b = torch.zeros_like(scores)
    a = torch.zeros_like(log_wanted)
    for _ in range(iterations):
        a = log_wanted - torch.logsumexp(scores + b, dim=-1, keepdim=True)
        b = torch.clamp(-scores - a, max=0.0)
    return torch.exp(scores + a + b)


def _exactly(scores: Tensor, wanted: Tensor) -> Tensor:
    """With the n largest at one, the others share the rest: the least n at which none of these passes one."""
    ordered = scores.sort(dim=-1, descending=True).values
    # The log of the sum of what comes after the n largest, for every n.
    rest = torch.logcumsumexp(ordered.flip(-1), dim=-1).flip(-1)
    numbers = torch.arange(scores.shape[-1], device=scores.device, dtype=scores.dtype)
    left = wanted[..., None] - numbers
    a = left.clamp_min(torch.finfo(scores.dtype).tiny).log() - rest
    fits = (left > 0) & (ordered + a <= 1e-6)
    least = fits.to(torch.uint8).argmax(dim=-1, keepdim=True)  # none fits only where all that are there are chosen
    shift = torch.where(fits.any(-1, keepdim=True), a.gather(-1, least), torch.full_like(a[..., :1], -LOW))
    return torch.exp((scores + shift).clamp_max(0.0))
