"""Scores and losses as pure functions of token vectors.  Shapes: b queries of q tokens, n passage tokens, u units."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional as F  # noqa: N812 - its usual name

from propcite.retrieval.alignment.forms import Alignment
from propcite.retrieval.alignment.gate import gate
from propcite.retrieval.alignment.pairs import sum_pairs

LOW = -1e4  # the score of masked units


def unit_scores(queries: Tensor, weights: Tensor, tokens: Tensor, members: Tensor, lengths: Tensor) -> Tensor:
    """Sum the best similarity of each query token in each unit.  (b, q, d), (b, q), (n, d) -> (b, u)

    Unit i has the next `lengths[i]` token numbers of `members`; units may share tokens.
    """
    best = _best(_similarities(queries, tokens), members, lengths)
    return (best.view(-1, *weights.shape) * weights).sum(-1).T


def aligned_scores(
    queries: Tensor, weights: Tensor, tokens: Tensor, members: Tensor, lengths: Tensor, alignment: Alignment
) -> Tensor:
    """Average the similarities of the pairs that an alignment makes of each query and unit (ALIGNER).

    As in a search, the mean is multiplied by the sum of the weights.  (b, q, d), (b, q), (n, d) -> (b, u)
    """
    present = torch.arange(int(lengths.max()), device=lengths.device) < lengths[:, None]
    flat = _similarities(queries, tokens)[members]
    padded = flat.new_zeros(*present.shape, flat.shape[-1]).masked_scatter(present[..., None], flat)
    similarities = padded.transpose(1, 2)
    sums, counts = sum_pairs(similarities, alignment.pairs(similarities.detach(), present))
    total, number = ((part.view(-1, *weights.shape) * weights).sum(-1).T for part in (sums, counts))
    mean: Tensor = total / number.clamp_min(1e-3) * weights.sum(-1)[:, None]
    return mean


def xtr_scores(queries: Tensor, weights: Tensor, tokens: Tensor, members: Tensor, lengths: Tensor, k: int) -> Tensor:
    """Compute XTR's training score: for each query token only its k best tokens of the batch count.

    The sum is normalised by the weights of the query tokens that matched.  (b, q, d), (b, q), (n, d) -> (b, u)
    """
    similarities = _similarities(queries, tokens)
    floor = similarities.detach().topk(min(k, len(tokens)), dim=0).values[-1]
    best = _best(similarities, members, lengths)
    matched = (best >= floor).view(-1, *weights.shape) * weights
    total = (best.view(-1, *weights.shape) * matched).sum(-1).T
    mean: Tensor = total / matched.sum(-1).T.clamp_min(1e-3) * weights.sum(-1)[:, None]
    return mean


def salient_scores(
    queries: Tensor, weights: Tensor, tokens: Tensor, salience: Tensor, members: Tensor, lengths: Tensor
) -> Tensor:
    """Compute ALIGNER's training score: each query token's best similarity, weighted by the matched token's salience.

    The sum is normalised by the weights of these pairs.  (b, q, d), (b, q), (n, d), (n,) -> (b, u)
    """
    similarities = _similarities(queries, tokens)
    best = _best(similarities, members, lengths)
    nearest = similarities.detach()[members] >= best.detach().repeat_interleave(lengths, dim=0)
    of_nearest = torch.where(nearest, salience[members][:, None], 0.0)
    pair_weights = torch.segment_reduce(of_nearest, "max", lengths=lengths, axis=0).view(-1, *weights.shape) * weights
    total = (best.view(-1, *weights.shape) * pair_weights).sum(-1).T
    mean: Tensor = total / pair_weights.sum(-1).T.clamp_min(1e-3) * weights.sum(-1)[:, None]
    return mean


def gate_salience(salience: Tensor, lengths: Tensor, gate_kind: str, share: float, eps: float) -> Tensor:
    """Reduce the salience of several texts, each to a share of its tokens.  (n,), (p,) -> (n,)

    `gate` multiplies by a smooth choice of ceil(share * length) tokens (ALIGNER), `top-k` sets all other tokens to 0,
    `relu` changes nothing.
    """
    if gate_kind == "relu":
        return salience
    counts = torch.ceil(share * lengths - 1e-6).clamp_min(1)
    places = torch.arange(int(lengths.max()), device=salience.device)
    present = places < lengths[:, None]
    padded = salience.new_full(present.shape, LOW).masked_scatter(present, salience)
    if gate_kind == "gate":
        chosen = gate(padded, counts, eps, present)
    else:
        order = padded.argsort(dim=-1, descending=True).argsort(dim=-1)
        chosen = (order < counts[:, None]).to(salience.dtype)
    return salience * chosen[present]


def _similarities(queries: Tensor, tokens: Tensor) -> Tensor:
    """(b, q, d), (n, d) -> (n, b * q)"""
    return tokens @ queries.flatten(0, 1).T


def _best(similarities: Tensor, members: Tensor, lengths: Tensor) -> Tensor:
    """(n, b * q) -> (u, b * q)"""
    best: Tensor = torch.segment_reduce(similarities[members], "max", lengths=lengths, axis=0)
    return best


def any_positive_loss(scores: Tensor, candidates: Tensor, positive: Tensor, weights: Tensor) -> Tensor:
    """Return -log of the total probability of the positive units, averaged over queries.  (b, u) masks, (b,)

    It is enough that one of them wins, because nobody has marked which proposition of a sentence holds the answer.
    """
    log_all = torch.logsumexp(scores.masked_fill(~candidates, LOW), dim=1)
    log_positive = torch.logsumexp(scores.masked_fill(~positive, LOW), dim=1)
    return ((log_all - log_positive) * weights).mean()


def sentence_loss(scores: Tensor, positive: Tensor, weights: Tensor) -> Tensor:
    """Return the weighted binary cross-entropy of logits, averaged over sentences.  (n,) each"""
    loss = F.binary_cross_entropy_with_logits(scores, positive.to(scores.dtype), reduction="none")
    return (loss * weights).mean()


def distillation_loss(scores: Tensor, sentences: Tensor, teacher: Tensor, weights: Tensor) -> Tensor:
    """Return the KL divergence from a teacher's distribution over a passage's sentences to ours, averaged over queries.

    `sentences` (b, u) has the number of each unit's sentence in the query's own passage, -1 for units of other
    passages: a sentence's probability is the sum of its units'.  `teacher` (b, s) has logits, LOW where a passage has
    no such sentence or the sentence has no unit.  (b, u) -> ()
    """
    ours = torch.stack(
        [torch.logsumexp(scores.masked_fill(sentences != s, LOW), dim=1) for s in range(teacher.shape[1])], dim=1
    )
    present = teacher > LOW / 2
    log_ours = F.log_softmax(ours.masked_fill(~present, LOW), dim=1)
    log_teacher = F.log_softmax(teacher, dim=1)
    divergence = torch.where(present, log_teacher.exp() * (log_teacher - log_ours), 0.0).sum(1)
    return (divergence * weights).mean()


def passage_scores(tokens: Tensor, lengths: Tensor, queries: Tensor, sizes: Tensor) -> Tensor:
    """Sum the best similarity of each query token in each whole passage.  (n, d), (p,), (m, d), (b,) -> (b, p)

    Passage i has the next `lengths[i]` tokens, query i the next `sizes[i]` query tokens.
    """
    return _sum_per_query(torch.segment_reduce(tokens @ queries.T, "max", lengths=lengths, axis=0), sizes)


def packed_unit_scores(
    queries: Tensor, weights: Tensor, sizes: Tensor, tokens: Tensor, members: Tensor, lengths: Tensor
) -> Tensor:
    """Compute `unit_scores` for queries without padding, which saves most of the work if only one query is long.

    Query i has the next `sizes[i]` vectors and weights.  (m, d), (m,), (b,), (n, d) -> (b, u)
    """
    return _sum_per_query(_best(tokens @ queries.T, members, lengths) * weights, sizes)


def _sum_per_query(best: Tensor, sizes: Tensor) -> Tensor:
    """(u, m), (b,) -> (b, u)"""
    scores: Tensor = torch.segment_reduce(best.T.contiguous(), "sum", lengths=sizes, axis=0)
    return scores


def passage_shares(scores: Tensor, candidates: Tensor) -> Tensor:
    """Return the weight of each passage in a query's sentence loss (AGRaME's L_sent): a softmax over candidates.

    The model that scores the passages acts as the teacher; passages that are no candidates get 0.  (b, p) each
    """
    return torch.softmax(scores.masked_fill(~candidates, -torch.inf), dim=1)


def ranking_divergence(ours: Tensor, target: Tensor) -> Tensor:
    """Return the KL divergence from the target distribution over passages to ours, averaged over queries.  (b, p)"""
    return F.kl_div(F.log_softmax(ours, 1), F.log_softmax(target, 1), log_target=True, reduction="batchmean")
