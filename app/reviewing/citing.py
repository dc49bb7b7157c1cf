"""Cite a draft as running work: the database says how far it is, any process may cancel it, a stop keeps its part."""

from __future__ import annotations

import logging
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import replace
from threading import Event, Lock, Thread
from typing import Protocol

from propcite.app.answering.pipeline import Pipeline
from propcite.app.errors import BusyError, LeftError, NotFoundError
from propcite.app.library.store import CollectionInfo, ReviewInfo, Reviews, ReviewState
from propcite.app.parts import Parts
from propcite.app.reviewing.drafts import Draft, read_draft
from propcite.attribution.citations import CitedAnswer, CitedProposition, CitedSentence
from propcite.attribution.events import SentenceCited
from propcite.retrieval.errors import PropCiteError
from propcite.retrieval.interrupting import interruptible
from propcite.retrieval.text import Heading

log = logging.getLogger("propcite.reviewing")

SIGN_S = 2.0  # after which the citing gives a sign of itself, and looks whether it was cancelled
MAX_RUNNING, OF_ONE = 8, 4  # drafts that a process reads and cites at once, and those of one person or key
RETRY_S = 30.0
STOPPED = "it was stopped at {share:.0%}: what follows is not cited"

Report = Callable[[float], object]  # gets the share that is cited


class Work(Protocol):
    """What paces the citing, and ends it; `app.turns.jobs.Job` is one."""

    def pacing(self) -> AbstractContextManager[None]: ...
    def cancel(self) -> None: ...


class Unpaced:
    """Work that waits for nobody, and may be cancelled."""

    def __init__(self) -> None:
        self._is_cancelled = False

    def pacing(self) -> AbstractContextManager[None]:
        return interruptible(self._check)

    def cancel(self) -> None:
        self._is_cancelled = True

    def _check(self) -> None:
        if self._is_cancelled:
            raise LeftError("it was cancelled")


class Reviewing:
    """Begins drafts and cites them in threads of this process.  Whoever asks may leave: the database has the state."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._running = Counter[str]()  # by who sent them
        self._lock = Lock()

    def begin(
        self,
        collection: CollectionInfo,
        name: str,
        content: Callable[[], bytes],
        open_pipeline: Callable[[], Pipeline],
        work: Work,
        by: str = "",
    ) -> ReviewInfo:
        """Read a draft, keep it, and begin to cite it; the errors of reading are raised here, later ones are kept.

        BusyError, before its content is asked for, if too many are being read and cited.
        """
        with self._place(by) as start:
            data = content()
            draft = read_draft(self._parts.settings, name, data)
            info = self._parts.reviews.add(collection, name, data, len(draft.text), by)
            start(lambda: cite_draft(self._parts.reviews, info, lambda: draft, open_pipeline, work))
        return info

    def go_on(self, info: ReviewInfo, open_pipeline: Callable[[], Pipeline], work: Work, by: str = "") -> None:
        """Cite a kept draft again, from its beginning; without effect where a process is citing it."""
        reviews = self._parts.reviews
        with self._place(by) as start:
            if reviews.claim(info.id):
                start(lambda: cite_draft(reviews, info, lambda: kept_draft(self._parts, info), open_pipeline, work))

    @contextmanager
    def _place(self, by: str) -> Iterator[Callable[[Callable[[], object]], None]]:
        """Hold a place for a draft, and yield what does its work in a thread, which holds the place to its end."""
        with self._lock:
            if (running := self._running.total()) >= MAX_RUNNING or (by and self._running[by] >= OF_ONE):
                raise BusyError(RETRY_S, f"{running} drafts are being cited already")
            self._running[by] += 1
        works: list[Callable[[], object]] = []

        def run() -> None:
            try:
                with suppress(NotFoundError):  # the draft was removed meanwhile
                    works[0]()
            finally:
                self._leave(by)

        try:
            yield works.append
        finally:
            if works:
                Thread(target=run, name="propcite-review", daemon=True).start()
            else:
                self._leave(by)

    def _leave(self, by: str) -> None:
        with self._lock:
            self._running[by] -= 1
            self._running += Counter()  # forget who has none


def kept_draft(parts: Parts, info: ReviewInfo) -> Draft:
    """Return the text of a kept draft, read from its file again."""
    return read_draft(parts.settings, info.name, parts.reviews.content(info.id))


def cite_draft(
    reviews: Reviews,
    info: ReviewInfo,
    read: Callable[[], Draft],
    open_pipeline: Callable[[], Pipeline],
    work: Work,
    report: Report = lambda _: None,
) -> ReviewInfo:
    """Cite a draft and keep how it ended: done, cancelled with what was cited until then, or failed with the reason."""
    signs = _Signs(reviews, info.id, work)
    try:
        draft, pipeline = read(), open_pipeline()
        answer = _cited(pipeline, draft, work, signs, lambda done: report(done / max(1, len(draft.text))))
        answer_id = pipeline.store(answer, of_draft=True).id if answer.sentences else ""
        state = ReviewState.CANCELLED if answer.incomplete or not answer.sentences else ReviewState.DONE
        done = signs.done if state is ReviewState.CANCELLED else len(draft.text)
        reviews.end(info.id, state, answer_id, done=done)
    except PropCiteError as error:
        reviews.end(info.id, ReviewState.FAILED, reason=str(error))
    except Exception as error:  # nobody would see it in this thread
        log.exception("a draft could not be cited")
        reviews.end(info.id, ReviewState.FAILED, reason=f"{type(error).__name__}: {error}")
    except BaseException:  # an interrupt of the command
        reviews.end(info.id, ReviewState.CANCELLED)
        raise
    finally:
        signs.end()
    return reviews.find(info.id)


def _cited(pipeline: Pipeline, draft: Draft, work: Work, signs: _Signs, report: Callable[[int], object]) -> CitedAnswer:
    """Return the cited text; once the work was cancelled, with the sentences that were cited until then."""
    with work.pacing():
        stream = pipeline.propcite.stream(_pieces(draft.text), pipeline.retriever())
        try:
            for event in stream:
                if isinstance(event, SentenceCited):
                    signs.done = event.sentence.span.end
                    report(signs.done)
            is_whole = True
        except LeftError:
            is_whole = False
        finally:
            stream.close()
    with interruptible(lambda: None):  # what is there is kept
        answer = replace(stream.so_far, text=draft.text)
    if not is_whole:
        note = STOPPED.format(share=signs.done / max(1, len(draft.text)))
        answer = replace(answer, incomplete=True, notes=(note, *answer.notes))
    return without_headings(answer, draft.headings)


def _pieces(text: str) -> Iterator[str]:
    yield from text.splitlines(keepends=True)


def without_headings(answer: CitedAnswer, headings: Sequence[Heading]) -> CitedAnswer:
    """Return the same answer in which headings need no support, since they state nothing.

    >>> from propcite import PropCite
    >>> from propcite.retrieval.text import Span
    >>> text = "The new barrier\\n\\nIt is 6.4 metres high."
    >>> answer = PropCite.default().cite(text, ["The barrier is 6.4 metres high."])
    >>> len(without_headings(answer, [Heading(Span(0, 15), 1)]).facts)
    1
    """
    spans = sorted(heading.span for heading in headings)

    def proposition(cited: CitedProposition) -> CitedProposition:
        return CitedProposition(replace(cited.proposition, check_worthy=False), None)

    def sentence(one: CitedSentence) -> CitedSentence:
        before = bisect_right(spans, one.span.start, key=lambda span: span.start)
        if not before or one.span.end > spans[before - 1].end:
            return one
        return replace(one, propositions=tuple(map(proposition, one.propositions)))

    return replace(answer, sentences=tuple(map(sentence, answer.sentences)))


class _Signs:
    """Says in the database every few seconds how far the citing is, and ends it once it was cancelled there."""

    def __init__(self, reviews: Reviews, id_: str, work: Work) -> None:
        self.done = 0
        self._reviews, self._id, self._work = reviews, id_, work
        self._ended = Event()
        Thread(target=self._run, name="propcite-review-signs", daemon=True).start()

    def end(self) -> None:
        self._ended.set()

    def _run(self) -> None:
        while not self._ended.wait(SIGN_S):
            try:
                if not self._reviews.report(self._id, self.done) and not self._ended.is_set():
                    self._work.cancel()
            except PropCiteError as error:  # the next sign may come through
                log.warning("a draft gave no sign: %s", error)
