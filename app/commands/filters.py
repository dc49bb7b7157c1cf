"""Batch filters: one JSON object a line in and out, in order, as they come; a bad line answers with its error."""

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
from propcite.attribution.judges import Case, Judge
from propcite.attribution.propcite import PropCite
from propcite.attribution.propositions import Splitter
from propcite.retrieval.errors import PropCiteError
from propcite.retrieval.retriever import Retriever
from propcite.retrieval.splitter import passage_from_text
from propcite.retrieval.text import Passage

MOST_LINES = 32  # lines answered together when so many are waiting


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
    """A line that is not of its kind, and why."""

    reason: str


Answer = dict[str, Any]
Work = Callable[[Sequence[Line]], list[Answer]]


def run(
    lines: TextIO,
    write: Callable[[str], object],
    kind: type[Line],
    work: Work[Line],
    most: int = MOST_LINES,
) -> int:
    """Answer every line.  -> how many were bad"""
    adapter: TypeAdapter[Line] = TypeAdapter(kind)
    bad = 0
    for batch in waiting_together(lines, most):
        read = [_read(line, adapter) for line in batch]
        good = iter(_work([r for r in read if not isinstance(r, BadLine)], work))
        for entry in read:
            answer: Answer = {"error": entry.reason} if isinstance(entry, BadLine) else next(good)
            bad += "error" in answer
            write(json.dumps(answer, ensure_ascii=False) + "\n")
    return bad


def _read(line: str, adapter: TypeAdapter[Line]) -> Any:
    """The line as its kind, or what is wrong with it."""
    try:
        return adapter.validate_json(line)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(str(part) for part in first["loc"])
        return BadLine(f"{place}: {first['msg']}" if place else first["msg"])


def _work(lines: Sequence[Line], work: Work[Line]) -> list[Answer]:
    """All lines in one batch; when that fails, one by one, so that only the culprit gets the error."""
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
    """After the last line, and the error if there is one that ended them."""

    error: Exception | None = None


def waiting_together(lines: Iterable[str], most: int) -> Iterator[list[str]]:
    """Lines in groups of those that have arrived, so a lone line never waits.  Blank ones are passed over."""
    arrived: queue.Queue[str | _End] = queue.Queue(maxsize=4 * most)

    def read() -> None:
        try:
            for line in lines:
                if line.strip():
                    arrived.put(line)
            arrived.put(_End())
        except Exception as error:  # raised again where the lines are answered: here nobody would hear it
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
    cases = [Case(line["claim"], tuple(line["evidence"]), line.get("context", "")) for line in lines]
    verdicts = judge.judge(cases)
    return [{"support": v.probability, "verdict": v.label.value, "reason": v.reason} for v in verdicts]


def passages_of(lines: Sequence[PassageLine]) -> list[Passage]:
    """The passages that a caller gives; one without an id is known by its number, from 1."""
    taken = {str(line["id"]) for line in lines if "id" in line}
    names = [str(line["id"]) if "id" in line else free_id(number, taken) for number, line in enumerate(lines, start=1)]
    return [
        passage_from_text(name, line["text"], line.get("title", "")) for name, line in zip(names, lines, strict=True)
    ]


def cite(propcite: PropCite, lines: Sequence[CiteLine], collection: Retriever | None = None) -> list[Answer]:
    """All in one batch; what their passages do not support is looked for in the collection, if there is one."""
    answers = [(line["answer"], passages_of(line["passages"]), line.get("question", "")) for line in lines]
    return [_told(cited) for cited in propcite.cite_many(answers, collection=collection)]


def _told(cited: CitedAnswer | PropCiteError) -> Answer:
    return {"error": str(cited)} if isinstance(cited, PropCiteError) else dict(to_dict(cited))


def repair(propcite: PropCite, lines: Sequence[CiteLine], collection: Retriever | None = None) -> list[Answer]:
    """The answers' own markers, which count the passages from 1, checked and mended."""
    answers: list[Answer] = []
    for line in lines:
        passages = passages_of(line["passages"])
        question = line.get("question", "")
        repaired = propcite.repair(line["answer"], passages, collection=collection, question=question)
        answers.append(dict(repair_json(repaired)))
    return answers


def ask(pipeline: Pipeline, lines: Sequence[AskLine]) -> list[Answer]:
    """The questions answered in one batch and kept; one that fails has its reason."""
    return [_told(answer) for answer in pipeline.answer_many([line["question"] for line in lines])]
