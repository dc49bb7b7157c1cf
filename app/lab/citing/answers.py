"""Measuring what is cited: answers whose writers' own passages are known, and claims whose sentences people marked."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from propcite.app.lab.citing.gold import GoldAnswer
from propcite.app.lab.citing.ways import Way, over_each
from propcite.app.lab.runs.aggregates import f_measure
from propcite.app.lab.runs.keeping import Todo, clocked
from propcite.app.lab.runs.significance import interval
from propcite.app.library.store.runs import RunItem
from propcite.attribution.citations import CitedAnswer
from propcite.retrieval.encoding.encoder import Encoder


@dataclass(frozen=True, slots=True)
class Cited:
    """A way of citing on the rows of one source, what it cites against what it should: percent, and citations a row.

    F1 lies between `f1_low` and `f1_high` in 95 of 100 samples of the rows.
    """

    source: str
    rows: int
    method: str
    judge: str
    precision: float
    recall: float
    f1: float
    f1_low: float
    f1_high: float
    citations: float


ANSWERS = "passages of answers"  # before a way's name: what its items measure


def cited_answers(todos: Sequence[Todo[GoldAnswer]], ways: Sequence[Way], encoder: Encoder) -> Iterator[RunItem]:
    """Precision and recall of the cited passages against those that each answer was written from."""
    for todo, retriever in over_each(todos, lambda todo: todo.row.passages, encoder):
        row = todo.row
        for way in ways:
            if (name := named(ANSWERS, way)) in todo.ways:
                with clocked() as cost:
                    answer = way.propcite.cite(row.text, retriever, question=row.question)
                told = {"source": row.source, "question": row.question, **output(way)}
                yield agreed(row.id, name, shown_ids(answer), row.written_from, told, cost)


def named(what: str, way: Way) -> str:
    return f"{what}: {way.name}"


def output(way: Way) -> dict[str, str]:
    return {"method": way.method, "judge": way.judge}


def shown_ids(answer: CitedAnswer) -> frozenset[str]:
    """The passages that the answer's sentences show, each with no more markers than it may."""
    return frozenset(c.passage.id for sentence in answer.sentences for c in sentence.citations)


def agreed(
    key: str,
    way: str,
    cited: Collection[Hashable],
    gold: Collection[Hashable],
    told: Mapping[str, Any],
    cost: Mapping[str, float],
) -> RunItem:
    """What one way cited for one row, against what it should."""
    precision, recall = precision_recall(cited, gold)
    measures = {"precision": precision, "recall": recall, "citations": float(len(cited))}
    units = {"cited": sorted(map(str, cited)), "wanted": sorted(map(str, gold))}
    return RunItem(key, way, measures, {**told, **units}, cost)


def precision_recall(cited: Collection[Hashable], gold: Collection[Hashable]) -> tuple[float, float]:
    """
    >>> precision_recall({"a", "b"}, {"a"})
    (0.5, 1.0)
    """
    both = len(set(cited) & set(gold))
    return both / len(cited) if cited else 0.0, both / len(gold) if gold else 0.0


def cited_table(items: Iterable[RunItem]) -> Iterator[Cited]:
    """A line for each way on each source."""
    by_way: dict[tuple[str, str, str], list[RunItem]] = defaultdict(list)
    for item in items:
        source, method, judge = (str(item.output[name]) for name in ("source", "method", "judge"))
        by_way[source, method, judge].append(item)
    for (source, method, judge), found in by_way.items():
        figures = columns(found, "precision", "recall", "citations")
        precision, recall, citations = figures.mean(axis=0).tolist()
        f1, low, high = interval(figures[:, :2], f_measure)
        told = {"precision": precision, "recall": recall, "f1": f1, "f1_low": low, "f1_high": high}
        percent = {name: round(100 * value, 1) for name, value in told.items()}
        yield Cited(source, len(found), method, judge, **percent, citations=round(citations, 2))


def columns(items: Sequence[RunItem], *names: str) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Measures that every one of these items has.  -> (items, names)"""
    return np.array([[item.measures[name] for name in names] for item in items], dtype=float)
