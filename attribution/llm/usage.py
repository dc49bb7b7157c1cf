"""Count the tokens that language models read and wrote, as their servers report them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Lock
from typing import Any


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one request, or of several together."""

    prompt_tokens: int = 0
    completion_tokens: int = 0

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            self.prompt_tokens + other.prompt_tokens,
            self.completion_tokens + other.completion_tokens,
        )


@dataclass(slots=True, eq=False)
class Meter:
    """Tokens used in this process while the meter runs; None until a server reports any."""

    usage: Usage | None = field(default=None)


_running: list[Meter] = []
_lock = Lock()


@contextmanager
def measure_usage() -> Iterator[Meter]:
    """Count the tokens that any thread uses inside the block."""
    meter = Meter()
    with _lock:
        _running.append(meter)
    try:
        yield meter
    finally:
        with _lock:
            _running.remove(meter)


def record_usage(usage: Usage | None) -> None:
    """Add to every running meter."""
    if usage is None:
        return
    with _lock:
        for meter in _running:
            meter.usage = usage if meter.usage is None else meter.usage + usage


def usage_in(event: Any) -> Usage | None:
    """Return the usage that a parsed reply or event reports; None if it reports none.

    >>> usage_in({"usage": {"prompt_tokens": 9, "completion_tokens": 4, "total_tokens": 13}})
    Usage(prompt_tokens=9, completion_tokens=4)
    """
    usage = event.get("usage") if isinstance(event, Mapping) else None
    if not isinstance(usage, Mapping):
        return None
    values = [usage.get(name) for name in ("prompt_tokens", "completion_tokens")]
    counts = [value if isinstance(value, int) and value >= 0 else 0 for value in values]
    return Usage(*counts) if any(counts) else None


def usage_of_reply(reply: str) -> Usage | None:
    """Return the usage that a reply's text reports; None if it reports none or is not JSON."""
    try:
        return usage_in(json.loads(reply))
    except (ValueError, RecursionError):
        return None
