"""Alignments as pure functions of token similarities.

similarities (..., q, t) are those of q query tokens and t tokens of a text; tokens (..., t) is a mask of the present
ones, so that texts of different lengths fit in one batch.  Each function returns the alignment A (..., q, t) of the
formula sim(Q, D) = 1/Z sum S * A (ALIGNER, Qian et al. 2022).
"""

from __future__ import annotations

import torch
from torch import Tensor

from propcite.retrieval.alignment.gate import LOW, gate


def top_k(similarities: Tensor, tokens: Tensor, k: int) -> Tensor:
    """Align each query token with its k nearest tokens, or with all if there are fewer.  ColBERT is k = 1.

    >>> top_k(torch.tensor([[0.1, 0.9, 0.4]]), torch.tensor([True, True, True]), 2)
    tensor([[0., 1., 1.]])
    """
    return _nearest(similarities, tokens, torch.full(tokens.shape[:-1], k, device=tokens.device))


def top_p(similarities: Tensor, tokens: Tensor, share: float) -> Tensor:
    """Align each query token with its nearest share of the text's t tokens: max(floor(share * t), 1) of them.

    >>> top_p(torch.tensor([[0.1, 0.9, 0.4, 0.2]]), torch.ones(4, dtype=torch.bool), 0.5)
    tensor([[0., 1., 1., 0.]])
    """
    # A product such as 0.07 * 100 is slightly below its whole number.
    return _nearest(similarities, tokens, (share * tokens.sum(-1).double() + 1e-9).floor().clamp_min(1).long())


def differentiable(similarities: Tensor, tokens: Tensor, k: int, eps: float) -> Tensor:
    """Align by the smooth top-k: each row maximises S . A + eps * H(A) with sum A = k and 0 <= A <= 1."""
    return gate(similarities, k, eps, tokens[..., None, :].expand_as(similarities))


def first_k(similarities: Tensor, tokens: Tensor, k: int) -> Tensor:
    """Align the first query token with the nearest of the text's first k: ME-BERT; with k = 1 it is DPR.

    >>> first_k(torch.tensor([[0.1, 0.9, 0.4], [0.7, 0.2, 0.3]]), torch.tensor([True, True, True]), 2)
    tensor([[0., 1., 0.],
            [0., 0., 0.]])
    """
    early = tokens & (tokens.cumsum(-1) <= k)
    nearest = top_k(similarities, early, 1)
    nearest[..., 1:, :] = 0
    return nearest


def exact_match(similarities: Tensor, tokens: Tensor, same: Tensor) -> Tensor:
    """Align each query token with the nearest token that is the same word, as COIL does.  same (..., q, t)

    >>> same = torch.tensor([[True, False, True]])
    >>> exact_match(torch.tensor([[0.1, 0.9, 0.4]]), torch.ones(3, dtype=torch.bool), same)
    tensor([[0., 0., 1.]])
    """
    matching = same & tokens[..., None, :]
    best = similarities.masked_fill(~matching, -torch.inf).argmax(-1, keepdim=True)
    return torch.zeros_like(similarities).scatter_(-1, best, 1.0) * matching


def nearest_retrieved(similarities: Tensor, tokens: Tensor, floors: Tensor) -> Tensor:
    """Align each query token with its nearest token if that was retrieved: XTR.

    floors (..., q) are the lowest similarities that were retrieved.  A row of zeros retrieved nothing from this text;
    its floor is imputed (`missing` of `similarity`).
    """
    return top_k(similarities, tokens, 1) * (similarities >= floors[..., None])


def similarity(
    similarities: Tensor,
    pairs: Tensor,
    query_salience: Tensor | None = None,
    salience: Tensor | None = None,
    *,
    missing: Tensor | None = None,
    count_unmatched: bool = False,
) -> Tensor:
    """Return sim(Q, D) = 1/Z sum S * A, A = pairs * (query_salience x salience), Z = sum A.  (..., q, t) -> (...)

    `missing` (..., q) is the similarity of rows that are aligned with nothing.  With `count_unmatched` such rows count
    in Z with similarity 0, as in COIL's sum over common words.  A text without any aligned row scores -inf.

    >>> s = torch.tensor([[0.2, 0.8], [0.6, 0.4]])
    >>> round(similarity(s, top_k(s, torch.tensor([True, True]), 1)).item(), 3)
    0.7
    """
    rows = torch.ones_like(similarities[..., 0]) if query_salience is None else query_salience
    if salience is not None:
        pairs = pairs * salience[..., None, :]
    sums, counts = sum_pairs(similarities, pairs)
    if missing is not None:
        sums, counts = torch.where(counts > 0, sums, missing), torch.where(counts > 0, counts, 1.0)
    if count_unmatched:
        counts = torch.ones_like(counts)
    total = (rows * counts).sum(-1)
    scores = (rows * sums).sum(-1) / total.clamp_min(torch.finfo(sums.dtype).tiny)
    return scores.masked_fill(total <= 0, -torch.inf)


def sum_pairs(similarities: Tensor, pairs: Tensor) -> tuple[Tensor, Tensor]:
    """Return sum S * A and sum A over the text, per query token.  -> (..., q) twice"""
    return (similarities * pairs).sum(-1), pairs.sum(-1)


def _nearest(similarities: Tensor, tokens: Tensor, numbers: Tensor) -> Tensor:
    """Align each row with its `numbers` (...) nearest present tokens."""
    max_number = min(int(numbers.max()) if numbers.numel() else 0, similarities.shape[-1])
    present = tokens[..., None, :].expand_as(similarities)
    nearest = similarities.masked_fill(~present, LOW).topk(max_number, dim=-1).indices
    within = torch.arange(max_number, device=tokens.device) < numbers[..., None, None]
    pairs = torch.zeros_like(similarities)
    return pairs.scatter_(-1, nearest, within.expand_as(nearest).to(pairs.dtype)) * present
