"""Batch filters: one JSON object per line in and out, in order.  A bad line is answered with its error."""

from __future__ import annotations

import json
import queue
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NotRequired, TextIO, TypeVar

from pydantic import TypeAdapter, ValidationError
from typing_extensions import TypedDict

from propcite.app.answering.pipeline import Pipeline
from propcite.attribution.citations import CitedAnswer
from propcite.attribution.citing.sources import free_id
from propcite.attribution.formats.json import to_dict
from propcite.attribution.formats.json.repairs import repair_json
from propcite.attribution.judges import Judge, plain_case
from propcite.attribution.propcite import PropCite
from propcite.attribution.propositions import Splitter
from propcite.retrieval.errors import PropCiteError
from propcite.retrieval.retriever import Retriever
from propcite.retrieval.splitter import passage_from_text
from propcite.retrieval.text import Passage

MAX_LINES = 32  # lines answered in one batch
ERROR = '{"error": '  # what the answer to a bad line begins with


class SplitLine(TypedDict):
    sentence: str
    context: NotRequired[list[str]]


class JudgeLine(TypedDict):
    claim: str
    evidence: list[str]
    context: NotRequired[str]


class PassageLine(TypedDict):
    text: str
    id: NotRequired[str | int]
    title: NotRequired[str]


class CiteLine(TypedDict):
    answer: str
    passages: list[PassageLine]
    question: NotRequired[str]


class AskLine(TypedDict):
    question: str


Line = TypeVar("Line")


@dataclass(frozen=True, slots=True)
class BadLine:
    """Why a line is invalid."""

    reason: str


Answer = dict[str, Any]
Work = Callable[[Sequence[Line]], list[Answer]]


def run(
    lines: TextIO,
    write: Callable[[str], object],
    kind: type[Line],
    work: Work[Line],
    most: int = MAX_LINES,
) -> int:
    """Answer every line and return the number of bad ones."""
    bad = 0
    for batch in waiting_together(lines, most):
        for answer in answered(kind, work, batch):
            bad += answer.startswith(ERROR)
            write(answer + "\n")
    return bad


def answered(kind: type[Line], work: Work[Line], lines: Sequence[str]) -> list[str]:
    """Answer JSON lines in one batch, each by a JSON line; a bad one by its error."""
    adapter: TypeAdapter[Line] = TypeAdapter(kind)
    read = [_read(line, adapter) for line in lines]
    good = iter(_work([r for r in read if not isinstance(r, BadLine)], work))
    answers: list[Answer] = [{"error": r.reason} if isinstance(r, BadLine) else next(good) for r in read]
    return [json.dumps(answer, ensure_ascii=False) for answer in answers]


def _read(line: str, adapter: TypeAdapter[Line]) -> Any:
    """Parse a line; BadLine if it is invalid."""
    try:
        return adapter.validate_json(line)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(str(part) for part in first["loc"])
        return BadLine(f"{place}: {first['msg']}" if place else first["msg"])


def _work(lines: Sequence[Line], work: Work[Line]) -> list[Answer]:
    """Answer all lines in one batch; if that fails, one by one, so that only the faulty line gets the error."""
    if not lines:
        return []
    try:
        return work(lines)
    except (PropCiteError, ValueError) as error:
        if len(lines) == 1:
            return [{"error": str(error)}]
        return [answer for line in lines for answer in _work([line], work)]


@dataclass(frozen=True, slots=True)
class _End:
    """The end of the input, with the error that ended it, if any."""

    error: Exception | None = None


def waiting_together(lines: Iterable[str], most: int) -> Iterator[list[str]]:
    """Yield the lines that have arrived in batches, so that a single line never waits.  Skip blank lines."""
    arrived: queue.Queue[str | _End] = queue.Queue(maxsize=4 * most)

    def read() -> None:
        try:
            for line in lines:
                if line.strip():
                    arrived.put(line)
            arrived.put(_End())
        except Exception as error:  # raised again in the main thread; here it would be lost
            arrived.put(_End(error))

    threading.Thread(target=read, daemon=True).start()
    entry: str | _End = ""
    while not isinstance(entry, _End):
        batch = []
        entry = arrived.get()
        while isinstance(entry, str):
            batch.append(entry)
            if len(batch) == most or arrived.empty():
                break
            entry = arrived.get()
        if batch:
            yield batch
    if entry.error is not None:
        raise entry.error


def split(splitter: Splitter, lines: Sequence[SplitLine]) -> list[Answer]:
    found = splitter.split_many([line["sentence"] for line in lines], [line.get("context", []) for line in lines])
    return [
        {
            "propositions": [
                {"text": p.text, "spans": [[s.start, s.end] for s in p.spans], "check_worthy": p.check_worthy}
                for p in propositions
            ]
        }
        for propositions in found
    ]


def judge(judge: Judge | None, lines: Sequence[JudgeLine]) -> list[Answer]:
    if judge is None:
        raise ValueError("no judge is set: PROPCITE_JUDGE=embedded sets one")
    cases = [plain_case(line["claim"], line["evidence"], line.get("context", "")) for line in lines]
    verdicts = judge.judge(cases)
    return [{"support": v.probability, "verdict": v.label.value, "reason": v.reason} for v in verdicts]


def passages_of(lines: Sequence[PassageLine]) -> list[Passage]:
    """Build passages from parsed lines; one without an id gets its number, from 1."""
    taken = {str(line["id"]) for line in lines if "id" in line}
    names = [str(line["id"]) if "id" in line else free_id(number, taken) for number, line in enumerate(lines, start=1)]
    return [
        passage_from_text(name, line["text"], line.get("title", "")) for name, line in zip(names, lines, strict=True)
    ]


def cite(propcite: PropCite, lines: Sequence[CiteLine], collection: Retriever | None = None) -> list[Answer]:
    """Cite all lines in one batch; facts that their passages do not support are searched in the collection, if any."""
    answers = [(line["answer"], passages_of(line["passages"]), line.get("question", "")) for line in lines]
    return [_answer_or_error(cited) for cited in propcite.cite_many(answers, collection=collection)]


def _answer_or_error(cited: CitedAnswer | PropCiteError) -> Answer:
    return {"error": str(cited)} if isinstance(cited, PropCiteError) else dict(to_dict(cited))


def repair(propcite: PropCite, lines: Sequence[CiteLine], collection: Retriever | None = None) -> list[Answer]:
    """Check and repair the answers' own markers, which number the passages from 1."""
    answers: list[Answer] = []
    for line in lines:
        passages = passages_of(line["passages"])
        question = line.get("question", "")
        repaired = propcite.repair(line["answer"], passages, collection=collection, question=question)
        answers.append(dict(repair_json(repaired)))
    return answers


def ask(pipeline: Pipeline, lines: Sequence[AskLine]) -> list[Answer]:
    """Answer and store the questions in one batch; one that fails is answered with its error."""
    return [_answer_or_error(answer) for answer in pipeline.answer_many([line["question"] for line in lines])]
