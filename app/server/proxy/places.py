"""How many answers are written at once; who finds all places taken waits in a bounded line, in no thread."""

from __future__ import annotations

import asyncio

from propcite.app.server.errors import too_busy


class Places:
    """Taken in the event loop, in the order of coming."""

    def __init__(self, num: int, most_waiting: int) -> None:
        self.num, self.most_waiting = num, most_waiting
        self.waiting = self.running = 0
        self._free = asyncio.Semaphore(num)

    async def take(self) -> None:
        if self._free.locked() and self.waiting >= self.most_waiting:
            raise too_busy(self.waiting)
        self.waiting += 1
        try:
            await self._free.acquire()
        finally:
            self.waiting -= 1
        self.running += 1

    def leave(self) -> None:
        self.running -= 1
        self._free.release()
