"""Slots of answers that are written: each holds one until its end, and computes in turns meanwhile."""

from __future__ import annotations

import asyncio
import time
from types import TracebackType
from typing import Self

from propcite.app.errors import BusyError
from propcite.app.turns.costs import Costs, Kind, Size
from propcite.app.turns.fair_queue import Waiting
from propcite.app.turns.turns import Turns
from propcite.app.turns.workers import Asking, Observer, Unobserved

ANY = Size()  # nobody knows how long a model writes


class Slots:
    """Gives slots in fair order.  One turn is a whole answer, so a client waits for one answer of another at most."""

    def __init__(self, turns: Turns, costs: Costs, observer: Observer | None = None) -> None:
        self.turns, self._costs = turns, costs
        self._observer = observer or Unobserved()

    def request(self, asking: Asking, kind: Kind) -> Slot:
        """Return a slot that has yet to begin; BusyError if that would take too long."""
        return Slot(self.turns, self._costs, self._observer, asking, kind)


class Slot:
    """A slot, held or waited for in an event loop; leaving its block gives it up."""

    def __init__(self, turns: Turns, costs: Costs, observer: Observer, asking: Asking, kind: Kind) -> None:
        self._turns, self._costs, self._observer = turns, costs, observer
        self._asking, self._kind = asking, kind
        self._loop, self._ready = asyncio.get_running_loop(), asyncio.Event()
        self._since, self._begun_at = time.monotonic(), 0.0
        seconds = costs.estimate(kind, ANY)
        self._one = Waiting(asking.client, seconds, seconds, self._begin)
        self.is_taken = self._is_over = False
        try:
            turns.put(self._one)
        except BusyError:
            observer.refused(asking)
            raise

    async def begun(self, seconds: float | None = None) -> bool:
        """Wait until the slot has begun, or so many seconds; return whether it has."""
        try:
            async with asyncio.timeout(seconds):
                await self._ready.wait()
        except TimeoutError:
            return False
        return True

    def release(self) -> None:
        """Give the slot up, held or not."""
        if self._is_over:
            return
        self._is_over, now = True, time.monotonic()
        if self._turns.withdraw(self._one):
            self._observer.left(self._asking, now - self._since)
            return
        took = now - (self._begun_at or now)
        self._turns.end(self._one, took)
        self._observer.worked(self._kind, self._costs.estimate(self._kind, ANY), took)
        self._costs.learn(self._kind, ANY, took)

    def leave(self) -> None:
        """Give the slot up unless a thread has taken it, which does so at its own end."""
        if not self.is_taken:
            self.release()

    async def __aenter__(self) -> Self:
        await self.begun()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        self.release()

    def _begin(self) -> None:
        self._begun_at = time.monotonic()
        self._observer.begun(self._asking, self._begun_at - self._since)
        self._loop.call_soon_threadsafe(self._ready.set)
