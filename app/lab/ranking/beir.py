"""BEIR folders: corpus.jsonl, queries.jsonl (gzipped or not) and qrels/SPLIT.tsv, held against each other."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from propcite.app.errors import AppError
from propcite.app.lab.files import digest_of
from propcite.retrieval.jsonl import numbered_lines
from propcite.retrieval.text import Passage

TEST = "test"
LAYOUT = "a BEIR folder holds corpus.jsonl[.gz], queries.jsonl[.gz] and qrels/*.tsv"


@dataclass(frozen=True, slots=True)
class Question:
    """A judged query: its text, and how much each document answers it."""

    id: str
    text: str
    grades: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Beir:
    """A collection with the queries that some document of it answers; its passages are not cut in sentences yet."""

    name: str
    passages: tuple[Passage, ...]
    questions: tuple[Question, ...]
    digests: Mapping[str, str]  # the files' by what they are


def read_beir(folder: Path, split: str = "") -> Beir:
    """A folder's collection; of several judged splits the named one, `test` otherwise."""
    corpus, queries, qrels = _table(folder, "corpus"), _table(folder, "queries"), _qrels(folder, split)
    passages = {name: _passage(name, row, corpus, n) for name, row, n in _rows(corpus)}
    texts = {name: _text(row, "text", queries, n) for name, row, n in _rows(queries)}
    judged = _judged(qrels, passages, texts)
    questions = tuple(Question(name, text, judged[name]) for name, text in texts.items() if name in judged)
    if not questions:
        raise AppError(f"{qrels} judges no document as an answer to a query: give another --split or folder")
    digests = {"corpus": digest_of(corpus), "queries": digest_of(queries), "qrels": digest_of(qrels)}
    return Beir(folder.resolve().name, tuple(passages.values()), questions, digests)


def _table(folder: Path, name: str) -> Path:
    for path in (folder / f"{name}.jsonl", folder / f"{name}.jsonl.gz"):
        if path.is_file():
            return path
    raise AppError(f"{folder} has no {name}.jsonl: {LAYOUT}")


def _qrels(folder: Path, split: str) -> Path:
    found = {path.stem: path for path in sorted((folder / "qrels").glob("*.tsv"))}
    wanted = split or (TEST if TEST in found else next(iter(found), "") if len(found) == 1 else "")
    if wanted in found:
        return found[wanted]
    if not found:
        raise AppError(f"{folder} has no qrels/*.tsv: {LAYOUT}")
    raise AppError(f"{folder} judges the splits {', '.join(found)}: name one with --split")


def _rows(path: Path) -> Iterator[tuple[str, dict[str, Any], int]]:
    """A file's rows by their ids, with the numbers of their lines."""
    seen: set[str] = set()
    for number, line in numbered_lines(path):
        try:
            row = json.loads(line)
            name = row["_id"]
        except (ValueError, KeyError, TypeError) as error:
            raise AppError(f'{path}, line {number}: a row is {{"_id": "…", "text": "…"}}: {LAYOUT}') from error
        if not isinstance(name, str) or not name:
            raise AppError(f"{path}, line {number}: the _id {name!r} is no text")
        if name in seen:
            raise AppError(f"{path}, line {number}: the _id {name!r} is there twice: each row has its own")
        seen.add(name)
        yield name, row, number


def _text(row: Mapping[str, Any], field: str, path: Path, number: int) -> str:
    value = row.get(field)
    if not isinstance(value, str):
        raise AppError(f"{path}, line {number}: {field} is {json.dumps(value)[:40]}, where a text belongs")
    return value


def _passage(name: str, row: Mapping[str, Any], path: Path, number: int) -> Passage:
    """A document without words is kept, as it may be judged."""
    title = _text(row, "title", path, number) if row.get("title") else ""
    return Passage(name, _text(row, "text", path, number) or title or ".", title)


def _judged(path: Path, passages: Mapping[str, Passage], texts: Mapping[str, str]) -> dict[str, dict[str, int]]:
    """The grades of each query that some document answers."""
    judged: dict[str, dict[str, int]] = {}
    for number, line in numbered_lines(path):
        query, document, grade = _judgement(path, number, line)
        if grade is None:
            continue
        for name, known, what in ((query, texts, "query"), (document, passages, "document")):
            if name not in known:
                raise AppError(f"{path}, line {number}: there is no {what} {name!r}: {LAYOUT}")
        if document in judged.setdefault(query, {}):
            raise AppError(f"{path}, line {number}: query {query!r} judges document {document!r} twice")
        judged[query][document] = grade
    return {query: grades for query, grades in judged.items() if max(grades.values()) > 0}


def _judgement(path: Path, number: int, line: str) -> tuple[str, str, int | None]:
    """A line's query, document and grade; the head of the table has no grade."""
    cells = line.split("\t")
    if len(cells) == 3:
        try:
            return cells[0], cells[1], int(cells[2])
        except ValueError:
            if number == 1:
                return cells[0], cells[1], None
    raise AppError(f"{path}, line {number}: a line is a query's id, a document's id and a whole number, with tabs")
