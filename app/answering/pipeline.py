"""The main path of an answer: retrieve, write, cite, store."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable, Iterator, Sequence, Sized
from dataclasses import dataclass, replace
from functools import partial
from itertools import repeat

from propcite.app.answering.finding import found_passages
from propcite.app.answering.generators import Draft, GenerationContext, Generator
from propcite.app.answering.running import AnswerStream
from propcite.app.errors import AppError, NotFoundError, StoreError
from propcite.app.library.store import CollectionInfo, Library
from propcite.app.storable_text import storable
from propcite.attribution.citations import CitedAnswer
from propcite.attribution.citing.alternatives import Alternative
from propcite.attribution.citing.repaired import MarkerState, Repaired
from propcite.attribution.citing.stream import CitedStream
from propcite.attribution.events import AnswerDone, Event
from propcite.attribution.propcite import PropCite
from propcite.attribution.questions.relevance import read_in_sources, unanswered
from propcite.retrieval.alignment import Alignment
from propcite.retrieval.errors import PropCiteError
from propcite.retrieval.index.allowed import Allowed
from propcite.retrieval.interrupting import in_turn
from propcite.retrieval.retriever import Retriever
from propcite.retrieval.text import Granularity, Hit, Passage
from propcite.retrieval.timing import StepReport, Timer, shared
from propcite.retrieval.words.query import Way

MAX_TURNS = 6  # of a conversation, from which a question is understood


@dataclass(frozen=True, slots=True)
class _Request:
    """A question with everything its answer is made from.

    `understood` is the question as it stands alone, `context` what the generator gets, `timer` the steps so far.
    """

    question: str
    understood: str
    context: GenerationContext
    collection: Retriever
    timer: Timer


@dataclass(frozen=True, slots=True)
class Pipeline:
    """Searches, answers and cites over one collection, and stores what it cites.

    `open_retriever` returns the collection as it is now.  `open_generator` is called by the first question: searching
    and citing need no language model.  `within` limits everything to these passages; None allows all.
    """

    library: Library
    collection: CollectionInfo
    open_retriever: Callable[[], Retriever]
    open_generator: Callable[[], Generator]
    propcite: PropCite
    num_passages: int = 8
    within: Allowed | None = None

    def search(
        self,
        text: str,
        granularity: Granularity = Granularity.PASSAGE,
        k: int = 10,
        timer: Timer | None = None,
        *,
        alignment: Alignment | None = None,
        way: Way | None = None,
    ) -> list[Hit]:
        """Return the k nearest units, best first, under the collection's alignment and way or the given ones.

        Every hit has the words that the text puts in double quotes.
        """
        retriever = self.retriever()
        if alignment is not None:
            retriever = replace(retriever, alignment=alignment)
        retriever = retriever.by(way or retriever.way)
        with Timer()("retrieve"), in_turn(len(text)):
            hits = retriever.search(_required(text, "a search"), granularity, k, timer, phrases=True)
        refuse_partial(retriever)
        return hits

    def answer(self, question: str, after: str = "") -> CitedAnswer:
        """Answer a question, with every fact cited from the passages that the answer was written from.

        `after` is the id of an answer that the question follows: what the question leaves out is filled from there.
        """
        request = self._request(question, self.retriever(), after)
        writing = Timer()
        with writing("write"):
            draft = self.open_generator().generate_many([(request.understood, request.context)])[0]
        if isinstance(draft, PropCiteError):
            raise draft
        with in_turn(len(draft.text)):
            answer = self.propcite.cite(
                draft.text, request.context.retriever, collection=request.collection, question=request.understood
            )
        return self._finished(request, answer, draft, writing)

    def answer_stream(self, question: str, after: str = "", report: StepReport | None = None) -> AnswerStream:
        """Answer while the text is written: text as it comes, each sentence's citations, the answer as it is stored.

        A question that cannot be answered raises here; errors of the writing are raised where events are read.
        `report` gets the steps before the writing, the stream's `steps` hold the others.
        """
        request = self._request(question, self.retriever(), after, report)

        def cite(pieces: Iterable[str]) -> CitedStream:
            source, collection = request.context.retriever, request.collection
            return self.propcite.stream(pieces, source, collection=collection, question=request.understood)

        writing = self.open_generator().stream(request.understood, request.context)
        return AnswerStream(writing, cite, lambda *answer: self._finished(request, *answer))

    def answer_many(self, questions: Sequence[str]) -> list[CitedAnswer | PropCiteError]:
        """Answer many questions, written and cited in one batch; one that fails has its error in its place."""
        retriever = self.retriever()
        requests = [self._request_or_error(question, retriever) for question in questions]
        timers = [Timer() for _ in requests]
        with shared("write", timers):
            drafts = self._drafts(requests)
        written = [
            (request, draft, timer)
            for request, draft, timer in zip(requests, drafts, timers, strict=True)
            if isinstance(request, _Request) and isinstance(draft, Draft)
        ]
        texts = [(draft.text, request.context.retriever, request.understood) for request, draft, _ in written]
        cited = self.propcite.cite_many(texts, collection=retriever)
        answers = (
            answer if isinstance(answer, PropCiteError) else self._finished(request, answer, draft, timer)
            for (request, draft, timer), answer in zip(written, cited, strict=True)
        )
        return [draft if isinstance(draft, PropCiteError) else next(answers) for draft in drafts]

    def cite(self, text: str, passages: Sequence[Passage] = (), *, question: str = "") -> CitedAnswer:
        """Cite any text over the whole collection; with passages that it was written from, over these first."""
        text, retriever = _required(text, "a text to cite"), self.retriever()
        source, collection = (passages, retriever) if passages else (retriever, None)
        with in_turn(len(text) + sum(len(p.text) for p in passages)):
            cited = self.propcite.cite(text, source, collection=collection, question=question)
        return self.store(cited)

    def cite_stream(
        self,
        texts: Iterable[str],
        passages: Sequence[Passage] = (),
        *,
        question: str = "",
        strip_markers: bool = False,
    ) -> Iterator[Event]:
        """Cite a text while it is written, as `cite` does."""
        whole = self.retriever()
        source, collection = (passages, whole) if passages else (whole, None)
        with self.propcite.stream(
            texts, source, collection=collection, question=question, strip_markers=strip_markers
        ) as stream:
            for event in stream:
                if isinstance(event, AnswerDone) and event.answer.text.strip():
                    event = AnswerDone(self.store(event.answer))
                yield event

    def alternatives(
        self, answer: CitedAnswer, fact: str | int, granularity: Granularity = Granularity.SENTENCE, k: int = 8
    ) -> list[Alternative]:
        """Return what else of the collection is near a fact of a stored answer, ranked and judged as it is now."""
        retriever = self.retriever()
        with in_turn():
            found = self.propcite.alternatives(answer, fact, retriever, granularity, k)
        refuse_partial(retriever)
        return found

    def repair(self, text: str, passages: Sequence[Passage], *, question: str = "") -> Repaired:
        """Check a text's markers for these passages, and cite what they leave out over the collection too."""
        text = _required(text, "a text to repair")
        with in_turn(len(text) + sum(len(p.text) for p in passages)):
            repaired = self.propcite.repair(text, passages, collection=self.retriever(), question=question)
        return replace(repaired, answer=self.store(repaired.answer))

    def store(self, cited: CitedAnswer, *, of_draft: bool = False) -> CitedAnswer:
        """Store an answer in the library as one over this collection, and return it with the collection's name.

        One `of_draft` goes with its drafts.
        """
        answer = replace(cited, collection=self.collection.name)
        self.library.save_answer(self.collection, answer, of_draft=of_draft)
        return answer

    def retriever(self) -> Retriever:
        """Return the collection as it is now; an empty one raises NotFoundError before any model loads."""
        refuse_empty(self.library, self.collection)
        retriever = self.open_retriever()
        refuse_empty(self.library, self.collection, retriever.index)
        return retriever if self.within is None else retriever.only(self.within)

    def _request(
        self, question: str, collection: Retriever, after: str = "", report: StepReport | None = None
    ) -> _Request:
        """Understand the question and retrieve the passages that its answer will be made from."""
        question = understood = _required(question, "a question")
        timer = Timer(report)
        turns = self.library.conversation(after, self.collection)[-MAX_TURNS:] if after else []
        if turns:
            with timer("understand"):
                understood = self.open_generator().understand(question, turns)
        with in_turn(len(understood)), timer("retrieve"):
            before = turns[-1].understood if turns else ""
            found = found_passages(collection, understood, self.num_passages, before)
            everywhere = collection.only(place.passage.id for hit in found for place in hit.everywhere)
            passages = tuple(hit.passage for hit in found)
            context = GenerationContext(
                passages, everywhere, tuple(turns), partial(self._supports, understood, everywhere)
            )
        return _Request(question, understood, context, collection, timer)

    def _supports(self, question: str, shown: Retriever, words: str) -> bool:
        """Return whether what is shown supports words as the answer to a question."""
        facts = self.propcite.cite(words, shown, question=question).facts
        return all(fact.citations for fact in facts)

    def _request_or_error(self, question: str, collection: Retriever) -> _Request | PropCiteError:
        try:
            return self._request(question, collection)
        except PropCiteError as error:
            return error

    def _drafts(self, requests: Sequence[_Request | PropCiteError]) -> list[Draft | PropCiteError]:
        """Return a draft or an error per request; where none can be written at all, each has that error."""
        valid = [(one.understood, one.context) for one in requests if isinstance(one, _Request)]
        try:
            drafts = iter(self.open_generator().generate_many(valid))
        except PropCiteError as error:
            drafts = repeat(error)
        return [next(drafts) if isinstance(one, _Request) else one for one in requests]

    def _finished(self, request: _Request, answer: CitedAnswer, draft: Draft, writing: Timer) -> CitedAnswer:
        """Store the answer with everything known of how it was made, and return it."""
        generator, turns = self.open_generator(), request.context.turns
        made_by = {"generator": generator.name, "prompt": generator.prompt}
        made_by |= {"understanding": generator.understanding} if turns else {}
        own_markers = self._note_on_markers(draft.given, request.context.passages) if draft.given else ""
        return self.store(
            replace(
                answer,
                question=request.question,
                abstained=draft.abstained,
                parts=unanswered(request.understood)
                if draft.abstained
                else read_in_sources(answer.parts, draft.answered),
                incomplete=draft.incomplete,
                notes=(*draft.notes, *answer.notes, *filter(None, [own_markers])),
                models={**answer.models, **{kind: name for kind, name in made_by.items() if name}},
                timings_ms={**request.timer.spent, **writing.spent, **answer.timings_ms},
                after=turns[-1].id if turns else "",
                understood=request.understood if request.understood != request.question else "",
                written_from=tuple(passage.id for passage in request.context.passages),
            )
        )

    def _note_on_markers(self, text: str, passages: Sequence[Passage]) -> str:
        """Say how many of the markers that the language model typed are right, and how many are missing."""
        with in_turn(len(text)):
            return note_on_markers(self.propcite.repair(text, passages))


def note_on_markers(repaired: Repaired) -> str:
    """Say in one line how many of an answer's own markers are right, and how many are missing."""
    right, missing = len(repaired.numbers(MarkerState.KEPT)), len(repaired.numbers(MarkerState.ADDED))
    typed = len(repaired.checks) - missing
    if not typed:
        return "the language model typed no markers of its own"
    note = f"{right} of the {typed} markers that the language model typed {'is' if right == 1 else 'are'} right"
    note = f"{note}, {missing} {'is' if missing == 1 else 'are'} missing" if missing else note
    unchecked = len(repaired.numbers(MarkerState.UNCHECKED))
    return f"{note}, {unchecked} could not be checked" if unchecked else note


def refuse_empty(library: Library, collection: CollectionInfo, index: Sized | None = None) -> None:
    """Raise an error that names the next step where a collection, or its index if one is given, is empty."""
    name, quoted = collection.name, shlex.quote(collection.name)
    if library.is_empty(collection):
        raise NotFoundError(f"the collection {name!r} is empty: propcite ingest PATH --collection {quoted}")
    if index is not None and not len(index):
        raise StoreError(f"the index of {name!r} is gone: run propcite reindex --collection {quoted}")


def refuse_partial(retriever: Retriever) -> None:
    """Raise an error where a search left documents out, and its result has no place to say so."""
    if missing := retriever.index.missing:
        raise StoreError(f"not all documents were searched ({', '.join(missing)}): try again when they are back")


def _required(text: str, what: str) -> str:
    if not text.strip():
        raise AppError(f"{what} needs some words")
    return storable(text)
