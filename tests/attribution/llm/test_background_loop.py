"""The loop of a generator ends with it."""

from __future__ import annotations

import asyncio
import gc
import threading

import pytest

from propcite.attribution.llm.background_loop import BackgroundLoop

NAME = "propcite-a-loop-that-ends"


def test_its_thread_ends_when_nobody_has_it_and_what_still_runs_is_cancelled() -> None:
    ended: list[str] = []

    async def wait() -> None:
        try:
            await asyncio.sleep(60)
        finally:
            ended.append("cancelled")

    loop = BackgroundLoop(NAME)
    assert loop.run(asyncio.sleep(0, "said")) == "said"
    asyncio.run_coroutine_threadsafe(wait(), loop.loop)
    loop.run(asyncio.sleep(0))
    [thread] = [one for one in threading.enumerate() if one.name == NAME]
    closed = loop.loop
    del loop
    gc.collect()
    thread.join(10)
    assert not thread.is_alive()
    assert closed.is_closed()
    assert ended == ["cancelled"]


def test_it_goes_on_while_its_items_are_read() -> None:
    async def numbers():  # type: ignore[no-untyped-def]
        for number in range(3):
            yield number

    items = BackgroundLoop(NAME).items(numbers())
    gc.collect()
    assert [item for item in items if item is not None] == [0, 1, 2]
    with pytest.raises(StopIteration):
        next(items)
