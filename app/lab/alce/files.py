"""ALCE's files: questions with documents, and results with the output to each.  What is read is written unchanged."""

from __future__ import annotations

import gzip
import hashlib
import json
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, NotRequired

from pydantic import TypeAdapter, ValidationError
from typing_extensions import TypedDict

from propcite.app.errors import AppError
from propcite.app.lab.files import digest_of
from propcite.app.library.store.runs import LONGEST_KEY
from propcite.retrieval.splitter import passage_from_text
from propcite.retrieval.text import Passage

Kind = Literal["asqa", "eli5", "qampari"]
FORM = 'ALCE\'s file is a list of {"question", "docs": [{"title", "text"}], …}, or {"args", "data": [that list]}'
ASKED: dict[str, str] = {"asqa": "qa_pairs", "eli5": "claims", "qampari": "answers"}  # what an answer is held against
IDS = ("sample_id", "id")
NAMED = 5  # items that one line of trouble names


class _Doc(TypedDict):
    text: str
    title: NotRequired[str | None]
    sent: NotRequired[str]


class _Pair(TypedDict):
    short_answers: list[str]
    question: NotRequired[str]


class _Annotation(TypedDict):
    long_answer: str


class _Item(TypedDict):
    """The fields that are looked at; all others are kept as they are."""

    question: str
    docs: NotRequired[list[_Doc] | None]
    qa_pairs: NotRequired[list[_Pair] | None]
    annotations: NotRequired[list[_Annotation] | None]
    claims: NotRequired[list[str] | None]
    answers: NotRequired[list[list[str]] | None]
    output: NotRequired[str]


@dataclass(frozen=True)
class Question:
    """One item of a file: its id, and its fields as they stand there."""

    key: str
    item: Mapping[str, Any]

    @property
    def text(self) -> str:
        return _readable(self.item["question"])

    @cached_property
    def premises(self) -> tuple[str, ...]:
        """The documents as ALCE's judge reads them."""
        return tuple(_premise(doc) for doc in self.item["docs"])

    @cached_property
    def passages(self) -> tuple[Passage, ...]:
        """The documents, known by their numbers from 1."""
        docs = enumerate(self.item["docs"], start=1)
        return tuple(
            passage_from_text(str(n), _readable(doc["text"]), _readable(doc.get("title") or "")) for n, doc in docs
        )

    @property
    def output(self) -> str:
        return _readable(self.item["output"])

    @property
    def long_answers(self) -> list[str]:
        return [_readable(one["long_answer"]) for one in self.item.get("annotations") or []]

    @property
    def references(self) -> list[str]:
        """What ROUGE compares with: ASQA's long answers, else the one answer."""
        return self.long_answers or [
            _readable(one) for one in [self.item.get("answer")] if isinstance(one, str) and one
        ]

    @property
    def short_answers(self) -> list[list[str]]:
        return [pair["short_answers"] for pair in self.item.get("qa_pairs") or []]

    @property
    def sub_questions(self) -> list[str]:
        return [_readable(pair.get("question") or "") for pair in self.item.get("qa_pairs") or []]

    def showing(self, num_docs: int) -> Question:
        """The same with its first documents alone."""
        return Question(self.key, {**self.item, "docs": self.item["docs"][:num_docs]})


@dataclass(frozen=True)
class AlceFile:
    """A file as it was read: `head` is what a result file has beside its data, None for a mere list."""

    path: Path
    digest: str
    questions: tuple[Question, ...]
    head: Mapping[str, Any] | None = None

    @property
    def name(self) -> str:
        return self.path.name

    @property
    def as_json(self) -> Any:
        items = [dict(question.item) for question in self.questions]
        return items if self.head is None else {**self.head, "data": items}


def read_alce(path: Path) -> AlceFile:
    """A file of questions or of results, gzipped or not; each question has an id of its own, and documents."""
    told = _parsed(path)
    head = {name: value for name, value in told.items() if name != "data"} if isinstance(told, dict) else None
    items = told.get("data") if isinstance(told, dict) else told
    if not isinstance(items, list) or not items:
        raise AppError(f"{path} holds no list of questions: {FORM}")
    questions = tuple(Question(_key(item), item) for item in _checked(path, items))
    _check_ids(path, questions)
    without = [question for question in questions if not question.item.get("docs")]
    if without:
        raise AppError(
            f"{path}: {len(without)} of {len(questions)} questions have no docs ({named(without)}):"
            " give the file with the passages that were retrieved for each"
        )
    return AlceFile(path, digest_of(path), questions, head)


def result_json(questions: Sequence[Question], outputs: Sequence[str], args: Mapping[str, Any]) -> dict[str, Any]:
    """What ALCE's own evaluator reads: each question with the documents shown, and its output."""
    both = zip(questions, outputs, strict=True)
    return {"args": dict(args), "data": [{**question.item, "output": output} for question, output in both]}


def write_json(path: Path, told: Any) -> None:
    """Indented as ALCE's own files are; gzipped where the name says so."""
    text = json.dumps(told, indent=4).encode()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(gzip.compress(text, mtime=0) if path.suffix == ".gz" else text)
    except OSError as error:
        raise AppError(f"{path} cannot be written ({error.strerror}): give another folder") from error


def named(questions: Sequence[Question]) -> str:
    """The first ids.

    >>> named([Question(str(n), {}) for n in range(7)])
    '0, 1, 2, 3, 4, …'
    """
    return ", ".join([*(question.key for question in questions[:NAMED]), *["…"][: len(questions) > NAMED]])


def _parsed(path: Path) -> Any:
    try:
        data = path.read_bytes()
        return json.loads(gzip.decompress(data) if path.suffix == ".gz" else data)
    except (gzip.BadGzipFile, ValueError, EOFError, zlib.error, RecursionError) as error:
        raise AppError(f"{path} is not ALCE's ({_first_line(error)}): {FORM}") from error
    except OSError as error:
        raise AppError(f"{path} cannot be read ({error.strerror or error}): give ALCE's file") from error


def _checked(path: Path, items: Sequence[Any]) -> Iterator[Mapping[str, Any]]:
    adapter: TypeAdapter[_Item] = TypeAdapter(_Item)
    for number, item in enumerate(items, start=1):
        try:
            adapter.validate_python(item, strict=True)
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            place = ".".join(map(str, first["loc"])) or "the item"
            raise AppError(f"{path}, item {number}: {place}: {first['msg']}; {FORM}") from error
        yield item


def _key(item: Mapping[str, Any]) -> str:
    """The item's id in its file; its question where it has none."""
    found = next((item[name] for name in IDS if item.get(name) not in (None, "")), item["question"])
    key = _readable(str(found))
    digest = hashlib.sha256(key.encode()).hexdigest()[:16]
    return key if len(key) <= LONGEST_KEY else f"{key[: LONGEST_KEY - 17]} {digest}"


def _check_ids(path: Path, questions: Sequence[Question]) -> None:
    seen: set[str] = set()
    for number, question in enumerate(questions, start=1):
        if not question.text.strip():
            raise AppError(f"{path}, item {number} asks nothing: {FORM}")
        if question.key in seen:
            has_id = any(question.item.get(name) for name in IDS)
            what = f"two items have the id {question.key}" if has_id else f"{question.key[:60]!r} is there twice"
            raise AppError(f"{path}, item {number}: {what}: give each item a sample_id or id of its own")
        seen.add(question.key)


def _premise(doc: Mapping[str, Any]) -> str:
    text = doc["sent"] if "sent" in doc else doc["text"]
    return _readable(f"Title: {doc.get('title') or ''}\n{text}")


def _readable(text: str) -> str:
    """Half of a surrogate pair, which JSON may hold, is no text for a model or a database; nor is a zero."""
    return text.encode(errors="replace").decode().replace("\0", "\ufffd")


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]
