"""The slot of a stream is given up however its stream ends."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any, Self

import pytest

from propcite.app.server.streaming import items_from_thread
from propcite.app.turns.costs import Costs, Kind
from propcite.app.turns.slots import Slots
from propcite.app.turns.turns import Turns
from propcite.app.turns.workers import Asking, Workers

ASKING = Asking("somebody", "/v1/ask")


class ClosedElsewhere(Iterator[int]):
    """A stream that another thread closes at this moment."""

    def __init__(self, fails: bool = False) -> None:
        self._left, self._fails = [1, 2], fails

    def __next__(self) -> int:
        if not self._left:
            raise ValueError("generator already executing") if self._fails else StopIteration
        return self._left.pop(0)

    def close(self) -> None:
        raise ValueError("generator already executing")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()


@pytest.mark.parametrize("fails", [False, True])
def test_a_stream_that_is_closed_by_another_thread_frees_its_slot(fails: bool) -> None:
    workers, turns = Workers(Turns(1, 60.0), Costs(), 60.0), Turns(1, 60.0, pauses=False)
    items: list[int | None] = []

    async def read() -> None:
        slot = Slots(turns, Costs()).request(ASKING, Kind.ANSWER)
        job = workers.job(ASKING.client, Kind.READ)
        stream = items_from_thread(workers, slot, job, 60.0, lambda: ClosedElsewhere(fails))
        items.extend([item async for item in stream])

    if fails:
        with pytest.raises(ValueError, match="already executing"):
            asyncio.run(read())
    else:
        asyncio.run(read())
    workers.close()
    assert turns.running == 0
    assert fails or items == [1, 2]
