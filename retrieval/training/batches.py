"""Join the units of a batch of passages: token numbers, the units of each query's own passage, the positive units."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import torch
from torch import Tensor

from propcite.retrieval.training.passages import Units
from propcite.retrieval.training.rows import Row

TEXTS_PER_BATCH = 8


def batches_by_length(texts: Sequence[str], size: int = TEXTS_PER_BATCH) -> Iterator[list[int]]:
    """Yield the numbers of the texts in batches of similar length, which need little padding."""
    order = sorted(range(len(texts)), key=lambda i: len(texts[i]))
    for start in range(0, len(order), size):
        yield order[start : start + size]


def join_units(units: Sequence[Units], sizes: Sequence[int]) -> tuple[Tensor, Tensor]:
    """Return members and lengths of all units over the joined tokens; `sizes` are the passages' token counts."""
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    members = np.concatenate([u.members + start for u, start in zip(units, starts, strict=True)])
    return torch.from_numpy(members), torch.from_numpy(np.concatenate([u.lengths for u in units]))


def unit_masks(rows: Sequence[Row], units: Sequence[Units], places: Sequence[int]) -> tuple[Tensor, Tensor]:
    """Return for each row which of all units belong to its own passage, and which of these are positive.  (b, u) each

    `places` has the place of each row's passage in `units`.
    """
    numbers = unit_sentences(units, places)
    positive = torch.zeros_like(numbers, dtype=torch.bool)
    for i, row in enumerate(rows):
        positive[i] = torch.isin(numbers[i], torch.tensor(sorted(row.positives), dtype=torch.long))
    return numbers >= 0, positive


def unit_sentences(units: Sequence[Units], places: Sequence[int]) -> Tensor:
    """Return for each row and unit the number of the unit's sentence in the row's passage, -1 for others.  (b, u)"""
    starts = np.concatenate([[0], np.cumsum([len(u.lengths) for u in units])])
    numbers = torch.full((len(places), int(starts[-1])), -1, dtype=torch.long)
    for i, place in enumerate(places):
        numbers[i, starts[place] : starts[place + 1]] = torch.from_numpy(units[place].sentences)
    return numbers
