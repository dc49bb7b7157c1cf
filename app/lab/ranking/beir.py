"""BEIR folders: corpus.jsonl, queries.jsonl (gzipped or not) and qrels/SPLIT.tsv, checked against each other."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from propcite.app.errors import AppError
from propcite.app.lab.runs.inputs import file_digest
from propcite.app.lab.runs.runner import RunOptions
from propcite.retrieval.jsonl import numbered_lines
from propcite.retrieval.text import Passage

TEST = "test"
LAYOUT = "a BEIR folder holds corpus.jsonl[.gz], queries.jsonl[.gz] and qrels/*.tsv"


@dataclass(frozen=True, slots=True)
class Query:
    """A query with the relevance grades of documents, or with answers: a passage that holds one is relevant."""

    id: str
    text: str
    grades: Mapping[str, int]
    answers: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class BeirCollection:
    """A collection with the queries that have a relevant document; its passages are not split into sentences yet."""

    name: str
    passages: tuple[Passage, ...]
    queries: tuple[Query, ...]
    digests: Mapping[str, str]  # of the files, by `corpus`, `queries` and `qrels`


@dataclass(frozen=True, slots=True)
class FolderQuery:
    """A query of one of several folders."""

    folder: str
    query: Query

    @property
    def key(self) -> str:
        return f"{self.folder}/{self.query.id}"


def read_beir(folder: Path, split: str = "") -> BeirCollection:
    """Read a folder; of several judged splits the named one, by default `test`."""
    corpus, queries, qrels = _table(folder, "corpus"), _table(folder, "queries"), _qrels(folder, split)
    passages = {id_: passage_of(id_, row, corpus, n) for id_, row, n in rows_of(corpus)}
    texts = {id_: _text(row, "text", queries, n) for id_, row, n in rows_of(queries)}
    grades = read_grades(qrels, passages, texts)
    judged = tuple(Query(id_, text, grades[id_]) for id_, text in texts.items() if id_ in grades)
    if not judged:
        raise AppError(f"{qrels} has no relevant document for any query: give another --split or folder")
    digests = {"corpus": file_digest(corpus), "queries": file_digest(queries), "qrels": file_digest(qrels)}
    return BeirCollection(folder.resolve().name, tuple(passages.values()), judged, digests)


def by_name(collections: Iterable[BeirCollection]) -> dict[str, BeirCollection]:
    """Return collections by their names; two of the same name raise AppError."""
    named: dict[str, BeirCollection] = {}
    for one in collections:
        if one.name in named:
            raise AppError(f"two folders are named {one.name}: rename one of them")
        named[one.name] = one
    return named


def read_folders(folders: Sequence[Path]) -> dict[str, BeirCollection]:
    """Read several folders by name."""
    return by_name(map(read_beir, folders))


def folder_queries(collections: Mapping[str, BeirCollection], options: RunOptions) -> list[FolderQuery]:
    """Return the queries of each folder that a run measures."""
    return [FolderQuery(name, query) for name, one in collections.items() for query in options.select(one.queries)]


def _table(folder: Path, name: str) -> Path:
    for path in (folder / f"{name}.jsonl", folder / f"{name}.jsonl.gz"):
        if path.is_file():
            return path
    raise AppError(f"{folder} has no {name}.jsonl: {LAYOUT}")


def _qrels(folder: Path, split: str) -> Path:
    files = {path.stem: path for path in sorted((folder / "qrels").glob("*.tsv"))}
    name = split or (TEST if TEST in files else next(iter(files), "") if len(files) == 1 else "")
    if name in files:
        return files[name]
    if not files:
        raise AppError(f"{folder} has no qrels/*.tsv: {LAYOUT}")
    raise AppError(f"{folder} has the splits {', '.join(files)}: name one with --split")


def rows_of(path: Path, name: str = "_id", layout: str = LAYOUT) -> Iterator[tuple[str, dict[str, Any], int]]:
    """Yield a file's rows with their ids, in the field of this name, and line numbers."""
    seen: set[str] = set()
    for number, line in numbered_lines(path):
        try:
            row = json.loads(line)
            id_ = row[name]
        except (ValueError, KeyError, TypeError) as error:
            raise AppError(f'{path}, line {number}: a row is {{"{name}": "…", "text": "…"}}: {layout}') from error
        if not isinstance(id_, str) or not id_:
            raise AppError(f"{path}, line {number}: the {name} {id_!r} is not a text")
        if id_ in seen:
            raise AppError(f"{path}, line {number}: the {name} {id_!r} is there twice: give each row its own")
        seen.add(id_)
        yield id_, row, number


def _text(row: Mapping[str, Any], field: str, path: Path, number: int) -> str:
    value = row.get(field)
    if not isinstance(value, str):
        raise AppError(f"{path}, line {number}: {field} is {json.dumps(value)[:40]}, not a text")
    return value


def passage_of(id_: str, row: Mapping[str, Any], path: Path, number: int) -> Passage:
    """Return a document as a passage; one without words stays, since it may be judged."""
    title = _text(row, "title", path, number) if row.get("title") else ""
    return Passage(id_, _text(row, "text", path, number) or title or ".", title)


def read_grades(
    path: Path, passages: Mapping[str, Passage], texts: Mapping[str, str], layout: str = LAYOUT
) -> dict[str, dict[str, int]]:
    """Return the grades of each query that has a relevant document."""
    grades: dict[str, dict[str, int]] = {}
    for number, line in numbered_lines(path):
        query, document, grade = _judgement(path, number, line)
        if grade is None:
            continue
        for id_, existing, kind in ((query, texts, "query"), (document, passages, "document")):
            if id_ not in existing:
                raise AppError(f"{path}, line {number}: there is no {kind} {id_!r}: {layout}")
        if document in grades.setdefault(query, {}):
            raise AppError(f"{path}, line {number}: query {query!r} judges document {document!r} twice")
        grades[query][document] = grade
    return {query: by_document for query, by_document in grades.items() if max(by_document.values()) > 0}


def _judgement(path: Path, number: int, line: str) -> tuple[str, str, int | None]:
    """Return a line's query, document and grade; the table's header has no grade.

    TREC's lines have a second column, which is not read, and spaces or tabs.
    """
    cells = line.split("\t")
    if len(trec := line.split()) == 4:
        cells = [trec[0], *trec[2:]]
    if len(cells) == 3:
        try:
            return cells[0], cells[1], int(cells[2])
        except ValueError:
            if number == 1:
                return cells[0], cells[1], None
    raise AppError(f"{path}, line {number}: a line is a query's id, a document's id and a whole number, with tabs")
