"""Cite sentences in a thread while the text goes on."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from contextvars import copy_context
from itertools import islice
from typing import Any

from propcite.attribution.citations import CitedAnswer
from propcite.attribution.citing.answer_citer import AnswerCiter, encode_claims
from propcite.attribution.citing.splitting import MAX_CONTEXT, split_sentences
from propcite.attribution.citing.tools import Source, Tools, sentences_as_evidence
from propcite.attribution.errors import AttributionError
from propcite.attribution.events import Event, SentenceCited, TextDelta
from propcite.attribution.prose.marker_stripper import MarkerStripper
from propcite.attribution.prose.sentences import SentenceStream
from propcite.retrieval.interrupting import in_turn, others_wait
from propcite.retrieval.retriever import Retriever
from propcite.retrieval.text import Passage, Span

BATCH = 16  # sentences cited together when so many wait
AHEAD, MAX_AHEAD = 4, 256  # sentences of passages that are encoded ahead at a time, and in all


class StreamCiter:
    """Text goes in as it is written, events come out.  Sentences are cited in a thread, in the order of the text.

    While no sentence waits, the thread encodes evidence that the judge is likely to read.
    """

    def __init__(
        self, tools: Tools, source: Source, collection: Retriever | None, question: str, *, strip_markers: bool
    ) -> None:
        self._tools, self._question = tools.cached(), question
        self._cited: list[SentenceCited] = []
        self._texts: list[str] = []
        self._sentences = SentenceStream()
        self._unmarking = MarkerStripper() if strip_markers else None
        self._waiting: deque[tuple[Span, str]] = deque()  # sentences that have ended: place in the answer, and text
        self._before: deque[str] = deque(maxlen=MAX_CONTEXT)
        self._spans: list[Span] = []  # of the sentences that were cited
        self._jobs: deque[Future[list[SentenceCited]]] = deque()
        self._has_ended = False
        self._thread = ThreadPoolExecutor(1, "propcite-stream")
        self._context = copy_context()  # by it the thread asks for turns, and may be stopped
        self._opening: Future[AnswerCiter] = self._submit(lambda: self._open(source, collection))
        if not isinstance(source, Retriever) and self._tools.encoding_judge:
            self._submit(lambda: self._encode_ahead(None))

    def feed(self, piece: object) -> Iterator[Event]:
        """Yield the events of the next piece of text, and those of sentences cited meanwhile."""
        if piece is not None and not isinstance(piece, str):
            raise AttributionError(f"a piece of the answer is a {type(piece).__name__}: give its text, or None")
        yield from self._add(self._unmarking.feed(piece or "") if self._unmarking else piece or "")
        yield from self.ready()

    def finish(self) -> Iterator[Event]:
        """Yield the events of the end of the text; `rest` then cites the sentences that still wait."""
        self._has_ended = True
        yield from self._add(self._unmarking.finish() if self._unmarking else "")
        for sentence in self._sentences.finish():
            self._put(sentence)

    def ready(self) -> Iterator[SentenceCited]:
        """Yield the sentences that were cited since the last call."""
        if self._opening.done():
            self.opened()  # report passages that cannot be cited at once
        while self._jobs and self._jobs[0].done():
            cited = self._jobs.popleft().result()
            self._cited += cited
            yield from cited

    def rest(self) -> Iterator[SentenceCited]:
        """Wait for the sentences that are not cited yet, and yield them."""
        self.opened()
        while self._jobs:
            self._jobs[0].result()
            yield from self.ready()

    def opened(self) -> AnswerCiter:
        """Wait until the passages are encoded; raise the error of passages that cannot be cited."""
        return self._opening.result()

    @property
    def next_job(self) -> Future[list[SentenceCited]] | None:
        """Return the citing that ends next; None where no sentence waits."""
        return self._jobs[0] if self._jobs else None

    @property
    def so_far(self) -> CitedAnswer:
        """Return the answer with the citations that are ready."""
        text, sentences = "".join(self._texts), tuple(event.sentence for event in self._cited)
        if not self._is_open:
            return CitedAnswer(text, sentences, self._question, models=self._tools.models)
        return self.opened().answer(text, sentences)

    def whole(self) -> Future[CitedAnswer]:
        """Return the coming answer, which the stream's thread puts together: it may have a network read it."""
        return self._submit(self._whole)

    @property
    def spent(self) -> dict[str, float]:
        """Return the milliseconds of each step so far; empty before the passages are encoded."""
        return self.opened().timer.spent if self._is_open else {}

    def close(self) -> None:
        """Stop: the sentence in work is finished, waiting ones are dropped, and no thread is left."""
        self._thread.shutdown(wait=True, cancel_futures=True)
        for job in self._jobs:
            if not job.cancelled() and not job.exception():
                self._cited += job.result()
        self._jobs.clear()

    @property
    def _is_open(self) -> bool:
        opening = self._opening
        return opening.done() and not opening.cancelled() and not opening.exception()

    def _add(self, text: str) -> Iterator[Event]:
        if text:
            self._texts.append(text)
            for sentence in self._sentences.feed(text):
                self._put(sentence)
            yield TextDelta(text)

    def _put(self, sentence: tuple[Span, str]) -> None:
        self._waiting.append(sentence)
        self._jobs.append(self._submit(self._cite))

    def _submit(self, work: Callable[[], Any]) -> Future[Any]:
        return self._thread.submit(self._context.run, work)

    def _submit_more(self, work: Callable[[], object]) -> None:
        """Queue what a job leaves for later."""
        with suppress(RuntimeError):  # closed meanwhile
            self._submit(work)

    def _open(self, source: Source, collection: Retriever | None) -> AnswerCiter:
        given = source if isinstance(source, (list, tuple)) else ()  # others may be read only once
        with in_turn(sum(len(p.text) for p in given if isinstance(p, Passage))):
            return AnswerCiter.over(self._tools, source, collection, self._question)

    def _cite(self) -> list[SentenceCited]:
        """Cite the sentences that wait; none are left where an earlier job took them along."""
        with in_turn(sum(len(text) for _, text in self._waiting)):
            return self._cite_batch()

    def _cite_batch(self) -> list[SentenceCited]:
        batch = [self._waiting.popleft() for _ in range(min(BATCH, len(self._waiting)))]
        citer = self.opened()
        texts = [*self._before, *(text for _, text in batch)]
        places = range(len(self._before), len(texts))
        self._before.extend(texts[len(self._before) :])
        with citer.timer("split"):
            contexts = [texts[max(0, place - MAX_CONTEXT) : place] for place in places]
            spans, own = [span for span, _ in batch], [text for _, text in batch]
            sentences = split_sentences(spans, own, contexts, self._tools.splitter)
        with citer.timer("score"):
            encode_claims(self._tools, sentences)
        self._spans += spans
        cited = [SentenceCited(s, one.text) for s, one in zip(citer.cite(sentences), sentences, strict=True)]
        if citer.reading:
            self._submit_more(self._read_ahead)
        return cited

    def _whole(self) -> CitedAnswer:
        with in_turn(sum(map(len, self._texts))):
            return self.so_far

    def _read_ahead(self) -> None:
        """Read the answer so far beside its question, unless a sentence waits to be cited or all is written."""
        reading, text = self.opened().reading, "".join(self._texts)
        if reading and not self._has_ended and not self._waiting and not others_wait():
            with in_turn(len(text)):
                reading.ahead(text, self._spans)

    def _encode_ahead(self, evidence: Iterator[str] | None) -> None:
        """Encode a few sentences of evidence, then queue again, so that a sentence of the answer goes first."""
        if evidence is None:
            retriever = self.opened().retriever
            evidence = islice(sentences_as_evidence(retriever.passages() if retriever else []), MAX_AHEAD)
        batch, judge = list(islice(evidence, AHEAD)), self._tools.encoding_judge
        if batch and judge and not others_wait():
            with in_turn(sum(map(len, batch))):
                judge.encode_evidence(batch)
            self._submit_more(lambda: self._encode_ahead(evidence))
