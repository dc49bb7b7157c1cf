"""A run as one page that stands alone: figures, plots, parts, the items that went worst, how it was made."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

from propcite.app.errors import AppError
from propcite.app.lab.runs import REPORT
from propcite.app.lab.runs.aggregates import Aggregate, Measure, aggregates, costs, grouped, is_way, measures_in
from propcite.app.lab.runs.curves import (
    Curve,
    Part,
    by_citations,
    by_length,
    by_source,
    calibration_error,
    precision_recall,
    reliability,
)
from propcite.app.lab.runs.pieces import cut, described, picture, section, table
from propcite.app.lab.runs.plots import MOST_WAYS, line_of, parts_plot, precision_recall_plot, reliability_plot
from propcite.app.lab.runs.sources import mean_over_sources
from propcite.app.lab.runs.tables import cost_rows, listed, notes, over_sources_words
from propcite.app.lab.tables import NONE
from propcite.app.library.store.runs import UNFINISHED, RunInfo, RunItem
from propcite.attribution.formats.page import page, safe
from propcite.attribution.formats.plain import one_line

WORST = 10  # items of each way
MOST_PARTED = 3  # measures that are shown by parts
NOTHING = '<td class="none">–</td>'

Items = Sequence[RunItem]


def to_html(run: RunInfo, items: Items) -> str:
    figures = aggregates(items)
    if not figures:
        raise AppError(f"run {run.id} has no figures: give the command that began it again, and it goes on")
    told = (_header(run, figures), measured(run, items, figures), plotted(items, figures))
    body = "".join((*told, _worst(items, grouped(figures)), f"<footer>\n{made(run)}</footer>\n"))
    return page(f"{run.kind} on {run.name}", body, REPORT.read_text("utf-8"))


def measured(run: RunInfo, items: Items, figures: Sequence[Aggregate]) -> str:
    """Every figure with its interval, means over sources, notes, and what it cost."""
    return _figures(grouped(figures), mean_over_sources(items), notes(run)) + _costs(items)


def plotted(items: Items, figures: Sequence[Aggregate]) -> str:
    """The plots that the items allow; empty where there are none."""
    return _curves(items) + _parts(items, grouped(figures))


def leading(figures: Sequence[Aggregate]) -> Measure:
    """The figure by which ways are ordered and items are worst: one that sums up others, or else the first."""
    good = [figure.measure for figure in figures if figure.measure.goal] or [figures[0].measure]
    return next((measure for measure in good if measure.of), good[0])


def _ways(figures: Sequence[Aggregate]) -> list[str]:
    """The ways in their order; of many those with the best figures, since lines must be told apart."""
    first = leading(figures)
    ways = list(dict.fromkeys(figure.way for figure in figures))
    value = {figure.way: figure.value * first.goal for figure in figures if figure.measure == first}
    best = sorted(ways, key=lambda way: -value.get(way, float("-inf")))[:MOST_WAYS]
    return [way for way in ways if way in best]


# What was measured


def _header(run: RunInfo, figures: Sequence[Aggregate]) -> str:
    ways, rows = len({figure.way for figure in figures}), max(figure.items for figure in figures)
    judge = f"judged by {run.judge}" if run.judge else ""
    counted = f"{rows} items, {ways} {'way' if ways == 1 else 'ways'}"
    told = " · ".join(filter(None, (counted, judge, f"{run.started_at:%d %B %Y, %H:%M} UTC")))
    notice = "This run is unfinished: its figures are those of the items that were done."
    shown = f'<p class="notice" role="note">{notice}</p>\n' if run.state == UNFINISHED else ""
    return (
        f'<header>\n<p class="kicker">PropCite · evaluation run {safe(run.id)}</p>\n'
        f'<h1 dir="auto">{safe(run.kind)} on {safe(one_line(run.name))}</h1>\n'
        f'<p class="coverage" dir="auto">{safe(told)}</p>\n{shown}</header>\n'
    )


def _figures(groups: Sequence[Sequence[Aggregate]], means: Sequence[Aggregate], told: Sequence[str]) -> str:
    caption = "Under each figure the interval in which it lies in 95 of 100 samples of the items (bootstrap)."
    tables = "".join(_figures_table(group, "" if number else caption) for number, group in enumerate(groups))
    for group in grouped(means):
        words = over_sources_words(name for figure in group for name in figure.sources)
        tables += _figures_table(group, f"{words[0].upper()}{words[1:]}.")
    below = "".join(f'<p class="told below" dir="auto">{safe(line)}</p>\n' for line in told)
    return section("figures", "Figures", tables + below)


def _figures_table(figures: Sequence[Aggregate], caption: str) -> str:
    """A row a way; the best figure of a column is heavier, and the column by which ways are ordered comes first."""
    first = leading(figures)
    measures = list(dict.fromkeys(figure.measure for figure in figures))
    measures = [first, *(measure for measure in measures if measure != first)]
    cells = {(figure.way, figure.measure): figure for figure in figures}
    best = _best(figures)
    ways = list(dict.fromkeys(figure.way for figure in figures))
    rows = {way: [_figure_cell(f := cells.get((way, m)), f in best) for m in measures] for way in ways}
    headings = [measure.heading + (", %" if measure.percent else "") for measure in measures]
    return table("way", headings, rows, caption)


def _figure_cell(figure: Aggregate | None, best: bool = False) -> str:
    if figure is None:
        return NOTHING
    show = figure.measure.show
    between = f'<span class="interval">{show(figure.low)} – {show(figure.high)}</span>' if not figure.is_single else ""
    return f"<td{' class=best' if best else ''}>{show(figure.value)}{between}</td>"


def _best(figures: Sequence[Aggregate]) -> list[Aggregate]:
    """The best of each measure, where one way is better than another."""
    found = []
    for measure in dict.fromkeys(figure.measure for figure in figures if figure.measure.goal):
        values = {figure.value * measure.goal for figure in figures if figure.measure == measure}
        found += [
            f for f in figures if f.measure == measure and len(values) > 1 and f.value * measure.goal == max(values)
        ]
    return found


def _costs(items: Items) -> str:
    headings, told = cost_rows(costs(items))
    rows = {way: [NOTHING if cell == NONE else f"<td>{cell}</td>" for cell in cells] for way, cells in told.items()}
    return section("costs", "What it cost", table("way", headings, rows)) if rows else ""


# What stands behind the means


def _curves(items: Items) -> str:
    """Reliability, and precision against recall, of each way whose items tell enough."""
    telling = [item for item in items if is_way(item.way) and (item.output.get("judged") or item.output.get("scored"))]
    ways = list(dict.fromkeys(item.way for item in telling))[:MOST_WAYS]
    of_way = {way: [item for item in telling if item.way == way] for way in ways}
    bins = {way: reliability(some) for way, some in of_way.items()}
    curves = {way: precision_recall(some) for way, some in of_way.items()}
    drawn = []
    if any(bins.values()):
        errors = ", ".join(f"{way} {100 * calibration_error(told):.1f}" for way, told in bins.items() if told)
        words = f"On the dotted line a probability means what it says. Mean distance from it, in points: {errors}."
        drawn.append(picture("Can the probability be trusted?", reliability_plot(bins), words))
    if any(curves.values()):
        words = f"The threshold falls from left to right. Precision times recall is highest {_nearest(curves)}."
        drawn.append(picture("Precision against recall", precision_recall_plot(curves), words))
    body = f'{_legend(ways)}\n<div class="side">\n{"".join(drawn)}</div>\n'
    return section("curves", "As the threshold moves", body) if drawn else ""


def _legend(ways: Sequence[str]) -> str:
    lines = "".join(f"<li>{line_of(number)} {safe(way)}</li>\n" for number, way in enumerate(ways))
    return f'<ul class="legend">\n{lines}</ul>' if len(ways) > 1 else ""


def _nearest(curves: Mapping[str, Curve | None]) -> str:
    """Where precision times recall is highest, for each way."""
    told = []
    for way, curve in curves.items():
        if curve is None:
            continue
        at = int((curve.precision * curve.recall).argmax())
        precision, recall = (f"{100 * figures[at]:.0f}" for figures in (curve.precision, curve.recall))
        told.append(f"at {curve.thresholds[at]:.2f} for {way} ({precision} and {recall})")
    return ", ".join(told)


def _parts(items: Items, groups: Sequence[Sequence[Aggregate]]) -> str:
    drawn = "".join(_parts_of(items, group) for group in groups)
    return section("parts", "Parts", drawn) if drawn else ""


def _parts_of(items: Items, figures: Sequence[Aggregate]) -> str:
    """The first measures by length, by number of citations and by source."""
    ways = _ways(figures)
    measures = [m for m in dict.fromkeys(figure.measure for figure in figures) if m.goal][:MOST_PARTED]
    shown = [item for item in items if item.way in ways]
    kinds = (
        ("words of the answer", by_length(shown), True),
        ("citations of the answer", by_citations(shown), True),
        ("source", by_source(shown), False),
    )
    drawn = "".join(_by(along, parts, measures, ways, joined=joined) for along, parts, joined in kinds if parts)
    all_ways = len({figure.way for figure in figures})
    told = f'<p class="coverage">The best {len(ways)} of {all_ways} ways.</p>\n' if len(ways) < all_ways else ""
    return f"{told}{_legend(ways)}\n{drawn}" if drawn else ""


def _by(along: str, parts: Sequence[Part], measures: Sequence[Measure], ways: Sequence[str], *, joined: bool) -> str:
    plots = "".join(parts_plot(parts, measure, ways, along, joined=joined) for measure in measures)
    told = _parts_table(parts, measures, ways, along)
    return f'<h3>By {escape(along)}</h3>\n<div class="three">\n{plots}</div>\n{told}'


def _parts_table(parts: Sequence[Part], measures: Sequence[Measure], ways: Sequence[str], along: str) -> str:
    """The figures behind the plots, for who reads numbers."""
    headings = [f"{part.name} (n {part.items})" for part in parts]
    rows = {
        f"{way}: {measure.heading}": [_part_cell(part, way, measure) for part in parts]
        for measure in measures
        for way in ways
    }
    summary = f"<summary>Figures by {escape(along)}</summary>"
    return f"<details>\n{summary}\n{table(along, headings, rows)}</details>\n"


def _part_cell(part: Part, way: str, measure: Measure) -> str:
    found = next((f for f in part.figures if f.way == way and f.measure == measure), None)
    return _figure_cell(found)


# The items


def _worst(items: Items, groups: Sequence[Sequence[Aggregate]]) -> str:
    """Of each way the items with the worst figure, to be read."""
    parts = "".join(_worst_of(items, group) for group in groups)
    return section("worst", "The items that went worst", parts) if parts else ""


def _worst_of(items: Items, figures: Sequence[Aggregate]) -> str:
    first, parts = leading(figures), []
    for way in dict.fromkeys(figure.way for figure in figures):
        known = [item for item in items if item.way == way and first.known(item.measures)]
        worst = sorted(known, key=lambda item: first.of_item(item.measures) * (first.goal or 1))[:WORST]
        if worst:
            least = first.show(first.of_item(worst[0].measures))
            told = f'<span class="interval">from {first.heading} {least}</span>'
            listed_ = "".join(_item(item) for item in worst)
            parts.append(
                f'<details>\n<summary>{safe(way)} {told}</summary>\n<ul class="worst">\n{listed_}</ul>\n</details>\n'
            )
    return "".join(parts)


def _item(item: RunItem) -> str:
    told = [
        f"{m.heading} {m.show(m.of_item(item.measures))}" for m in measures_in(item.measures) if m.known(item.measures)
    ]
    question, text = (cut(str(item.output.get(name) or "")) for name in ("question", "text"))
    return (
        f'<li>\n<p class="key">{safe(item.key)} · {safe(" · ".join(told))}</p>\n'
        + (f'<p class="question" dir="auto">{safe(question)}</p>\n' if question else "")
        + (f'<p class="text" dir="auto">{safe(text)}</p>\n' if text else "")
        + "</li>\n"
    )


# How it was made


def made(run: RunInfo) -> str:
    """The command, models, code and machine, then the settings."""
    about = {name: value for name, value in run.about.items() if name != "notes"}
    command = str(about.pop("command", ""))
    shown = f'<p class="command"><code>{safe(command)}</code></p>\n' if command else ""
    return (
        f"<h2>How it was made</h2>\n{shown}{described(listed(about))}"
        f"<h2>Settings</h2>\n{described(listed(run.settings))}"
    )
