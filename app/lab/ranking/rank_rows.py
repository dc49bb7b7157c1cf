"""Rows of sentences to be ranked: a question or claim, a passage or several in sentences, and which of them answer."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NotRequired

from pydantic import TypeAdapter, ValidationError
from typing_extensions import TypedDict

from propcite.app.errors import AppError
from propcite.retrieval.jsonl import numbered_lines
from propcite.retrieval.splitter import passage_from_sentences
from propcite.retrieval.text import Passage

SHAPE = '{"query": "…", "sentences": ["…"], "positive_sentence_ids": [0]}'
ASKED_BY = ("query", "question", "claim")

Place = tuple[int, int]  # a passage and its sentence


class DocLine(TypedDict):
    sentences: list[str]
    title: NotRequired[str | None]


class RankLine(TypedDict):
    """One passage with `positive_sentence_ids`, or several as `docs` with `supporting` pairs."""

    id: NotRequired[str | int]
    source: NotRequired[str]
    query: NotRequired[str]
    question: NotRequired[str]
    claim: NotRequired[str]
    title: NotRequired[str | None]
    sentences: NotRequired[list[str]]
    positive_sentence_ids: NotRequired[list[int]]
    docs: NotRequired[list[DocLine]]
    supporting: NotRequired[list[tuple[int, int]]]


@dataclass(frozen=True, slots=True)
class RankRow:
    """`gold` are the sentences that answer."""

    id: str
    source: str
    query: str
    passages: tuple[Passage, ...]
    gold: frozenset[Place]

    @property
    def places(self) -> list[Place]:
        return [(d, s) for d, passage in enumerate(self.passages) for s in range(len(passage.sentences))]

    @property
    def texts(self) -> list[str]:
        """Each sentence by itself."""
        return [sentence.span.of(passage.text) for passage in self.passages for sentence in passage.sentences]


def read_rank_rows(paths: Sequence[Path]) -> list[RankRow]:
    """All rows of some files; what is wrong with one is told with its line."""
    adapter: TypeAdapter[RankLine] = TypeAdapter(RankLine)
    rows: dict[str, RankRow] = {}
    for path in paths:
        for number, line in numbered_lines(path):
            try:
                row = _row(adapter.validate_json(line), path, number)
            except ValidationError as error:
                first = error.errors(include_url=False)[0]
                place = ".".join(str(part) for part in first["loc"])
                raise _bad(path, number, f"{place}: {first['msg']}" if place else first["msg"]) from error
            if row.id in rows:
                raise _bad(path, number, f"the id {row.id!r} is there twice")
            rows[row.id] = row
    if not rows:
        raise AppError(f"{', '.join(map(str, paths))}: no row is there; give JSON lines of {SHAPE}")
    return list(rows.values())


def _row(line: RankLine, path: Path, number: int) -> RankRow:
    told: Mapping[str, Any] = line
    query = next((told[name] for name in ASKED_BY if told.get(name, "").strip()), "")
    if not query:
        raise _bad(path, number, f"nothing asks: give {', '.join(ASKED_BY[:-1])} or {ASKED_BY[-1]}")
    docs = line.get("docs") or [{"sentences": line.get("sentences", []), "title": line.get("title")}]
    if not any(words.strip() for doc in docs for words in doc.get("sentences", [])):
        raise _bad(path, number, "the row has no sentences")
    gold = frozenset(line.get("supporting") or [(0, s) for s in line.get("positive_sentence_ids", [])])
    if not gold:
        raise _bad(path, number, f"no sentence is marked as an answer to {json.dumps(query[:40], ensure_ascii=False)}")
    passages = tuple(passage_from_sentences("", doc["sentences"], doc.get("title") or "") for doc in docs)
    row = RankRow(
        str(line.get("id", f"{path.name}, line {number}")), line.get("source", path.name), query, passages, gold
    )
    if absent := sorted(gold.difference(row.places)):
        raise _bad(path, number, f"there is no sentence {absent[0][-1] if len(docs) == 1 else absent[0]}")
    return row


def _bad(path: Path, number: int, reason: str) -> AppError:
    return AppError(f"{path}, line {number}: {reason}; a row is {SHAPE}")
