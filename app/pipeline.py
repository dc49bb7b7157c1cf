"""The main path: retrieve, write, cite, keep."""

from __future__ import annotations

import shlex
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from app.errors import AppError, NotFoundError, StoreError
from app.generators import Generator
from app.store import CollectionInfo, Library
from attribution.citations import CitedAnswer
from attribution.events import AnswerDone, Event
from attribution.propcite import PropCite
from attribution.repair import repair
from attribution.repaired import Repaired
from attribution.stream import cite_stream
from retrieval.retriever import Retriever
from retrieval.text import Granularity, Hit, Passage


@dataclass(frozen=True, slots=True)
class Pipeline:
    """One collection's parts, chosen in bootstrap.  `open_retriever` gives the collection as it is now."""

    library: Library
    collection: CollectionInfo
    open_retriever: Callable[[], Retriever]
    generator: Generator
    propcite: PropCite
    num_passages: int = 8
    within: frozenset[str] | None = None  # the passages that may be looked at, None for all

    def search(
        self,
        text: str,
        granularity: Granularity = Granularity.PASSAGE,
        k: int = 10,
        timings: dict[str, float] | None = None,
    ) -> list[Hit]:
        return self._retriever().search(_needed(text, "a search"), granularity, k, timings)

    def answer(self, question: str) -> CitedAnswer:
        """Answer a question from the collection, every fact cited from the passages that the answer was made from."""
        question = _needed(question, "a question")
        start = time.perf_counter()
        retriever = self._retriever()
        shown = retriever.only(hit.passage.id for hit in retriever.search(question, k=self.num_passages))
        retrieved = time.perf_counter()
        draft = self.generator.generate(question, shown)
        written = time.perf_counter()
        answer = self.propcite.cite(draft.text, shown, collection=retriever, question=question)
        timings = {"retrieve": _ms(start, retrieved), "write": _ms(retrieved, written), **answer.timings_ms}
        models = {**answer.models, "generator": self.generator.name}
        return self._kept(replace(answer, abstained=draft.abstained, timings_ms=timings, models=models))

    def cite(self, text: str, passages: Sequence[Passage] = (), *, question: str = "") -> CitedAnswer:
        """Cite any text over the whole collection; with passages that it was written from, over these first."""
        text, retriever = _needed(text, "a text to cite"), self._retriever()
        if not passages:
            return self._kept(self.propcite.cite(text, retriever, question=question))
        return self._kept(self.propcite.cite(text, passages, collection=retriever, question=question))

    def cite_stream(self, texts: Iterable[str], *, strip_markers: bool = False) -> Iterator[Event]:
        """Cite a text over the whole collection while it is being written."""
        with cite_stream(self.propcite, texts, self._retriever(), strip_markers=strip_markers) as stream:
            for event in stream:
                if isinstance(event, AnswerDone) and event.answer.text.strip():
                    event = AnswerDone(self._kept(event.answer))
                yield event

    def repair(self, text: str, passages: Sequence[Passage]) -> Repaired:
        """Check a text's markers for these passages, and cite what they leave out, over the collection too."""
        found = repair(self.propcite, _needed(text, "a text to repair"), passages, collection=self._retriever())
        return replace(found, answer=self._kept(found.answer))

    def _kept(self, cited: CitedAnswer) -> CitedAnswer:
        answer = replace(cited, collection=self.collection.name)
        self.library.keep_answer(self.collection, answer)
        return answer

    def _retriever(self) -> Retriever:
        name, quoted = self.collection.name, shlex.quote(self.collection.name)
        if self.library.is_empty(self.collection):  # before any model loads
            raise NotFoundError(f"the collection {name!r} is empty: propcite ingest PATH --collection {quoted}")
        retriever = self.open_retriever()
        if not retriever.index.ids():
            raise StoreError(f"the index of {name!r} is gone: run propcite reindex --collection {quoted}")
        return retriever if self.within is None else retriever.only(self.within)


def _needed(text: str, what: str) -> str:
    if not text.strip():
        raise AppError(f"{what} needs some words")
    return text.encode(errors="replace").decode()  # half of a surrogate pair, as of a bad byte on the command line


def _ms(start: float, end: float) -> float:
    return round(1000 * (end - start), 2)
