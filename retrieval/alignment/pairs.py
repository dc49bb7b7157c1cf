"""Which tokens of a query and of a text are compared: alignments as pure functions on their similarities.

similarities (..., q, t) of q query tokens and t tokens of the text; tokens (..., t) says which of these are there, so
that texts of several lengths stand in one batch.  Each function gives the alignment A (..., q, t) of ALIGNER's formula
(Qian et al. 2022), sim(Q, D) = 1/Z sum S * A: a row holds what its query token counts for each token of the text.
"""

from __future__ import annotations

import torch
from torch import Tensor

from propcite.retrieval.alignment.gate import LOW, gate


def top_k(similarities: Tensor, tokens: Tensor, k: int) -> Tensor:
    """Each query token's k nearest tokens; all of a text that has fewer.  ColBERT is k = 1.

    >>> top_k(torch.tensor([[0.1, 0.9, 0.4]]), torch.tensor([True, True, True]), 2)
    tensor([[0., 1., 1.]])
    """
    return _nearest(similarities, tokens, torch.full(tokens.shape[:-1], k, device=tokens.device))


def top_p(similarities: Tensor, tokens: Tensor, share: float) -> Tensor:
    """Each query token's nearest share of the text's t tokens: max(floor(share * t), 1) of them.

    >>> top_p(torch.tensor([[0.1, 0.9, 0.4, 0.2]]), torch.ones(4, dtype=torch.bool), 0.5)
    tensor([[0., 1., 1., 0.]])
    """
    # A product such as 0.07 * 100 lies a hair below its whole number.
    return _nearest(similarities, tokens, (share * tokens.sum(-1).double() + 1e-9).floor().clamp_min(1).long())


def differentiable(similarities: Tensor, tokens: Tensor, k: int, eps: float) -> Tensor:
    """The smooth top-k: each row maximises S . A + eps * H(A) with sum A = k and 0 <= A <= 1."""
    return gate(similarities, k, eps, tokens[..., None, :].expand_as(similarities))


def first_k(similarities: Tensor, tokens: Tensor, k: int) -> Tensor:
    """The first query token's nearest among the text's first k: ME-BERT; with k = 1 a single vector each, as DPR.

    >>> first_k(torch.tensor([[0.1, 0.9, 0.4], [0.7, 0.2, 0.3]]), torch.tensor([True, True, True]), 2)
    tensor([[0., 1., 0.],
            [0., 0., 0.]])
    """
    early = tokens & (tokens.cumsum(-1) <= k)
    nearest = top_k(similarities, early, 1)
    nearest[..., 1:, :] = 0
    return nearest


def exact_match(similarities: Tensor, tokens: Tensor, same: Tensor) -> Tensor:
    """Each query token's nearest among the tokens that are the same word: COIL.  same (..., q, t)

    >>> same = torch.tensor([[True, False, True]])
    >>> exact_match(torch.tensor([[0.1, 0.9, 0.4]]), torch.ones(3, dtype=torch.bool), same)
    tensor([[0., 0., 1.]])
    """
    meeting = same & tokens[..., None, :]
    best = similarities.masked_fill(~meeting, -torch.inf).argmax(-1, keepdim=True)
    return torch.zeros_like(similarities).scatter_(-1, best, 1.0) * meeting


def retrieved(similarities: Tensor, tokens: Tensor, floors: Tensor) -> Tensor:
    """Each query token's nearest where it was retrieved: it reaches the last similarity retrieved, floors (..., q).

    XTR; a row of zeros retrieved nothing of this text, and its floor is imputed (`similarity`'s `missing`).
    """
    return top_k(similarities, tokens, 1) * (similarities >= floors[..., None])


def similarity(
    similarities: Tensor,
    pairs: Tensor,
    query_salience: Tensor | None = None,
    salience: Tensor | None = None,
    *,
    missing: Tensor | None = None,
    of_all: bool = False,
) -> Tensor:
    """sim(Q, D) = 1/Z sum S * A, A = pairs * (query_salience x salience), Z = sum A.  (..., q, t), (..., q), (..., t)

    `missing` (..., q) stands for the similarity of a row that is aligned with nothing.  `of_all` lets such rows count
    in Z with the similarity 0, as COIL's sum over common words does.  A text that no row is aligned with scores -inf.

    >>> s = torch.tensor([[0.2, 0.8], [0.6, 0.4]])
    >>> round(similarity(s, top_k(s, torch.tensor([True, True]), 1)).item(), 3)
    0.7
    """
    rows = torch.ones_like(similarities[..., 0]) if query_salience is None else query_salience
    if salience is not None:
        pairs = pairs * salience[..., None, :]
    sums, counts = aligned(similarities, pairs)
    if missing is not None:
        sums, counts = torch.where(counts > 0, sums, missing), torch.where(counts > 0, counts, 1.0)
    if of_all:
        counts = torch.ones_like(counts)
    total = (rows * counts).sum(-1)
    found = (rows * sums).sum(-1) / total.clamp_min(torch.finfo(sums.dtype).tiny)
    return found.masked_fill(total <= 0, -torch.inf)


def aligned(similarities: Tensor, pairs: Tensor) -> tuple[Tensor, Tensor]:
    """What a row's pairs come to and how much they count: sum S * A and sum A over the text.  -> (..., q) twice"""
    return (similarities * pairs).sum(-1), pairs.sum(-1)


def _nearest(similarities: Tensor, tokens: Tensor, numbers: Tensor) -> Tensor:
    """The `numbers` (...) nearest tokens of each row, those that are there."""
    most = min(int(numbers.max()) if numbers.numel() else 0, similarities.shape[-1])
    there = tokens[..., None, :].expand_as(similarities)
    nearest = similarities.masked_fill(~there, LOW).topk(most, dim=-1).indices
    counting = torch.arange(most, device=tokens.device) < numbers[..., None, None]
    found = torch.zeros_like(similarities)
    return found.scatter_(-1, nearest, counting.expand_as(nearest).to(found.dtype)) * there
