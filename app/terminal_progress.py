"""Show progress on stderr: a bar on a terminal, else a line now and then."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol

from rich.markup import escape

from propcite.app.terminal import err

if TYPE_CHECKING:
    from propcite.retrieval.index import ProgressReport

SECONDS_BETWEEN = 30.0  # lines of progress in a log


class Advance(Protocol):
    """Reports the current step and how many more items are finished."""

    def __call__(self, description: str, by: int = 1) -> None: ...


@contextmanager
def counting(total: int, what: str) -> Iterator[Advance]:
    """Show progress by count on stderr: a bar on a terminal, else a line every 30 seconds."""
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=err, transient=True, disable=not err.is_terminal) as progress:
        task = progress.add_task(what, total=total)
        done, log = 0, _Log()

        def advance(description: str, by: int = 1) -> None:
            nonlocal done
            done += by
            progress.update(task, advance=by, description=description)
            log.say(f"{description}: {done} of {total}")

        yield advance


@contextmanager
def sharing() -> Iterator[ProgressReport]:
    """Show progress by share, in the same way as `counting`."""
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeRemainingColumn())
    with Progress(*columns, console=err, transient=True, disable=not err.is_terminal) as progress:
        task, log = progress.add_task("", total=1.0), _Log()

        def report(what: str, share: float) -> None:
            progress.update(task, completed=share, description=what)
            log.say(f"{what}: {share:.0%}")

        yield report


class _Log:
    """Prints progress lines at intervals if stderr is not a terminal."""

    def __init__(self) -> None:
        self._last = time.monotonic()

    def say(self, line: str) -> None:
        if not err.is_terminal and time.monotonic() - self._last >= SECONDS_BETWEEN:
            err.print(escape(line))
            self._last = time.monotonic()
