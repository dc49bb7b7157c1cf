"""Runs as text tables and as JSON fields: figures, costs, comparisons."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from propcite.app.lab.runs.aggregates import Aggregate, Measure, comparable_groups, total_cost
from propcite.app.lab.runs.comparison import Comparison, ItemChange, MeasureComparison
from propcite.app.lab.runs.text_tables import NO_VALUE, align_columns
from propcite.app.library.store.runs import RunInfo

_HASH = re.compile("[0-9a-f]{40,64}")  # shown by its first characters
WIDTH = 120
TOTAL = "all together"  # the row of all ways' costs
COSTS = {
    "seconds": "seconds",
    "cpu_seconds": "CPU seconds",
    "prompt_tokens": "prompt tokens",
    "completion_tokens": "completion tokens",
}
SENTENCES = "cited_sentences"
EACH = (
    ("seconds", "items", "ms an item"),
    ("citing_seconds", SENTENCES, "citing, ms a sentence"),
    ("citing_cpu_seconds", SENTENCES, "citing, CPU ms a sentence"),
)  # a cost, what it is divided by, and its heading


def run_fields(run: RunInfo) -> dict[str, Any]:
    """Return a run for JSON."""
    return {
        **{name: getattr(run, name) for name in ("id", "kind", "name", "state", "num_items", "judge")},
        "started_at": run.started_at.isoformat(),
        "ended_at": run.ended_at.isoformat() if run.ended_at else None,
        "settings": dict(run.settings),
        "about": dict(run.about),
    }


def measure_fields(measure: Measure) -> dict[str, Any]:
    return {"measure": measure.name, "percent": measure.percent, "judged": measure.judged}


def figure_fields(figure: Aggregate) -> dict[str, Any]:
    """Return a figure for JSON."""
    fields = {name: getattr(figure, name) for name in ("way", "items", "value", "low", "high")}
    return {**measure_fields(figure.measure), **fields, **({"sources": list(figure.sources)} if figure.sources else {})}


def heading(run: RunInfo, figures: Sequence[Aggregate]) -> str:
    """Return two lines: what was measured by which judge, and which run it is."""
    num_items = max((figure.items for figure in figures), default=0)
    num_ways = len({figure.way for figure in figures})
    counts = f"{num_items} items, {num_ways} {'way' if num_ways == 1 else 'ways'}"
    judge = f", judged by {run.judge}" if run.judge else ""
    code = run.about.get("revision") or run.about.get("version") or ""
    start = f"{run.started_at:%Y-%m-%d %H:%M} UTC" + (f", propcite {code}" if code else "")
    return f"{run.kind} on {run.name}, {counts}{judge}\nrun {run.id} ({run.state}) of {start}"


def notes(run: RunInfo) -> list[str]:
    """Return the run's remarks for readers of its figures."""
    lines = run.about.get("notes")
    return [str(line) for line in lines] if isinstance(lines, list) else []


def flat_settings(settings: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, str]]:
    """Yield settings with their names; a nested one has both names.  Empty ones are left out."""
    for name, value in settings.items():
        if isinstance(value, Mapping):
            yield from flat_settings(value, f"{prefix}{_spaced(name)} ")
        elif value not in ("", None):
            text = ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
            yield prefix + _spaced(name), f"{text[:12]}…" if _HASH.fullmatch(text) else text


def _spaced(name: str) -> str:
    return name.replace("_", " ") if name.isidentifier() else name  # a file's name stays as it is


def figures_table(figures: Sequence[Aggregate], width: int = WIDTH) -> str:
    """Return one row per way and one column per measure, in as many tables as the width needs."""
    return "\n\n".join(_table(group, width) for group in comparable_groups(figures))


def sources_caption(sources: Iterable[str]) -> str:
    """
    >>> sources_caption(["news", "wiki"])
    'plain mean over 2 sources (news, wiki), items drawn within each'
    """
    names = sorted(set(sources))
    return f"plain mean over {len(names)} sources ({', '.join(names)}), items drawn within each"


def means_table(means: Sequence[Aggregate], width: int = WIDTH) -> str:
    """Return a table of means over sources with a caption that names these."""
    return f"{sources_caption(name for figure in means for name in figure.sources)}\n{figures_table(means, width)}"


def _table(figures: Sequence[Aggregate], width: int) -> str:
    measures = list(dict.fromkeys(figure.measure for figure in figures))
    ways = list(dict.fromkeys(figure.way for figure in figures))
    cells = {(figure.way, figure.measure): with_interval(figure) for figure in figures}
    columns = {m: [_column_heading(m, figures), *(cells.get((way, m), NO_VALUE) for way in ways)] for m in measures}
    tables = [
        align_columns([list(row) for row in zip(["way", *ways], *(columns[m] for m in part), strict=True)], left={0})
        for part in _fitting(columns, width - max(map(len, ways)))
    ]
    return "\n\n".join(tables)


def with_interval(figure: Aggregate) -> str:
    show = figure.measure.show
    return show(figure.value) if figure.is_single else f"{show(figure.value)} [{show(figure.low)}, {show(figure.high)}]"


def _column_heading(measure: Measure, figures: Sequence[Aggregate]) -> str:
    """Return the measure's heading with its number of items; the range of it if the ways differ."""
    counts = {figure.items for figure in figures if figure.measure == measure}
    return f"{measure.heading} (n {'–'.join(map(str, sorted({min(counts), max(counts)})))})"


def _fitting(columns: Mapping[Measure, Sequence[str]], width: int) -> Iterator[list[Measure]]:
    """Yield the columns in parts that fit into the width."""
    part: list[Measure] = []
    left = width
    for measure, cells in columns.items():
        needed = 2 + max(map(len, cells))
        if part and needed > left:
            yield part
            part, left = [], width
        part.append(measure)
        left -= needed
    yield part


def costs_table(by_way: Mapping[str, Mapping[str, float]]) -> str:
    """Return the costs of each way and of one of its items, then those of all ways."""
    headings, rows = cost_rows(by_way)
    return align_columns([["way", *headings], *([way, *cells] for way, cells in rows.items())], left={0})


def cost_rows(by_way: Mapping[str, Mapping[str, float]]) -> tuple[list[str], dict[str, list[str]]]:
    """Return the headings and each way's cells; no rows if no cost is stored."""
    names = [name for name in COSTS if any(name in cost for cost in by_way.values())]
    rows = {**by_way, **({TOTAL: total_cost(by_way)} if len(by_way) > 1 else {})}
    each = EACH if any(SENTENCES in cost for cost in by_way.values()) else EACH[:1]
    headings = ["items", *(COSTS[name] for name in names), *(heading for _, _, heading in each)]
    return headings, {way: _cost_cells(cost, names, each) for way, cost in rows.items() if names}


def _cost_cells(cost: Mapping[str, float], names: Sequence[str], each: Sequence[tuple[str, str, str]]) -> list[str]:
    totals = [f"{cost[name]:,.{0 if 'tokens' in name else 1}f}" if name in cost else NO_VALUE for name in names]
    shares = [
        f"{1000 * cost[name] / cost[number]:,.0f}" if name in cost and cost.get(number) else NO_VALUE
        for name, number, _ in each
    ]
    return [f"{cost['items']:,.0f}", *totals, *shares]


def comparison_table(figures: Sequence[MeasureComparison]) -> str:
    """Return one row per measure: both figures, their difference with its interval, p, and how many items changed."""
    rows = [["measure", "first", "second", "difference", "p", "items", "up", "down"]]
    for one in figures:
        show = one.measure.show
        interval = f" [{signed(show(one.low))}, {signed(show(one.high))}]" if one.p is not None else ""
        p = NO_VALUE if one.p is None else format_p(one.p)
        counts = [str(n) for n in (one.items, one.up, one.down)]
        rows.append(
            [one.measure.heading, show(one.a), show(one.b), signed(show(one.difference)) + interval, p, *counts]
        )
    return align_columns(rows, left={0})


def comparison_fields(comparison: Comparison) -> dict[str, Any]:
    """Return a comparison for JSON."""
    return {
        "first": {"run": comparison.a.run.id, "way": comparison.a.way, "judge": comparison.a.run.judge},
        "second": {"run": comparison.b.run.id, "way": comparison.b.way, "judge": comparison.b.run.judge},
        "items": len(comparison.shared),
        "figures": list(map(_compared_fields, comparison.figures)),
        "sources": list(comparison.sources),
        "over_sources": list(map(_compared_fields, comparison.over_sources)),
        "left_out": [measure.name for measure in comparison.left_out],
    }


def _compared_fields(figure: MeasureComparison) -> dict[str, Any]:
    return {**measure_fields(figure.measure), **{k: v for k, v in asdict(figure).items() if k != "measure"}}


def changes_fields(changes: Sequence[ItemChange], by: Measure | None) -> dict[str, Any]:
    """Return for JSON which items changed in a measure."""
    items = [
        {
            "item": one.a.key, "first": one.before, "second": one.after, "difference": one.difference,
            "first_output": dict(one.a.output), "second_output": dict(one.b.output),
        }
        for one in changes
    ]  # fmt: skip
    return {"measure": by.name if by else None, "items": items}


def sides_text(comparison: Comparison) -> str:
    sides = (comparison.a, comparison.b)
    a, b = (f"{side.run.kind} on {side.run.name}, {side.way}, run {side.run.id}" for side in sides)
    return f"first:  {a}\nsecond: {b}\n{len(comparison.shared)} items in both"


def judge_difference(comparison: Comparison) -> str:
    """Return why figures are left out, naming both judges."""
    names = ", ".join(measure.heading for measure in comparison.left_out)
    judges = " and ".join(side.run.judge or "none" for side in (comparison.a, comparison.b))
    return f"left out, since figures of different judges ({judges}) cannot be compared: {names}"


def changes_table(changes: Sequence[ItemChange], measure: Measure) -> str:
    rows = [["item", "first", "second", "difference", "question"]]
    for one in changes:
        figures = [measure.show(one.before), measure.show(one.after), signed(measure.show(one.difference))]
        rows.append([one.a.key, *figures, _question(one)])
    return align_columns(rows, left={0, 4})


def _question(change: ItemChange, max_length: int = 60) -> str:
    text = " ".join(str(change.b.output.get("question") or change.b.output.get("text") or "").split())
    return text if len(text) <= max_length else f"{text[: max_length - 1]}…"


def format_p(p: float) -> str:
    """
    >>> format_p(0.0321), format_p(0.00009999)
    ('.032', '.0001')
    """
    return f"{p:.3f}".removeprefix("0") if p >= 0.001 else f"{p:.4f}".removeprefix("0")


def signed(number: str) -> str:
    return number if number.startswith("-") else f"+{number}"
