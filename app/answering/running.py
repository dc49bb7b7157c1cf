"""An answer told while it is written, which may be stopped at any moment and from any thread."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from threading import Event as Flag
from threading import Lock
from types import TracebackType
from typing import Self

from propcite.app.answering.generators import Draft, Writing
from propcite.app.answering.steps import Step, spent_by_step
from propcite.attribution.citations import CitedAnswer
from propcite.attribution.citing.stream import CitedStream
from propcite.attribution.events import AnswerDone, Event

STOPPED = "stopped before its end: what was written last is not cited"

Keep = Callable[[CitedAnswer, Draft, float], CitedAnswer]  # the third is the milliseconds that the writing took


class _StoppedError(Exception):
    """Raised where the text comes in, once nobody wants more of it."""


class AnswerStream(Iterator[Event]):
    """The events of an answer; the last is the answer as it was kept, which `kept` gives from then on.

    `close` ends the writing at once, also while another thread waits for the next event.  What came until then is
    kept as incomplete, with the citations that were ready; where no text came, nothing is kept.
    """

    def __init__(self, writing: Writing, cite: Callable[[Iterable[str]], CitedStream], keep: Keep) -> None:
        self.kept: CitedAnswer | None = None
        self._writing, self._keep = writing, keep
        self._stopped, self._lock, self._over = Flag(), Lock(), False
        self._draft, self._started, self._ended = Draft(""), 0.0, 0.0
        self._cited = cite(self._pieces())

    def __next__(self) -> Event:
        with self._lock:
            if self._over:
                raise StopIteration
            try:
                event = next(self._cited)
            except _StoppedError:
                self._stop()
                raise StopIteration from None
            except Exception:
                self._over = True
                raise
            if isinstance(event, AnswerDone):
                self._over = True
                self.kept = self._keep(event.answer, self._draft, self._spent())
                return AnswerDone(self.kept)
            return event

    @property
    def steps(self) -> list[Step]:
        """What has begun of the writing and the citing, with its time so far."""
        cited = self._cited.spent
        spent = spent_by_step(cited) if "split" in cited else {}  # passages are opened before there is anything to cite
        written = [Step("write", self._spent(), bool(self._ended))] if self._started else []
        return [*written, *(Step(name, ms, self.kept is not None) for name, ms in spent.items())]

    def close(self) -> None:
        self._stopped.set()
        with self._lock:
            self._stop()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def _stop(self) -> None:
        if self._over:
            return
        self._over = True
        self._cited.close()
        self._writing.close()
        answer = self._cited.so_far
        if answer.text.strip():
            self.kept = self._keep(answer, Draft(answer.text, incomplete=True, notes=(STOPPED,)), self._spent())

    def _pieces(self) -> Iterator[str]:
        """The text as it comes; empty pieces let citations through that are ready meanwhile."""
        self._started = time.perf_counter()
        try:
            while True:
                if self._stopped.is_set():
                    raise _StoppedError
                yield next(self._writing)
        except StopIteration as ended:
            self._draft, self._ended = ended.value, time.perf_counter()
        finally:
            self._writing.close()

    def _spent(self) -> float:
        return 1000 * ((self._ended or time.perf_counter()) - (self._started or time.perf_counter()))
