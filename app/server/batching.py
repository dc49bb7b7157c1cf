"""Answers that wait to be cited at the same time are cited together: one batch costs much less than each alone."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from threading import Lock

from propcite.app.server.errors import too_busy
from propcite.app.server.work import Work
from propcite.attribution.citations import CitedAnswer
from propcite.attribution.citing.batch import TOGETHER
from propcite.attribution.propcite import PropCite
from propcite.retrieval.retriever import Retriever
from propcite.retrieval.text import Passage

MOST_CHARACTERS = 20_000  # of answers cited together: a long one keeps few others waiting


@dataclass(frozen=True, slots=True)
class Wanted:
    """An answer that waits to be cited, and where its citations go."""

    answer: str
    source: Retriever | Sequence[Passage]
    collection: Retriever | None
    question: str
    cited: Future[CitedAnswer] = field(default_factory=Future)


class CitingDesk:
    """Takes answers one by one and cites those that wait together, in the threads of `work`."""

    def __init__(self, propcite: Callable[[], PropCite], work: Work, told: Callable[[int], None]) -> None:
        self._propcite = propcite
        self._work = work
        self._told = told  # how many were cited together
        self._waiting: deque[Wanted] = deque()
        self._lock = Lock()

    async def cite(
        self,
        answer: str,
        source: Retriever | Sequence[Passage],
        *,
        collection: Retriever | None = None,
        question: str = "",
    ) -> CitedAnswer:
        wanted = Wanted(answer, source, collection, question)
        with self._lock:
            if self.waiting >= self._work.most_waiting:
                raise too_busy(self.waiting)
            self._waiting.append(wanted)
        self._work.spare(self._cite)  # for each that waits: the first takes the others along
        return await asyncio.wrap_future(wanted.cited)

    @property
    def waiting(self) -> int:
        return len(self._waiting)

    def _cite(self) -> None:
        batch = [wanted for wanted in self._take() if wanted.cited.set_running_or_notify_cancel()]
        if not batch:
            return
        self._told(len(batch))
        for some in _by_collection(batch):
            self._together(some)

    def _take(self) -> Iterator[Wanted]:
        with self._lock:
            size = 0
            for _ in range(min(TOGETHER, len(self._waiting))):
                size += len(self._waiting[0].answer)
                yield self._waiting.popleft()
                if size > MOST_CHARACTERS:
                    break

    def _together(self, batch: Sequence[Wanted]) -> None:
        try:
            entries = [(one.answer, one.source, one.question) for one in batch]
            found = self._propcite().cite_many(entries, collection=batch[0].collection)
        except Exception as error:  # each of those who wait is told
            for one in batch:
                one.cited.set_exception(error)
            return
        for one, cited in zip(batch, found, strict=True):
            if isinstance(cited, CitedAnswer):
                one.cited.set_result(cited)
            else:
                one.cited.set_exception(cited)


def _by_collection(batch: Sequence[Wanted]) -> list[list[Wanted]]:
    """Those that look into the same collection together."""
    groups: dict[Retriever | None, list[Wanted]] = {}
    for wanted in batch:
        groups.setdefault(wanted.collection, []).append(wanted)
    return list(groups.values())
