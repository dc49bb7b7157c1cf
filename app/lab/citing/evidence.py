"""Measuring sentences as evidence: where those that people marked stand in a ranking, and how well they are cited."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from propcite.app.lab.citing.answers import agreed, columns, named, output, precision_recall
from propcite.app.lab.citing.gold import GoldEvidence
from propcite.app.lab.citing.ways import Way, over_each
from propcite.app.lab.runs.keeping import Todo, clocked
from propcite.app.lab.runs.significance import interval
from propcite.app.library.store.runs import RunItem
from propcite.attribution.citing.baselines import Bm25
from propcite.attribution.propositions.metrics import Agreement
from propcite.retrieval.encoding.base import TextEncoder
from propcite.retrieval.retriever import Retriever
from propcite.retrieval.text import Granularity, Passage, Span

DEEPEST = 5
BM25 = "bm25"
RANKING, SENTENCES = "sentences ranked", "sentences cited"  # before a way's name: what its items measure

Unit = tuple[int, int]  # a document and its sentence
Places = Mapping[tuple[str, int], Unit]  # by the document's id and where the sentence's words begin


@dataclass(frozen=True, slots=True)
class Ranked:
    """A ranking of sentences on the claims of one source, in percent; `f1` is that of citing the first of each.

    P@1 lies between its low and high in 95 of 100 samples of the rows.
    """

    source: str
    rows: int
    ranking: str
    p_at_1: float
    p_at_1_low: float
    p_at_1_high: float
    r_at_5: float
    mrr: float
    f1: float


def evidence_ways(ways: Sequence[Way], encoder: TextEncoder) -> list[str]:
    """The names of all that is measured on a claim: rankings, and those ways that cite sentences."""
    citing = [named(SENTENCES, way) for way in ways if way.cites_sentences]
    return [f"{RANKING}: {BM25}", f"{RANKING}: {_name(encoder)}", *citing]


def sentence_evidence(
    todos: Sequence[Todo[GoldEvidence]], ways: Sequence[Way], encoder: TextEncoder, bm25: Bm25
) -> Iterator[RunItem]:
    """Rankings of all sentences of each claim's documents, and what those ways cite that cite sentences."""
    for todo, retriever in over_each(todos, lambda todo: todo.row.documents, encoder):
        yield from _ranked_items(todo, retriever, bm25)
        yield from _cited_items(todo, retriever, ways)


def _ranked_items(todo: Todo[GoldEvidence], retriever: Retriever, bm25: Bm25) -> Iterator[RunItem]:
    row, encoder = todo.row, retriever.encoder
    rankings: dict[str, Callable[[], list[Unit]]] = {
        BM25: lambda: _by_words(row, bm25),
        _name(encoder): lambda: _by_vectors(row, retriever, _places(row)),
    }
    for name, rank in rankings.items():
        if (way := f"{RANKING}: {name}") in todo.ways:
            with clocked() as cost:
                order = rank()
            told = {"source": row.source, "question": row.claim, "ranked_by": name}
            yield RunItem(row.id, way, _figures(order, row.supporting), told, cost)


def _cited_items(todo: Todo[GoldEvidence], retriever: Retriever, ways: Sequence[Way]) -> Iterator[RunItem]:
    row, places = todo.row, _places(todo.row)
    for way in ways:
        if (name := named(SENTENCES, way)) in todo.ways:
            with clocked() as cost:
                citations = way.propcite.cite(row.claim, retriever).citations
            units = {places[_key(c.passage, c.span)] for c in citations}
            told = {"source": row.source, "question": row.claim, **output(way)}
            yield agreed(row.id, name, units, row.supporting, told, cost)


def ranked_table(items: Iterable[RunItem]) -> Iterator[Ranked]:
    """A line for each ranking on each source."""
    by_ranking: dict[tuple[str, str], list[RunItem]] = defaultdict(list)
    for item in items:
        by_ranking[str(item.output["source"]), str(item.output["ranked_by"])].append(item)
    for (source, name), found in by_ranking.items():
        figures = columns(found, "P@1", "R@5", "RR", "recall@1")
        p_at_1, r_at_5, mrr, recall = figures.mean(axis=0).tolist()
        _, low, high = interval(figures[:, :1])
        told = (p_at_1, low, high, r_at_5, mrr, Agreement(p_at_1, recall).f1)
        yield Ranked(source, len(found), name, *(round(100 * x, 1) for x in told))


def _name(encoder: TextEncoder) -> str:
    return encoder.query_name.split("@")[0]


def _places(row: GoldEvidence) -> Places:
    return {_key(p, s.span): (i, n) for i, p in enumerate(row.documents) for n, s in enumerate(p.sentences)}


def _key(passage: Passage, span: Span) -> tuple[str, int]:
    return passage.id, span.trimmed(passage.text).start


def _by_vectors(row: GoldEvidence, retriever: Retriever, places: Places) -> list[Unit]:
    """By the whole claim's query for sentences."""
    whole = [[(Span(0, len(row.claim)),)]]
    hits = retriever.search_spans([row.claim], whole, len(places), Granularity.SENTENCE)[0][0]
    return [places[_key(hit.passage, hit.spans[0])] for hit in hits]


def _by_words(row: GoldEvidence, bm25: Bm25) -> list[Unit]:
    units = [(i, n) for i, p in enumerate(row.documents) for n in range(len(p.sentences))]
    texts = [Passage("", s.span.of(p.text)) for p in row.documents for s in p.sentences]
    return [units[i] for i in np.argsort(-bm25.scores([row.claim], texts)[0], kind="stable")]


def _figures(order: Sequence[Unit], gold: frozenset[Unit]) -> dict[str, float]:
    found = [unit in gold for unit in order]
    first = next((rank for rank, hit in enumerate(found, 1) if hit), 0)
    precision, recall = precision_recall(order[:1], gold)
    deep = sum(found[:DEEPEST]) / len(gold) if gold else 0.0
    return {"P@1": precision, "R@5": deep, "RR": 1 / first if first else 0.0, "recall@1": recall}
