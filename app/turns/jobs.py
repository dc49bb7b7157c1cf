"""The work of one request, in one or more threads: each computes in turns, and ends when nobody wants it any more."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from threading import Event, Lock, get_ident

from propcite.app.errors import LeftError, TooLongError
from propcite.app.turns.costs import Costs, Kind, Size
from propcite.app.turns.fair_queue import Waiting
from propcite.app.turns.turns import TURN_S, Turns
from propcite.retrieval.interrupting import interruptible

TOO_LONG = "this took more than {seconds:g} seconds: send it in parts, or raise PROPCITE_SERVE_SECONDS"


class Job:
    """Computes for a client.  After `TURN_S` it lets others go first, at the next text that it reads.

    It ends by LeftError once it is cancelled, by TooLongError after `max_seconds` of its own.
    """

    def __init__(
        self, turns: Turns, costs: Costs, client: str, kind: Kind, max_seconds: float, expected: float = 0.0
    ) -> None:
        """`expected` are the seconds of all turns, for work whose later turns are not known when one is asked for."""
        self.spent = 0.0  # seconds computed, without those spent waiting
        self._turns, self._costs, self._client, self._kind = turns, costs, client, kind
        self._max_seconds, self._expected = max_seconds, expected
        self._cancelled = False
        self._start: float | None = None  # the client's clock when the first turn was asked for
        self._held: dict[int, tuple[Waiting, float]] = {}  # by thread, with the time at which its turn began
        self._woken_by: set[Event] = set()
        self._lock = Lock()

    def pacing(self) -> AbstractContextManager[None]:
        """Let the work of a block ask for turns, and stop where it is not wanted."""
        return interruptible(self.check, self.turn, lambda: self._turns.waiting > 0)

    def cancel(self) -> None:
        """End the work at its next text, also where it waits."""
        with self._lock:
            self._cancelled = True
            for event in self._woken_by:
                event.set()

    @contextmanager
    def holding(self, one: Waiting) -> Iterator[None]:
        """Compute in a turn that was given already, and end it after the block."""
        thread = get_ident()
        self._start = one.start if self._start is None else self._start
        self._held[thread] = one, time.monotonic()
        try:
            yield
        finally:
            self._end(thread)

    @contextmanager
    def turn(self, characters: int = 0) -> Iterator[None]:
        """Wait for a turn, and compute in it; nothing to wait for within another turn of the same thread."""
        if get_ident() in self._held:
            yield
            return
        size = Size(characters=characters, sentences=1 + characters // 100)
        seconds = self._costs.estimate(self._kind, size)
        before = self.spent
        with self.holding(self._wait_for_turn(seconds)):
            yield
        self._costs.learn(self._kind, size, self.spent - before)

    def check(self) -> None:
        """Raise if the work is to end; pause if its turn is over."""
        if self._cancelled:
            raise LeftError("the client hung up")
        held = self._held.get(get_ident())
        if held is None:
            return
        one, begun = held
        took = time.monotonic() - begun
        if self.spent + took > self._max_seconds:
            raise TooLongError(TOO_LONG.format(seconds=self._max_seconds))
        if took >= TURN_S:
            self._pause(one, took)

    def _pause(self, one: Waiting, took: float) -> None:
        """Let others go first, and wait for the next turn."""
        thread, ready = get_ident(), Event()
        rest = max(TURN_S, one.total - took)
        self.spent += took
        following = Waiting(self._client, TURN_S, rest, ready.set, start=self._clock())
        del self._held[thread]  # this turn has ended, whatever happens
        if not self._turns.pause(one, took, following):
            try:
                self._sleep(following, ready)
            finally:
                self._turns.resumed()
        self._held[thread] = following, time.monotonic()

    def _wait_for_turn(self, seconds: float) -> Waiting:
        ready = Event()
        total = max(seconds, self._expected - self.spent)
        one = Waiting(self._client, min(seconds, TURN_S), total, ready.set, start=self._clock())
        self._turns.put(one, is_admitted=True)
        self._sleep(one, ready)
        return one

    def _clock(self) -> float | None:
        return None if self._start is None else self._start + self.spent

    def _sleep(self, one: Waiting, ready: Event) -> None:
        """Wait for a turn; LeftError if the work is cancelled meanwhile."""
        with self._lock:
            self._woken_by.add(ready)
            if self._cancelled:
                ready.set()
        ready.wait()
        with self._lock:
            self._woken_by.discard(ready)
        if self._cancelled:
            if not self._turns.withdraw(one):
                self._turns.end(one, 0.0)
            raise LeftError("the client hung up")

    def _end(self, thread: int) -> None:
        if held := self._held.pop(thread, None):
            one, begun = held
            took = time.monotonic() - begun
            self.spent += took
            self._turns.end(one, took)
