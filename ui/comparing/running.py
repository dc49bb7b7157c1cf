"""Comparisons, each in a thread of its own: a page that is loaded again finds its comparison here."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from secrets import token_hex
from threading import Lock, Thread

from propcite.app.errors import LeftError, without_commands
from propcite.app.turns.jobs import Job
from propcite.attribution.citing.comparing import Comparison
from propcite.attribution.versions.records import TextComparison
from propcite.retrieval.errors import PropCiteError
from propcite.retrieval.index import ProgressReport

log = logging.getLogger("propcite.page")

MAX_KEPT = 50  # comparisons that have ended, for pages that still show them
STOPPED = "You stopped the comparison."
Compared = Comparison | TextComparison
Work = Callable[[ProgressReport], Compared]


@dataclass(frozen=True, slots=True)
class Order:
    """What is compared for somebody: `names` are those of both sides, `chosen` the page's values by their keys."""

    by: str
    collection: str
    names: tuple[str, str]
    chosen: Mapping[str, object] = field(default_factory=dict)


class RunningComparison:
    """Once `ended` is true, `found` is the comparison, or `error` says why there is none."""

    def __init__(self, order: Order, job: Job) -> None:
        self.id, self.order = token_hex(8), order
        self.step, self.share, self.error = "Getting ready", 0.0, ""
        self.found: Compared | None = None
        self.ended = False
        self._job, self._lock = job, Lock()

    def stop(self) -> None:
        """Stop it at once; what its thread still finds is dropped."""
        self._job.cancel()
        self._end(None, STOPPED)

    def compare(self, work: Work) -> None:
        """Do the work in the thread of the caller; errors end up in `error`."""
        try:
            with self._job.pacing():
                self._end(work(self._report))
        except LeftError:
            self._end(None, STOPPED)
        except PropCiteError as error:
            self._end(None, without_commands(error))
        except Exception as error:  # nobody would see it in this thread
            log.exception("documents could not be compared")
            self._end(None, f"{type(error).__name__}: {error}")

    def _report(self, step: str, share: float) -> None:
        self.step, self.share = step, share

    def _end(self, found: Compared | None, error: str = "") -> None:
        with self._lock:
            if not self.ended:
                self.found, self.error = found, error
                self.ended = True


class RunningComparisons:
    """The comparisons that this process makes, and those that ended last."""

    def __init__(self) -> None:
        self._known: dict[str, RunningComparison] = {}
        self._lock = Lock()

    def begin(self, order: Order, job: Job, work: Work) -> RunningComparison:
        new = RunningComparison(order, job)
        with self._lock:
            ended = [one.id for one in self._known.values() if one.ended]
            for id_ in ended[: max(0, len(ended) - MAX_KEPT)]:
                del self._known[id_]
            self._known[new.id] = new
        Thread(target=new.compare, args=(work,), name="propcite-comparison", daemon=True).start()
        return new

    def find(self, id_: str, by: str) -> RunningComparison | None:
        """Return somebody's comparison by its id; None for one of another person, and for one that is not known."""
        one = self._known.get(id_)
        return one if one and one.order.by == by else None
