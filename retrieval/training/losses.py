"""The losses as pure functions of token vectors.  Shapes: b queries of q tokens, n passage tokens, u units."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional as F  # noqa: N812 - its usual name

from propcite.retrieval.alignment.gate import gate

LOW = -1e4  # the score of what does not take part


def unit_scores(queries: Tensor, weights: Tensor, tokens: Tensor, members: Tensor, lengths: Tensor) -> Tensor:
    """Each query's sum of its tokens' best similarities in each unit.  (b, q, d), (b, q), (n, d) -> (b, u)

    Unit i holds the next `lengths[i]` of `members`, which are tokens by number; units may share tokens.
    """
    best = _best(_similarities(queries, tokens), members, lengths)
    return (best.view(-1, *weights.shape) * weights).sum(-1).T


def xtr_scores(queries: Tensor, weights: Tensor, tokens: Tensor, members: Tensor, lengths: Tensor, k: int) -> Tensor:
    """XTR's score in training: only a query token's k best tokens of the batch count, over the weights that found one.

    (b, q, d), (b, q), (n, d) -> (b, u)
    """
    similarities = _similarities(queries, tokens)
    floor = similarities.detach().topk(min(k, len(tokens)), dim=0).values[-1]
    best = _best(similarities, members, lengths)
    found = (best >= floor).view(-1, *weights.shape) * weights
    total = (best.view(-1, *weights.shape) * found).sum(-1).T
    mean: Tensor = total / found.sum(-1).T.clamp_min(1e-3) * weights.sum(-1)[:, None]
    return mean


def salient_scores(
    queries: Tensor, weights: Tensor, tokens: Tensor, salience: Tensor, members: Tensor, lengths: Tensor
) -> Tensor:
    """ALIGNER's score in training: each query token with its nearest of the unit, as much as that one is salient.

    Over the weights and salience of these pairs, times the weights' sum.  (b, q, d), (b, q), (n, d), (n,) -> (b, u)
    """
    similarities = _similarities(queries, tokens)
    best = _best(similarities, members, lengths)
    nearest = similarities.detach()[members] >= best.detach().repeat_interleave(lengths, dim=0)
    told = torch.where(nearest, salience[members][:, None], 0.0)
    counted = torch.segment_reduce(told, "max", lengths=lengths, axis=0).view(-1, *weights.shape) * weights
    total = (best.view(-1, *weights.shape) * counted).sum(-1).T
    mean: Tensor = total / counted.sum(-1).T.clamp_min(1e-3) * weights.sum(-1)[:, None]
    return mean


def gated(salience: Tensor, lengths: Tensor, way: str, share: float, eps: float) -> Tensor:
    """Salience of texts that lie side by side, each left with a share of its tokens.  (n,), (p,) -> (n,)

    `gate`: times the smooth choice of ceil(share * length) of them (ALIGNER); `top-k`: with the others cut off; `relu`:
    as it is.
    """
    if way == "relu":
        return salience
    numbers = torch.ceil(share * lengths - 1e-6).clamp_min(1)
    places = torch.arange(int(lengths.max()), device=salience.device)
    there = places < lengths[:, None]
    padded = salience.new_full(there.shape, LOW).masked_scatter(there, salience)
    if way == "gate":
        chosen = gate(padded, numbers, eps, there)
    else:
        order = padded.argsort(dim=-1, descending=True).argsort(dim=-1)
        chosen = (order < numbers[:, None]).to(salience.dtype)
    return salience * chosen[there]


def _similarities(queries: Tensor, tokens: Tensor) -> Tensor:
    """(b, q, d), (n, d) -> (n, b * q)"""
    return tokens @ queries.flatten(0, 1).T


def _best(similarities: Tensor, members: Tensor, lengths: Tensor) -> Tensor:
    """(n, b * q) -> (u, b * q)"""
    best: Tensor = torch.segment_reduce(similarities[members], "max", lengths=lengths, axis=0)
    return best


def any_positive(scores: Tensor, taking_part: Tensor, positive: Tensor, weights: Tensor) -> Tensor:
    """Minus the log of the probability that the positive units get together, a mean over queries.  (b, u) masks, (b,)

    Which proposition of a positive sentence holds the answer is not known: that one of them wins is enough.
    """
    log_all = torch.logsumexp(scores.masked_fill(~taking_part, LOW), dim=1)
    log_positive = torch.logsumexp(scores.masked_fill(~positive, LOW), dim=1)
    return ((log_all - log_positive) * weights).mean()


def told_apart(scores: Tensor, positive: Tensor, weights: Tensor) -> Tensor:
    """Binary cross-entropy of logits, a mean over sentences.  (n,) each"""
    loss = F.binary_cross_entropy_with_logits(scores, positive.to(scores.dtype), reduction="none")
    return (loss * weights).mean()


def taught(scores: Tensor, sentences: Tensor, teacher: Tensor, weights: Tensor) -> Tensor:
    """KL divergence from a teacher's distribution over the sentences of a passage to ours, a mean over queries.

    `sentences` (b, u) numbers the sentence of a query's own passage that a unit belongs to, -1 for a unit of any other
    passage: a sentence's probability is that of its units together.  `teacher` (b, s) has logits, LOW where a passage
    has no such sentence or the sentence no unit.  (b, u) -> ()
    """
    ours = torch.stack(
        [torch.logsumexp(scores.masked_fill(sentences != s, LOW), dim=1) for s in range(teacher.shape[1])], dim=1
    )
    there = teacher > LOW / 2
    log_ours = F.log_softmax(ours.masked_fill(~there, LOW), dim=1)
    log_teacher = F.log_softmax(teacher, dim=1)
    divergence = torch.where(there, log_teacher.exp() * (log_teacher - log_ours), 0.0).sum(1)
    return (divergence * weights).mean()


def passage_scores(tokens: Tensor, lengths: Tensor, queries: Tensor, sizes: Tensor) -> Tensor:
    """Each query's sum of its tokens' best similarities in each whole passage.  (n, d), (p,), (m, d), (b,) -> (b, p)

    Passage i holds the next `lengths[i]` tokens, query i the next `sizes[i]` of its own.
    """
    return _summed(torch.segment_reduce(tokens @ queries.T, "max", lengths=lengths, axis=0), sizes)


def side_by_side_scores(
    queries: Tensor, weights: Tensor, sizes: Tensor, tokens: Tensor, members: Tensor, lengths: Tensor
) -> Tensor:
    """As `unit_scores`, of queries without padding, which are far fewer numbers where one of many is long.

    Query i has the next `sizes[i]` vectors and weights.  (m, d), (m,), (b,), (n, d) -> (b, u)
    """
    return _summed(_best(tokens @ queries.T, members, lengths) * weights, sizes)


def _summed(best: Tensor, sizes: Tensor) -> Tensor:
    """(u, m), (b,) -> (b, u)"""
    scores: Tensor = torch.segment_reduce(best.T.contiguous(), "sum", lengths=sizes, axis=0)
    return scores


def shares_of_passages(scores: Tensor, taking_part: Tensor) -> Tensor:
    """How much what a query's sentences cost in each passage counts (AGRaME's L_sent): the passages' distribution.

    Whoever scores the passages is their teacher; those that take no part have no share.  (b, p) twice -> (b, p)
    """
    return torch.softmax(scores.masked_fill(~taking_part, -torch.inf), dim=1)


def unlike(ours: Tensor, wanted: Tensor) -> Tensor:
    """KL divergence from the wanted distribution over passages to ours, a mean over queries.  (b, p) twice -> ()"""
    return F.kl_div(F.log_softmax(ours, 1), F.log_softmax(wanted, 1), log_target=True, reduction="batchmean")
