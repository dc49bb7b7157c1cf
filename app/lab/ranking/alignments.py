"""`propcite eval alignments`: passages of BEIR folders ranked by every strategy, of candidates that are found once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import Any

from propcite.app.errors import AppError
from propcite.app.lab.adapting.strategies import CANDIDATES, NAMES, candidates_of, ranked, strategies_of
from propcite.app.lab.ranking.beir import Beir, Question, read_beir
from propcite.app.lab.ranking.encoded import encoded
from propcite.app.lab.ranking.passages import index_settings
from propcite.app.lab.ranking.relevance import DEPTH, figures, needs_ir_measures
from propcite.app.lab.runs.about import about_run
from propcite.app.lab.runs.keeping import Todo, added, clocked, measure, open_run, portion
from propcite.app.lab.runs.shares import Share
from propcite.app.library.store.runs import RunItem
from propcite.app.parts import Parts
from propcite.retrieval.alignment import alignment_of
from propcite.retrieval.encoding.base import TokenVectors
from propcite.retrieval.encoding.encoder import Encoder
from propcite.retrieval.index.token_index import TokenIndex

MEASURES = ("nDCG@10", "R@100", "RR@10")
TOGETHER = 32  # queries that are read together

Find = Callable[[TokenIndex, Encoder, TokenVectors], Sequence[str]]  # the passages that every strategy ranks


@dataclass(frozen=True, slots=True)
class Asked:
    """A query of one of the folders."""

    folder: str
    question: Question

    @property
    def key(self) -> str:
        return f"{self.folder}/{self.question.id}"


def evaluate(
    folders: Sequence[Path], parts: Parts, names: Sequence[str], share: Share, candidates: int = CANDIDATES
) -> list[RunItem]:
    """Measure the strategies of these names, the usual ones where none is named; kept item by item.  -> all items"""
    needs_ir_measures()
    ways = [str(alignment) for alignment in strategies_of(names or NAMES)]
    collections = {one.name: one for one in map(read_beir, folders)}
    if len(collections) < len(folders):
        raise AppError("two folders have the same name: give one of them another")
    rows = [Asked(one.name, question) for one in collections.values() for question in share.of(one.questions)]
    indexes = {name: _index(one, parts) for name, one in collections.items()}
    settings = {
        "files": {name: dict(one.digests) for name, one in collections.items()},
        "ways": ways,
        "candidates": candidates,
        **_settings(parts),
        **share.settings,
    }
    versions = {name: index.version for name, index in indexes.items()}
    about = {**about_run(parts.settings, "encoder"), "indexes": versions}
    run = open_run(parts.runs, "alignments", ", ".join(collections), settings, about, new=share.new, say=share.say)
    find = partial(candidates_of, asking=parts.settings.asking_share, number=candidates)
    work = partial(measured, indexes, parts.encoder, find)
    measure(parts.runs, run, rows, attrgetter("key"), ways, work, TOGETHER, "ranking")
    return list(parts.runs.items(run.id))


def _index(collection: Beir, parts: Parts) -> TokenIndex:
    bits = parts.settings.index_bits
    return encoded(collection.passages, collection.digests["corpus"], parts.encoder, parts.settings, [bits])[bits]


def _settings(parts: Parts) -> dict[str, Any]:
    """What of the parts changes a figure."""
    settings = parts.settings
    told = {"encoder": parts.encoder.query_name, "precision": parts.encoder.precision}
    return {**told, "index": index_settings(settings)}


def measured(
    indexes: Mapping[str, TokenIndex], encoder: Encoder, find: Find, todos: Sequence[Todo[Asked]]
) -> Iterator[RunItem]:
    """Each query by each strategy."""
    for folder, some in groupby(todos, key=lambda todo: todo.row.folder):
        rows = list(some)
        with clocked() as reading:
            read = encoder.encode_queries([todo.row.question.text for todo in rows])
        each = portion(reading, len(rows))
        for todo, query in zip(rows, read, strict=True):
            yield from _of_query(indexes[folder], query, partial(find, indexes[folder], encoder), todo, each)


def _of_query(
    index: TokenIndex,
    query: TokenVectors,
    find: Callable[[TokenVectors], Sequence[str]],
    todo: Todo[Asked],
    reading: Mapping[str, float],
) -> Iterator[RunItem]:
    """The strategies bear equal shares of what finding the candidates costs."""
    with clocked() as finding:
        found = find(query)
    before = portion(added(finding, reading), len(todo.ways))
    question = todo.row.question
    for name in todo.ways:
        with clocked() as cost:
            ranking = ranked(index, query, alignment_of(name), found, DEPTH)
        told = figures(ranking, question.grades, MEASURES)
        output = {"source": todo.row.folder, "question": question.text, "ranking": ranking[:10]}
        yield RunItem(todo.key, name, told, output, added(cost, before))
