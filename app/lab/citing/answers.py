"""Cited passages of answers against the passages that the answers were written from."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from propcite.app.lab.citing.gold import GoldAnswer
from propcite.app.lab.citing.ways import CitingConfig, with_retrievers
from propcite.app.lab.runs.aggregates import f_measure
from propcite.app.lab.runs.runner import Pending, timed
from propcite.app.lab.runs.significance import Floats, bootstrap_interval
from propcite.app.library.store.runs import RunItem
from propcite.attribution.citations import CitedAnswer
from propcite.retrieval.encoding.encoder import Encoder

ANSWERS = "passages of answers"  # prefix of the ways of these items


@dataclass(frozen=True, slots=True)
class CitationRow:
    """A way of citing on the rows of one source: precision, recall and F1 in percent, and citations per row.

    The 95% interval of F1 is from `f1_low` to `f1_high`.
    """

    table: ClassVar[str] = "cited"

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


def answer_items(
    pending: Sequence[Pending[GoldAnswer]], configs: Sequence[CitingConfig], encoder: Encoder
) -> Iterator[RunItem]:
    """Yield precision and recall of the cited passages against those that each answer was written from."""
    for one, retriever in with_retrievers(pending, lambda one: one.row.passages, encoder):
        row = one.row
        for config in configs:
            if (way := way_name(ANSWERS, config)) in one.ways:
                with timed() as cost:
                    answer = config.propcite.cite(row.text, retriever, question=row.question)
                fields = {"source": row.source, "question": row.question, **config_fields(config)}
                yield agreement_item(row.id, way, cited_ids(answer), row.written_from, fields, cost)


def way_name(prefix: str, config: CitingConfig) -> str:
    return f"{prefix}: {config.name}"


def config_fields(config: CitingConfig) -> dict[str, str]:
    return {"method": config.method, "judge": config.judge}


def cited_ids(answer: CitedAnswer) -> frozenset[str]:
    """Return the ids of the passages behind the answer's markers; a sentence shows only its first few."""
    return frozenset(c.passage.id for sentence in answer.sentences for c in sentence.citations)


def agreement_item(
    key: str,
    way: str,
    cited: Collection[Hashable],
    gold: Collection[Hashable],
    fields: Mapping[str, Any],
    cost: Mapping[str, float],
) -> RunItem:
    """Return the item of what one way cited for one row, measured against the gold citations."""
    precision, recall = precision_recall(cited, gold)
    measures = {"precision": precision, "recall": recall, "citations": float(len(cited))}
    units = {"cited": sorted(map(str, cited)), "wanted": sorted(map(str, gold))}
    return RunItem(key, way, measures, {**fields, **units}, cost)


def precision_recall(cited: Collection[Hashable], gold: Collection[Hashable]) -> tuple[float, float]:
    """
    >>> precision_recall({"a", "b"}, {"a"})
    (0.5, 1.0)
    """
    both = len(set(cited) & set(gold))
    return both / len(cited) if cited else 0.0, both / len(gold) if gold else 0.0


def citation_rows(items: Iterable[RunItem]) -> Iterator[CitationRow]:
    """Yield one row for each way on each source."""
    by_way: dict[tuple[str, str, str], list[RunItem]] = defaultdict(list)
    for item in items:
        source, method, judge = (str(item.output[name]) for name in ("source", "method", "judge"))
        by_way[source, method, judge].append(item)
    for (source, method, judge), group in by_way.items():
        columns = measure_columns(group, "precision", "recall", "citations")
        precision, recall, citations = columns.mean(axis=0).tolist()
        f1, low, high = bootstrap_interval(columns[:, :2], f_measure)
        figures = {"precision": precision, "recall": recall, "f1": f1, "f1_low": low, "f1_high": high}
        percent = {name: round(100 * value, 1) for name, value in figures.items()}
        yield CitationRow(source, len(group), method, judge, **percent, citations=round(citations, 2))


def measure_columns(items: Sequence[RunItem], *names: str) -> Floats:
    """Return measures that all of these items have.  -> (items, names)"""
    return np.array([[item.measures[name] for name in names] for item in items], dtype=float)
