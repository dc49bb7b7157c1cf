"""Rows for sentence ranking: a question or claim, passages in sentences, and which of these answer it.

What DPR and Contriever retrieve is read as they write it: a question with `answers`, and its passages as `ctxs`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NotRequired

from pydantic import TypeAdapter, ValidationError
from typing_extensions import TypedDict

from propcite.app.errors import AppError
from propcite.app.lab.ranking.layouts import holds_answer
from propcite.app.lab.ranking.relevance import ANSWERED_SENTENCES, SENTENCES
from propcite.app.lab.runs.inputs import first_error, read_rows, row_error
from propcite.retrieval.encoding.base import Floats
from propcite.retrieval.splitter import passage_from_sentences, passage_from_text
from propcite.retrieval.text import Passage

FORM = '{"query": "…", "sentences": ["…"], "positive_sentence_ids": [0]}'
QUERY_FIELDS = ("query", "question", "claim")
NUM_CONTEXTS = 100  # of the retrieved passages those whose sentences are ranked, as in AGRaME's experiments

Place = tuple[int, int]  # numbers of a passage and its sentence


class DocLine(TypedDict):
    sentences: list[str]
    title: NotRequired[str | None]


class Context(TypedDict):
    text: str
    title: NotRequired[str | None]


class RankLine(TypedDict):
    """One passage with `positive_sentence_ids`, several as `docs` with `supporting` pairs, or `ctxs` with `answers`."""

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
    ctxs: NotRequired[list[Context]]
    answers: NotRequired[list[str]]


@dataclass(frozen=True, slots=True)
class RankRow:
    """A question, or a claim, with passages; `gold` are the places of the sentences that answer or support it.

    Without `gold` an answer stands in none of the passages that were retrieved.
    """

    id: str
    source: str
    query: str
    passages: tuple[Passage, ...]
    gold: frozenset[Place]
    is_claim: bool = False
    measures: tuple[str, ...] = SENTENCES

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
        for number, line in _lines(path):
            row = _row(line, path, number)
            if row.id in rows:
                raise row_error(path, number, f"the id {row.id!r} is there twice", FORM)
            rows[row.id] = row
    if not rows:
        raise AppError(f"{', '.join(map(str, paths))}: no rows; give JSON lines of {FORM}")
    return list(rows.values())


def _lines(path: Path) -> Iterator[tuple[int, RankLine]]:
    """Yield the rows of a file of JSON lines, or of a JSON list, with their numbers."""
    if not path.name.endswith(".json"):
        yield from read_rows(path, TypeAdapter(RankLine), FORM)
        return
    try:
        yield from enumerate(TypeAdapter(list[RankLine]).validate_json(path.read_bytes()), start=1)
    except (OSError, ValidationError) as error:
        reason = first_error(error) if isinstance(error, ValidationError) else error.strerror
        raise AppError(f"{path}: {reason}; it holds a list of rows such as {FORM}") from error


def _row(line: RankLine, path: Path, number: int) -> RankRow:
    def error(reason: str) -> AppError:
        return row_error(path, number, reason, FORM)

    fields: Mapping[str, Any] = line
    query = next((fields[name] for name in QUERY_FIELDS if fields.get(name, "").strip()), "")
    if not query:
        raise error(f"no query: give {', '.join(QUERY_FIELDS[:-1])} or {QUERY_FIELDS[-1]}")
    id_, source = str(line.get("id", f"{path.name}, line {number}")), line.get("source", path.name)
    if "ctxs" in line:
        if not any(answer.strip() for answer in line.get("answers", [])):
            raise error("ctxs without answers")
        if not any(context["text"].strip() for context in line["ctxs"]):
            raise error("the row has no sentences")
        return _retrieved(line, id_, source, query)
    docs = line.get("docs") or [{"sentences": line.get("sentences", []), "title": line.get("title")}]
    if not any(text.strip() for doc in docs for text in doc.get("sentences", [])):
        raise error("the row has no sentences")
    gold = frozenset(line.get("supporting") or [(0, s) for s in line.get("positive_sentence_ids", [])])
    if not gold:
        raise error(f"no sentence is marked as an answer to {json.dumps(query[:40], ensure_ascii=False)}")
    passages = tuple(passage_from_sentences("", doc["sentences"], doc.get("title") or "") for doc in docs)
    is_claim = fields.get("kind") in ("claim", "proposition") or query == fields.get("claim")
    row = RankRow(id_, source, query, passages, gold, is_claim)
    if missing := sorted(gold.difference(row.places)):
        raise error(f"there is no sentence {missing[0][-1] if len(docs) == 1 else missing[0]}")
    return row


def _retrieved(line: RankLine, id_: str, source: str, query: str) -> RankRow:
    """Return a question over retrieved passages; a sentence that holds one of its answers is gold."""
    contexts = line["ctxs"][:NUM_CONTEXTS]
    passages = tuple(passage_from_text("", one["text"], one.get("title") or "") for one in contexts)
    row = RankRow(id_, source, query, passages, frozenset(), measures=ANSWERED_SENTENCES)
    held = [place for place, text in zip(row.places, row.texts, strict=True) if holds_answer(text, line["answers"])]
    return replace(row, gold=frozenset(held))
