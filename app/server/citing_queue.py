"""A queue of answers to cite: short ones that wait at the same time are cited in one batch, which costs less than each.

A long one is cited by itself in a thread that cites no others, so that short ones never wait for it.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from threading import Lock

from propcite.app.server.concurrency import WorkerPool
from propcite.app.server.errors import too_busy, too_much_work
from propcite.attribution.citations import CitedAnswer
from propcite.attribution.citing.batch import TOGETHER
from propcite.attribution.propcite import PropCite
from propcite.attribution.prose.sentences import sentences_of
from propcite.retrieval.retriever import Retriever
from propcite.retrieval.text import Passage
from propcite.retrieval.timing import Timer

MAX_BATCH_CHARS = 20_000  # of answers in a batch, so that a longer answer delays few others
LONG_CHARS = 8_000  # of an answer that is cited by itself
LONG_SOURCE_CHARS = 100_000  # of passages with which an answer is, too


@dataclass(frozen=True, slots=True)
class CitingJob:
    """An answer that waits to be cited, and the future for its citations."""

    answer: str
    source: Retriever | Sequence[Passage]
    collection: Retriever | None
    question: str
    result: Future[CitedAnswer] = field(default_factory=Future)


@dataclass(frozen=True, slots=True)
class Limits:
    """What one answer may have: characters with its passages, and sentences."""

    max_characters: int
    max_sentences: int

    def check_characters(self, answer: str, source: Retriever | Sequence[Passage]) -> None:
        size = len(answer) + _num_characters(source)
        if size > self.max_characters:
            what = f"the answer and its passages have {size:,} characters, and {self.max_characters:,} are allowed"
            raise too_much_work(what, "PROPCITE_SERVE_CHARACTERS")

    def may_have_too_many_sentences(self, answer: str) -> bool:
        """Return whether it takes a reading to say: a letter and its stop are the shortest sentence."""
        return len(answer) > 2 * self.max_sentences

    def check_sentences(self, answer: str) -> None:
        num = len(sentences_of(answer))
        if num > self.max_sentences:
            what = f"the answer has {num:,} sentences, and {self.max_sentences:,} are allowed"
            raise too_much_work(what, "PROPCITE_SERVE_SENTENCES")


class CitingQueue:
    """Collects answers and cites them in batches in worker threads; `count_batch` is called with each batch's size.

    Long ones are cited by `long_workers`, one at a time in each of their threads.
    """

    def __init__(
        self,
        open_propcite: Callable[[], PropCite],
        workers: WorkerPool,
        long_workers: WorkerPool,
        limits: Limits,
        count_batch: Callable[[int], None],
    ) -> None:
        self._open_propcite = open_propcite
        self._workers = workers
        self._long_workers = long_workers
        self._limits = limits
        self._count_batch = count_batch
        self._jobs: deque[CitingJob] = deque()
        self._lock = Lock()

    async def cite(
        self,
        answer: str,
        source: Retriever | Sequence[Passage],
        *,
        collection: Retriever | None = None,
        question: str = "",
    ) -> CitedAnswer:
        """Cite an answer; RequestError if it is too long, takes too long, or too many wait."""
        self._limits.check_characters(answer, source)
        with Timer()("cite"):
            return await self._cited(CitingJob(answer, source, collection, question))

    async def _cited(self, job: CitingJob) -> CitedAnswer:
        answer, source = job.answer, job.source
        if len(answer) > LONG_CHARS or _num_characters(source) > LONG_SOURCE_CHARS:
            return await self._long_workers.run(lambda: self._cite_long(job))
        if self._limits.may_have_too_many_sentences(answer):
            await self._workers.run(lambda: self._limits.check_sentences(answer))
        with self._lock:
            if self.waiting >= self._workers.max_waiting:
                raise too_busy(self.waiting)
            self._jobs.append(job)
        self._workers.submit_unbounded(self._cite_batch)  # one call per job: the first call takes the others along
        return await asyncio.wrap_future(job.result)

    @property
    def waiting(self) -> int:
        return len(self._jobs)

    def _cite_long(self, job: CitingJob) -> CitedAnswer:
        self._limits.check_sentences(job.answer)
        self._count_batch(1)
        return self._open_propcite().cite(job.answer, job.source, collection=job.collection, question=job.question)

    def _cite_batch(self) -> None:
        batch = [job for job in self._take() if job.result.set_running_or_notify_cancel()]
        if not batch:
            return
        self._count_batch(len(batch))
        for jobs in _by_collection(batch):
            self._cite(jobs)

    def _take(self) -> Iterator[CitingJob]:
        with self._lock:
            size = 0
            for _ in range(min(TOGETHER, len(self._jobs))):
                size += len(self._jobs[0].answer)
                yield self._jobs.popleft()
                if size > MAX_BATCH_CHARS:
                    break

    def _cite(self, jobs: Sequence[CitingJob]) -> None:
        try:
            entries = [(job.answer, job.source, job.question) for job in jobs]
            results = self._open_propcite().cite_many(entries, collection=jobs[0].collection)
        except Exception as error:  # every request of the batch gets it
            for job in jobs:
                job.result.set_exception(error)
            return
        for job, result in zip(jobs, results, strict=True):
            if isinstance(result, CitedAnswer):
                job.result.set_result(result)
            else:
                job.result.set_exception(result)


def _num_characters(source: Retriever | Sequence[Passage]) -> int:
    """Return the characters of given passages; 0 for a collection, which is encoded already."""
    return 0 if isinstance(source, Retriever) else sum(len(p.text) + len(p.title) for p in source)


def _by_collection(batch: Sequence[CitingJob]) -> list[list[CitingJob]]:
    groups: dict[Retriever | None, list[CitingJob]] = {}
    for job in batch:
        groups.setdefault(job.collection, []).append(job)
    return list(groups.values())
