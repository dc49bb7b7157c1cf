"""PropSegmEnt's facts for retrieval: propositions with their sentences, and which of them mean the same."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NotRequired

from pydantic import TypeAdapter
from typing_extensions import TypedDict

from propcite.app.errors import AppError
from propcite.app.lab.runs.inputs import read_rows, row_error
from propcite.retrieval.text import Span, join_spans

QUERIES, TARGETS = "propsegment_queries_all", "propsegment_targets_all"
FORM = '{"id": "cluster_doc_sent_prop", "sentence_text": "…", "spans": [{"start": 0, "end": 9}], "label": ["…"]}'
LEVELS = {"proposition": 0, "sentence": 3, "document": 2, "cluster": 1}  # how many fields of an id name it; 0: all


class SpanLine(TypedDict):
    start: int
    end: int


class FactLine(TypedDict):
    id: str
    sentence_text: NotRequired[str]
    text: NotRequired[str]
    spans: list[SpanLine | tuple[int, int]]
    label: NotRequired[list[str] | None]


@dataclass(frozen=True, slots=True)
class Fact:
    """A proposition: spans of a sentence, by default all of it.  `same` are the targets that mean the same."""

    id: str
    sentence: str
    spans: tuple[Span, ...]
    same: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        return join_spans(self.spans, self.sentence)


@dataclass(frozen=True, slots=True)
class Facts:
    """Queries and the targets that are searched, with their files."""

    queries: tuple[Fact, ...]
    targets: tuple[Fact, ...]
    files: tuple[Path, Path]


def level_of(id_: str, level: str) -> str:
    """Return the id of the proposition, sentence, document or cluster that a fact belongs to.

    >>> level_of("7_2_31_0", "sentence"), level_of("7_2_31_0", "proposition")
    ('7_2_31', '7_2_31_0')
    """
    return "_".join(id_.split("_")[: LEVELS[level]]) if LEVELS[level] else id_


def read_facts(folder: Path) -> Facts:
    files = _file(folder, QUERIES), _file(folder, TARGETS)
    targets = {fact.id: fact for _, fact in _facts(files[1])}
    queries = []
    for number, fact in _facts(files[0]):
        if not fact.same:
            raise row_error(files[0], number, f"the fact {fact.id!r} has no label, so it has no correct target", FORM)
        if missing := [id_ for id_ in fact.same if id_ not in targets]:
            raise row_error(files[0], number, f"no target has the id {missing[0]!r}", FORM)
        queries.append(fact)
    if not queries:
        raise AppError(f"{files[0]} has no row: a row is {FORM}")
    return Facts(tuple(queries), tuple(targets.values()), files)


def _file(folder: Path, name: str) -> Path:
    for path in (folder / f"{name}.jsonl", folder / f"{name}.jsonl.gz"):
        if path.is_file():
            return path
    raise AppError(f"{folder} has no {name}.jsonl: give the folder of {QUERIES}.jsonl and {TARGETS}.jsonl")


def _facts(path: Path) -> Iterator[tuple[int, Fact]]:
    seen: set[str] = set()
    for number, row in read_rows(path, TypeAdapter(FactLine), FORM):
        try:
            fact = _fact(row)
        except ValueError as error:
            raise row_error(path, number, str(error), FORM) from error
        if fact.id in seen:
            raise row_error(path, number, f"the id {fact.id!r} is there twice", FORM)
        seen.add(fact.id)
        yield number, fact


def _fact(row: FactLine) -> Fact:
    sentence = row.get("sentence_text") or row.get("text") or ""
    if not sentence.strip():
        raise ValueError("sentence_text is missing")
    pairs: list[Any] = [(s["start"], s["end"]) if isinstance(s, dict) else s for s in row["spans"]]
    if wrong := [pair for pair in pairs if not 0 <= pair[0] < pair[1] <= len(sentence)]:
        raise ValueError(f"the span {list(wrong[0])} is not in the sentence")
    spans = tuple(Span(*pair) for pair in pairs) or (Span(0, len(sentence)),)
    return Fact(row["id"], sentence, spans, tuple(dict.fromkeys(row.get("label") or ())))
