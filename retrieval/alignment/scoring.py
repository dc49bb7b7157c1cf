"""Score texts under an alignment: a padded batch of texts, or texts that are runs of one matrix of tokens."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from propcite.retrieval.alignment.forms import Alignment
from propcite.retrieval.alignment.pairs import sum_pairs
from propcite.retrieval.encoding.base import Floats, Ints

MAX_SIMILARITIES = 1 << 22  # in memory at once, padding included


@dataclass(frozen=True, slots=True)
class TextTokens:
    """What some alignments need besides similarities: which pairs are the same word (t, q), salience (t,)."""

    same: npt.NDArray[np.bool_] | None = None
    salience: Floats | None = None


def score_batch(
    similarities: Tensor,
    tokens: Tensor,
    weights: Tensor,
    alignment: Alignment,
    same: Tensor | None = None,
    salience: Tensor | None = None,
) -> Tensor:
    """Return each text's score for each row of query weights.  (u, q, t), (u, t), (r, q) -> (u, r)

    The score is 1/Z sum S * A with the row as the query's salience, times the sum of the row; -inf for a text that no
    token with weight is aligned with.
    """
    totals = weights.sum(-1)
    if alignment.kind == "first":  # a row's first token is its first with weight
        firsts = [int(row.argmax()) for row in (weights > 0).to(torch.uint8)]
        alone = [similarities[:, first : first + 1] for first in firsts]
        scores = [_mean(*_sums(own, alignment.pairs(own, tokens), salience)) for own in alone]
        return _scaled(torch.cat(scores, dim=1), totals) if scores else similarities.new_zeros(len(similarities), 0)
    sums, counts = _sums(similarities, alignment.pairs(similarities, tokens, same), salience)
    if alignment.counts_unmatched:
        return sums @ weights.T
    return _scaled(_mean(sums @ weights.T, counts @ weights.T), totals)


def _sums(similarities: Tensor, pairs: Tensor, salience: Tensor | None) -> tuple[Tensor, Tensor]:
    """Return the sums of similarities and of weights of each query token's pairs.  -> (u, q) twice"""
    return sum_pairs(similarities, pairs if salience is None else pairs * salience[:, None, :])


def _scaled(scores: Tensor, totals: Tensor) -> Tensor:
    """Multiply scores by the sums of their rows; for a row without weight every text scores 0."""
    return torch.where(totals > 0, scores * totals, 0.0)


def _mean(sums: Tensor, counts: Tensor) -> Tensor:
    return (sums / counts.clamp_min(1e-9)).masked_fill(counts <= 0, -torch.inf)


def score_runs(similarities: Floats, starts: Ints, weights: Floats, alignment: Alignment, texts: TextTokens) -> Floats:
    """Score texts that are runs of tokens: run i holds starts[i] to starts[i + 1].  (t, q), (u + 1,), (r, q) -> (u, r)

    Runs of similar length are batched together to keep the padding small.
    """
    lengths = np.diff(starts)
    scores = np.full((len(lengths), len(weights)), -np.inf, np.float32)
    order = np.argsort(lengths, kind="stable")
    rows = torch.from_numpy(np.ascontiguousarray(weights, np.float32))
    first = 0
    while first < len(order):
        sizes = np.arange(1, len(order) - first + 1) * np.maximum(lengths[order[first:]], 1) * similarities.shape[1]
        batch = order[first : first + max(1, int(np.searchsorted(sizes, MAX_SIMILARITIES, side="right")))]
        first += len(batch)
        places = np.minimum(starts[batch][:, None] + np.arange(max(1, lengths[batch].max())), len(similarities) - 1)
        present = torch.from_numpy(np.arange(places.shape[1]) < lengths[batch][:, None])
        scores[batch] = score_batch(
            torch.from_numpy(similarities[places]).transpose(1, 2),
            present,
            rows,
            alignment,
            None if texts.same is None else torch.from_numpy(texts.same[places]).transpose(1, 2),
            None if texts.salience is None else torch.from_numpy(texts.salience[places]),
        ).numpy()
    return scores
