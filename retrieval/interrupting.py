"""Stop long work from another thread: whatever goes through many texts asks between them whether it may go on."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_check: ContextVar[Callable[[], None] | None] = ContextVar("check", default=None)


@contextmanager
def interruptible(check: Callable[[], None]) -> Iterator[None]:
    """Let `check` end the work of this block in this thread: it is called often, and ends it by an exception."""
    token = _check.set(check)
    try:
        yield
    finally:
        _check.reset(token)


def check_interrupt() -> None:
    """Raise what ends the work of this thread, if something does."""
    check = _check.get()
    if check is not None:
        check()
