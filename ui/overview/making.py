"""Make questions in the background, once for all pages of this process: nobody waits for them."""

from __future__ import annotations

import atexit
import logging
import time
from collections.abc import Hashable
from threading import Lock, Thread

from propcite.app.overview.suggester import Suggester
from propcite.app.turns.jobs import Job
from propcite.attribution.citations import CitedAnswer
from propcite.retrieval.errors import PropCiteError

log = logging.getLogger("propcite.page")
RETRY_S = 600.0  # after which what failed is tried again
MAX_FAILED = 1000
CLOSING_S = 5.0  # that work in its turn has to end when the process does


class Making:
    """The questions that are being made now."""

    def __init__(self) -> None:
        self._running: dict[Hashable, tuple[Job, Thread]] = {}
        self._failed: dict[Hashable, float] = {}
        self._lock = Lock()
        atexit.register(self.close)  # a thread inside a network must not outlive the interpreter

    def close(self) -> None:
        """Stop the work, and wait for it a while."""
        with self._lock:
            running = list(self._running.values())
        for job, _ in running:
            job.cancel()
        for _, thread in running:
            thread.join(CLOSING_S)

    def is_running(self, suggester: Suggester, after: CitedAnswer | None) -> bool:
        return _key(suggester, after) in self._running

    def may_begin(self, suggester: Suggester, after: CitedAnswer | None) -> bool:
        """Return whether they are neither being made nor failed a while ago."""
        key = _key(suggester, after)
        failed = self._failed.get(key)
        return key not in self._running and (failed is None or time.monotonic() - failed > RETRY_S)

    def begin(self, suggester: Suggester, after: CitedAnswer | None, job: Job) -> None:
        """Make the questions in a thread, in the job's turns; once they are made, `suggester.kept` returns them."""
        key = _key(suggester, after)
        with self._lock:
            if key in self._running:
                return
            work = (key, suggester, after, job)
            thread = Thread(target=self._make, args=work, name="propcite-suggest", daemon=True)
            self._running[key] = job, thread
        thread.start()

    def _make(self, key: Hashable, suggester: Suggester, after: CitedAnswer | None, job: Job) -> None:
        try:
            with job.pacing():
                suggester.make(after)
        except PropCiteError as error:
            self._fail(key)
            log.warning("no questions were made: %s", error)
        except Exception:  # nobody would see it in this thread
            self._fail(key)
            log.exception("making questions failed")
        finally:
            with self._lock:
                self._running.pop(key, None)

    def _fail(self, key: Hashable) -> None:
        with self._lock:
            if len(self._failed) >= MAX_FAILED:
                self._failed.clear()
            self._failed[key] = time.monotonic()


def _key(suggester: Suggester, after: CitedAnswer | None) -> Hashable:
    return suggester.library.url, suggester.collection.id, suggester.place(after)
