"""Measuring citations: answers whose writers' own passages are known, and claims whose sentences people marked."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from app.evaluate.gold import GoldAnswer, GoldEvidence
from attribution.citations import CitedAnswer, Proposition
from attribution.judges import Judge
from attribution.methods import Method
from attribution.metrics import Agreement, macro
from attribution.propcite import PropCite
from attribution.propositions import PropositionSplitter
from retrieval.encoder import Encoder
from retrieval.retriever import Retriever
from retrieval.text import Granularity, Passage, Span

ALWAYS = -1e9  # without a judge the nearest is cited whatever its score
DEEPEST = 5
RANKINGS = ("bm25", "sentence", "propositions")


@dataclass(frozen=True, slots=True)
class Cited:
    """A way of citing on the answers of one source: percent, and citations an answer."""

    source: str
    rows: int
    method: str
    judge: str
    precision: float
    recall: float
    f1: float
    citations: float


@dataclass(frozen=True, slots=True)
class Ranked:
    """A ranking of sentences on the claims of one source, and what is cited of them, in percent."""

    source: str
    rows: int
    method: str
    p_at_1: float
    r_at_5: float
    mrr: float
    f1: float


@dataclass(slots=True)
class Remembering:
    """A splitter that splits each sentence once, however many ways of citing ask."""

    splitter: PropositionSplitter
    told: dict[tuple[str, tuple[str, ...]], list[Proposition]] = field(default_factory=dict)

    @property
    def name(self) -> str:
        return self.splitter.name

    def split(self, sentence: str, context: Sequence[str] = ()) -> list[Proposition]:
        return self.split_many([sentence], [context])[0]

    def split_many(self, sentences: Sequence[str], contexts: Sequence[Sequence[str]]) -> list[list[Proposition]]:
        keys = [(sentence, tuple(context)) for sentence, context in zip(sentences, contexts, strict=True)]
        new = [key for key in dict.fromkeys(keys) if key not in self.told]
        made = self.splitter.split_many([sentence for sentence, _ in new], [context for _, context in new])
        self.told.update(zip(new, made, strict=True))
        return [self.told[key] for key in keys]


@dataclass(frozen=True, slots=True)
class Ways:
    """The same encoder and splitter in every way of citing, with the judge and without."""

    encoder: Encoder
    splitter: Remembering
    judge: Judge | None
    methods: Sequence[Method]
    advance: Callable[[str], None] = lambda _: None

    def __len__(self) -> int:
        return len(self.methods) * (1 if self.judge is None else 2)

    def __iter__(self) -> Iterator[PropCite]:
        for method in self.methods:
            yield PropCite(
                self.encoder, splitter=self.splitter, judge=None, method=method, min_score=ALWAYS, candidates=1
            )
            if self.judge is not None:
                yield PropCite(self.encoder, splitter=self.splitter, judge=self.judge, method=method)


def cited_answers(rows: Sequence[GoldAnswer], ways: Ways) -> Iterator[Cited]:
    """Precision and recall of the cited passages against those that each answer was written from."""
    retrievers = [Retriever.over(ways.encoder, row.passages) for row in rows]
    for propcite in ways:
        answers = []
        for row, retriever in zip(rows, retrievers, strict=True):
            answers.append(propcite.cite(row.text, retriever, question=row.question))
            ways.advance(f"{propcite.method.name}{', judged' if propcite.judge else ''}")
        for source in dict.fromkeys(row.source for row in rows):
            of_source = [(row, a) for row, a in zip(rows, answers, strict=True) if row.source == source]
            mean = macro(_agreement(shown_ids(answer), row.written_from) for row, answer in of_source)
            num_cited = float(np.mean([len(shown_ids(answer)) for _, answer in of_source]))
            judge = "no" if propcite.judge is None else "yes"
            yield Cited(source, len(of_source), propcite.method.name, judge, *percent(mean), round(num_cited, 2))


def shown_ids(answer: CitedAnswer) -> frozenset[str]:
    """The passages that the answer's sentences show, each with no more markers than it may."""
    return frozenset(c.passage.id for sentence in answer.sentences for c in sentence.citations)


def _agreement(cited: frozenset[Any], gold: frozenset[Any]) -> Agreement:
    both = len(cited & gold)
    return Agreement(both / len(cited) if cited else 0.0, both / len(gold) if gold else 0.0)


def percent(agreement: Agreement) -> tuple[float, float, float]:
    precision, recall, f1 = (round(100 * x, 1) for x in (agreement.precision, agreement.recall, agreement.f1))
    return precision, recall, f1


def ranked_evidence(rows: Sequence[GoldEvidence], ways: Ways) -> Iterator[Ranked]:
    """Where the marked sentences stand in a ranking of all of a claim's documents, and how well they are cited."""
    for name in RANKINGS:
        told = []
        for row in rows:
            told.append((row, *_ranked(row, name, ways)))
            ways.advance(f"sentences by {name}")
        for source in dict.fromkeys(row.source for row in rows):
            figures = [_figures(row, order, cited) for row, order, cited in told if row.source == source]
            p_at_1, r_at_5, mrr, precision, recall = np.mean(figures, axis=0)
            f1 = Agreement(float(precision), float(recall)).f1
            yield Ranked(source, len(figures), name, *(round(100 * float(x), 1) for x in (p_at_1, r_at_5, mrr, f1)))


Unit = tuple[int, int]  # a document and its sentence


def _ranked(row: GoldEvidence, name: str, ways: Ways) -> tuple[list[Unit], set[Unit]]:
    """The sentences in order, nearest to the claim first, and those that are cited."""
    units = {_unit(i, p, s.span): (i, n) for i, p in enumerate(row.documents) for n, s in enumerate(p.sentences)}
    if name == "bm25":
        return _by_words(row)
    retriever = Retriever.over(ways.encoder, row.documents)
    whole = [[(Span(0, len(row.claim)),)]]
    hits = retriever.search_spans([row.claim], whole, len(units), Granularity.SENTENCE)[0][0]
    order = [units[_unit(int(hit.passage.id), hit.passage, hit.spans[0])] for hit in hits]
    propcite = PropCite(ways.encoder, splitter=ways.splitter, judge=ways.judge, method=name)
    cited = {units[_unit(int(c.passage.id), c.passage, c.span)] for c in propcite.cite(row.claim, retriever).citations}
    return order, cited


def _unit(document: int, passage: Passage, span: Span) -> tuple[int, int]:
    return document, span.trimmed(passage.text).start


def _by_words(row: GoldEvidence) -> tuple[list[Unit], set[Unit]]:
    """By BM25; the best sentence is cited."""
    from attribution.baselines import Bm25

    places = [(i, n) for i, p in enumerate(row.documents) for n in range(len(p.sentences))]
    texts = [Passage("", s.span.of(row.documents[i].text)) for i, p in enumerate(row.documents) for s in p.sentences]
    order = [places[i] for i in np.argsort(-Bm25().scores([row.claim], texts)[0], kind="stable")]
    return order, set(order[:1])


def _figures(row: GoldEvidence, order: Sequence[Unit], cited: set[Unit]) -> tuple[float, ...]:
    found = [place in row.supporting for place in order]
    first = next((rank for rank, hit in enumerate(found, 1) if hit), 0)
    agreement = _agreement(frozenset(cited), row.supporting)
    return (
        float(found[0]) if found else 0.0,
        sum(found[:DEEPEST]) / len(row.supporting) if row.supporting else 0.0,
        1 / first if first else 0.0,
        agreement.precision,
        agreement.recall,
    )
