"""The units of a batch of passages as one problem: which tokens, which of a query's own passage, which are right."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from retrieval.training.losses import LOW
from retrieval.training.passages import Units
from retrieval.training.rows import Row


def joined(units: Sequence[Units], sizes: Sequence[int]) -> tuple[Tensor, Tensor]:
    """The units of several passages over their tokens joined: members and lengths."""
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    members = np.concatenate([u.members + start for u, start in zip(units, starts, strict=True)])
    return torch.from_numpy(members), torch.from_numpy(np.concatenate([u.lengths for u in units]))


def masks(rows: Sequence[Row], units: Sequence[Units]) -> tuple[Tensor, Tensor]:
    """For each row, which of all units are of its own passage, and which of these are positive.  -> (b, u) twice"""
    total = sum(len(u.lengths) for u in units)
    own, positive = torch.zeros(len(rows), total, dtype=torch.bool), torch.zeros(len(rows), total, dtype=torch.bool)
    start = 0
    for i, (row, u) in enumerate(zip(rows, units, strict=True)):
        end = start + len(u.lengths)
        own[i, start:end] = True
        positive[i, start:end] = torch.from_numpy(np.isin(u.sentences, sorted(row.positives)))
        start = end
    return own, positive


def sentences_of(units: Sequence[Units]) -> Tensor:
    """For each row, the sentence of its own passage that a unit belongs to, else -1.  -> (b, u)"""
    total = sum(len(u.lengths) for u in units)
    numbers = torch.full((len(units), total), -1, dtype=torch.long)
    start = 0
    for i, u in enumerate(units):
        end = start + len(u.lengths)
        numbers[i, start:end] = torch.from_numpy(u.sentences)
        start = end
    return numbers


def lessons(told: Sequence[Sequence[float] | None], units: Sequence[Units]) -> tuple[Tensor, Tensor]:
    """A teacher's logits of each row's sentences that hold a unit, and which rows have some.  -> (b, s), (b,)"""
    most = max((len(scores) for scores in told if scores is not None), default=1)
    logits = torch.full((len(told), most), LOW)
    for i, (scores, u) in enumerate(zip(told, units, strict=True)):
        if scores is not None:
            held = torch.from_numpy(np.unique(u.sentences))
            logits[i, held] = torch.tensor(scores)[held]
    return logits, torch.tensor([scores is not None for scores in told])
