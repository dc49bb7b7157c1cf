"""PropSegmEnt's facts for retrieval: propositions with their sentences, and which of them say the same."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NotRequired

from pydantic import TypeAdapter, ValidationError
from typing_extensions import TypedDict

from propcite.app.errors import AppError
from propcite.retrieval.jsonl import numbered_lines
from propcite.retrieval.text import Span, words_of

QUERIES, TARGETS = "propsegment_queries_all", "propsegment_targets_all"
SHAPE = '{"id": "cluster_doc_sent_prop", "sentence_text": "…", "spans": [{"start": 0, "end": 9}], "label": ["…"]}'
LEVELS = {"proposition": 0, "sentence": 3, "document": 2, "cluster": 1}  # fields of an id that name it; 0: all


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
    """A proposition: some words of a sentence; without spans all of them.  `same` are the targets that say it too."""

    id: str
    sentence: str
    spans: tuple[Span, ...]
    same: tuple[str, ...] = ()

    @property
    def words(self) -> str:
        return words_of(self.spans, self.sentence)


@dataclass(frozen=True, slots=True)
class Facts:
    """What is asked and what is searched, with the files that they are from."""

    queries: tuple[Fact, ...]
    targets: tuple[Fact, ...]
    files: tuple[Path, Path]


def level_of(id_: str, level: str) -> str:
    """
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
            raise _bad(files[0], number, f"the fact {fact.id!r} has no label, so nothing answers it")
        if absent := [name for name in fact.same if name not in targets]:
            raise _bad(files[0], number, f"no target has the id {absent[0]!r}")
        queries.append(fact)
    if not queries:
        raise AppError(f"{files[0]} asks nothing: a row is {SHAPE}")
    return Facts(tuple(queries), tuple(targets.values()), files)


def _file(folder: Path, name: str) -> Path:
    for path in (folder / f"{name}.jsonl", folder / f"{name}.jsonl.gz"):
        if path.is_file():
            return path
    raise AppError(f"{folder} has no {name}.jsonl: give the folder of {QUERIES}.jsonl and {TARGETS}.jsonl")


def _facts(path: Path) -> Iterator[tuple[int, Fact]]:
    adapter: TypeAdapter[FactLine] = TypeAdapter(FactLine)
    seen: set[str] = set()
    for number, line in numbered_lines(path):
        try:
            fact = _fact(adapter.validate_json(line))
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            raise _bad(
                path, number, f"{'.'.join(map(str, first['loc']))}: {first['msg']}".removeprefix(": ")
            ) from error
        except ValueError as error:
            raise _bad(path, number, str(error)) from error
        if fact.id in seen:
            raise _bad(path, number, f"the id {fact.id!r} is there twice")
        seen.add(fact.id)
        yield number, fact


def _fact(line: FactLine) -> Fact:
    sentence = line.get("sentence_text") or line.get("text") or ""
    if not sentence.strip():
        raise ValueError("sentence_text is missing")
    pairs: list[Any] = [(s["start"], s["end"]) if isinstance(s, dict) else s for s in line["spans"]]
    if wrong := [pair for pair in pairs if not 0 <= pair[0] < pair[1] <= len(sentence)]:
        raise ValueError(f"the span {list(wrong[0])} does not lie in the sentence")
    spans = tuple(Span(*pair) for pair in pairs) or (Span(0, len(sentence)),)
    return Fact(line["id"], sentence, spans, tuple(dict.fromkeys(line.get("label") or ())))


def _bad(path: Path, number: int, reason: str) -> AppError:
    return AppError(f"{path}, line {number}: {reason}; a row is {SHAPE}")
