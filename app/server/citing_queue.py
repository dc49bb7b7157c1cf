"""A queue of answers to cite: short ones that wait at the same time are cited in one batch, which costs less than each.

Long ones are cited by themselves, in turns with all others.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass, field

from propcite.app.server.errors import too_much_work
from propcite.app.turns.costs import Kind, Size
from propcite.app.turns.fair_queue import Waiting
from propcite.app.turns.jobs import Job
from propcite.app.turns.workers import Asking, Place, Workers
from propcite.attribution.citations import CitedAnswer
from propcite.attribution.citing.batch import TOGETHER
from propcite.attribution.propcite import PropCite
from propcite.attribution.prose.sentences import sentences_of
from propcite.retrieval.errors import PropCiteError
from propcite.retrieval.retriever import Retriever
from propcite.retrieval.text import Passage
from propcite.retrieval.timing import Timer

SHORT_S = 0.5  # of an answer that is cited with others, on the machine whose costs are given
BATCH_S = 1.5  # of a batch there, so that it delays others little


@dataclass(eq=False, slots=True)
class CitingJob:
    """An answer that waits to be cited, and the future for its citations."""

    answer: str
    source: Retriever | Sequence[Passage]
    collection: Retriever | None
    question: str
    size: Size
    result: Future[CitedAnswer] = field(default_factory=Future)
    is_wanted: bool = True
    together: Sequence[CitingJob] = ()  # the batch in which it is cited
    work: Job | None = None

    def leave(self) -> None:
        """Want the citations no more; the work ends if nobody else of the batch does."""
        self.is_wanted = False
        if self.work and not any(job.is_wanted for job in self.together):
            self.work.cancel()


@dataclass(frozen=True, slots=True)
class Limits:
    """What one answer may have: characters with its passages, and sentences."""

    max_characters: int
    max_sentences: int

    def check_characters(self, answer: str, source: Retriever | Sequence[Passage]) -> None:
        size = Size.of(answer, _passages(source))
        if (num := size.characters + size.passages) > self.max_characters:
            what = f"the answer and its passages have {num:,} characters, and {self.max_characters:,} are allowed"
            raise too_much_work(what, "PROPCITE_SERVE_CHARACTERS")

    def check_sentences(self, answer: str) -> None:
        if len(answer) <= 2 * self.max_sentences:  # a letter and its stop are the shortest sentence
            return
        num = len(sentences_of(answer))
        if num > self.max_sentences:
            what = f"the answer has {num:,} sentences, and {self.max_sentences:,} are allowed"
            raise too_much_work(what, "PROPCITE_SERVE_SENTENCES")


class CitingQueue:
    """Cites answers in batches in worker threads; `count_batch` is called with each batch's size."""

    def __init__(
        self,
        open_propcite: Callable[[], PropCite],
        workers: Workers,
        limits: Limits,
        count_batch: Callable[[int], None],
    ) -> None:
        self._open_propcite = open_propcite
        self._workers = workers
        self._limits = limits
        self._count_batch = count_batch
        self._jobs: dict[Waiting, tuple[CitingJob, Place]] = {}  # that wait

    async def cite(
        self,
        asking: Asking,
        answer: str,
        source: Retriever | Sequence[Passage],
        *,
        collection: Retriever | None = None,
        question: str = "",
        is_admitted: bool = False,
    ) -> CitedAnswer:
        """Cite an answer; RequestError if it is too long or takes too long, BusyError if it would wait too long.

        An answer of an admitted request is never refused for waiting.
        """
        self._limits.check_characters(answer, source)
        with Timer()("cite"):
            job = CitingJob(answer, source, collection, question, Size.of(answer, _passages(source)))
            return await self._cited(asking, job, is_admitted=is_admitted)

    async def _cited(self, asking: Asking, job: CitingJob, *, is_admitted: bool) -> CitedAnswer:
        is_short = self._workers.costs.given(Kind.CITE, job.size) <= SHORT_S
        place = self._workers.place(asking, Kind.CITE, job.size, self._cite_batch, self if is_short else None)
        self._jobs[place.waiting] = job, place
        try:
            place.enter(is_admitted=is_admitted)
            return await asyncio.wrap_future(job.result)
        finally:
            job.leave()
            place.leave()
            self._jobs.pop(place.waiting, None)

    def _cite_batch(self, first: Waiting) -> None:
        """Cite an answer, and short ones that wait with a short one."""
        turns = self._workers.turns
        others = turns.take_along(self, BATCH_S - first.size, TOGETHER - 1) if first.shares else []
        taken = [found for one in (first, *others) if (found := self._jobs.get(one))]
        for _, place in taken[1:]:
            place.begun()
        batch = [job for job, _ in taken if job.result.set_running_or_notify_cancel()]
        work = self._workers.job(first.client, Kind.CITE)
        for job in batch:
            job.together, job.work = batch, work
        jobs = []
        with _failing(batch), work.holding(first), work.pacing():
            jobs = [job for job in batch if self._is_short_enough(job)]
            if jobs:
                self._count_batch(len(jobs))
            for group in _by_collection(jobs):
                self._cite(group, is_long=first.shares is None)
        if jobs:
            self._workers.learn(Kind.CITE, sum((job.size for job in jobs), Size(texts=0)), work.spent)

    def _is_short_enough(self, job: CitingJob) -> bool:
        try:
            self._limits.check_sentences(job.answer)
        except PropCiteError as error:
            job.result.set_exception(error)
            return False
        return True

    def _cite(self, jobs: Sequence[CitingJob], *, is_long: bool) -> None:
        with _failing(jobs):
            for job, result in zip(jobs, self._results(jobs, is_long=is_long), strict=True):
                if isinstance(result, CitedAnswer):
                    job.result.set_result(result)
                else:
                    job.result.set_exception(result)

    def _results(self, jobs: Sequence[CitingJob], *, is_long: bool) -> Sequence[CitedAnswer | PropCiteError]:
        propcite, first = self._open_propcite(), jobs[0]
        if is_long:
            return [propcite.cite(first.answer, first.source, collection=first.collection, question=first.question)]
        entries = [(job.answer, job.source, job.question) for job in jobs]
        return propcite.cite_many(entries, collection=first.collection)


@contextmanager
def _failing(jobs: Sequence[CitingJob]) -> Iterator[None]:
    """Hand an error over to each job that has no result yet: nobody would see it in this thread."""
    try:
        yield
    except Exception as error:
        for job in jobs:
            if not job.result.done():
                job.result.set_exception(error)


def _passages(source: Retriever | Sequence[Passage]) -> Sequence[Passage]:
    """Return given passages; none for a collection, which is encoded already."""
    return () if isinstance(source, Retriever) else source


def _by_collection(batch: Sequence[CitingJob]) -> list[list[CitingJob]]:
    groups: dict[Retriever | None, list[CitingJob]] = {}
    for job in batch:
        groups.setdefault(job.collection, []).append(job)
    return list(groups.values())
