"""Answers that are being written, each in a thread of its own: a page that is loaded again finds its answer here."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from secrets import token_hex
from threading import Condition, Lock, Thread
from typing import Protocol

from propcite.app.answering.pipeline import Pipeline
from propcite.app.answering.running import AnswerStream
from propcite.app.answering.steps import Step
from propcite.app.errors import GeneratorError, LeftError, without_commands
from propcite.app.turns.jobs import Job
from propcite.attribution.errors import EndpointError
from propcite.retrieval.errors import PropCiteError
from propcite.ui.markdown import growing

log = logging.getLogger("propcite.page")

MAX_KEPT = 500  # answers that have ended, for pages that still look for them
STOPPED = "You stopped it before anything was written."
LOOK_S = 0.5  # after which a reader looks again, though nothing has changed


@dataclass(frozen=True, slots=True)
class Question:
    """A question, and the answer that it follows, if it follows one; `quoted` asks for the sources' own words.

    `reading` names the job that reads the files sent with it: it is answered once they are read.
    """

    text: str
    after: str = ""
    quoted: bool = False
    reading: str = ""


@dataclass(frozen=True, slots=True)
class Order:
    """What is to be answered: a question over a collection or some of its documents, by somebody."""

    by: str
    collection: str
    question: Question
    documents: tuple[str, ...] = ()


class RunningAnswer:
    """An answer that is being written.  Any number of pages may follow it; it goes on without them.

    Once `ended` is true, `answer_id` names the stored answer, or `error` says why there is none.
    """

    def __init__(self, order: Order, job: Job) -> None:
        self.id, self.order = token_hex(8), order
        self.text = self.answer_id = self.error = ""
        self.ended = self.model_failed = False
        self._job, self._before = job, dict[str, Step]()
        self._coming: AnswerStream | None = None
        self.is_stopped, self._version, self._changed = False, 0, Condition()
        self._heard = time.monotonic()

    @property
    def steps(self) -> list[Step]:
        """Return the steps that have begun, with their time so far."""
        return [*self._before.values(), *(self._coming.steps if self._coming else ())]

    @property
    def silent_s(self) -> float:
        """Return the seconds since the writing began without a word; 0 once there is one."""
        waits = any(step.name in ("understand", "write") and not step.done for step in self.steps)
        return time.monotonic() - self._heard if waits and not self.text else 0.0

    def follow(self, look_s: float = LOOK_S) -> Iterator[None]:
        """Yield whenever something has changed, and every `look_s` seconds, until it has ended."""
        seen = self._version
        while not self.ended:
            yield
            with self._changed:
                if self._version == seen:
                    self._changed.wait(look_s)
                seen = self._version

    def stop(self) -> None:
        """Stop the writing; what was written until now is stored."""
        self.is_stopped = True
        self._job.cancel()
        if self._coming:
            self._coming.close()

    def write(self, open_pipeline: Callable[[RunningAnswer], Pipeline], record: Callable[[str], None]) -> None:
        """Write and store it; errors end up in `error`.  `record` gets the id of the stored answer."""
        try:
            with self._job.pacing(), suppress(LeftError):
                self._write(open_pipeline(self))
            if self._coming and self._coming.stored:
                self.answer_id = self._coming.stored.id
                record(self.answer_id)
            elif not self.error:
                self.error = STOPPED
        except PropCiteError as error:
            self.error, self.model_failed = without_commands(error), isinstance(error, GeneratorError | EndpointError)
        except Exception as error:  # nobody would see it in this thread
            log.exception("an answer failed")
            self.error = f"{type(error).__name__}: {error}"
        finally:
            self.ended = True
            self._tell()

    def _write(self, pipeline: Pipeline) -> None:
        question = self.order.question
        with pipeline.answer_stream(question.text, question.after, self.report) as self._coming:
            self._heard = time.monotonic()
            if self.is_stopped:
                return
            for so_far in growing(self._coming):
                self.text = so_far
                self._tell()

    def report(self, name: str, ms: float | None) -> None:
        """Take a step before the writing: `ms` is None when it begins."""
        self._before[name] = Step(name, ms or 0.0, done=ms is not None)
        self._heard = time.monotonic()
        self._tell()

    def _tell(self) -> None:
        with self._changed:
            self._version += 1
            self._changed.notify_all()


class Keeping(Protocol):
    """Keeps an order while it is answered, for a server that ends before the answer."""

    def keep(self, id_: str, order: Order) -> None: ...
    def drop(self, id_: str) -> None: ...


class RunningAnswers:
    """The answers that this process writes, and those that have just ended."""

    def __init__(self) -> None:
        self._known: dict[str, RunningAnswer] = {}
        self._lock = Lock()

    def begin(
        self,
        order: Order,
        job: Job,
        open_pipeline: Callable[[RunningAnswer], Pipeline],
        record: Callable[[str], None] = lambda _: None,
        kept: Keeping | None = None,
    ) -> RunningAnswer:
        """Start an answer, or return the one that is being written for the same order; it is `kept` until its end."""
        with self._lock:
            for one in self._known.values():
                if one.order == order and not one.ended:
                    return one
            ended = [one.id for one in self._known.values() if one.ended]
            for id_ in ended[: max(0, len(ended) - MAX_KEPT)]:
                del self._known[id_]
            new = RunningAnswer(order, job)
            self._known[new.id] = new
        if kept:
            kept.keep(new.id, order)

        def write() -> None:
            new.write(open_pipeline, record)
            if kept:
                kept.drop(new.id)

        Thread(target=write, name="propcite-answer", daemon=True).start()
        return new

    def find(self, id_: str, by: str) -> RunningAnswer | None:
        """Return somebody's answer by its id; None for one of another person, and for one that is not known here."""
        one = self._known.get(id_)
        return one if one and one.order.by == by else None

    def unfinished(self, by: str, collections: Sequence[str]) -> list[RunningAnswer]:
        """Return somebody's answers over these collections that are being written, oldest first."""
        with self._lock:
            known = list(self._known.values())
        return [one for one in known if not one.ended and one.order.by == by and one.order.collection in collections]
