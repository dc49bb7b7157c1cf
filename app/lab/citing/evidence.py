"""Sentences as evidence for claims: how marked sentences rank, and how well they are cited."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from propcite.app.lab.citing.answers import agreement_item, config_fields, measure_columns, precision_recall, way_name
from propcite.app.lab.citing.gold import GoldEvidence
from propcite.app.lab.citing.ways import CitingConfig, with_retrievers
from propcite.app.lab.runs.runner import Pending, timed
from propcite.app.lab.runs.significance import bootstrap_interval
from propcite.app.library.store.runs import RunItem
from propcite.attribution.citing.baselines import Bm25
from propcite.attribution.propositions.metrics import Agreement
from propcite.retrieval.encoding.base import TextEncoder
from propcite.retrieval.retriever import Retriever
from propcite.retrieval.text import Granularity, Passage, Span

DEPTH = 5
BM25 = "bm25"
RANKING, SENTENCES = "sentences ranked", "sentences cited"  # prefixes of the ways of these items

Unit = tuple[int, int]  # numbers of a document and its sentence
Places = Mapping[tuple[str, int], Unit]  # by the document's id and the start of the sentence's words


@dataclass(frozen=True, slots=True)
class RankingRow:
    """A ranking of sentences on the claims of one source, in percent; `f1` is that of citing the first sentence.

    The 95% interval of P@1 is from `p_at_1_low` to `p_at_1_high`.
    """

    table: ClassVar[str] = "ranked"

    source: str
    rows: int
    ranking: str
    p_at_1: float
    p_at_1_low: float
    p_at_1_high: float
    r_at_5: float
    mrr: float
    f1: float


def evidence_ways(configs: Sequence[CitingConfig], encoder: TextEncoder) -> list[str]:
    """Return the ways that a claim is measured by: rankings, and the methods that cite sentences."""
    citing = [way_name(SENTENCES, config) for config in configs if config.cites_sentences]
    return [f"{RANKING}: {BM25}", f"{RANKING}: {_name(encoder)}", *citing]


def evidence_items(
    pending: Sequence[Pending[GoldEvidence]], configs: Sequence[CitingConfig], encoder: TextEncoder, bm25: Bm25
) -> Iterator[RunItem]:
    """Yield rankings of the sentences of each claim's documents, and the citations of methods that cite sentences."""
    for one, retriever in with_retrievers(pending, lambda one: one.row.documents, encoder):
        yield from _ranking_items(one, retriever, bm25)
        yield from _citation_items(one, retriever, configs)


def _ranking_items(pending: Pending[GoldEvidence], retriever: Retriever, bm25: Bm25) -> Iterator[RunItem]:
    row, encoder = pending.row, retriever.encoder
    rankings: dict[str, Callable[[], list[Unit]]] = {
        BM25: lambda: _rank_by_bm25(row, bm25),
        _name(encoder): lambda: _rank_by_vectors(row, retriever, _places(row)),
    }
    for name, rank in rankings.items():
        if (way := f"{RANKING}: {name}") in pending.ways:
            with timed() as cost:
                ranking = rank()
            output = {"source": row.source, "question": row.claim, "ranked_by": name}
            yield RunItem(row.id, way, _measures(ranking, row.supporting), output, cost)


def _citation_items(
    pending: Pending[GoldEvidence], retriever: Retriever, configs: Sequence[CitingConfig]
) -> Iterator[RunItem]:
    row, places = pending.row, _places(pending.row)
    for config in configs:
        if (way := way_name(SENTENCES, config)) in pending.ways:
            with timed() as cost:
                citations = config.propcite.cite(row.claim, retriever).citations
            units = {places[_key(c.passage, c.span)] for c in citations}
            fields = {"source": row.source, "question": row.claim, **config_fields(config)}
            yield agreement_item(row.id, way, units, row.supporting, fields, cost)


def ranking_rows(items: Iterable[RunItem]) -> Iterator[RankingRow]:
    """Yield one row for each ranking on each source."""
    by_ranking: dict[tuple[str, str], list[RunItem]] = defaultdict(list)
    for item in items:
        by_ranking[str(item.output["source"]), str(item.output["ranked_by"])].append(item)
    for (source, name), group in by_ranking.items():
        columns = measure_columns(group, "P@1", "R@5", "RR", "recall@1")
        p_at_1, r_at_5, mrr, recall = columns.mean(axis=0).tolist()
        _, low, high = bootstrap_interval(columns[:, :1])
        figures = (p_at_1, low, high, r_at_5, mrr, Agreement(p_at_1, recall).f1)
        yield RankingRow(source, len(group), name, *(round(100 * x, 1) for x in figures))


def _name(encoder: TextEncoder) -> str:
    return encoder.query_name.split("@")[0]


def _places(row: GoldEvidence) -> Places:
    return {_key(p, s.span): (i, n) for i, p in enumerate(row.documents) for n, s in enumerate(p.sentences)}


def _key(passage: Passage, span: Span) -> tuple[str, int]:
    return passage.id, span.trimmed(passage.text).start


def _rank_by_vectors(row: GoldEvidence, retriever: Retriever, places: Places) -> list[Unit]:
    """Rank by the query of the whole claim."""
    whole = [[(Span(0, len(row.claim)),)]]
    hits = replace(retriever, merging=False).search_spans([row.claim], whole, len(places), Granularity.SENTENCE)[0][0]
    return [places[_key(hit.passage, hit.spans[0])] for hit in hits]


def _rank_by_bm25(row: GoldEvidence, bm25: Bm25) -> list[Unit]:
    units = [(i, n) for i, p in enumerate(row.documents) for n in range(len(p.sentences))]
    texts = [Passage("", s.span.of(p.text)) for p in row.documents for s in p.sentences]
    return [units[i] for i in np.argsort(-bm25.scores([row.claim], texts)[0], kind="stable")]


def _measures(ranking: Sequence[Unit], gold: frozenset[Unit]) -> dict[str, float]:
    hits = [unit in gold for unit in ranking]
    first = next((rank for rank, hit in enumerate(hits, 1) if hit), 0)
    precision, recall = precision_recall(ranking[:1], gold)
    recall_5 = sum(hits[:DEPTH]) / len(gold) if gold else 0.0
    return {"P@1": precision, "R@5": recall_5, "RR": 1 / first if first else 0.0, "recall@1": recall}
