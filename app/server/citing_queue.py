"""A queue of answers to cite: those that wait at the same time are cited in one batch, which costs less than each."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from threading import Lock

from propcite.app.server.concurrency import WorkerPool
from propcite.app.server.errors import too_busy
from propcite.attribution.citations import CitedAnswer
from propcite.attribution.citing.batch import TOGETHER
from propcite.attribution.propcite import PropCite
from propcite.retrieval.retriever import Retriever
from propcite.retrieval.text import Passage

MAX_BATCH_CHARS = 20_000  # of answers in a batch, so that a long answer delays few others


@dataclass(frozen=True, slots=True)
class CitingJob:
    """An answer that waits to be cited, and the future for its citations."""

    answer: str
    source: Retriever | Sequence[Passage]
    collection: Retriever | None
    question: str
    result: Future[CitedAnswer] = field(default_factory=Future)


class CitingQueue:
    """Collects answers and cites them in batches in worker threads; `count_batch` is called with each batch's size."""

    def __init__(
        self, open_propcite: Callable[[], PropCite], workers: WorkerPool, count_batch: Callable[[int], None]
    ) -> None:
        self._open_propcite = open_propcite
        self._workers = workers
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
        job = CitingJob(answer, source, collection, question)
        with self._lock:
            if self.waiting >= self._workers.max_waiting:
                raise too_busy(self.waiting)
            self._jobs.append(job)
        self._workers.submit_unbounded(self._cite_batch)  # one call per job: the first call takes the others along
        return await asyncio.wrap_future(job.result)

    @property
    def waiting(self) -> int:
        return len(self._jobs)

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


def _by_collection(batch: Sequence[CitingJob]) -> list[list[CitingJob]]:
    groups: dict[Retriever | None, list[CitingJob]] = {}
    for job in batch:
        groups.setdefault(job.collection, []).append(job)
    return list(groups.values())
