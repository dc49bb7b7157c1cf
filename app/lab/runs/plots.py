"""Plots of a run as inline SVG that uses the colours of the page around it, light or dark."""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from html import escape
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from propcite.app.errors import AppError
from propcite.app.lab.runs.aggregates import Aggregate, Measure
from propcite.app.lab.runs.curves import Bin, Curve, ItemGroup
from propcite.app.lab.runs.significance import Floats
from propcite.retrieval.extras import install_command

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MAX_WAYS = 8  # lines that readers can tell apart
MAX_POINTS = 300  # of one line
MAX_MARKERS = 12  # with more points a line has no markers
SQUARE, SMALL = (5.0, 4.9), (4.4, 3.3)  # inches
MARKERS = "osD^vPX*"
DASHES = ("-", (0, (5, 1.5)), (0, (1, 1.2)), (0, (6, 1.5, 1, 1.5)))
TEXT, QUIET, LINE = "#0a0b01", "#0a0b02", "#0a0b03"  # placeholders that the page's CSS variables replace
WAYS = tuple(f"#0a0c{number:02x}" for number in range(MAX_WAYS))
COLOURS = {TEXT: "--text", QUIET: "--quiet", LINE: "--line"} | {c: f"--way-{n + 1}" for n, c in enumerate(WAYS)}
STYLE: dict[Any, Any] = {
    "svg.fonttype": "none",
    "svg.hashsalt": "propcite",
    "text.parse_math": False,  # a way may have a $ in its name
    "font.size": 10,
    "text.color": TEXT,
    "axes.labelcolor": QUIET,
    "axes.edgecolor": LINE,
    "axes.facecolor": "none",
    "xtick.color": QUIET,
    "ytick.color": QUIET,
    "grid.color": LINE,
    "grid.linewidth": 0.6,
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "legend.frameon": False,
    "legend.fontsize": 9,
    "lines.linewidth": 1.6,
    "lines.markersize": 4.5,
}


def reliability_plot(bins_by_way: Mapping[str, Sequence[Bin]]) -> str:
    """Plot the share that turned out right over the judge's probability; on the diagonal they are equal."""
    with draw_axes("Share that turned out right, by the judge's probability", SQUARE) as (axes, svg):
        axes.plot([0, 100], [0, 100], color=QUIET, linewidth=1, linestyle=(0, (2, 2)))
        for number, bins in enumerate(bins_by_way.values()):
            if not bins:
                continue
            x, y = (100 * np.array([getattr(b, name) for b in bins]) for name in ("probability", "right"))
            spread = 100 * np.array([(max(b.right - b.low, 0), max(b.high - b.right, 0)) for b in bins]).T
            _with_intervals(axes, x, y, spread, _line(number))
        _percent(axes, "judge's probability", "turned out right")
    return svg[0]


def precision_recall_plot(curves: Mapping[str, Curve | None]) -> str:
    with draw_axes("Precision against recall as the threshold moves", SQUARE) as (axes, svg):
        for number, curve in enumerate(curves.values()):
            if curve is None:
                continue
            points = np.unique(np.linspace(0, len(curve.recall) - 1, MAX_POINTS).astype(int))
            line = _line(number) if len(points) <= MAX_MARKERS else {**_line(number), "marker": None}
            axes.plot(100 * curve.recall[points], 100 * curve.precision[points], **line)
        _percent(axes, "recall", "precision")
    return svg[0]


def groups_plot(groups: Sequence[ItemGroup], measure: Measure, ways: Sequence[str], by: str, *, joined: bool) -> str:
    """Plot one figure of each way over groups of items with intervals; `joined` if the groups have an order."""
    scale = 100 if measure.percent else 1
    with draw_axes(f"{measure.heading} by {by}", SMALL) as (axes, svg):
        for number, way in enumerate(ways):
            points = [(at, f) for at, group in enumerate(groups) if (f := _figure(group, way, measure)) is not None]
            x = np.array([at for at, _ in points]) + (number - (len(ways) - 1) / 2) * min(0.12, 0.6 / len(ways))
            y = scale * np.array([f.value for _, f in points])
            spread = scale * np.array([(max(f.value - f.low, 0), max(f.high - f.value, 0)) for _, f in points]).T
            line = _line(number) if joined else {**_line(number), "linestyle": ""}
            _with_intervals(axes, x, y, spread.reshape(2, -1), line)
        axes.set_xticks(range(len(groups)), [f"{group.name}\nn {group.items}" for group in groups])
        axes.set_xlim(-0.6, len(groups) - 0.4)
        axes.set_title(measure.heading + (", %" if measure.percent else ""), loc="left", fontsize=10)
        axes.grid(visible=False, axis="x")
    return svg[0]


def line_of(number: int) -> str:
    """Return the line of a way for a legend that serves all plots."""
    with draw_axes("", (0.5, 0.18), layout=None) as (axes, svg):
        axes.set_axis_off()
        axes.set_position((0, 0, 1, 1))
        axes.plot([0, 1, 2], [0, 0, 0], markevery=[1], **_line(number))
    return svg[0].replace(' role="img" aria-label=""', ' aria-hidden="true"')


@contextmanager
def draw_axes(
    label: str, size: tuple[float, float], layout: Literal["constrained"] | None = "constrained"
) -> Iterator[tuple[Axes, list[str]]]:
    """Give axes to draw on; after the block the list holds the SVG."""
    try:
        from matplotlib import rc_context
        from matplotlib.figure import Figure
    except ImportError as error:
        raise AppError(f"plots need Matplotlib: {install_command('eval')}") from error
    svg: list[str] = []
    with rc_context(STYLE):
        figure = Figure(figsize=size, layout=layout)
        axes = figure.subplots()
        yield axes, svg
        file = io.StringIO()
        no_metadata = dict.fromkeys(("Date", "Creator", "Format", "Type"))
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Glyph")  # the browser's fonts have more letters
            figure.savefig(file, format="svg", transparent=True, metadata=no_metadata)
    svg.append(_inline(file.getvalue(), label))


def _inline(svg: str, label: str) -> str:
    """Return the picture without the parts of a separate file, in the page's colours and with a label."""
    body = svg[svg.index("<svg") :]
    body = re.sub(r"<metadata>.*?</metadata>|<defs>\s*<style.*?</defs>", "", body, flags=re.DOTALL)
    body = re.sub(r'<g id="[^"]*"', "<g", body)  # several pictures on one page would have the same ids
    body = re.sub(r"font-family: [^;\"]*; ", "", body)
    body = re.sub(r'^(<svg [^>]*?)width="[^"]*" height="[^"]*" ', r"\1", body)
    body = body.replace("<svg ", f'<svg class="plot" role="img" aria-label="{escape(label)}" ', 1)
    for colour, name in COLOURS.items():
        body = body.replace(colour, f"var({name})")
    return body.strip()


def _figure(group: ItemGroup, way: str, measure: Measure) -> Aggregate | None:
    return next((f for f in group.figures if f.way == way and f.measure == measure), None)


def _line(number: int) -> dict[str, Any]:
    """Return a line's style; it differs by marker and dashes too, for readers who see no colours."""
    return {
        "color": WAYS[number],
        "marker": MARKERS[number],
        "linestyle": DASHES[number % len(DASHES)],
        "clip_on": False,
    }


def _with_intervals(axes: Axes, x: Floats, y: Floats, spread: Floats, line: Mapping[str, Any]) -> None:
    *_, bars = axes.errorbar(x, y, yerr=spread, elinewidth=0.9, **line)
    for bar in bars:
        bar.set_alpha(0.5)  # so that the figures stand out


def _percent(axes: Axes, x: str, y: str) -> None:
    axes.set(xlim=(0, 100), ylim=(0, 100), xlabel=f"{x}, %", ylabel=f"{y}, %", aspect="equal")
