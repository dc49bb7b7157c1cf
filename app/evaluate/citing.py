"""Measuring what is cited: answers whose writers' own passages are known, and claims whose sentences people marked."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter

import numpy as np

from app.evaluate.gold import GoldAnswer
from app.evaluate.ways import Way, over_each
from attribution.citations import CitedAnswer
from attribution.metrics import Agreement, macro
from retrieval.encoder import Encoder


@dataclass(frozen=True, slots=True)
class Cited:
    """A way of citing on the rows of one source, what it cites against what it should: percent, and citations a row."""

    source: str
    rows: int
    method: str
    judge: str
    precision: float
    recall: float
    f1: float
    citations: float


@dataclass(frozen=True, slots=True)
class Agreed:
    """What one way cited for one row, against what it should."""

    agreement: Agreement
    citations: int

    @classmethod
    def of(cls, cited: Collection[Hashable], gold: Collection[Hashable]) -> Agreed:
        both = len(set(cited) & set(gold))
        return cls(Agreement(both / len(cited) if cited else 0.0, both / len(gold) if gold else 0.0), len(cited))


Told = Mapping[tuple[str, Way], Sequence[Agreed]]  # by source and way


def cited_answers(
    rows: Sequence[GoldAnswer], ways: Sequence[Way], encoder: Encoder, advance: Callable[[str], None] = lambda _: None
) -> list[Cited]:
    """Precision and recall of the cited passages against those that each answer was written from."""
    told: dict[tuple[str, Way], list[Agreed]] = defaultdict(list)
    for row, retriever in over_each(rows, attrgetter("passages"), encoder):
        for way in ways:
            answer = way.propcite.cite(row.text, retriever, question=row.question)
            told[row.source, way].append(Agreed.of(shown_ids(answer), row.written_from))
        advance("answers cited")
    return list(means(told))


def shown_ids(answer: CitedAnswer) -> frozenset[str]:
    """The passages that the answer's sentences show, each with no more markers than it may."""
    return frozenset(c.passage.id for sentence in answer.sentences for c in sentence.citations)


def means(told: Told) -> Iterator[Cited]:
    """A line for each way on each source."""
    for (source, way), agreed in told.items():
        mean = macro(one.agreement for one in agreed)
        citations = round(float(np.mean([one.citations for one in agreed])), 2)
        yield Cited(source, len(agreed), way.method, way.judge, *percent(mean), citations)


def percent(agreement: Agreement) -> tuple[float, float, float]:
    precision, recall, f1 = (round(100 * x, 1) for x in (agreement.precision, agreement.recall, agreement.f1))
    return precision, recall, f1
