"""How good propositions are: figures of a sentence, and those of a splitter on the rows of a source."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass

from propcite.app.lab.runs.aggregates import Measures, f_measure, matrix
from propcite.app.lab.runs.significance import interval
from propcite.app.lab.tables import aligned
from propcite.app.library.store.runs import RunItem
from propcite.attribution.propositions import metrics
from propcite.retrieval.text import Span

Spans = list[tuple[Span, ...]]

FIGURES = ("precision", "recall", "exact_precision", "exact_recall", "coverage", "propositions")
COLUMNS = (
    "source",
    "rows",
    "splitter",
    "P@.8",
    "R@.8",
    "F1@.8",
    "95%",
    "P=",
    "R=",
    "F1=",
    "coverage",
    "props",
    "1 fact",
    "per s",
)


@dataclass(frozen=True, slots=True)
class Score:
    """A splitter on the rows of one source, in percent; `whole` of `single` sentences with one fact were left whole.

    F1 lies between `f1_low` and `f1_high` in 95 of 100 samples of the rows.
    """

    source: str
    rows: int
    splitter: str
    precision: float
    recall: float
    f1: float
    f1_low: float
    f1_high: float
    exact_precision: float
    exact_recall: float
    exact_f1: float
    coverage: float
    propositions: float
    whole: int
    single: int
    per_second: float

    def cells(self) -> list[str]:
        close = [f"{figure:.1f}" for figure in (self.precision, self.recall, self.f1)]
        exact = (self.exact_precision, self.exact_recall, self.exact_f1, self.coverage)
        return [
            self.source,
            str(self.rows),
            self.splitter,
            *close,
            f"{self.f1_low:.1f}–{self.f1_high:.1f}",
            *(f"{figure:.1f}" for figure in exact),
            f"{self.propositions:.2f}",
            f"{self.whole}/{self.single}",
            f"{self.per_second:,.0f}",
        ]

    def as_dict(self) -> dict[str, object]:
        return {name: round(told, 2) if isinstance(told, float) else told for name, told in asdict(self).items()}


def measures_of(
    tokens: Sequence[Span], references: Sequence[Sequence[frozenset[int]]], told: Spans
) -> dict[str, float | None]:
    """One sentence's propositions against those of people; of several references the nearest counts.

    `whole` says of a sentence with one fact whether it was left whole.
    """
    predicted = [metrics.tokens_within(tokens, spans) for spans in told]
    agreements = [metrics.agreement(predicted, reference) for reference in references]
    best = max(range(len(agreements)), key=lambda i: agreements[i].f1)
    exact = metrics.agreement(predicted, references[best], threshold=1.0)
    single = all(len(reference) == 1 for reference in references)
    return {
        "precision": agreements[best].precision,
        "recall": agreements[best].recall,
        "exact_precision": exact.precision,
        "exact_recall": exact.recall,
        "coverage": metrics.token_coverage(predicted, references[best]),
        "propositions": float(len(told)),
        "whole": float(len(told) == 1) if single else None,
    }


def scores(items: Iterable[RunItem], splitters: Sequence[str]) -> Iterator[Score]:
    """Each splitter on each source."""
    found: dict[str, dict[str, list[RunItem]]] = defaultdict(lambda: defaultdict(list))
    for item in items:
        found[str(item.output["source"])][item.way].append(item)
    for source, by_splitter in found.items():
        for name in splitters:
            spent = sum(item.cost.get("seconds", 0.0) for item in by_splitter[name])
            per_second = len(by_splitter[name]) / max(spent, 1e-9)
            yield score(source, name, [item.measures for item in by_splitter[name]], per_second)


def score(source: str, splitter: str, rows: Sequence[Measures], per_second: float) -> Score:
    figures = matrix(rows, FIGURES)
    precision, recall, exact_precision, exact_recall, coverage, propositions = figures.mean(axis=0).tolist()
    f1, low, high = interval(figures[:, :2], f_measure)
    whole = [row["whole"] for row in rows if row["whole"] is not None]
    return Score(
        source,
        len(rows),
        splitter,
        precision=100 * precision,
        recall=100 * recall,
        f1=100 * f1,
        f1_low=100 * low,
        f1_high=100 * high,
        exact_precision=100 * exact_precision,
        exact_recall=100 * exact_recall,
        exact_f1=100 * metrics.Agreement(exact_precision, exact_recall).f1,
        coverage=100 * coverage,
        propositions=propositions,
        whole=int(sum(whole)),
        single=len(whole),
        per_second=per_second,
    )


def as_line(told: Score) -> str:
    return json.dumps(told.as_dict(), ensure_ascii=False)


def as_table(told: Sequence[Score]) -> str:
    """One line a splitter."""
    return aligned([list(COLUMNS), *(one.cells() for one in told)], left={0, 2})
