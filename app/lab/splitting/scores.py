"""Scores of propositions: measures of one sentence, and figures of a splitter on the rows of a source."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass

from propcite.app.lab.runs.aggregates import Measures, f_measure, matrix
from propcite.app.lab.runs.significance import bootstrap_interval
from propcite.app.lab.runs.text_tables import align_columns
from propcite.app.library.store.runs import RunItem
from propcite.attribution.propositions import metrics
from propcite.retrieval.text import Span

Spans = list[tuple[Span, ...]]

COLUMNS = ("precision", "recall", "exact_precision", "exact_recall", "coverage", "propositions")
HEADINGS = (
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
    "supported",
    "well-formed",
    "per s",
)


@dataclass(frozen=True, slots=True)
class SplitterRow:
    """A splitter on the rows of one source, in percent; `whole` of the `single` sentences with one fact stay whole.

    The 95% interval of F1 is from `f1_low` to `f1_high`.  `supported` is the share of propositions that the judge says
    their sentence supports, `well_formed` that of those without a fault; None where they were not measured.
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
    supported: float | None = None
    well_formed: float | None = None

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
            *("–" if figure is None else f"{figure:.1f}" for figure in (self.supported, self.well_formed)),
            f"{self.per_second:,.0f}",
        ]

    def as_json(self) -> str:
        fields = {name: round(value, 2) if isinstance(value, float) else value for name, value in asdict(self).items()}
        return json.dumps(fields, ensure_ascii=False)


def sentence_measures(
    tokens: Sequence[Span], references: Sequence[Sequence[frozenset[int]]], propositions: Spans
) -> dict[str, float | None]:
    """Return the measures of one sentence's propositions against the nearest of its references.

    `whole` is whether a sentence with one fact stayed whole; None for other sentences.  Without a reference only the
    number of propositions is known.
    """
    if not references:
        return {**dict.fromkeys((*COLUMNS, "whole")), "propositions": float(len(propositions))}
    predicted = [metrics.tokens_within(tokens, spans) for spans in propositions]
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
        "propositions": float(len(propositions)),
        "whole": float(len(propositions) == 1) if single else None,
    }


def splitter_rows(items: Iterable[RunItem], splitters: Sequence[str]) -> Iterator[SplitterRow]:
    """Yield each splitter on each source."""
    by_source: dict[str, dict[str, list[RunItem]]] = defaultdict(lambda: defaultdict(list))
    for item in items:
        by_source[str(item.output["source"])][item.way].append(item)
    for source, by_splitter in by_source.items():
        for name in splitters:
            seconds = sum(item.cost.get("seconds", 0.0) for item in by_splitter[name])
            per_second = len(by_splitter[name]) / max(seconds, 1e-9)
            yield splitter_row(source, name, [item.measures for item in by_splitter[name]], per_second)


def splitter_row(source: str, splitter: str, rows: Sequence[Measures], per_second: float) -> SplitterRow:
    count = sum(row["propositions"] or 0 for row in rows)
    quality = [_share(rows, name) for name in ("supported", "well_formed")]
    compared = [row for row in rows if row["precision"] is not None]
    means, f1, low, high = [float("nan")] * 5, *[float("nan")] * 3
    if compared:
        columns = matrix(compared, COLUMNS)
        means = columns.mean(axis=0).tolist()[:5]
        f1, low, high = bootstrap_interval(columns[:, :2], f_measure)
    precision, recall, exact_precision, exact_recall, coverage = means
    whole = [row["whole"] for row in compared if row["whole"] is not None]
    return SplitterRow(
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
        propositions=count / max(1, len(rows)),
        whole=int(sum(whole)),
        single=len(whole),
        per_second=per_second,
        supported=quality[0],
        well_formed=quality[1],
    )


def _share(rows: Sequence[Measures], name: str) -> float | None:
    """Return the percentage of all propositions; None where a sentence was not measured."""
    shares = [(row.get(name), row["propositions"] or 0.0) for row in rows]
    total = sum(count for _, count in shares)
    if not total or any(share is None for share, _ in shares):
        return None
    return 100 * sum((share or 0.0) * count for share, count in shares) / total


def as_table(rows: Sequence[SplitterRow]) -> str:
    return align_columns([list(HEADINGS), *(row.cells() for row in rows)], left={0, 2})
