"""A comparison of whole documents in a thread of its own: the page looks how far it is, and may stop it."""

from __future__ import annotations

import logging
from collections.abc import Callable
from threading import Thread

from propcite.app.errors import LeftError
from propcite.app.turns.jobs import Job
from propcite.attribution.versions.records import TextComparison
from propcite.retrieval.errors import PropCiteError
from propcite.retrieval.index import ProgressReport

log = logging.getLogger("propcite.page")

STOPPED = "You stopped the comparison."
Work = Callable[[ProgressReport], TextComparison]


class RunningComparison:
    """Once `ended` is true, `found` is the comparison, or `error` says why there is none."""

    def __init__(self, job: Job, work: Work) -> None:
        self.step, self.share, self.error = "Getting ready", 0.0, ""
        self.found: TextComparison | None = None
        self.ended = False
        self._job = job
        Thread(target=self._run, args=(work,), name="propcite-comparison", daemon=True).start()

    def stop(self) -> None:
        self._job.cancel()

    def _report(self, step: str, share: float) -> None:
        self.step, self.share = step, share

    def _run(self, work: Work) -> None:
        try:
            with self._job.pacing():
                self.found = work(self._report)
        except LeftError:
            self.error = STOPPED
        except PropCiteError as error:
            self.error = str(error)
        except Exception as error:  # nobody would see it in this thread
            log.exception("documents could not be compared")
            self.error = f"{type(error).__name__}: {error}"
        finally:
            self.ended = True
