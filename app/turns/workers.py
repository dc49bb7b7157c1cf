"""Runs the work of requests in threads, each in its turn."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import dataclass
from typing import Protocol, TypeVar

from propcite.app.errors import BusyError, LeftError
from propcite.app.turns.costs import Costs, Kind, Size
from propcite.app.turns.fair_queue import Waiting
from propcite.app.turns.jobs import Job
from propcite.app.turns.turns import TURN_S, Turns

log = logging.getLogger("propcite.work")
T = TypeVar("T")
MAX_THREADS = 1024  # more than can have a turn or be paused: a turn never waits for a thread


@dataclass(frozen=True, slots=True)
class Asking:
    """Who asks, by key, person or address, and at which route."""

    client: str
    route: str


class Observer(Protocol):
    """Counts what happens to requests."""

    def begun(self, asking: Asking, waited: float) -> None: ...
    def left(self, asking: Asking, waited: float) -> None: ...
    def refused(self, asking: Asking) -> None: ...
    def worked(self, kind: Kind, estimated: float, took: float) -> None: ...


class Unobserved:
    """Counts nothing."""

    def begun(self, asking: Asking, waited: float) -> None: ...
    def left(self, asking: Asking, waited: float) -> None: ...
    def refused(self, asking: Asking) -> None: ...
    def worked(self, kind: Kind, estimated: float, took: float) -> None: ...


class Workers:
    """Threads that compute, `turns.num` at a time; one request computes for at most `max_seconds`."""

    def __init__(self, turns: Turns, costs: Costs, max_seconds: float, observer: Observer | None = None) -> None:
        self.turns, self.costs = turns, costs
        self.observer = observer or Unobserved()
        self._max_seconds = max_seconds
        self._threads = ThreadPoolExecutor(MAX_THREADS, "propcite-work")

    def job(self, client: str, kind: Kind) -> Job:
        return Job(self.turns, self.costs, client, kind, self._max_seconds)

    def writing_job(self, client: str) -> Job:
        """Return the job of an answer that is written: it computes in several turns, between the model's words."""
        expected = self.costs.estimate(Kind.ANSWER, Size())
        return Job(self.turns, self.costs, client, Kind.READ, self._max_seconds, expected)

    def check(self, asking: Asking, kind: Kind, size: Size) -> None:
        """Raise BusyError if new work would wait too long; for work whose parts then ask for turns by themselves."""
        self.admit(asking, lambda: self.turns.check(asking.client, self.costs.estimate(kind, size)))

    async def run(self, asking: Asking, kind: Kind, size: Size, work: Callable[[], T]) -> T:
        """Return the result of work once it had its turn; BusyError if it would wait too long.

        It ends early if its caller is cancelled, or it takes too long.
        """
        job, result = self.job(asking.client, kind), Future[T]()

        def compute(one: Waiting) -> None:
            if not result.set_running_or_notify_cancel():
                self.turns.end(one, 0.0)
                return
            with job.holding(one), job.pacing():
                settle(result, work)
            self.learn(kind, size, job.spent)

        place = self.place(asking, kind, size, compute)
        try:
            place.enter()
            return await asyncio.wrap_future(result)
        finally:
            place.leave()
            job.cancel()

    def place(
        self, asking: Asking, kind: Kind, size: Size, compute: Callable[[Waiting], None], shares: object = None
    ) -> Place:
        """Return a place to enter the queue with; `compute` is called in a thread in its turn, and ends that.

        Work that `shares` the same may be taken along by another one's turn.
        """
        place = Place(self, asking, self.costs.estimate(kind, size), compute)
        place.waiting.shares, place.waiting.size = shares, self.costs.given(kind, size)
        return place

    def learn(self, kind: Kind, size: Size, took: float) -> None:
        self.observer.worked(kind, self.costs.estimate(kind, size), took)
        self.costs.learn(kind, size, took)

    def start(self, work: Callable[[], object]) -> None:
        """Run work in a thread, in the context of the caller: its traces go on there."""
        self._threads.submit(copy_context().run, work).add_done_callback(_log_error)

    def admit(self, asking: Asking, enter: Callable[[], None]) -> None:
        try:
            enter()
        except BusyError:
            self.observer.refused(asking)
            raise

    def close(self) -> None:
        self._threads.shutdown(wait=True, cancel_futures=True)


def _log_error(done: Future[object]) -> None:
    """Log an error that the work handed to nobody; that its client left is none."""
    if not done.cancelled() and (error := done.exception()) and not isinstance(error, LeftError):
        log.error("work in a thread failed", exc_info=error)


class Place:
    """A request's place in the queue, from which it may leave."""

    def __init__(self, workers: Workers, asking: Asking, seconds: float, compute: Callable[[Waiting], None]) -> None:
        self.waiting = Waiting(asking.client, min(seconds, TURN_S), seconds, self._begin)
        self._workers, self._asking, self._compute = workers, asking, compute
        self._since, self._context = time.monotonic(), copy_context()

    def enter(self, *, is_admitted: bool = False) -> None:
        """Wait for a turn; BusyError if that takes too long, unless the request was admitted already."""
        turns = self._workers.turns
        self._workers.admit(self._asking, lambda: turns.put(self.waiting, is_admitted=is_admitted))

    def begun(self) -> None:
        """Count that the wait is over."""
        self._workers.observer.begun(self._asking, time.monotonic() - self._since)

    def leave(self) -> None:
        """Leave the queue; without effect once the turn has begun."""
        if self._workers.turns.withdraw(self.waiting):
            self._workers.observer.left(self._asking, time.monotonic() - self._since)

    def _begin(self) -> None:
        self.begun()
        self._workers.start(lambda: self._context.run(self._compute, self.waiting))  # the caller is whoever went before


def settle(result: Future[T], work: Callable[[], T]) -> None:
    """Do work and hand its result or error over."""
    try:
        value = work()
    except BaseException as error:
        result.set_exception(error)
    else:
        result.set_result(value)
