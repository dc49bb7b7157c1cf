"""Processor time of this process, and of the programs of others that work for it."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path
from threading import Lock

PROC = Path("/proc")
_CPU_FIELDS = slice(11, 15)  # of /proc/PID/stat behind the name: user and system, its own and of children that ended
_lock = Lock()
_others = 0.0


def processor_seconds() -> float:
    """Return the processor seconds of this process so far, with those that were added for other programs."""
    return time.process_time() + _others


def add_processor_seconds(seconds: float) -> None:
    """Add what another program computed for this one."""
    global _others
    with _lock:
        _others += max(0.0, seconds)


def seconds_of_program(pid: int) -> float:
    """Return the processor seconds of a running program and of the processes it started; 0 without /proc."""
    return sum(map(_own_seconds, _with_children(pid)))


def _own_seconds(pid: int) -> float:
    try:
        stat = (PROC / str(pid) / "stat").read_text("utf-8", "replace")
        ticks = map(int, stat.rpartition(")")[2].split()[_CPU_FIELDS])
        return sum(ticks) / os.sysconf("SC_CLK_TCK")
    except (OSError, ValueError):
        return 0.0


def _with_children(pid: int) -> Iterator[int]:
    yield pid
    for path in (PROC / str(pid) / "task").glob("*/children"):
        try:
            children = [int(child) for child in path.read_text().split()]
        except OSError:
            continue
        for child in children:
            yield from _with_children(child)
