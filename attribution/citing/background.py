"""Where the sentences of one answer are cited while its text still comes: a thread of its own, in the text's order."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from itertools import islice

from propcite.attribution.citations import CitedAnswer
from propcite.attribution.citing.answer_parts import MOST_CONTEXT, split_parts
from propcite.attribution.citing.citing import Citing
from propcite.attribution.citing.prefetch import evidence_in, read_claims, reading_judge
from propcite.attribution.citing.remembering import remembering
from propcite.attribution.events import SentenceCited
from propcite.attribution.propcite import PropCite, Source
from propcite.retrieval.retriever import Retriever
from propcite.retrieval.text import Span

AT_ONCE = 16  # sentences cited together when so many wait
AHEAD, MOST_AHEAD = 4, 256  # sentences of passages that are read ahead at a time, and in all

Written = tuple[Span, str]  # a sentence of the answer: its place and its words


class Desk:
    """Sentences go in as they are written and come out cited; while none waits, evidence is read ahead."""

    def __init__(self, propcite: PropCite, source: Source, collection: Retriever | None) -> None:
        self.cited: list[SentenceCited] = []
        self._propcite = remembering(propcite)
        self._waiting: deque[Written] = deque()
        self._before: deque[str] = deque(maxlen=MOST_CONTEXT)
        self._jobs: deque[Future[list[SentenceCited]]] = deque()
        self._thread = ThreadPoolExecutor(1, "propcite-stream")
        self._opened = self._thread.submit(self._propcite.citing, source, collection)
        if not isinstance(source, Retriever) and reading_judge(self._propcite):
            self._thread.submit(self._read_ahead, None)

    def put(self, sentence: Written) -> None:
        self._waiting.append(sentence)
        self._jobs.append(self._thread.submit(self._cite))

    def opened(self) -> Citing:
        """Once the passages are read; where they cannot be cited from, that is told."""
        return self._opened.result()

    @property
    def spent(self) -> dict[str, float]:
        """Milliseconds of each step so far."""
        is_open = self._opened.done() and not self._opened.cancelled() and not self._opened.exception()
        return dict(self._opened.result().watch.spent) if is_open else {}

    @property
    def oldest(self) -> Future[list[SentenceCited]] | None:
        """The job that is next to be done."""
        return self._jobs[0] if self._jobs else None

    def ready(self) -> Iterator[SentenceCited]:
        """What has been cited since this was last asked."""
        if self._opened.done():
            self.opened()  # passages that cannot be cited from are told at once
        while self._jobs and self._jobs[0].done():
            cited = self._jobs.popleft().result()
            self.cited += cited
            yield from cited

    def rest(self) -> Iterator[SentenceCited]:
        """All that was put here, once it is cited."""
        self.opened()
        while self._jobs:
            self._jobs[0].result()
            yield from self.ready()

    def answer(self, text: str, question: str) -> CitedAnswer:
        """The answer with what has been cited of it."""
        sentences = tuple(event.sentence for event in self.cited)
        if not self._opened.done() or self._opened.cancelled() or self._opened.exception():
            return CitedAnswer(text, sentences, question, models=self._propcite.models)
        return self.opened().answer(text, sentences, question)

    def close(self) -> None:
        """Nothing runs any more; what was in work is finished and kept, what waited is dropped."""
        self._thread.shutdown(wait=True, cancel_futures=True)
        for job in self._jobs:
            if not job.cancelled() and not job.exception():
                self.cited += job.result()
        self._jobs.clear()

    def _cite(self) -> list[SentenceCited]:
        """The sentences that wait; none where those before took them along."""
        written = [self._waiting.popleft() for _ in range(min(AT_ONCE, len(self._waiting)))]
        citing = self.opened()
        texts = [*self._before, *(text for _, text in written)]
        places = range(len(self._before), len(texts))
        self._before.extend(texts[len(self._before) :])
        with citing.watch("split"):
            contexts = [texts[max(0, place - MOST_CONTEXT) : place] for place in places]
            parts = split_parts(
                [span for span, _ in written], [text for _, text in written], contexts, self._propcite.splitter
            )
        with citing.watch("score"):
            read_claims(self._propcite, parts)
        return [SentenceCited(s, part.text) for s, part in zip(citing.cite(parts), parts, strict=True)]

    def _read_ahead(self, evidence: Iterator[str] | None) -> None:
        """A few sentences at a time, so that what is written meanwhile comes first."""
        if evidence is None:
            retriever = self.opened().retriever
            evidence = islice(evidence_in(retriever.passages() if retriever else []), MOST_AHEAD)
        some, judge = list(islice(evidence, AHEAD)), reading_judge(self._propcite)
        if some and judge:
            judge.read(some)
            with suppress(RuntimeError):  # closed meanwhile
                self._thread.submit(self._read_ahead, evidence)
