"""The losses as pure functions of token vectors.  Shapes: b queries of q tokens, n passage tokens, u units."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional as F  # noqa: N812 - its usual name

LOW = -1e4  # the score of what does not take part


def unit_scores(queries: Tensor, weights: Tensor, tokens: Tensor, members: Tensor, lengths: Tensor) -> Tensor:
    """Each query's sum of its tokens' best similarities in each unit.  (b, q, d), (b, q), (n, d) -> (b, u)

    Unit i holds the next `lengths[i]` of `members`, which are tokens by number; units may share tokens.
    """
    b, q, d = queries.shape
    similarities = tokens @ queries.reshape(b * q, d).T
    best = torch.segment_reduce(similarities[members], "max", lengths=lengths, axis=0)
    return (best.view(-1, b, q) * weights).sum(-1).T


def xtr_scores(queries: Tensor, weights: Tensor, tokens: Tensor, members: Tensor, lengths: Tensor, k: int) -> Tensor:
    """XTR's score in training: only a query token's k best tokens of the batch count, over the weights that found one.

    (b, q, d), (b, q), (n, d) -> (b, u)
    """
    b, q, d = queries.shape
    similarities = tokens @ queries.reshape(b * q, d).T
    floor = similarities.detach().topk(min(k, len(tokens)), dim=0).values[-1]
    best = torch.segment_reduce(similarities[members], "max", lengths=lengths, axis=0)
    found = (best >= floor).view(-1, b, q) * weights
    total = (best.view(-1, b, q) * found).sum(-1).T
    mean: Tensor = total / found.sum(-1).T.clamp_min(1e-3) * weights.sum(-1)[:, None]
    return mean


def any_positive(scores: Tensor, taking_part: Tensor, positive: Tensor, weights: Tensor) -> Tensor:
    """Minus the log of the probability that the positive units get together, a mean over queries.  (b, u) masks, (b,)

    Which proposition of a positive sentence holds the answer is not known: that one of them wins is enough.
    """
    log_all = torch.logsumexp(scores.masked_fill(~taking_part, LOW), dim=1)
    log_positive = torch.logsumexp(scores.masked_fill(~positive, LOW), dim=1)
    return ((log_all - log_positive) * weights).mean()


def divergence(teacher: Tensor, student: Tensor, taking_part: Tensor, weights: Tensor) -> Tensor:
    """KL(teacher || student) of the two softmaxes over the units that take part, a mean over queries.  (b, u), (b,)"""
    told = F.log_softmax(teacher.masked_fill(~taking_part, LOW), dim=1)
    said = F.log_softmax(student.masked_fill(~taking_part, LOW), dim=1)
    each = (told.exp() * (told - said)).masked_fill(~taking_part, 0.0).sum(dim=1)
    return (each * weights).mean()
