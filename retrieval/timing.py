"""Measure the milliseconds that named steps take, and trace them where the process traces."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from propcite.retrieval.telemetry import begin_span, end_span

if TYPE_CHECKING:
    from opentelemetry.trace import Span

StepReport = Callable[[str, float | None], None]  # gets a step's name with None when it begins, with its ms at its end


class Timer:
    """Adds up the milliseconds of each named step; reports when a step begins and ends."""

    def __init__(self, report: StepReport | None = None) -> None:
        self._report = report
        self._spent: dict[str, float] = {}
        self._begun: dict[str, tuple[float, Span | None]] = {}

    @contextmanager
    def __call__(self, step: str, inside: str = "") -> Iterator[None]:
        """Time a step.  Its time is taken off the step `inside` which it runs, so that no time counts twice."""
        self.begin(step)
        try:
            yield
        finally:
            ms = self.end(step)
            if inside:
                self.add(inside, -ms)

    def begin(self, step: str) -> None:
        """Start timing a step that `end` ends, where the two are in different places."""
        if self._report:
            self._report(step, None)
        self._begun[step] = time.perf_counter(), begin_span(step)

    def end(self, step: str) -> float:
        """Stop timing a step and return the milliseconds since it began."""
        begun, span = self._begun.pop(step)
        ms = 1000 * (time.perf_counter() - begun)
        end_span(span, step, ms)
        self.add(step, ms)
        if self._report:
            self._report(step, self._spent[step])
        return ms

    def add(self, step: str, ms: float) -> None:
        self._spent[step] = self._spent.get(step, 0.0) + round(ms, 2)

    @property
    def running(self) -> frozenset[str]:
        """Return the steps that have begun and not ended."""
        return frozenset(self._begun)

    @property
    def spent(self) -> dict[str, float]:
        """Return the milliseconds of each step so far, running ones included."""
        now, spent = time.perf_counter(), dict(self._spent)
        for step, (begun, _) in list(self._begun.items()):
            spent[step] = spent.get(step, 0.0) + round(1000 * (now - begun), 2)
        return spent


@contextmanager
def shared(step: str, timers: Sequence[Timer]) -> Iterator[None]:
    """Time a step that serves several timers at once, and add an equal part of it to each."""
    start, span = time.perf_counter(), begin_span(step)
    try:
        yield
    finally:
        ms = 1000 * (time.perf_counter() - start)
        end_span(span, step, ms)
        for timer in timers:
            timer.add(step, ms / len(timers))
