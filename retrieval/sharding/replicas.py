"""The processes that hold the same shard open: a search takes one of them, and another where that one fails."""

from __future__ import annotations

import time
from collections.abc import Callable
from threading import Lock
from typing import Any

REST_S = 10.0  # for which a process that failed is left alone, if there is another


class Replicas:
    """The processes of one shard by number, opened by `open_host` when they are first needed."""

    def __init__(self, number: int, open_host: Callable[[int], Any]) -> None:
        self._open = open_host
        self._hosts: list[Any | None] = [None] * number
        self._failed = [0.0] * number
        self._next = 0
        self._lock = Lock()

    def __len__(self) -> int:
        return len(self._hosts)

    def choose(self) -> Any:
        """Return a process, each in its turn; one that has just failed only where all have."""
        with self._lock:
            rested = [n for n in range(len(self)) if not self._rests(n)] or list(range(len(self)))
            number = rested[self._next % len(rested)]
            self._next += 1
            return self._opened(number)

    def all(self) -> list[Any]:
        with self._lock:
            return [self._opened(number) for number in range(len(self))]

    def failed(self, host: Any) -> None:
        """Take note of a process that did not answer: it is looked up or started again when its turn comes."""
        with self._lock:
            for number, one in enumerate(self._hosts):
                if one is host:
                    self._hosts[number], self._failed[number] = None, time.monotonic()

    @property
    def has_another(self) -> bool:
        """Return whether there is a process that has not just failed."""
        with self._lock:
            return not all(map(self._rests, range(len(self))))

    def _opened(self, number: int) -> Any:
        if self._hosts[number] is None:
            self._hosts[number] = self._open(number)
        return self._hosts[number]

    def _rests(self, number: int) -> bool:
        return bool(self._failed[number]) and time.monotonic() - self._failed[number] < REST_S
