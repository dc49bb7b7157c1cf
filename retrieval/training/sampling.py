"""Draw the rows of a step: a mixture of all sources, hard negatives, and more rows of the same passages."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from typing import Any

from propcite.retrieval.errors import RetrievalError
from propcite.retrieval.training.hard_negatives import Negatives, negative_finder
from propcite.retrieval.training.passages import EncodedPassages
from propcite.retrieval.training.rows import Row


class Mixture:
    """Draws rows endlessly: sources by the square root of their size, no passage twice in a batch."""

    def __init__(self, rows: Sequence[Row], seed: int) -> None:
        if not rows:
            raise RetrievalError(
                "no row of these files has a positive sentence beside others: there is nothing to learn"
            )
        self._rng = random.Random(seed)
        self._waiting: list[list[Row]] = []  # batches that are drawn but not yet returned
        self._by_source: dict[str, list[Row]] = {}
        for row in rows:
            self._by_source.setdefault(row.source, []).append(row)
        self._sources = sorted(self._by_source)
        self._shares = [
            min(len(group), 3000) ** 0.5 * sum(row.weight for row in group) / len(group)
            for group in map(self._by_source.__getitem__, self._sources)
        ]
        self._num_passages = len({row.passage for row in rows})

    def draw(self, size: int) -> list[Row]:
        """Draw rows of different passages; fewer than `size` if there are not so many passages."""
        rows: list[Row] = []
        seen: set[tuple[str, tuple[str, ...]]] = set()
        while len(rows) < min(size, self._num_passages):
            source = self._rng.choices(self._sources, self._shares)[0]
            row = self._rng.choice(self._by_source[source])
            if row.passage not in seen:
                seen.add(row.passage)
                rows.append(row)
        return rows

    def batches(self, size: int) -> Iterator[list[Row]]:
        """Yield batches whose queries have similar lengths, because they are padded together."""
        while True:
            if not self._waiting:
                rows = sorted(self.draw(4 * size), key=lambda row: len(row.query))
                self._waiting = [rows[i : i + size] for i in range(0, len(rows), size)]
                self._rng.shuffle(self._waiting)
            yield self._waiting.pop(0)

    def getstate(self) -> Any:
        """Return the state as tuples, lists, texts and numbers, which a checkpoint can hold without running code."""
        return self._rng.getstate(), [[_as_fields(row) for row in batch] for batch in self._waiting]

    def setstate(self, state: Any, /) -> None:
        rng_state, waiting = state
        self._rng.setstate(rng_state)
        self._waiting = [[_from_fields(fields) for fields in batch] for batch in waiting]


def _as_fields(row: Row) -> tuple[Any, ...]:
    return row.query, row.title, row.sentences, sorted(row.positives), row.source, row.weight


def _from_fields(fields: tuple[Any, ...]) -> Row:
    query, title, sentences, positives, source, weight = fields
    return Row(query, title, sentences, frozenset(positives), source, weight)


class RowSampler:
    """Draws rows of a mixture together with rows of hard negative passages."""

    def __init__(self, rows: Sequence[Row], passages: EncodedPassages, negatives: Negatives, seed: int) -> None:
        self._mixture = Mixture(rows, seed)
        self._passages = passages
        self.rows_by_passage = passages.rows_by_passage(rows)
        self._find_negatives = negative_finder(negatives, rows, passages)
        self._rows = frozenset(rows)

    def negatives(self, row: Row) -> Sequence[int]:
        """Find passages that are hard to tell from the row's own; none for a claim that replaced a row's query."""
        return self._find_negatives(row) if row in self._rows else ()

    def draw(self, size: int, rng: random.Random) -> list[Row]:
        """Draw half of the rows from the mixture, and for each one a row of a hard negative passage if there is one."""
        rows = self._mixture.draw(max(1, size // 2))
        taken = {self._passages.number(row) for row in rows}
        for row in list(rows):
            free = [n for n in self.negatives(row) if n not in taken]
            if free:
                chosen = rng.choice(free)
                taken.add(chosen)
                rows.append(rng.choice(self.rows_by_passage[chosen]))
        return rows

    def with_siblings(self, rows: Sequence[Row], max_per_passage: int, rng: random.Random) -> list[Row]:
        """Add more rows of the same passages, up to `max_per_passage` for each."""
        drawn = list(rows)
        for row in rows:
            others = [other for other in self.rows_by_passage[self._passages.number(row)] if other is not row]
            drawn += rng.sample(others, min(len(others), max_per_passage - 1))
        return drawn

    def getstate(self) -> Any:
        return self._mixture.getstate()

    def setstate(self, state: Any, /) -> None:
        self._mixture.setstate(state)
