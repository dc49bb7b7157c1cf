"""Measuring sentences as evidence: where those that people marked stand in a ranking, and how well they are cited."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter

import numpy as np

from app.evaluate.citing import Agreed, Cited, means
from app.evaluate.gold import GoldEvidence
from app.evaluate.ways import Way, over_each
from attribution.baselines import Bm25
from attribution.metrics import Agreement
from retrieval.encoder import Encoder
from retrieval.retriever import Retriever
from retrieval.text import Granularity, Passage, Span

DEEPEST = 5

Unit = tuple[int, int]  # a document and its sentence
Places = Mapping[tuple[str, int], Unit]  # by the document's id and where the sentence's words begin


@dataclass(frozen=True, slots=True)
class Ranked:
    """A ranking of sentences on the claims of one source, in percent; `f1` is that of citing the first of each."""

    source: str
    rows: int
    ranking: str
    p_at_1: float
    r_at_5: float
    mrr: float
    f1: float


def sentence_evidence(
    rows: Sequence[GoldEvidence],
    ways: Sequence[Way],
    encoder: Encoder,
    advance: Callable[[str], None] = lambda _: None,
) -> tuple[list[Ranked], list[Cited]]:
    """Rankings of all sentences of each claim's documents, and what those ways cite that cite sentences."""
    if not rows:
        return [], []
    bm25 = Bm25()  # what it lacks is told before any text is read
    ranked: dict[tuple[str, str], list[Sequence[float]]] = defaultdict(list)
    cited: dict[tuple[str, Way], list[Agreed]] = defaultdict(list)
    for row, retriever in over_each(rows, attrgetter("documents"), encoder):
        places = _places(row)
        for name, order in (("bm25", _by_words(row, bm25)), (_name(encoder), _by_vectors(row, retriever, places))):
            ranked[row.source, name].append(_figures(order, row.supporting))
        for way in filter(lambda way: way.cites_sentences, ways):
            citations = way.propcite.cite(row.claim, retriever).citations
            units = {places[_key(c.passage, c.span)] for c in citations}
            cited[row.source, way].append(Agreed.of(units, row.supporting))
        advance("claims ranked")
    return list(_ranked(ranked)), list(means(cited))


def _name(encoder: Encoder) -> str:
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


def _figures(order: Sequence[Unit], gold: frozenset[Unit]) -> tuple[float, ...]:
    found = [unit in gold for unit in order]
    first = next((rank for rank, hit in enumerate(found, 1) if hit), 0)
    agreement = Agreed.of(order[:1], gold).agreement
    deep = sum(found[:DEEPEST]) / len(gold) if gold else 0.0
    return agreement.precision, deep, 1 / first if first else 0.0, agreement.recall


def _ranked(told: Mapping[tuple[str, str], Sequence[Sequence[float]]]) -> Iterator[Ranked]:
    for (source, name), figures in told.items():
        p_at_1, r_at_5, mrr, recall = (float(x) for x in np.mean(figures, axis=0))
        f1 = Agreement(p_at_1, recall).f1
        yield Ranked(source, len(figures), name, *(round(100 * x, 1) for x in (p_at_1, r_at_5, mrr, f1)))
