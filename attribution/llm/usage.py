"""Tokens that language models read and wrote, as their servers tell them; counted for whoever measures meanwhile."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Lock
from typing import Any


@dataclass(frozen=True, slots=True)
class Usage:
    """What one answer took and gave, or several together."""

    prompt_tokens: int = 0
    completion_tokens: int = 0

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            self.prompt_tokens + other.prompt_tokens,
            self.completion_tokens + other.completion_tokens,
        )


@dataclass(slots=True, eq=False)
class Meter:
    """What was spent in this process since it stands; None until a server tells."""

    usage: Usage | None = field(default=None)


_standing: list[Meter] = []
_lock = Lock()


@contextmanager
def metered() -> Iterator[Meter]:
    """Counts what any thread spends inside the block."""
    meter = Meter()
    with _lock:
        _standing.append(meter)
    try:
        yield meter
    finally:
        with _lock:
            _standing.remove(meter)


def spend(usage: Usage | None) -> None:
    """Tell every meter that stands."""
    if usage is None:
        return
    with _lock:
        for meter in _standing:
            meter.usage = usage if meter.usage is None else meter.usage + usage


def usage_in(told: Any) -> Usage | None:
    """The usage that a reply or an event holds, where it is told.

    >>> usage_in({"usage": {"prompt_tokens": 9, "completion_tokens": 4, "total_tokens": 13}})
    Usage(prompt_tokens=9, completion_tokens=4)
    """
    usage = told.get("usage") if isinstance(told, Mapping) else None
    if not isinstance(usage, Mapping):
        return None
    counts = [usage.get(name) for name in ("prompt_tokens", "completion_tokens")]
    known = [count if isinstance(count, int) and count >= 0 else 0 for count in counts]
    return Usage(*known) if any(known) else None


def usage_of(reply: str) -> Usage | None:
    """The same of a reply as it came, whatever it is."""
    try:
        return usage_in(json.loads(reply))
    except (ValueError, RecursionError):
        return None
