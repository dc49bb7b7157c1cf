"""Stop and pause long work from outside: whatever goes through many texts asks between them whether it may go on."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar

Turn = Callable[[int], AbstractContextManager[None]]  # takes the characters that are read in it


def _at_once(_: int) -> AbstractContextManager[None]:
    return nullcontext()


def _nobody() -> bool:
    return False


_check: ContextVar[Callable[[], None] | None] = ContextVar("check", default=None)
_turn: ContextVar[Turn] = ContextVar("turn", default=_at_once)
_waiting: ContextVar[Callable[[], bool]] = ContextVar("waiting", default=_nobody)


@contextmanager
def interruptible(
    check: Callable[[], None], turn: Turn = _at_once, others_wait: Callable[[], bool] = _nobody
) -> Iterator[None]:
    """Let `check` end the work of this block: it is called often, and ends it by an exception.

    `turn` gives work its turn where it does not compute all the time, `others_wait` says whether it takes the turn of
    others.  Threads that the block starts for this work get all three by `contextvars.copy_context`.
    """
    checking, giving, waiting = _check.set(check), _turn.set(turn), _waiting.set(others_wait)
    try:
        yield
    finally:
        _check.reset(checking)
        _turn.reset(giving)
        _waiting.reset(waiting)


def check_interrupt() -> None:
    """Raise what ends the work of this thread, if something does."""
    check = _check.get()
    if check is not None:
        check()


def in_turn(characters: int = 0) -> AbstractContextManager[None]:
    """Return a context in which to read so many characters: it begins once it is this work's turn."""
    return _turn.get()(characters)


def others_wait() -> bool:
    """Return whether others wait for their turn: what may never be needed is then not computed ahead."""
    return _waiting.get()()
