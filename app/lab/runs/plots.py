"""Plots of a run as SVG that stands inside a page: its colours are those of the page, in the light and in the dark."""

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
from propcite.app.lab.runs.curves import Bin, Curve, Part
from propcite.app.lab.runs.significance import Floats

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_WAYS = 8  # lines that can still be told apart
MOST_POINTS, FEW_POINTS = 300, 12
SQUARE, SMALL = (5.0, 4.9), (4.4, 3.3)  # inches
MARKERS = "osD^vPX*"
DASHES = ("-", (0, (5, 1.5)), (0, (1, 1.2)), (0, (6, 1.5, 1, 1.5)))
TEXT, QUIET, LINE = "#0a0b01", "#0a0b02", "#0a0b03"  # stand for the page's own colours, which take their place
WAYS = tuple(f"#0a0c{number:02x}" for number in range(MOST_WAYS))
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


def reliability_plot(told: Mapping[str, Sequence[Bin]]) -> str:
    """The share that turned out right over the probability that was said; on the diagonal both are the same."""
    with drawn("Share that turned out right, by the probability that the judge said", SQUARE) as (axes, found):
        axes.plot([0, 100], [0, 100], color=QUIET, linewidth=1, linestyle=(0, (2, 2)))
        for number, bins in enumerate(told.values()):
            if not bins:
                continue
            x, y = (100 * np.array([getattr(b, name) for b in bins]) for name in ("probability", "right"))
            spread = 100 * np.array([(max(b.right - b.low, 0), max(b.high - b.right, 0)) for b in bins]).T
            _with_intervals(axes, x, y, spread, _line(number))
        _percent(axes, "probability that was said", "turned out right")
    return found[0]


def precision_recall_plot(told: Mapping[str, Curve | None]) -> str:
    """Precision over recall as the threshold falls."""
    with drawn("Precision against recall as the threshold moves", SQUARE) as (axes, found):
        for number, curve in enumerate(told.values()):
            if curve is None:
                continue
            some = np.unique(np.linspace(0, len(curve.recall) - 1, MOST_POINTS).astype(int))
            line = _line(number) if len(some) <= FEW_POINTS else {**_line(number), "marker": None}
            axes.plot(100 * curve.recall[some], 100 * curve.precision[some], **line)
        _percent(axes, "recall", "precision")
    return found[0]


def parts_plot(parts: Sequence[Part], measure: Measure, ways: Sequence[str], along: str, *, joined: bool) -> str:
    """One figure of each way over parts of the items, with intervals; `joined` where the parts have an order."""
    scale = 100 if measure.percent else 1
    with drawn(f"{measure.heading} by {along}", SMALL) as (axes, found):
        for number, way in enumerate(ways):
            told = [(at, f) for at, part in enumerate(parts) if (f := _figure(part, way, measure)) is not None]
            x = np.array([at for at, _ in told]) + (number - (len(ways) - 1) / 2) * min(0.12, 0.6 / len(ways))
            y = scale * np.array([f.value for _, f in told])
            spread = scale * np.array([(max(f.value - f.low, 0), max(f.high - f.value, 0)) for _, f in told]).T
            line = _line(number) if joined else {**_line(number), "linestyle": ""}
            _with_intervals(axes, x, y, spread.reshape(2, -1), line)
        axes.set_xticks(range(len(parts)), [f"{part.name}\nn {part.items}" for part in parts])
        axes.set_xlim(-0.6, len(parts) - 0.4)
        axes.set_title(measure.heading + (", %" if measure.percent else ""), loc="left", fontsize=10)
        axes.grid(visible=False, axis="x")
    return found[0]


def line_of(number: int) -> str:
    """The line of a way, for a legend that serves all plots."""
    with drawn("", (0.5, 0.18), layout=None) as (axes, found):
        axes.set_axis_off()
        axes.set_position((0, 0, 1, 1))
        axes.plot([0, 1, 2], [0, 0, 0], markevery=[1], **_line(number))
    return found[0].replace(' role="img" aria-label=""', ' aria-hidden="true"')


@contextmanager
def drawn(
    told: str, size: tuple[float, float], layout: Literal["constrained"] | None = "constrained"
) -> Iterator[tuple[Axes, list[str]]]:
    """Axes to draw on; behind the block the list holds the SVG."""
    try:
        from matplotlib import rc_context
        from matplotlib.figure import Figure
    except ImportError as error:
        raise AppError("plots need a package more: pip install 'propcite[eval]'") from error
    found: list[str] = []
    with rc_context(STYLE):
        figure = Figure(figsize=size, layout=layout)
        axes = figure.subplots()
        yield axes, found
        written = io.StringIO()
        nothing = dict.fromkeys(("Date", "Creator", "Format", "Type"))
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Glyph")  # the browser's fonts have more letters
            figure.savefig(written, format="svg", transparent=True, metadata=nothing)
    found.append(_inline(written.getvalue(), told))


def _inline(svg: str, told: str) -> str:
    """The picture alone, without what a file of its own needs, in the page's colours and with words for who listens."""
    body = svg[svg.index("<svg") :]
    body = re.sub(r"<metadata>.*?</metadata>|<defs>\s*<style.*?</defs>", "", body, flags=re.DOTALL)
    body = re.sub(r'<g id="[^"]*"', "<g", body)  # several pictures of one page would have the same ids
    body = re.sub(r"font-family: [^;\"]*; ", "", body)
    body = re.sub(r'^(<svg [^>]*?)width="[^"]*" height="[^"]*" ', r"\1", body)
    body = body.replace("<svg ", f'<svg class="plot" role="img" aria-label="{escape(told)}" ', 1)
    for colour, name in COLOURS.items():
        body = body.replace(colour, f"var({name})")
    return body.strip()


def _figure(part: Part, way: str, measure: Measure) -> Aggregate | None:
    return next((f for f in part.figures if f.way == way and f.measure == measure), None)


def _line(number: int) -> dict[str, Any]:
    """Colour is never the only thing by which a line is known."""
    return {
        "color": WAYS[number],
        "marker": MARKERS[number],
        "linestyle": DASHES[number % len(DASHES)],
        "clip_on": False,
    }


def _with_intervals(axes: Axes, x: Floats, y: Floats, spread: Floats, line: Mapping[str, Any]) -> None:
    *_, bars = axes.errorbar(x, y, yerr=spread, elinewidth=0.9, **line)
    for bar in bars:
        bar.set_alpha(0.5)  # figures before intervals


def _percent(axes: Axes, x: str, y: str) -> None:
    axes.set(xlim=(0, 100), ylim=(0, 100), xlabel=f"{x}, %", ylabel=f"{y}, %", aspect="equal")
