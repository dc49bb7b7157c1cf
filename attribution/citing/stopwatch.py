"""Milliseconds spent in each named step."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field


@dataclass(slots=True)
class Stopwatch:
    """Counts on where a step comes again."""

    spent: dict[str, float] = field(default_factory=dict)

    @contextmanager
    def __call__(self, step: str, within: str = "") -> Iterator[None]:
        """A step inside another that is being counted is taken off that one."""
        start = time.perf_counter()
        yield
        spent = 1000 * (time.perf_counter() - start)
        self.add(step, spent)
        if within:
            self.add(within, -spent)

    def add(self, step: str, ms: float) -> None:
        self.spent[step] = self.spent.get(step, 0.0) + round(ms, 2)
