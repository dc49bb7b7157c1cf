"""Rows that a step draws: beside each one of a passage that is hard to tell from its own, and others of its passage."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

from propcite.retrieval.training.neighbours import Negatives, near
from propcite.retrieval.training.passages import Passages
from propcite.retrieval.training.rows import Mixture, Row


class Pool:
    """Rows to be drawn from, and what stands near to each."""

    def __init__(self, rows: Sequence[Row], passages: Passages, negatives: Negatives, seed: int) -> None:
        self._mixture = Mixture(rows, seed)
        self._passages = passages
        self.of_passage = passages.asked(rows)
        self._near = near(negatives, rows, passages)
        self._rows = frozenset(rows)

    def near(self, row: Row) -> Sequence[int]:
        """Passages that are hard to tell from a row's own; none for a claim that was made of it, which is no row."""
        return self._near(row) if row in self._rows else ()

    def draw(self, size: int, dice: random.Random) -> list[Row]:
        """Half of them by chance, half of passages near to those where there are such."""
        rows = self._mixture.draw(max(1, size // 2))
        taken = {self._passages.number(row) for row in rows}
        for row in list(rows):
            free = [n for n in self.near(row) if n not in taken]
            if free:
                chosen = dice.choice(free)
                taken.add(chosen)
                rows.append(dice.choice(self.of_passage[chosen]))
        return rows

    def with_siblings(self, rows: Sequence[Row], together: int, dice: random.Random) -> list[Row]:
        """The rows, and more that ask of their passages: so many of each at most."""
        found = list(rows)
        for row in rows:
            others = [other for other in self.of_passage[self._passages.number(row)] if other is not row]
            found += dice.sample(others, min(len(others), together - 1))
        return found

    def getstate(self) -> Any:
        return self._mixture.getstate()

    def setstate(self, state: Any, /) -> None:
        self._mixture.setstate(state)
