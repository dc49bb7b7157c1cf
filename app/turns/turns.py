"""A number of turns at once; everything else waits in a fair queue, or is refused before it would wait too long."""

from __future__ import annotations

import time
from threading import Lock

from propcite.app.errors import BusyError
from propcite.app.turns.fair_queue import FairQueue, Waiting

TURN_S = 0.5  # after which long work lets others go first
MAX_PAUSED = 16  # pieces of work that have begun and wait for their next turn: each holds its memory and a thread


class Turns:
    """Gives turns in fair order; threads share it.  What would wait more than `max_wait` seconds is refused.

    `pauses` says whether what runs lets others go first after `TURN_S`.
    """

    def __init__(self, num: int, max_wait: float, *, pauses: bool = True) -> None:
        self.num, self.max_wait, self._pauses = num, max_wait, pauses
        self._queue = FairQueue()
        self._running: dict[Waiting, float] = {}  # when each began
        self._num_paused = 0
        self._lock = Lock()

    @property
    def waiting(self) -> int:
        return len(self._queue)

    @property
    def running(self) -> int:
        return len(self._running)

    @property
    def clients_waiting(self) -> int:
        with self._lock:
            return self._queue.num_clients

    @property
    def seconds_waiting(self) -> float:
        """Return the estimated seconds until everything that waits now has had its turns."""
        with self._lock:
            return self._queue.seconds / self.num

    def check(self, client: str, seconds: float) -> None:
        """Raise BusyError if new work of a client, which takes so many seconds, would wait too long."""
        with self._lock:
            self._check(client, seconds)

    def put(self, one: Waiting, *, is_admitted: bool = False) -> None:
        """Let work wait for its turn; BusyError if that takes too long, unless it is part of admitted work."""
        with self._lock:
            if not is_admitted:
                self._check(one.client, one.total)
            self._queue.put(one)
            begun = self._begin()
        _call(begun)

    def end(self, one: Waiting, took: float) -> None:
        """End a turn that took so many seconds."""
        with self._lock:
            del self._running[one]
            self._queue.end(one.client, took - one.seconds)
            begun = self._begin()
        _call(begun)

    def pause(self, one: Waiting, took: float, following: Waiting) -> bool:
        """End a turn and let the next one of the same work wait.  Return whether that has begun already.

        So it has where nobody waits who goes first.
        """
        with self._lock:
            del self._running[one]
            self._queue.end(one.client, took - one.seconds)
            if self._num_paused >= MAX_PAUSED or not len(self._queue):
                self._queue.go_on(following)
                self._running[following] = time.monotonic()
                return True
            self._queue.put(following)
            begun = self._begin()
            if goes_on := following in begun:
                begun.remove(following)
            else:
                self._num_paused += 1
        _call(begun)
        return goes_on

    def resumed(self) -> None:
        """Count paused work that goes on, or is given up."""
        with self._lock:
            self._num_paused -= 1

    def withdraw(self, one: Waiting) -> bool:
        """Return whether work still waited; it then gets no turn."""
        with self._lock:
            return self._queue.withdraw(one)

    def take_along(self, shares: object, size: float, num: int) -> list[Waiting]:
        """Return up to `num` others, in fair order, that share a turn and are at most so large together."""
        taken: list[Waiting] = []
        with self._lock:
            while len(taken) < num and (one := self._queue.take_sharing(shares, size)):
                taken.append(one)
                size -= one.size
        return taken

    def _check(self, client: str, seconds: float) -> None:
        wait = self._wait(client, seconds)
        if wait > self.max_wait:
            raise BusyError(wait)

    def _wait(self, client: str, seconds: float) -> float:
        """Return the estimated seconds until new work of a client begins; 0 where a turn is free."""
        if len(self._running) < self.num:
            return 0.0
        now, held, pausing = time.monotonic(), 0.0, []
        for one, begun in self._running.items():
            spent = now - begun
            if self._pauses and spent <= 2 * TURN_S:
                pausing.append((one.client, max(TURN_S - spent, one.total - spent)))
            else:
                held += _rest(one.total, spent)
        return (held + self._queue.ahead_of(client, seconds, pausing)) / self.num

    def _begin(self) -> list[Waiting]:
        """Give free turns to those who go next; what is returned is to be called once the lock is free."""
        begun = []
        while len(self._running) < self.num and (one := self._queue.take()):
            self._running[one] = time.monotonic()
            begun.append(one)
        return begun


def _rest(total: float, spent: float) -> float:
    """Return how much longer work takes; what took longer than estimated takes as long again.

    >>> _rest(2.0, 0.5), _rest(2.0, 5.0)
    (1.5, 3.0)
    """
    return abs(total - spent)


def _call(begun: list[Waiting]) -> None:
    for one in begun:
        one.begin()
