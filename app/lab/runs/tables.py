"""Runs as text: their figures, what they cost, and two beside each other."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from propcite.app.lab.runs.aggregates import Aggregate, Measure, grouped, whole_cost
from propcite.app.lab.runs.comparing import Compared, Comparison, Moved
from propcite.app.lab.tables import NONE, aligned
from propcite.app.library.store.runs import RunInfo

_HASH = re.compile("[0-9a-f]{40,64}")  # its beginning tells it from others
WIDTH = 120
TOGETHER = "all together"  # the costs of all ways
COSTS = {
    "seconds": "seconds",
    "cpu_seconds": "CPU seconds",
    "gpu_seconds": "GPU seconds",
    "prompt_tokens": "prompt tokens",
    "completion_tokens": "completion tokens",
}


def as_told(run: RunInfo) -> dict[str, Any]:
    """A run for JSON."""
    ended = run.ended_at.isoformat() if run.ended_at else None
    return {
        **{name: getattr(run, name) for name in ("id", "kind", "name", "state", "num_items", "judge")},
        "started_at": run.started_at.isoformat(),
        "ended_at": ended,
        "settings": dict(run.settings),
        "about": dict(run.about),
    }


def measure_told(measure: Measure) -> dict[str, Any]:
    return {"measure": measure.name, "percent": measure.percent, "judged": measure.judged}


def figure_told(figure: Aggregate) -> dict[str, Any]:
    """A figure for JSON."""
    told = {name: getattr(figure, name) for name in ("way", "items", "value", "low", "high")}
    return {**measure_told(figure.measure), **told, **({"sources": list(figure.sources)} if figure.sources else {})}


def heading(run: RunInfo, figures: Sequence[Aggregate]) -> str:
    """What was measured, by which judge and when."""
    num_items = max((figure.items for figure in figures), default=0)
    num_ways = len({figure.way for figure in figures})
    counted = f"{num_items} items, {num_ways} {'way' if num_ways == 1 else 'ways'}"
    judge = f", judged by {run.judge}" if run.judge else ""
    code = run.about.get("revision") or run.about.get("version") or ""
    began = f"{run.started_at:%Y-%m-%d %H:%M} UTC" + (f", propcite {code}" if code else "")
    return f"{run.kind} on {run.name}, {counted}{judge}\nrun {run.id} ({run.state}) of {began}"


def notes(run: RunInfo) -> list[str]:
    """What a reader of the figures must know."""
    told = run.about.get("notes")
    return [str(line) for line in told] if isinstance(told, list) else []


def listed(settings: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, str]]:
    """Settings under their names, one inside another by both."""
    for name, value in settings.items():
        if isinstance(value, Mapping):
            yield from listed(value, f"{prefix}{_words(name)} ")
        elif value not in ("", None):
            told = ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
            yield prefix + _words(name), f"{told[:12]}…" if _HASH.fullmatch(told) else told


def _words(name: str) -> str:
    return name.replace("_", " ") if name.isidentifier() else name  # a file's name stays as it is


def figures_table(figures: Sequence[Aggregate], width: int = WIDTH) -> str:
    """A row a way, a column a measure with its interval; as many tables below each other as the width asks for."""
    return "\n\n".join(_table(group, width) for group in grouped(figures))


def over_sources_words(sources: Iterable[str]) -> str:
    """
    >>> over_sources_words(["news", "wiki"])
    'plain mean over 2 sources (news, wiki), items drawn within each'
    """
    names = sorted(set(sources))
    return f"plain mean over {len(names)} sources ({', '.join(names)}), items drawn within each"


def means_table(means: Sequence[Aggregate], width: int = WIDTH) -> str:
    """Figures that are means over sources, under the names of these."""
    return f"{over_sources_words(name for figure in means for name in figure.sources)}\n{figures_table(means, width)}"


def _table(figures: Sequence[Aggregate], width: int) -> str:
    measures = list(dict.fromkeys(figure.measure for figure in figures))
    ways = list(dict.fromkeys(figure.way for figure in figures))
    cells = {(figure.way, figure.measure): interval(figure) for figure in figures}
    told = {m: [_counted(m, figures), *(cells.get((way, m), NONE) for way in ways)] for m in measures}
    tables = [
        aligned([list(row) for row in zip(["way", *ways], *(told[m] for m in part), strict=True)], left={0})
        for part in _parts(told, width - max(map(len, ways)))
    ]
    return "\n\n".join(tables)


def interval(figure: Aggregate) -> str:
    measure = figure.measure
    if figure.is_single:
        return measure.show(figure.value)
    return f"{measure.show(figure.value)} [{measure.show(figure.low)}, {measure.show(figure.high)}]"


def _counted(measure: Measure, figures: Sequence[Aggregate]) -> str:
    """The measure's heading with the number of items behind it, where all ways have as many."""
    counts = {figure.items for figure in figures if figure.measure == measure}
    return f"{measure.heading} (n {'–'.join(map(str, sorted({min(counts), max(counts)})))})"


def _parts(columns: Mapping[Measure, Sequence[str]], width: int) -> Iterator[list[Measure]]:
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


def costs_table(spent: Mapping[str, Mapping[str, float]]) -> str:
    """What all items of each way cost, and one of them; then all ways together."""
    headings, told = cost_rows(spent)
    return aligned([["way", *headings], *([way, *cells] for way, cells in told.items())], left={0})


def cost_rows(spent: Mapping[str, Mapping[str, float]]) -> tuple[list[str], dict[str, list[str]]]:
    """Headings, and the cells of each way; empty where nothing was noted."""
    names = [name for name in COSTS if any(name in cost for cost in spent.values())]
    rows = {**spent, **({TOGETHER: whole_cost(spent)} if len(spent) > 1 else {})}
    headings = ["items", *(COSTS[name] for name in names), "ms an item"]
    return headings, {way: _cost_cells(cost, names) for way, cost in rows.items() if names}


def _cost_cells(cost: Mapping[str, float], names: Sequence[str]) -> list[str]:
    told = [f"{cost[name]:,.{0 if 'tokens' in name else 1}f}" if name in cost else NONE for name in names]
    each = f"{1000 * cost['seconds'] / cost['items']:,.0f}" if "seconds" in cost else NONE
    return [f"{cost['items']:,.0f}", *told, each]


def comparison_table(figures: Sequence[Compared]) -> str:
    """A row a measure: both figures, their difference with its interval, p, and how many items changed."""
    rows = [["measure", "first", "second", "difference", "p", "items", "up", "down"]]
    for one in figures:
        show = one.measure.show
        between = f" [{signed(show(one.low))}, {signed(show(one.high))}]" if one.p is not None else ""
        apart = signed(show(one.difference)) + between
        counts = [str(n) for n in (one.items, one.up, one.down)]
        rows.append(
            [
                one.measure.heading,
                show(one.a),
                show(one.b),
                apart,
                NONE if one.p is None else probability(one.p),
                *counts,
            ]
        )
    return aligned(rows, left={0})


def sides(found: Comparison) -> str:
    a, b = (f"{side.run.kind} on {side.run.name}, {side.way}, run {side.run.id}" for side in (found.a, found.b))
    return f"first:  {a}\nsecond: {b}\n{len(found.shared)} items in both"


def judges_differ(found: Comparison) -> str:
    """Why some figures are missing; both judges are named."""
    names = ", ".join(measure.heading for measure in found.left_out)
    judges = " and ".join(side.run.judge or "none" for side in (found.a, found.b))
    return f"left out, since figures of different judges ({judges}) cannot be compared: {names}"


def moved_table(items: Sequence[Moved], measure: Measure) -> str:
    rows = [["item", "first", "second", "difference", "question"]]
    for one in items:
        told = [measure.show(one.before), measure.show(one.after), signed(measure.show(one.by))]
        rows.append([one.a.key, *told, question(one)])
    return aligned(rows, left={0, 4})


def question(one: Moved, longest: int = 60) -> str:
    text = " ".join(str(one.b.output.get("question") or one.b.output.get("text") or "").split())
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


def probability(p: float) -> str:
    """
    >>> probability(0.0321), probability(0.00009999)
    ('.032', '.0001')
    """
    return f"{p:.3f}".removeprefix("0") if p >= 0.001 else f"{p:.4f}".removeprefix("0")


def signed(shown: str) -> str:
    return shown if shown.startswith("-") else f"+{shown}"
