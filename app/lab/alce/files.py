"""ALCE's files: questions with documents, and results with an output for each; fields are written as they were read."""

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
from propcite.app.lab.runs.inputs import file_digest, first_error
from propcite.app.library.store.runs import MAX_KEY_LENGTH
from propcite.app.storable_text import storable
from propcite.retrieval.splitter import passage_from_text
from propcite.retrieval.text import Passage

Kind = Literal["asqa", "eli5", "qampari"]
FORM = 'ALCE\'s file is a list of {"question", "docs": [{"title", "text"}], …}, or {"args", "data": [that list]}'
REQUIRED_FIELDS: dict[Kind, str] = {"asqa": "qa_pairs", "eli5": "claims", "qampari": "answers"}  # of correct answers
IDS = ("sample_id", "id")
MAX_LISTED = 5  # items in one message


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
    """The fields that are used; all others are kept as they are."""

    question: str
    docs: NotRequired[list[_Doc] | None]
    qa_pairs: NotRequired[list[_Pair] | None]
    annotations: NotRequired[list[_Annotation] | None]
    claims: NotRequired[list[str] | None]
    answers: NotRequired[list[list[str]] | None]
    output: NotRequired[str]


@dataclass(frozen=True)
class Question:
    """One item of a file: its id and its fields as in the file."""

    key: str
    item: Mapping[str, Any]

    @property
    def text(self) -> str:
        return storable(self.item["question"])

    @cached_property
    def premises(self) -> tuple[str, ...]:
        """Return the documents as ALCE's judge reads them."""
        return tuple(_premise(doc) for doc in self.item["docs"])

    @cached_property
    def passages(self) -> tuple[Passage, ...]:
        """Return the documents; their ids are their numbers from 1."""
        docs = enumerate(self.item["docs"], start=1)
        return tuple(
            passage_from_text(str(n), storable(doc["text"]), storable(doc.get("title") or "")) for n, doc in docs
        )

    @property
    def output(self) -> str:
        return storable(self.item["output"])

    @property
    def long_answers(self) -> list[str]:
        return [storable(one["long_answer"]) for one in self.item.get("annotations") or []]

    @property
    def references(self) -> list[str]:
        """Return the texts that ROUGE compares with: ASQA's long answers, else the only answer."""
        return self.long_answers or [storable(one) for one in [self.item.get("answer")] if isinstance(one, str) and one]

    @property
    def short_answers(self) -> list[list[str]]:
        return [pair["short_answers"] for pair in self.item.get("qa_pairs") or []]

    @property
    def sub_questions(self) -> list[str]:
        return [storable(pair.get("question") or "") for pair in self.item.get("qa_pairs") or []]

    def with_docs(self, num_docs: int) -> Question:
        """Return the question with its first documents only."""
        return Question(self.key, {**self.item, "docs": self.item["docs"][:num_docs]})


@dataclass(frozen=True)
class AlceFile:
    """A parsed file; `head` has the fields beside a result file's data, None if the file is a plain list."""

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
    """Read a file of questions or of results, gzipped or not; each question needs its own id and documents."""
    content = _parse(path)
    head = {name: value for name, value in content.items() if name != "data"} if isinstance(content, dict) else None
    items = content.get("data") if isinstance(content, dict) else content
    if not isinstance(items, list) or not items:
        raise AppError(f"{path} holds no list of questions: {FORM}")
    questions = tuple(Question(_key(item), item) for item in _checked(path, items))
    _check_questions(path, questions)
    without = [question for question in questions if not question.item.get("docs")]
    if without:
        raise AppError(
            f"{path}: {len(without)} of {len(questions)} questions have no docs ({list_ids(without)}):"
            " give the file with the passages that were retrieved for each"
        )
    return AlceFile(path, file_digest(path), questions, head)


def result_json(questions: Sequence[Question], outputs: Sequence[str], args: Mapping[str, Any]) -> dict[str, Any]:
    """Return the content of a result file for ALCE's own evaluator: questions with their documents and outputs."""
    pairs = zip(questions, outputs, strict=True)
    return {"args": dict(args), "data": [{**question.item, "output": output} for question, output in pairs]}


def write_json(path: Path, content: Any) -> None:
    """Write a file indented like ALCE's, gzipped if its name says so."""
    text = json.dumps(content, indent=4).encode()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(gzip.compress(text, mtime=0) if path.suffix == ".gz" else text)
    except OSError as error:
        raise AppError(f"cannot write {path} ({error.strerror}): give another folder") from error


def kinds_in(questions: Sequence[Question]) -> list[Kind]:
    """Return the data sets that questions may be of, by the correct answers that they have; empty if they have none."""
    return [kind for kind, name in REQUIRED_FIELDS.items() if any(question.item.get(name) for question in questions)]


def kind_of(path: Path) -> Kind:
    """Return which of ALCE's data sets a file is of."""
    kinds = kinds_in(read_alce(path).questions)
    if not kinds:
        missing = " and no ".join(REQUIRED_FIELDS.values())
        raise AppError(f"{path} has no {missing}: give ALCE's file of ASQA, ELI5 or QAMPARI")
    return kinds[0]


def list_ids(questions: Sequence[Question]) -> str:
    """
    >>> list_ids([Question(str(n), {}) for n in range(7)])
    '0, 1, 2, 3, 4, …'
    """
    return ", ".join([*(question.key for question in questions[:MAX_LISTED]), *["…"][: len(questions) > MAX_LISTED]])


def _parse(path: Path) -> Any:
    try:
        data = path.read_bytes()
        return json.loads(gzip.decompress(data) if path.suffix == ".gz" else data)
    except (gzip.BadGzipFile, ValueError, EOFError, zlib.error, RecursionError) as error:
        raise AppError(f"{path} is not ALCE's ({_first_line(error)}): {FORM}") from error
    except OSError as error:
        raise AppError(f"cannot read {path} ({error.strerror or error}): give ALCE's file") from error


def _checked(path: Path, items: Sequence[Any]) -> Iterator[Mapping[str, Any]]:
    adapter: TypeAdapter[_Item] = TypeAdapter(_Item)
    for number, item in enumerate(items, start=1):
        try:
            adapter.validate_python(item, strict=True)
        except ValidationError as error:
            raise AppError(f"{path}, item {number}: {first_error(error, 'the item')}; {FORM}") from error
        yield item


def _key(item: Mapping[str, Any]) -> str:
    """Return the item's id in its file, or its question if it has none."""
    id_ = next((item[name] for name in IDS if item.get(name) not in (None, "")), item["question"])
    key = storable(str(id_))
    digest = hashlib.sha256(key.encode()).hexdigest()[:16]
    return key if len(key) <= MAX_KEY_LENGTH else f"{key[: MAX_KEY_LENGTH - 17]} {digest}"


def _check_questions(path: Path, questions: Sequence[Question]) -> None:
    seen: set[str] = set()
    for number, question in enumerate(questions, start=1):
        if not question.text.strip():
            raise AppError(f"{path}, item {number} has an empty question: {FORM}")
        if question.key in seen:
            has_id = any(question.item.get(name) for name in IDS)
            reason = f"two items have the id {question.key}" if has_id else f"{question.key[:60]!r} is there twice"
            raise AppError(f"{path}, item {number}: {reason}: give each item its own sample_id or id")
        seen.add(question.key)


def _premise(doc: Mapping[str, Any]) -> str:
    text = doc["sent"] if "sent" in doc else doc["text"]
    return storable(f"Title: {doc.get('title') or ''}\n{text}")


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]
