"""Scores of texts under an alignment: a batch of texts of several lengths, or runs of tokens that lie side by side."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from propcite.retrieval.alignment.forms import Alignment
from propcite.retrieval.alignment.pairs import aligned
from propcite.retrieval.encoding.base import Ints

Floats = npt.NDArray[np.float32]

AT_ONCE = 1 << 22  # similarities held at once, padding included


@dataclass(frozen=True, slots=True)
class Texts:
    """What is known of texts beside similarities: which tokens are the same word (t, q), how salient they are (t,)."""

    same: npt.NDArray[np.bool_] | None = None
    salience: Floats | None = None


def scores(
    similarities: Tensor,
    tokens: Tensor,
    weights: Tensor,
    alignment: Alignment,
    same: Tensor | None = None,
    salience: Tensor | None = None,
) -> Tensor:
    """Each text's score for each row of query weights.  (u, q, t), (u, t), (r, q) -> (u, r)

    1/Z sum S * A, where a row of weights is the query's salience, times the sum of the row; a text that no token of
    weight is aligned with scores -inf.
    """
    totals = weights.sum(-1)
    if alignment.kind == "first":  # a row's first token is the first that has weight
        firsts = [int(row.argmax()) for row in (weights > 0).to(torch.uint8)]
        alone = [similarities[:, first : first + 1] for first in firsts]
        found = [_mean(*_counted(own, alignment.pairs(own, tokens), salience)) for own in alone]
        return _times(torch.cat(found, dim=1), totals) if found else similarities.new_zeros(len(similarities), 0)
    sums, counts = _counted(similarities, alignment.pairs(similarities, tokens, same), salience)
    if alignment.of_all:
        return sums @ weights.T
    return _times(_mean(sums @ weights.T, counts @ weights.T), totals)


def _counted(similarities: Tensor, pairs: Tensor, salience: Tensor | None) -> tuple[Tensor, Tensor]:
    """What each query token's pairs come to, and how much they count.  -> (u, q) twice"""
    return aligned(similarities, pairs if salience is None else pairs * salience[:, None, :])


def _times(found: Tensor, totals: Tensor) -> Tensor:
    """A row without weight asks for nothing: every text scores 0."""
    return torch.where(totals > 0, found * totals, 0.0)


def _mean(sums: Tensor, counts: Tensor) -> Tensor:
    return (sums / counts.clamp_min(1e-9)).masked_fill(counts <= 0, -torch.inf)


def scores_of_runs(similarities: Floats, starts: Ints, weights: Floats, alignment: Alignment, texts: Texts) -> Floats:
    """The same of texts that are runs of tokens: run i holds starts[i] to starts[i + 1].  (t, q), (u + 1,), (r, q)

    Runs of like length are padded together, so that little of what is computed is padding.
    """
    lengths = np.diff(starts)
    found = np.full((len(lengths), len(weights)), -np.inf, np.float32)
    order = np.argsort(lengths, kind="stable")
    asked = torch.from_numpy(np.ascontiguousarray(weights, np.float32))
    first = 0
    while first < len(order):
        reach = np.arange(1, len(order) - first + 1) * np.maximum(lengths[order[first:]], 1) * similarities.shape[1]
        some = order[first : first + max(1, int(np.searchsorted(reach, AT_ONCE, side="right")))]
        first += len(some)
        places = np.minimum(starts[some][:, None] + np.arange(max(1, lengths[some].max())), len(similarities) - 1)
        there = torch.from_numpy(np.arange(places.shape[1]) < lengths[some][:, None])
        found[some] = scores(
            torch.from_numpy(similarities[places]).transpose(1, 2),
            there,
            asked,
            alignment,
            None if texts.same is None else torch.from_numpy(texts.same[places]).transpose(1, 2),
            None if texts.salience is None else torch.from_numpy(texts.salience[places]),
        ).numpy()
    return found
