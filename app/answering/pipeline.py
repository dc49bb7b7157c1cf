"""The main path: retrieve, write, cite, keep."""

from __future__ import annotations

import shlex
import time
from collections.abc import Callable, Iterable, Iterator, Sequence, Sized
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import repeat

from propcite.app.answering.generators import Draft, Generator, Shown
from propcite.app.answering.own_markers import marks_told
from propcite.app.answering.running import AnswerStream
from propcite.app.answering.steps import Watch, nobody
from propcite.app.errors import AppError, NotFoundError, StoreError
from propcite.app.library.store import CollectionInfo, Library
from propcite.attribution.citations import CitedAnswer
from propcite.attribution.citing.alternatives import Alternative
from propcite.attribution.citing.repaired import Repaired
from propcite.attribution.citing.stream import CitedStream
from propcite.attribution.events import AnswerDone, Event
from propcite.attribution.propcite import PropCite
from propcite.retrieval.alignment import Alignment
from propcite.retrieval.errors import PropCiteError
from propcite.retrieval.retriever import Retriever
from propcite.retrieval.text import Granularity, Hit, Passage

MOST_TURNS = 6  # of a conversation that a question is understood from


@dataclass(frozen=True, slots=True)
class _Asked:
    """A question, as it was asked and as it stands alone, what its answer is made from, the whole collection, and the
    milliseconds of each step until here."""

    question: str
    understood: str
    shown: Shown
    collection: Retriever
    spent: dict[str, float]


@dataclass(frozen=True, slots=True)
class Pipeline:
    """One collection's parts, chosen in bootstrap.  `open_retriever` gives the collection as it is now.

    The generator is opened by the first question: who only searches or cites needs no language model.
    """

    library: Library
    collection: CollectionInfo
    open_retriever: Callable[[], Retriever]
    open_generator: Callable[[], Generator]
    propcite: PropCite
    num_passages: int = 8
    within: frozenset[str] | None = None  # the passages that may be looked at, None for all

    def search(
        self,
        text: str,
        granularity: Granularity = Granularity.PASSAGE,
        k: int = 10,
        timings: dict[str, float] | None = None,
        *,
        alignment: Alignment | None = None,
    ) -> list[Hit]:
        """The nearest units; under an `alignment`, where one is given that is not the collection's."""
        retriever = self.retriever()
        if alignment is not None:
            retriever = replace(retriever, alignment=alignment)
        return retriever.search(_needed(text, "a search"), granularity, k, timings)

    def answer(self, question: str, after: str = "") -> CitedAnswer:
        """Answer a question from the collection, every fact cited from the passages that the answer was made from.

        `after` is the answer, by its id, that the question goes on from: what it leaves out is filled from there.
        """
        asked = self._asked(question, self.retriever(), after)
        start = time.perf_counter()
        draft = self.open_generator().generate_many([(asked.understood, asked.shown)])[0]
        if isinstance(draft, PropCiteError):
            raise draft
        spent = _ms(start, time.perf_counter())
        answer = self.propcite.cite(
            draft.text, asked.shown.retriever, collection=asked.collection, question=asked.question
        )
        return self._finished(asked, answer, draft, spent)

    def answer_stream(self, question: str, after: str = "", watch: Watch = nobody) -> AnswerStream:
        """The same while it is written: text as it comes, each sentence's citations, then the answer as it is kept.

        A question that cannot be asked is told here, trouble with the writing where the events are read.  `watch`
        hears of the steps before the writing, the stream's `steps` tell the others.
        """
        asked = self._asked(question, self.retriever(), after, watch)

        def cite(pieces: Iterable[str]) -> CitedStream:
            over, collection = asked.shown.retriever, asked.collection
            return self.propcite.stream(pieces, over, collection=collection, question=asked.question)

        writing = self.open_generator().stream(asked.understood, asked.shown)
        return AnswerStream(writing, cite, lambda *answer: self._finished(asked, *answer))

    def answer_many(self, questions: Sequence[str]) -> list[CitedAnswer | PropCiteError]:
        """Many questions, written in one batch and cited in one; one that fails has its error in its place."""
        retriever = self.retriever()
        asked = [self._asked_or_why_not(question, retriever) for question in questions]
        start = time.perf_counter()
        drafts = self._drafts(asked)
        spent = _ms(start, time.perf_counter()) / max(1, len(drafts))  # of the whole batch, in equal shares
        both = [(a, d) for a, d in zip(asked, drafts, strict=True) if isinstance(a, _Asked) and isinstance(d, Draft)]
        texts = [(draft.text, one.shown.retriever) for one, draft in both]
        cited = self.propcite.cite_many(texts, collection=retriever)
        done = (
            answer if isinstance(answer, PropCiteError) else self._finished(one, answer, draft, spent)
            for (one, draft), answer in zip(both, cited, strict=True)
        )
        return [draft if isinstance(draft, PropCiteError) else next(done) for draft in drafts]

    def cite(self, text: str, passages: Sequence[Passage] = (), *, question: str = "") -> CitedAnswer:
        """Cite any text over the whole collection; with passages that it was written from, over these first."""
        text, retriever = _needed(text, "a text to cite"), self.retriever()
        if not passages:
            return self.keep(self.propcite.cite(text, retriever, question=question))
        return self.keep(self.propcite.cite(text, passages, collection=retriever, question=question))

    def cite_stream(
        self, texts: Iterable[str], passages: Sequence[Passage] = (), *, strip_markers: bool = False
    ) -> Iterator[Event]:
        """The same while the text is being written."""
        whole = self.retriever()
        first, then = (passages, whole) if passages else (whole, None)
        with self.propcite.stream(texts, first, collection=then, strip_markers=strip_markers) as stream:
            for event in stream:
                if isinstance(event, AnswerDone) and event.answer.text.strip():
                    event = AnswerDone(self.keep(event.answer))
                yield event

    def alternatives(
        self, answer: CitedAnswer, fact: str | int, granularity: Granularity = Granularity.SENTENCE, k: int = 8
    ) -> list[Alternative]:
        """What else of the collection comes near a fact of a kept answer, ranked and judged as it is now."""
        return self.propcite.alternatives(answer, fact, self.retriever(), granularity, k)

    def repair(self, text: str, passages: Sequence[Passage]) -> Repaired:
        """Check a text's markers for these passages, and cite what they leave out, over the collection too."""
        found = self.propcite.repair(_needed(text, "a text to repair"), passages, collection=self.retriever())
        return replace(found, answer=self.keep(found.answer))

    def keep(self, cited: CitedAnswer) -> CitedAnswer:
        """The answer as one over this collection, in the library."""
        answer = replace(cited, collection=self.collection.name)
        self.library.keep_answer(self.collection, answer)
        return answer

    def retriever(self) -> Retriever:
        """The collection as it is now; an empty one is told before any model loads."""
        refuse_empty(self.library, self.collection)
        retriever = self.open_retriever()
        refuse_empty(self.library, self.collection, retriever.index)
        return retriever if self.within is None else retriever.only(self.within)

    def _asked(self, question: str, collection: Retriever, after: str = "", watch: Watch = nobody) -> _Asked:
        """The question with the passages that its answer will be made from."""
        question = understood = _needed(question, "a question")
        spent: dict[str, float] = {}
        before = self.library.conversation(after, self.collection)[-MOST_TURNS:] if after else []
        if before:
            with _step("understand", spent, watch):
                understood = self.open_generator().understand(question, before)
        with _step("retrieve", spent, watch):
            passages = tuple(hit.passage for hit in collection.search(understood, k=self.num_passages))
            shown = Shown(passages, collection.only(passage.id for passage in passages), tuple(before))
        return _Asked(question, understood, shown, collection, spent)

    def _asked_or_why_not(self, question: str, collection: Retriever) -> _Asked | PropCiteError:
        try:
            return self._asked(question, collection)
        except PropCiteError as error:
            return error

    def _drafts(self, asked: Sequence[_Asked | PropCiteError]) -> list[Draft | PropCiteError]:
        """A draft for each question; where none can be written at all, each has the reason."""
        good = [(one.understood, one.shown) for one in asked if isinstance(one, _Asked)]
        try:
            written = iter(self.open_generator().generate_many(good))
        except PropCiteError as error:
            written = repeat(error)
        return [next(written) if isinstance(one, _Asked) else one for one in asked]

    def _finished(self, asked: _Asked, answer: CitedAnswer, draft: Draft, spent: float) -> CitedAnswer:
        """The answer with all that is known of how it was made, as it is kept."""
        generator, before = self.open_generator(), asked.shown.before
        made_by = {"generator": generator.name, "prompt": generator.prompt}
        made_by |= {"understanding": generator.understanding} if before else {}
        own = marks_told(self.propcite, draft.given, asked.shown.passages) if draft.given else ""
        return self.keep(
            replace(
                answer,
                question=asked.question,
                abstained=draft.abstained,
                incomplete=draft.incomplete,
                notes=(*draft.notes, *answer.notes, *filter(None, [own])),
                models={**answer.models, **{kind: name for kind, name in made_by.items() if name}},
                timings_ms={**asked.spent, "write": round(spent, 2), **answer.timings_ms},
                after=before[-1].id if before else "",
                understood=asked.understood if asked.understood != asked.question else "",
                written_from=tuple(passage.id for passage in asked.shown.passages),
            )
        )


def refuse_empty(library: Library, collection: CollectionInfo, index: Sized | None = None) -> None:
    """Tell what to do where there is nothing to search; of the index only where it is given."""
    name, quoted = collection.name, shlex.quote(collection.name)
    if library.is_empty(collection):
        raise NotFoundError(f"the collection {name!r} is empty: propcite ingest PATH --collection {quoted}")
    if index is not None and not len(index):
        raise StoreError(f"the index of {name!r} is gone: run propcite reindex --collection {quoted}")


def _needed(text: str, what: str) -> str:
    if not text.strip():
        raise AppError(f"{what} needs some words")
    # Half of a surrogate pair, as of a bad byte on the command line; a zero, which PostgreSQL does not keep.
    return text.encode(errors="replace").decode().replace("\0", "\ufffd")


@contextmanager
def _step(name: str, spent: dict[str, float], watch: Watch) -> Iterator[None]:
    """A step that is timed, and told when it begins and when it has ended."""
    watch(name, None)
    start = time.perf_counter()
    yield
    spent[name] = _ms(start, time.perf_counter())
    watch(name, spent[name])


def _ms(start: float, end: float) -> float:
    return round(1000 * (end - start), 2)
