"""How often each key comes: so many requests a minute, the next is told how long to wait."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from threading import Lock

from propcite.app.server.errors import RequestError

MINUTE = 60.0


class Rates:
    """The requests of the last minute, by who made them; 0 sets no limit."""

    def __init__(self, most: int, clock: Callable[[], float] = time.monotonic) -> None:
        self.most = most
        self._clock = clock
        self._times: dict[str, deque[float]] = {}
        self._lock = Lock()

    def come(self, who: str) -> None:
        if not self.most:
            return
        now = self._clock()
        with self._lock:
            times = self._times.setdefault(who, deque())
            while times and now - times[0] >= MINUTE:
                times.popleft()
            if len(times) >= self.most:
                wait = max(1, round(MINUTE - (now - times[0])))
                raise RequestError(
                    429, f"over {self.most} requests a minute: try again in {wait} s", Retry_After=str(wait)
                )
            times.append(now)
