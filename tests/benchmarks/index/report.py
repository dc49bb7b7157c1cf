"""The table, and what it says in sentences: how much more processor time others need for as much recall."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rich import box
from rich.console import Console
from rich.table import Table
from tests.benchmarks.index.engines import OURS
from tests.benchmarks.index.measuring import Record
from tests.benchmarks.index.ours import CHOSEN

LIKE = 0.005  # recalls that differ by less are alike: ten of the two thousand passages that 200 queries want
COLUMNS = (
    "tokens", "engine", "point", "CPU ms", "p95", "wall ms", "R@10", "R@100", "B/token", "build CPU s", "build MB",
    "MB", "x chosen", "sentences: R@10", "R@100", "x passages",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Measured:
    """One engine's records over one corpus."""

    size: str
    engine: str
    tokens: int
    records: Sequence[Record]

    @property
    def build(self) -> Record | None:
        return next((r for r in self.records if r["kind"] == "build"), None)

    @property
    def failure(self) -> str:
        return next((r["reason"] for r in self.records if r["kind"] == "failed"), "")

    def points(self, *, sentences: bool = False) -> list[Record]:
        return [r for r in self.records if r["kind"] == "point" and r["sentences"] == sentences]


def show(measured: Sequence[Measured], console: Console) -> None:
    """The table of all sizes, then the sentences."""
    table = Table(box=box.MARKDOWN)
    for number, column in enumerate(COLUMNS):
        table.add_column(column, justify="left" if number < 3 else "right", no_wrap=True)
    for one in measured:
        for row in _rows(one, _chosen(measured, one.size)):
            table.add_row(*row)
    console.print(table)
    lines = compared(measured)
    if lines:
        console.print(f"Milliseconds, recall@10 and recall@100; a recall at most {LIKE} lower is alike:\n")
    for line in lines:
        console.print(line, soft_wrap=True, highlight=False)


def _rows(one: Measured, chosen: Record | None) -> list[list[str]]:
    build, sentences = one.build, {r["point"]: r for r in one.points(sentences=True)}
    built = [f"{build['bytes'] / one.tokens:.0f}", f"{build['cpu_s']:.0f}", f"{build['peak_mb']:.0f}"] if build else []
    rows: list[list[str]] = []
    for point in one.points():
        row = [one.size, one.engine, point["point"] + _cut_short(point), *_figures(point)]
        row += built if built and not rows else [""] * 3
        row += [f"{point['peak_mb']:.0f}", f"{point['cpu_ms'] / chosen['cpu_ms']:.1f}" if chosen else ""]
        of_sentences = sentences.get(point["point"])
        row += _of_sentences(of_sentences, point) if of_sentences else [""] * 3
        rows.append(row)
    if one.failure:
        rows.append([one.size, one.engine, one.failure, *[""] * (len(COLUMNS) - 3)])
    return rows


def _figures(point: Record) -> list[str]:
    times = [_ms(point["cpu_ms"]), _ms(point["cpu_ms_p95"]), _ms(point["wall_ms"])]
    return [*times, f"{point['recall_10']:.3f}", f"{point['recall_100']:.3f}"]


def _of_sentences(asked: Record, point: Record) -> list[str]:
    return [f"{asked['recall_10']:.3f}", f"{asked['recall_100']:.3f}", f"{asked['cpu_ms'] / point['cpu_ms']:.2f}"]


def _ms(value: float) -> str:
    return f"{value:.1f}" if value < 100 else f"{value:,.0f}"


def _cut_short(point: Record) -> str:
    """Says where a slow point was asked fewer queries than others."""
    return f" ({point['queries']} queries)" if point.get("cut_short") else ""


def _chosen(measured: Sequence[Measured], size: str) -> Record | None:
    engine, label = CHOSEN
    points = [p for one in measured if (one.size, one.engine) == (size, engine) for p in one.points()]
    return next((p for p in points if p["point"] == label), None)


def compared(measured: Sequence[Measured]) -> list[str]:
    """For each other engine at each size the point that stands best beside ours, and its most recalling one."""
    lines = []
    for one in measured:
        same_size = [other for other in measured if other.size == one.size and other.engine.startswith(OURS)]
        ours = [(point, other.engine) for other in same_size for point in other.points()]
        if one.engine.startswith(OURS) or not ours or not one.points():
            continue
        nearest = min(one.points(), key=lambda point: _beside(point, ours, ("recall_10",))[0])
        best = max(one.points(), key=lambda point: (point["recall_10"], point["recall_100"], -point["cpu_ms"]))
        lines += [
            f"- {one.size}, {one.engine} ({_said(point)}): {_beside(point, ours, ('recall_10',))[1]} at like "
            f"recall@10, {_beside(point, ours, ('recall_10', 'recall_100'))[1]} at like recall@10 and @100"
            for point in ([best] if best is nearest else [nearest, best])
        ]
    return lines


def _beside(point: Record, ours: Sequence[tuple[Record, str]], recalls: Sequence[str]) -> tuple[float, str]:
    """How many times the processor time of our cheapest point of like or better recalls it needs, and a clause."""
    alike = [(p, name) for p, name in ours if all(p[recall] >= point[recall] - LIKE for recall in recalls)]
    if not alike:
        return float("inf"), "no point of ours"
    cheapest, name = min(alike, key=lambda pair: pair[0]["cpu_ms"])
    times = point["cpu_ms"] / cheapest["cpu_ms"]
    return times, f"{times:.1f} times the CPU of {name} ({_said(cheapest)})"


def _said(point: Record) -> str:
    return f"{point['point']}: {_ms(point['cpu_ms'])} ms, {point['recall_10']:.3f} and {point['recall_100']:.3f}"
