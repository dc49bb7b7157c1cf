"""Find hard negatives: passages that are similar to the one that answers, by our own index or by mean vectors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal, get_args

import torch
from torch.nn import functional as F  # noqa: N812 - its usual name

from propcite.retrieval.training.passages import EncodedPassages
from propcite.retrieval.training.rows import Row

Negatives = Literal["index", "means", "none"]
NegativeFinder = Callable[[Row], Sequence[int]]  # returns the numbers of passages

NEGATIVES: tuple[Negatives, ...] = get_args(Negatives)
MAX_NEGATIVES = 6  # passages among which one is drawn
MAX_HITS = 50  # of one search in the index


def negative_finder(kind: Negatives, rows: Sequence[Row], passages: EncodedPassages) -> NegativeFinder:
    """Return the function that finds a row's hard negatives among the passages of these rows."""
    if kind not in NEGATIVES:
        raise ValueError(f"negatives must be index, means or none, not {kind!r}")
    if kind == "none":
        return lambda _: ()
    return IndexNegatives(rows, passages) if kind == "index" else MeanVectorNegatives(rows, passages)


class IndexNegatives:
    """Finds the passages that our own index ranks best for a row's query; the base encodes the query.

    Only passages ranked below the row's own are used: those above it may answer too, although nobody has marked them.
    If the row's own passage is not among the hits, the last hits are used, which are the least likely to answer.
    """

    def __init__(self, rows: Sequence[Row], passages: EncodedPassages) -> None:
        self._passages, self._index = passages, passages.index
        self._answering: dict[str, set[int]] = {}
        for row in rows:
            self._answering.setdefault(row.query, set()).add(passages.number(row))
        self._allowed = {str(number) for numbers in self._answering.values() for number in numbers}
        self._cache: dict[tuple[str, int], list[int]] = {}

    def __call__(self, row: Row) -> Sequence[int]:
        own = self._passages.number(row)
        if (row.query, own) not in self._cache:
            self._cache[row.query, own] = self._search(row.query, own)
        return self._cache[row.query, own]

    def _search(self, query: str, own: int) -> list[int]:
        encoded = self._passages.encoder.encode_queries([query])[0]
        hits = self._index.search(encoded.vectors, encoded.weights()[None], k=MAX_HITS, allow=self._allowed)[0]
        ranking = [int(hit.passage_id) for hit in hits]
        below = ranking[ranking.index(own) + 1 :] if own in ranking else ranking[-MAX_NEGATIVES:]
        return [number for number in below if number not in self._answering.get(query, {own})][:MAX_NEGATIVES]


class MeanVectorNegatives:
    """Finds the passages whose mean vectors are nearest to the mean vector of a row's own passage."""

    def __init__(self, rows: Sequence[Row], passages: EncodedPassages) -> None:
        self._passages = passages
        self._nearest: dict[int, list[int]] = {}
        numbers = sorted(passages.rows_by_passage(rows))
        means = [torch.from_numpy(passages.tokens(n).vectors).mean(0) for n in numbers]
        units = F.normalize(torch.stack(means), dim=-1)
        for start in range(0, len(numbers), 512):
            similarities = units[start : start + 512] @ units.T
            nearest = similarities.topk(min(MAX_NEGATIVES + 1, len(numbers)), dim=1).indices.tolist()
            for place, others in enumerate(nearest, start=start):
                self._nearest[numbers[place]] = [numbers[n] for n in others if n != place][:MAX_NEGATIVES]

    def __call__(self, row: Row) -> Sequence[int]:
        return self._nearest[self._passages.number(row)]
