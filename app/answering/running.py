"""An answer whose events are read while it is written, and which any thread may stop."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from threading import Event as Flag
from threading import Lock
from types import TracebackType
from typing import Self

from propcite.app.answering.generators import Draft, Writing
from propcite.app.answering.steps import Step, spent_by_step
from propcite.app.errors import LeftError
from propcite.attribution.citations import CitedAnswer
from propcite.attribution.citing.stream import CitedStream
from propcite.attribution.citing.unread import with_unread
from propcite.attribution.events import AnswerDone, Event
from propcite.retrieval.interrupting import interruptible
from propcite.retrieval.timing import Timer

STOPPED = "stopped before its end: what was written last is not checked"

Finish = Callable[[CitedAnswer, Draft, Timer], CitedAnswer]  # stores the answer and returns it as it is stored


def _go_on() -> None:
    pass


class _StoppedError(Exception):
    """Raised where text comes in once the answer was stopped."""


class AnswerStream(Iterator[Event]):
    """The events of an answer; the last one is the answer as it is stored, which `stored` returns from then on.

    `close` stops the writing at once, also while another thread waits for the next event.  What was written until
    then is stored as incomplete, with the citations that were ready; without any text nothing is stored.
    """

    def __init__(self, writing: Writing, cite: Callable[[Iterable[str]], CitedStream], finish: Finish) -> None:
        self.stored: CitedAnswer | None = None
        self._writing, self._timer, self._finish = writing, Timer(), finish
        self._stopped, self._lock, self._over = Flag(), Lock(), False
        self._draft = Draft("")
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
            except LeftError:
                self._stop()
                raise
            except Exception:
                self._over = True
                raise
            if isinstance(event, AnswerDone):
                self._over = True
                self.stored = self._finish(event.answer, self._draft, self._timer)
                return AnswerDone(self.stored)
            return event

    @property
    def steps(self) -> list[Step]:
        """Return the steps of writing and citing that have begun, with their time so far."""
        cited = self._cited.spent
        spent = spent_by_step(cited) if "split" in cited else {}  # passages are encoded before anything is cited
        ms = self._timer.spent.get("write")
        written = [] if ms is None else [Step("write", ms, "write" not in self._timer.running)]
        return [*written, *(Step(name, ms, self.stored is not None) for name, ms in spent.items())]

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
        with interruptible(_go_on):  # nobody waits for the rest, but what is there is kept
            answer = with_unread(self._cited.so_far)
            if answer.text.strip():
                self.stored = self._finish(answer, Draft(answer.text, incomplete=True, notes=(STOPPED,)), self._timer)

    def _pieces(self) -> Iterator[str]:
        """Yield the text as it comes; empty pieces let citations through that are ready meanwhile."""
        self._timer.begin("write")
        try:
            while True:
                if self._stopped.is_set():
                    raise _StoppedError
                yield next(self._writing)
        except StopIteration as end:
            self._draft = end.value
        finally:
            self._writing.close()
            self._timer.end("write")
