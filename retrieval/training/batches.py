"""The units of a batch of passages as one problem: which tokens, which of a query's own passage, which are right."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import torch
from torch import Tensor

from propcite.retrieval.training.passages import Units
from propcite.retrieval.training.rows import Row

TOGETHER = 8  # texts of like length that are read at once


def alike(texts: Sequence[str], together: int = TOGETHER) -> Iterator[list[int]]:
    """The texts by number, those of like length together: a batch of them has little padding."""
    order = sorted(range(len(texts)), key=lambda i: len(texts[i]))
    for start in range(0, len(order), together):
        yield order[start : start + together]


def joined(units: Sequence[Units], sizes: Sequence[int]) -> tuple[Tensor, Tensor]:
    """The units of several passages over their tokens joined: members and lengths."""
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    members = np.concatenate([u.members + start for u, start in zip(units, starts, strict=True)])
    return torch.from_numpy(members), torch.from_numpy(np.concatenate([u.lengths for u in units]))


def masks(rows: Sequence[Row], units: Sequence[Units], places: Sequence[int]) -> tuple[Tensor, Tensor]:
    """For each row, which of all units are of its own passage, and which of these are positive.  -> (b, u) twice

    `places` tells the passage of a row, by its place among those that the units are of.
    """
    numbers = sentences_of(units, places)
    positive = torch.zeros_like(numbers, dtype=torch.bool)
    for i, row in enumerate(rows):
        positive[i] = torch.isin(numbers[i], torch.tensor(sorted(row.positives), dtype=torch.long))
    return numbers >= 0, positive


def sentences_of(units: Sequence[Units], places: Sequence[int]) -> Tensor:
    """For each row, the sentence of its own passage that a unit belongs to, else -1.  -> (b, u)"""
    starts = np.concatenate([[0], np.cumsum([len(u.lengths) for u in units])])
    numbers = torch.full((len(places), int(starts[-1])), -1, dtype=torch.long)
    for i, place in enumerate(places):
        numbers[i, starts[place] : starts[place + 1]] = torch.from_numpy(units[place].sentences)
    return numbers
