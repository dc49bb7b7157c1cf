"""Questions over documents, asked of the whole pipeline."""

from __future__ import annotations

import math
import statistics
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.benchmarks.answers.packages import copy_document, fetch
from tests.benchmarks.answers.questions import Place, Question, check, holds, read_documents, read_questions

from propcite.app.answering.pipeline import Pipeline
from propcite.app.errors import AppError
from propcite.app.ingest.sources import gather
from propcite.app.lab.alce.scores import length
from propcite.app.library.store import CollectionInfo
from propcite.app.parts import Parts
from propcite.app.settings import load_settings
from propcite.app.terminal_progress import counting
from propcite.attribution.citations import CitedAnswer
from propcite.retrieval.errors import PropCiteError

RIGHT, HALF, WRONG, MISSED = "right", "half", "wrong", "abstained wrongly"
NEAR = "not sure, right"  # the nearest words, said to be no more than that, hold the answer
ABSTAINED, ANSWERED = "abstained rightly", "answered the unanswerable"
VERDICTS = (RIGHT, HALF, WRONG, NEAR, MISSED, ABSTAINED, ANSWERED)
COLLECTION = "documents"


@dataclass(frozen=True, slots=True)
class Asked:
    """A question with its answer and what it is worth.

    `cited` are the places of the documents that the answer cites, `first` says whether its first sentence is the right
    one.
    """

    question: Question
    answer: CitedAnswer
    verdict: str
    cited: tuple[Place, ...]
    first: bool
    ms: float
    cpu_ms: float

    @property
    def words(self) -> int:
        return length(self.answer.text)


@dataclass(frozen=True, slots=True)
class Measured:
    """All answers, with the number of documents and passages they were asked of and the seconds of the ingest."""

    asked: Sequence[Asked]
    num_documents: int
    num_passages: int
    ingest_s: float

    @property
    def ms(self) -> tuple[float, float]:
        """Return the median and the 95th percentile of the milliseconds per question."""
        return _median_and_p95([one.ms for one in self.asked])

    @property
    def cpu_ms(self) -> tuple[float, float]:
        """Return the same of the processor's milliseconds, which other work on the machine lengthens less."""
        return _median_and_p95([one.cpu_ms for one in self.asked])


def measure(cache: Path, name: str) -> Measured:
    """Fetch a set's documents, check its questions, ingest in a temporary data directory and ask each question once."""
    places, questions = read_documents(name), read_questions(name)
    fetch([package for package, _ in places], cache)
    with tempfile.TemporaryDirectory(prefix="propcite-answers-") as folder:
        copies = {place: copy_document(*place, cache, Path(folder, "files")) for place in places}
        check(questions, copies)
        parts = Parts(load_settings(data_dir=Path(folder, "data"), generator="extractive", database=""))
        try:
            collection = parts.library.create_collection(COLLECTION)
            start = time.perf_counter()
            ingest(parts, collection, Path(folder, "files"))
            ingest_s = time.perf_counter() - start
            by_path = {str(path.resolve()): place for place, path in copies.items()}
            documents = {info.id: by_path[info.source] for info in parts.library.documents(collection)}
            num_passages = sum(info.num_passages for info in parts.library.documents(collection))
            pipeline = parts.pipeline(collection)
            pipeline.answer(questions[0].text)  # models load with the first question
            asked: list[Asked] = []
            with counting(len(questions), "asking") as advance:
                for question in questions:
                    asked.append(_ask(question, pipeline, documents))
                    advance("asking")
        finally:
            parts.library.close()
    return Measured(asked, len(places), num_passages, ingest_s)


def verdict(question: Question, text: str, *, abstained: bool, cited: Sequence[Place]) -> str:
    """Return what an answer is worth; one that does not cite the question's document is wrong, whatever it says."""
    if question.place is None:
        return ABSTAINED if abstained else ANSWERED
    found = question.num_found(text) if question.place in cited else 0
    if abstained:
        return NEAR if found == len(question.parts) else MISSED
    return RIGHT if found == len(question.parts) else HALF if found else WRONG


def ingest(parts: Parts, collection: CollectionInfo, files: Path) -> None:
    sources, failed = gather([files])
    outcomes = [*failed, *parts.ingester(collection).ingest(sources)]
    reason = next((outcome.reason for outcome in outcomes if outcome.state == "failed"), "")
    if reason:
        raise AppError(f"a document could not be ingested: {reason}")


def _ask(question: Question, pipeline: Pipeline, documents: Mapping[str, Place]) -> Asked:
    start, cpu = time.perf_counter(), time.process_time()
    try:
        answer = pipeline.answer(question.text)
    except PropCiteError as error:
        raise AppError(f"{question.text!r} could not be answered: {error}") from error
    ms, cpu_ms = 1000 * (time.perf_counter() - start), 1000 * (time.process_time() - cpu)
    cited = tuple(dict.fromkeys(documents[c.passage.document_id] for c in answer.citations))
    worth = verdict(question, answer.text, abstained=answer.abstained, cited=cited)
    return Asked(question, answer, worth, cited, _right_first(question, answer), ms, cpu_ms)


def _median_and_p95(times: Sequence[float]) -> tuple[float, float]:
    return statistics.median(times), sorted(times)[math.ceil(0.95 * len(times)) - 1]


def _right_first(question: Question, answer: CitedAnswer) -> bool:
    """Return whether the answer's first sentence holds one of the question's, or stands in it; not a lone "Yes."."""
    if answer.abstained or not answer.sentences or not question.answerable:
        return False
    first = answer.sentences[0].span.of(answer.text)
    return any(
        holds(first, sentence) or (length(first) > 1 and holds(sentence, first)) for sentence in question.sentences
    )
