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
from propcite.attribution.citing.answer_citer import AnswerCiter, Rows, encode_claims
from propcite.attribution.citing.splitting import MAX_CONTEXT, SplitSentence, split_sentences
from propcite.attribution.citing.tools import Source, Tools, sentences_as_evidence
from propcite.attribution.errors import AttributionError
from propcite.attribution.events import Event, SentenceCited, TextDelta
from propcite.attribution.prose.marker_stripper import MarkerStripper
from propcite.attribution.prose.sentences import SentenceStream, seems_to_end
from propcite.retrieval.interrupting import in_turn, others_wait
from propcite.retrieval.retriever import Retriever
from propcite.retrieval.text import Passage, Span

BATCH = 16  # sentences cited together when so many wait
AHEAD, MAX_AHEAD = 4, 256  # sentences of passages that are encoded ahead at a time, and in all
MIN_GUESSED = 10  # characters from one guessed end of a sentence to the next

Batch = list[tuple[Span, str]]  # sentences: place in the answer, and text


class StreamCiter:
    """Text goes in as it is written, events come out.  Sentences are cited in a thread, in the order of the text.

    While no sentence waits, the thread encodes evidence that the judge is likely to read, and cites a sentence at its
    stop, before the next word shows that it has ended.
    """

    def __init__(
        self, tools: Tools, source: Source, collection: Retriever | None, question: str, *, strip_markers: bool
    ) -> None:
        self._tools, self._question = tools.cached(), question
        self._cited: list[SentenceCited] = []
        self._texts: list[str] = []
        self._size = 0  # of all texts
        self._sentences = SentenceStream()
        self._unmarking = MarkerStripper() if strip_markers else None
        self._waiting: deque[tuple[Span, str]] = deque()  # sentences that have ended
        self._before: deque[str] = deque(maxlen=MAX_CONTEXT)
        self._spans: list[Span] = []  # of the sentences that were cited
        self._guessed = 0  # characters of the answer up to the last end of a sentence that was guessed
        self._ahead: tuple[Batch, tuple[list[SplitSentence], Rows]] = [], ([], [])  # sentences cited before their end
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
            self._size += len(text)
            for sentence in self._sentences.feed(text):
                self._put(sentence)
            self._guess()
            yield TextDelta(text)

    def _guess(self) -> None:
        """Queue the sentence that seems to end here; not for a judge outside this process, which may cost."""
        is_due = self._tools.encoding_judge and self._size - self._guessed >= MIN_GUESSED
        if is_due and seems_to_end("".join(self._texts[-4:])):
            self._guessed, sentences = self._size, self._sentences.copy()
            self._submit(lambda: self._cite_ahead(sentences))

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
        sentences, rows = self._ahead[1] if batch == self._ahead[0] else self._propositions(batch)
        self._before.extend(text for _, text in batch)
        self._spans += [span for span, _ in batch]
        cited = [SentenceCited(s, one.text) for s, one in zip(citer.numbered(sentences, rows), sentences, strict=True)]
        if citer.reading:
            self._submit_more(self._read_ahead)
        return cited

    def _propositions(self, batch: Batch) -> tuple[list[SplitSentence], Rows]:
        """Return the next sentences with their propositions, and what each of these cites."""
        citer = self.opened()
        spans, own = [span for span, _ in batch], [text for _, text in batch]
        texts = [*self._before, *own]
        with citer.timer("split"):
            contexts = [texts[max(0, place - MAX_CONTEXT) : place] for place in range(len(self._before), len(texts))]
            sentences = split_sentences(spans, own, contexts, self._tools.splitter)
        with citer.timer("score"):
            encode_claims(self._tools, sentences)
        return sentences, citer.propositions(sentences)

    def _cite_ahead(self, sentences: SentenceStream) -> None:
        """Cite the sentence that seems to end here, unless one waits that has ended."""
        if self._waiting or others_wait():
            return
        cited = self._spans[-1].end if self._spans else 0
        batch = [(span, text) for span, text in sentences.ended() if span.start >= cited]
        if batch:
            with in_turn(sum(len(text) for _, text in batch)):
                self._ahead = batch, self._propositions(batch)

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
