"""The summary of RESULTS.md: our way beside every other way of each kept run, by paired tests."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from propcite.app.lab.runs.aggregates import is_way
from propcite.app.lab.runs.comparison import MeasureComparison, compare
from propcite.app.library.store import RunInfo
from propcite.app.library.store.runs import Runs

SIGNIFICANT = 0.05
HEAD = f"""## Where PropCite wins and where it loses

Each row is our way beside another way of a table below, on the same items: the figures in percent, their difference
with its 95% interval, and p of a paired randomisation. It wins or loses where p is at most {SIGNIFICANT}.

| items | measure | ours | other | ours | other | difference | p | |
|---|---|---|---|---:|---:|---:|---:|---|"""


@dataclass(frozen=True, slots=True)
class Contest:
    """Our ways of a run, and the measure by which they are compared with the others."""

    measure: str
    ours: tuple[str, ...]
    over_sources: bool = False
    beside: tuple[str, ...] = ()  # other ways; by default all but our own ones


@dataclass(frozen=True, slots=True)
class Bout:
    """One of our ways beside another one."""

    title: str
    ours: str
    other: str
    figures: MeasureComparison

    @property
    def verdict(self) -> str:
        """
        >>> from propcite.app.lab.runs.aggregates import Measure
        >>> Bout("", "", "", MeasureComparison(Measure("P@1"), 9, 0.5, 0.6, 0.1, 0.05, 0.2, 0.01, 1, 0)).verdict
        'wins'
        """
        one = self.figures
        if one.p is None or one.p > SIGNIFICANT:
            return "no difference shown"
        return "wins" if one.difference * one.measure.goal > 0 else "loses"

    @property
    def line(self) -> str:
        one = self.figures
        show = one.measure.show
        cells = (
            f"{self.title} ({one.items:,})", one.measure.heading, self.ours, self.other, show(one.b), show(one.a),
            f"{_signed(show(one.difference))} ({_signed(show(one.low))} to {_signed(show(one.high))})",
            "" if one.p is None else f"{one.p:.4f}", self.verdict,
        )  # fmt: skip
        return f"| {' | '.join(cells)} |"


def bouts(runs: Runs, run: RunInfo, title: str, contest: Contest) -> Iterator[Bout]:
    """Yield each of our ways that the run has beside each other way."""
    ways = list(dict.fromkeys(item.way for item in runs.items(run.id) if is_way(item.way)))
    others = [way for way in ways if way not in contest.ours and way in (contest.beside or ways)]
    for ours in (way for way in contest.ours if way in ways):
        for other in others:
            [comparison] = compare(runs, f"{run.id}:{other}", f"{run.id}:{ours}")
            figures = comparison.over_sources if contest.over_sources else comparison.figures
            named = [one for one in figures if one.measure.name == contest.measure]
            yield from (Bout(title, _plain(ours), _plain(other), one) for one in named)


def summary(found: Iterable[Bout]) -> list[str]:
    """Return the section's lines, with the counts of wins and losses against BM25 and against all ways."""
    rows = list(found)
    against = [row for row in rows if "bm25" in row.other]
    counts = f"Against BM25: {_counts(against)}.  Against all ways: {_counts(rows)}."
    return [HEAD, *(row.line for row in rows), "", counts, ""]


def _counts(rows: Sequence[Bout]) -> str:
    verdicts = [row.verdict for row in rows]
    won, lost = verdicts.count("wins"), verdicts.count("loses")
    return f"{won} won, {lost} lost, {len(rows) - won - lost} without a difference that is shown"


def _plain(way: str) -> str:
    """
    >>> _plain("passages of answers: bm25, no judge"), _plain("m_q")
    ('bm25, no judge', 'm_q')
    """
    return way.rpartition(": ")[2]


def _signed(text: str) -> str:
    return text if text.startswith("-") else f"+{text}"
