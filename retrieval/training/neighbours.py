"""Passages that are near to each other, and so hard to tell apart."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch.nn import functional as F  # noqa: N812 - its usual name

from retrieval.training.passages import Passages
from retrieval.training.rows import Row

NEAREST = 6  # passages among which a neighbour is drawn


def neighbours(rows: Sequence[Row], passages: Passages) -> tuple[dict[int, list[int]], dict[int, list[Row]]]:
    """For each passage those whose mean vectors are nearest, and its rows."""
    of_passage: dict[int, list[Row]] = {}
    for row in rows:
        of_passage.setdefault(passages.number(row), []).append(row)
    if not rows:
        return {}, {}
    numbers = sorted(of_passage)
    means = F.normalize(torch.stack([torch.from_numpy(passages.tokens(n).vectors).mean(0) for n in numbers]), dim=-1)
    near: dict[int, list[int]] = {}
    for start in range(0, len(numbers), 512):
        alike = means[start : start + 512] @ means.T
        found = alike.topk(min(NEAREST + 1, len(numbers)), dim=1).indices.tolist()
        for place, nearest in enumerate(found, start=start):
            near[numbers[place]] = [numbers[n] for n in nearest if n != place][:NEAREST]
    return near, of_passage
