"""One call of an agent: who calls, over which collection, how its work runs, and how it reports progress."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from threading import Lock
from typing import TypeVar

from propcite.app.answering.pipeline import Pipeline
from propcite.app.errors import NotFoundError
from propcite.app.server.access import Access
from propcite.app.server.errors import not_ready, too_much_work
from propcite.app.server.service import Service
from propcite.app.server.writing import Writing
from propcite.app.turns.costs import Kind, Size
from propcite.attribution.citations import CitedAnswer
from propcite.attribution.citing.stream import CitedStream
from propcite.attribution.events import AnswerDone, Event, SentenceCited, TextDelta
from propcite.attribution.prose.sentences import sentences_of
from propcite.retrieval.retriever import Retriever
from propcite.retrieval.text import Passage

T = TypeVar("T")
Report = Callable[[float, float | None, str], Awaitable[None]]  # progress, its total if known, and a message
MAX_NAMED = 20  # collections in an error
REPORTED_CHARS = 2000  # of a text from which each batch of its sentences is reported
LOADING_S, LOOK_S = 60.0, 0.2
ANY = Size()


class _ClosedByAny(Iterator[Event]):
    """The events of a stream that any thread may close: it waits for the sentences in work."""

    def __init__(self, stream: CitedStream) -> None:
        self._stream, self._lock = stream, Lock()

    def __next__(self) -> Event:
        with self._lock:
            return next(self._stream)

    def close(self) -> None:
        with self._lock:
            self._stream.close()


@dataclass(frozen=True, slots=True)
class Call:
    """One call.  `reports` says whether its client wants to hear of progress."""

    access: Access
    report: Report
    reports: bool = False

    @property
    def service(self) -> Service:
        return self.access.service

    def collection(self, name: str) -> str:
        """Return the name of the requested or default collection; NotFoundError names those that the caller may use."""
        requested = name or self.service.settings.collection
        if self.access.opens(requested) and self.service.parts.library.collection_id(requested) is not None:
            return requested
        names = sorted(info.name for info in self.access.collections())
        if not names:
            raise NotFoundError("no collection is open to you: the user makes one with propcite ingest PATH -c NAME")
        listed = ", ".join(map(repr, names[:MAX_NAMED])) + (" and others" if len(names) > MAX_NAMED else "")
        raise NotFoundError(f"no collection {requested[:100]!r}: name one of {listed}")

    def kept_answer(self, answer_id: str) -> CitedAnswer:
        """Return a stored answer that the caller may see, by its whole id."""
        library = self.service.parts.library
        if answer_id.isalnum() and library.has_answer(answer_id):
            answer = library.answer(answer_id)
            if self.access.opens(answer.collection):
                return answer
        raise NotFoundError(f"no kept answer {answer_id[:40]!r}: ask returns its id, cite too where keep is true")

    async def models(self) -> None:
        """Wait until the models are loaded; RequestError if that takes too long or fails."""
        for step in range(int(LOADING_S / LOOK_S)):
            if self.service.is_loaded or self.service.load_error:
                break
            if step % 10 == 0:
                await self.report(0.0, None, "loading the models")
            await asyncio.sleep(LOOK_S)
        else:
            raise not_ready()
        self.service.require_models()

    async def work(self, function: Callable[[], T], kind: Kind = Kind.READ, size: Size = ANY) -> T:
        """Return the result of a function in a thread, in its turn; BusyError if it would wait too long."""
        return await self.service.workers.run(self.access.asking, kind, size, function)

    async def cite(
        self, text: str, source: Retriever | Sequence[Passage], collection: Retriever | None, question: str
    ) -> CitedAnswer:
        """Cite a text together with others that wait; a longer one by itself, if its client wants reports."""
        if self.reports and len(text) > REPORTED_CHARS:
            answer = await self._cite_and_report(text, source, collection, question)
        else:
            await self.report(0.0, 1.0, "checking the text")
            queue = self.service.citing_queue
            asking = self.access.asking
            answer = await queue.cite(asking, text, source, collection=collection, question=question)
        self.count(answer)
        return answer

    async def _cite_and_report(
        self, text: str, source: Retriever | Sequence[Passage], collection: Retriever | None, question: str
    ) -> CitedAnswer:
        limits, seconds = self.service.limits, self.service.settings.serve_seconds
        limits.check_characters(text, source)
        service, done = self.service, 0
        writing = Writing(service, self.access.asking)

        def num_sentences() -> int:
            limits.check_sentences(text)
            return len(sentences_of(text))

        def stream() -> _ClosedByAny:
            return _ClosedByAny(service.propcite.stream([text], source, collection=collection, question=question))

        try:
            total = await self.work(num_sentences, size=Size.of(text))
            async with asyncio.timeout(seconds), aclosing(writing.items(stream)) as events:
                async for event in events:
                    if isinstance(event, SentenceCited):
                        done += 1
                        await self.report(done, total, f"{done} of {total} sentences checked")
                    if isinstance(event, AnswerDone):
                        return event.answer
        except TimeoutError:
            raise too_much_work(f"this took more than {seconds:g} seconds", "PROPCITE_SERVE_SECONDS") from None
        finally:
            writing.leave()
        raise AssertionError("a stream ends with its answer")

    async def ask(self, pipeline: Pipeline, question: str, after: str) -> CitedAnswer:
        """Answer a question, and report what is done: text that is written, sentences that are cited."""
        await self.report(0.0, None, "searching the collection")
        characters = steps = 0
        writing = Writing(self.service, self.access.asking)
        async with aclosing(writing.items(lambda: pipeline.answer_stream(question, after))) as events:
            async for event in events:
                if isinstance(event, AnswerDone):
                    self.count(event.answer)
                    return event.answer
                if isinstance(event, TextDelta):
                    characters += len(event.text)
                    continue
                steps += 1
                what = (
                    "writing the answer"
                    if event is None
                    else f"{characters} characters written, sentence {steps} cited"
                )
                await self.report(steps, None, what)
        raise AssertionError("a stream ends with its answer")

    def count(self, answer: CitedAnswer) -> None:
        """Count the facts of a new answer for the server's metrics."""
        self.service.metrics.count_facts(len(answer.facts), sum(bool(fact.citations) for fact in answer.facts))
