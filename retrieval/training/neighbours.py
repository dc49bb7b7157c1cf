"""Passages that are hard to tell from the one that answers: found for a question by our own index, or read alike."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal, get_args

import torch
from torch.nn import functional as F  # noqa: N812 - its usual name

from propcite.retrieval.training.passages import Passages
from propcite.retrieval.training.rows import Row

Negatives = Literal["index", "means", "none"]
Near = Callable[[Row], Sequence[int]]  # passages by number

NEGATIVES: tuple[Negatives, ...] = get_args(Negatives)
NEAREST = 6  # passages among which one is drawn
SOUGHT = 50  # passages that the index finds


def near(kind: Negatives, rows: Sequence[Row], passages: Passages) -> Near:
    """How passages near to a row's are found, among those that the rows ask of."""
    if kind not in NEGATIVES:
        raise ValueError(f"wanted negatives by index, means or none, got {kind!r}")
    if kind == "none":
        return lambda _: ()
    return Mined(rows, passages) if kind == "index" else _Alike(rows, passages)


class Mined:
    """The passages that our own index ranks best for a row's query, asked as the base asks for passages.

    Only those below the row's own: what ranks above it may answer too, and nobody has marked it.  Where its own is not
    among those found, the last of them count, which are the least likely to answer.
    """

    def __init__(self, rows: Sequence[Row], passages: Passages) -> None:
        self._passages, self._index = passages, passages.index
        self._answering: dict[str, set[int]] = {}
        for row in rows:
            self._answering.setdefault(row.query, set()).add(passages.number(row))
        self._allowed = {str(number) for numbers in self._answering.values() for number in numbers}
        self._found: dict[tuple[str, int], list[int]] = {}

    def __call__(self, row: Row) -> Sequence[int]:
        own = self._passages.number(row)
        if (row.query, own) not in self._found:
            self._found[row.query, own] = self._search(row.query, own)
        return self._found[row.query, own]

    def _search(self, query: str, own: int) -> list[int]:
        asked = self._passages.encoder.encode_queries([query])[0]
        hits = self._index.search(asked.vectors, asked.weights()[None], k=SOUGHT, allow=self._allowed)[0]
        found = [int(hit.passage_id) for hit in hits]
        below = found[found.index(own) + 1 :] if own in found else found[-NEAREST:]
        return [number for number in below if number not in self._answering.get(query, {own})][:NEAREST]


class _Alike:
    """The passages whose mean vectors are nearest to that of a row's own."""

    def __init__(self, rows: Sequence[Row], passages: Passages) -> None:
        self._passages = passages
        self._near: dict[int, list[int]] = {}
        numbers = sorted(passages.asked(rows))
        means = [torch.from_numpy(passages.tokens(n).vectors).mean(0) for n in numbers]
        units = F.normalize(torch.stack(means), dim=-1)
        for start in range(0, len(numbers), 512):
            alike = units[start : start + 512] @ units.T
            found = alike.topk(min(NEAREST + 1, len(numbers)), dim=1).indices.tolist()
            for place, nearest in enumerate(found, start=start):
                self._near[numbers[place]] = [numbers[n] for n in nearest if n != place][:NEAREST]

    def __call__(self, row: Row) -> Sequence[int]:
        return self._near[self._passages.number(row)]
