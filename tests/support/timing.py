"""The processor time of this thread alone, the best of some tries: what other threads, tests and collected garbage
cost is not the work's."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable


def cpu_seconds(work: Callable[[], object], tries: int = 3) -> float:
    was_on = gc.isenabled()
    gc.disable()
    try:
        return min(_once(work) for _ in range(tries))
    finally:
        if was_on:
            gc.enable()


def assert_grows_with_its_size(work: Callable[[int], object], small: int, large: int) -> None:
    """Twice the time a unit is allowed, four times is not: a text four times as long must not cost sixteen times."""
    work(small // 10)
    allowed = 2 * large / small
    assert cpu_seconds(lambda: work(large)) < allowed * cpu_seconds(lambda: work(small)) + 0.3


def _once(work: Callable[[], object]) -> float:
    start = time.thread_time()
    work()
    return time.thread_time() - start
