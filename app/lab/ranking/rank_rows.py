"""Rows for sentence ranking: a question or claim, passages in sentences, and which of these answer it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NotRequired

from pydantic import TypeAdapter
from typing_extensions import TypedDict

from propcite.app.errors import AppError
from propcite.app.lab.runs.inputs import read_rows, row_error
from propcite.retrieval.encoding.base import Floats
from propcite.retrieval.splitter import passage_from_sentences
from propcite.retrieval.text import Passage

FORM = '{"query": "…", "sentences": ["…"], "positive_sentence_ids": [0]}'
QUERY_FIELDS = ("query", "question", "claim")

Place = tuple[int, int]  # numbers of a passage and its sentence


class DocLine(TypedDict):
    sentences: list[str]
    title: NotRequired[str | None]


class RankLine(TypedDict):
    """One passage with `positive_sentence_ids`, or several as `docs` with `supporting` pairs."""

    id: NotRequired[str | int]
    source: NotRequired[str]
    kind: NotRequired[str]
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
    """A question, or a claim, with passages; `gold` are the places of the sentences that answer or support it."""

    id: str
    source: str
    query: str
    passages: tuple[Passage, ...]
    gold: frozenset[Place]
    is_claim: bool = False

    @property
    def places(self) -> list[Place]:
        return [(d, s) for d, passage in enumerate(self.passages) for s in range(len(passage.sentences))]

    @property
    def texts(self) -> list[str]:
        """Return each sentence's text."""
        return [sentence.span.of(passage.text) for passage in self.passages for sentence in passage.sentences]


Cost = Mapping[str, float]
Scores = Iterable[tuple[Floats, Cost]]  # for each row, the scores of all its sentences
Scorer = Callable[[Sequence[RankRow]], Scores]


def read_rank_rows(paths: Sequence[Path]) -> list[RankRow]:
    rows: dict[str, RankRow] = {}
    for path in paths:
        for number, line in read_rows(path, TypeAdapter(RankLine), FORM):
            row = _row(line, path, number)
            if row.id in rows:
                raise row_error(path, number, f"the id {row.id!r} is there twice", FORM)
            rows[row.id] = row
    if not rows:
        raise AppError(f"{', '.join(map(str, paths))}: no rows; give JSON lines of {FORM}")
    return list(rows.values())


def _row(line: RankLine, path: Path, number: int) -> RankRow:
    def error(reason: str) -> AppError:
        return row_error(path, number, reason, FORM)

    fields: Mapping[str, Any] = line
    query = next((fields[name] for name in QUERY_FIELDS if fields.get(name, "").strip()), "")
    if not query:
        raise error(f"no query: give {', '.join(QUERY_FIELDS[:-1])} or {QUERY_FIELDS[-1]}")
    docs = line.get("docs") or [{"sentences": line.get("sentences", []), "title": line.get("title")}]
    if not any(text.strip() for doc in docs for text in doc.get("sentences", [])):
        raise error("the row has no sentences")
    gold = frozenset(line.get("supporting") or [(0, s) for s in line.get("positive_sentence_ids", [])])
    if not gold:
        raise error(f"no sentence is marked as an answer to {json.dumps(query[:40], ensure_ascii=False)}")
    passages = tuple(passage_from_sentences("", doc["sentences"], doc.get("title") or "") for doc in docs)
    id_ = str(line.get("id", f"{path.name}, line {number}"))
    is_claim = fields.get("kind") in ("claim", "proposition") or query == fields.get("claim")
    row = RankRow(id_, line.get("source", path.name), query, passages, gold, is_claim)
    if missing := sorted(gold.difference(row.places)):
        raise error(f"there is no sentence {missing[0][-1] if len(docs) == 1 else missing[0]}")
    return row
