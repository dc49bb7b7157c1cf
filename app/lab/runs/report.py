"""A run as one HTML page: figures, plots, groups of items, the items with the worst figures, and its provenance."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

from propcite.app.errors import AppError
from propcite.app.lab.runs import REPORT_CSS
from propcite.app.lab.runs.aggregates import (
    Aggregate,
    Measure,
    aggregates,
    comparable_groups,
    costs,
    is_way,
    mean_over_sources,
    measures_in,
)
from propcite.app.lab.runs.curves import (
    Curve,
    ItemGroup,
    calibration_error,
    groups_by_citations,
    groups_by_length,
    groups_by_source,
    precision_recall,
    reliability,
)
from propcite.app.lab.runs.markup import definition_list, plot_figure, section, shorten, table
from propcite.app.lab.runs.plots import MAX_WAYS, groups_plot, line_of, precision_recall_plot, reliability_plot
from propcite.app.lab.runs.tables import cost_rows, flat_settings, notes, sources_caption
from propcite.app.lab.runs.text_tables import NO_VALUE
from propcite.app.library.store.runs import UNFINISHED, RunInfo, RunItem
from propcite.attribution.formats.html import page
from propcite.attribution.formats.text import one_line, safe

NUM_WORST = 10  # items per way
MAX_GROUP_MEASURES = 3  # measures that are shown by group
EMPTY_CELL = '<td class="none">–</td>'

Items = Sequence[RunItem]


def to_html(run: RunInfo, items: Items) -> str:
    figures = aggregates(items)
    if not figures:
        raise AppError(f"run {run.id} has no figures: continue it with the command that began it")
    parts = (
        _header(run, figures),
        figures_html(run, items, figures),
        plots_html(items, figures),
        _worst(items, comparable_groups(figures)),
        f"<footer>\n{provenance_html(run)}</footer>\n",
    )
    return page(f"{run.kind} on {run.name}", "".join(parts), REPORT_CSS.read_text("utf-8"))


def figures_html(run: RunInfo, items: Items, figures: Sequence[Aggregate]) -> str:
    """Return the figures with intervals, means over sources, notes and costs."""
    return _figures(comparable_groups(figures), mean_over_sources(items), notes(run)) + _costs(items)


def plots_html(items: Items, figures: Sequence[Aggregate]) -> str:
    """Return the plots that the items allow; empty if there are none."""
    return _curves(items) + _groups(items, comparable_groups(figures))


def main_measure(figures: Sequence[Aggregate]) -> Measure:
    """Return the measure by which ways and items are ordered: one that combines others, or else the first."""
    good = [figure.measure for figure in figures if figure.measure.goal] or [figures[0].measure]
    return next((measure for measure in good if measure.inputs), good[0])


def _best_ways(figures: Sequence[Aggregate]) -> list[str]:
    """Return the ways in their order; of more than MAX_WAYS, those with the best figures."""
    main = main_measure(figures)
    ways = list(dict.fromkeys(figure.way for figure in figures))
    value = {figure.way: figure.value * main.goal for figure in figures if figure.measure == main}
    best = sorted(ways, key=lambda way: -value.get(way, float("-inf")))[:MAX_WAYS]
    return [way for way in ways if way in best]


# Figures


def _header(run: RunInfo, figures: Sequence[Aggregate]) -> str:
    ways, rows = len({figure.way for figure in figures}), max(figure.items for figure in figures)
    judge = f"judged by {run.judge}" if run.judge else ""
    counts = f"{rows} items, {ways} {'way' if ways == 1 else 'ways'}"
    summary = " · ".join(filter(None, (counts, judge, f"{run.started_at:%d %B %Y, %H:%M} UTC")))
    notice = "This run is unfinished: its figures are those of the items that are done."
    shown = f'<p class="notice" role="note">{notice}</p>\n' if run.state == UNFINISHED else ""
    return (
        f'<header>\n<p class="kicker">PropCite · evaluation run {safe(run.id)}</p>\n'
        f'<h1 dir="auto">{safe(run.kind)} on {safe(one_line(run.name))}</h1>\n'
        f'<p class="coverage" dir="auto">{safe(summary)}</p>\n{shown}</header>\n'
    )


def _figures(groups: Sequence[Sequence[Aggregate]], means: Sequence[Aggregate], lines: Sequence[str]) -> str:
    caption = "Under each figure its 95% interval over samples of the items (bootstrap)."
    tables = "".join(_figures_table(group, "" if number else caption) for number, group in enumerate(groups))
    for group in comparable_groups(means):
        text = sources_caption(name for figure in group for name in figure.sources)
        tables += _figures_table(group, f"{text[0].upper()}{text[1:]}.")
    below = "".join(f'<p class="told below" dir="auto">{safe(line)}</p>\n' for line in lines)
    return section("figures", "Figures", tables + below)


def _figures_table(figures: Sequence[Aggregate], caption: str) -> str:
    """Return one row per way, with the main measure first and the best figure of each column in bold."""
    main = main_measure(figures)
    measures = list(dict.fromkeys(figure.measure for figure in figures))
    measures = [main, *(measure for measure in measures if measure != main)]
    cells = {(figure.way, figure.measure): figure for figure in figures}
    best = _best_figures(figures)
    ways = list(dict.fromkeys(figure.way for figure in figures))
    rows = {way: [_figure_cell(f := cells.get((way, m)), f in best) for m in measures] for way in ways}
    headings = [measure.heading + (", %" if measure.percent else "") for measure in measures]
    return table("way", headings, rows, caption)


def _figure_cell(figure: Aggregate | None, best: bool = False) -> str:
    if figure is None:
        return EMPTY_CELL
    show = figure.measure.show
    interval = "" if figure.is_single else f'<span class="interval">{show(figure.low)} – {show(figure.high)}</span>'
    return f"<td{' class=best' if best else ''}>{show(figure.value)}{interval}</td>"


def _best_figures(figures: Sequence[Aggregate]) -> list[Aggregate]:
    """Return the best figures of each measure in which ways differ."""
    best = []
    for measure in dict.fromkeys(figure.measure for figure in figures if figure.measure.goal):
        column = [figure for figure in figures if figure.measure == measure]
        values = {figure.value * measure.goal for figure in column}
        best += [f for f in column if len(values) > 1 and f.value * measure.goal == max(values)]
    return best


def _costs(items: Items) -> str:
    headings, by_way = cost_rows(costs(items))
    rows = {way: [EMPTY_CELL if c == NO_VALUE else f"<td>{c}</td>" for c in cells] for way, cells in by_way.items()}
    return section("costs", "What it cost", table("way", headings, rows)) if rows else ""


# Plots


def _curves(items: Items) -> str:
    """Return reliability, and precision against recall, of each way whose items have judgements or scores."""
    scored = [item for item in items if is_way(item.way) and (item.output.get("judged") or item.output.get("scored"))]
    ways = list(dict.fromkeys(item.way for item in scored))[:MAX_WAYS]
    by_way = {way: [item for item in scored if item.way == way] for way in ways}
    bins = {way: reliability(rows) for way, rows in by_way.items()}
    curves = {way: precision_recall(rows) for way, rows in by_way.items()}
    plots = []
    if any(bins.values()):
        errors = ", ".join(f"{way} {100 * calibration_error(b):.1f}" for way, b in bins.items() if b)
        text = f"On the dotted line a probability is exact. Mean distance from it, in points: {errors}."
        plots.append(plot_figure("Can the probability be trusted?", reliability_plot(bins), text))
    if any(curves.values()):
        text = f"The threshold falls from left to right. Precision times recall is highest {_best_thresholds(curves)}."
        plots.append(plot_figure("Precision against recall", precision_recall_plot(curves), text))
    body = f'{_legend(ways)}\n<div class="side">\n{"".join(plots)}</div>\n'
    return section("curves", "As the threshold moves", body) if plots else ""


def _legend(ways: Sequence[str]) -> str:
    lines = "".join(f"<li>{line_of(number)} {safe(way)}</li>\n" for number, way in enumerate(ways))
    return f'<ul class="legend">\n{lines}</ul>' if len(ways) > 1 else ""


def _best_thresholds(curves: Mapping[str, Curve | None]) -> str:
    """Return where precision times recall is highest, for each way."""
    texts = []
    for way, curve in curves.items():
        if curve is None:
            continue
        at = int((curve.precision * curve.recall).argmax())
        precision, recall = (f"{100 * values[at]:.0f}" for values in (curve.precision, curve.recall))
        texts.append(f"at {curve.thresholds[at]:.2f} for {way} ({precision} and {recall})")
    return ", ".join(texts)


def _groups(items: Items, tables: Sequence[Sequence[Aggregate]]) -> str:
    plots = "".join(_groups_of(items, figures) for figures in tables)
    return section("parts", "Parts", plots) if plots else ""


def _groups_of(items: Items, figures: Sequence[Aggregate]) -> str:
    """Return the first measures by length, by number of citations and by source."""
    ways = _best_ways(figures)
    measures = [m for m in dict.fromkeys(figure.measure for figure in figures) if m.goal][:MAX_GROUP_MEASURES]
    shown = [item for item in items if item.way in ways]
    kinds = (
        ("words of the answer", groups_by_length(shown), True),
        ("citations of the answer", groups_by_citations(shown), True),
        ("source", groups_by_source(shown), False),
    )
    plots = "".join(_by(by, groups, measures, ways, joined=joined) for by, groups, joined in kinds if groups)
    all_ways = len({figure.way for figure in figures})
    above = f'<p class="coverage">The best {len(ways)} of {all_ways} ways.</p>\n' if len(ways) < all_ways else ""
    return f"{above}{_legend(ways)}\n{plots}" if plots else ""


def _by(by: str, groups: Sequence[ItemGroup], measures: Sequence[Measure], ways: Sequence[str], *, joined: bool) -> str:
    plots = "".join(groups_plot(groups, measure, ways, by, joined=joined) for measure in measures)
    numbers = _groups_table(groups, measures, ways, by)
    return f'<h3>By {escape(by)}</h3>\n<div class="three">\n{plots}</div>\n{numbers}'


def _groups_table(groups: Sequence[ItemGroup], measures: Sequence[Measure], ways: Sequence[str], by: str) -> str:
    """Return the figures of the plots as numbers."""
    headings = [f"{group.name} (n {group.items})" for group in groups]
    rows = {
        f"{way}: {measure.heading}": [_group_cell(group, way, measure) for group in groups]
        for measure in measures
        for way in ways
    }
    summary = f"<summary>Figures by {escape(by)}</summary>"
    return f"<details>\n{summary}\n{table(by, headings, rows)}</details>\n"


def _group_cell(group: ItemGroup, way: str, measure: Measure) -> str:
    return _figure_cell(next((f for f in group.figures if f.way == way and f.measure == measure), None))


# Items


def _worst(items: Items, tables: Sequence[Sequence[Aggregate]]) -> str:
    """Return the items with the worst figures of each way, to be read."""
    lists = "".join(_worst_of(items, figures) for figures in tables)
    return section("worst", "The items that went worst", lists) if lists else ""


def _worst_of(items: Items, figures: Sequence[Aggregate]) -> str:
    main, lists = main_measure(figures), []
    for way in dict.fromkeys(figure.way for figure in figures):
        measured = [item for item in items if item.way == way and main.applies_to(item.measures)]
        worst = sorted(measured, key=lambda item: main.of_item(item.measures) * (main.goal or 1))[:NUM_WORST]
        if worst:
            lowest = main.show(main.of_item(worst[0].measures))
            start = f'<span class="interval">from {main.heading} {lowest}</span>'
            rows = "".join(map(_item, worst))
            lists.append(
                f'<details>\n<summary>{safe(way)} {start}</summary>\n<ul class="worst">\n{rows}</ul>\n</details>\n'
            )
    return "".join(lists)


def _item(item: RunItem) -> str:
    measures = [m for m in measures_in(item.measures) if m.applies_to(item.measures)]
    figures = " · ".join(f"{m.heading} {m.show(m.of_item(item.measures))}" for m in measures)
    question, text = (shorten(str(item.output.get(name) or "")) for name in ("question", "text"))
    return (
        f'<li>\n<p class="key">{safe(item.key)} · {safe(figures)}</p>\n'
        + (f'<p class="question" dir="auto">{safe(question)}</p>\n' if question else "")
        + (f'<p class="text" dir="auto">{safe(text)}</p>\n' if text else "")
        + "</li>\n"
    )


# Provenance


def provenance_html(run: RunInfo) -> str:
    """Return the command, models, code and machine, then the settings."""
    about = {name: value for name, value in run.about.items() if name != "notes"}
    command = str(about.pop("command", ""))
    shown = f'<p class="command"><code>{safe(command)}</code></p>\n' if command else ""
    return (
        f"<h2>How it was made</h2>\n{shown}{definition_list(flat_settings(about))}"
        f"<h2>Settings</h2>\n{definition_list(flat_settings(run.settings))}"
    )
