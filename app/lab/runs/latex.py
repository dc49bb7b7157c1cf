"""A run as LaTeX tables with booktabs: one row per way, one column per measure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from propcite.app.errors import AppError
from propcite.app.lab.runs.aggregates import Aggregate, aggregates, comparable_groups, costs, mean_over_sources
from propcite.app.lab.runs.tables import cost_rows, notes, sources_caption
from propcite.app.lab.runs.text_tables import NO_VALUE
from propcite.app.library.store.runs import RunInfo, RunItem
from propcite.attribution.formats.text import one_line

ESCAPES = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "%": r"\%",
    "#": r"\#",
    "_": r"\_",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "[": "{[}",  # at the start of a row, these three would be read as an argument of \\ or \midrule
    "]": "{]}",
    "*": "{*}",
}
LIGATURES = re.compile("(?<=[-'`,?!])(?=[-'`,])")  # between two characters that LaTeX would draw as one


def latex_text(text: str) -> str:
    """Escape a text so that LaTeX prints it unchanged.

    >>> latex_text("m''_q & 5%")
    "m'{}'\\\\_q \\\\& 5\\\\%"
    """
    return "".join(ESCAPES.get(sign, sign) for sign in LIGATURES.sub("\0", one_line(text))).replace("\0", "{}")


def to_latex(run: RunInfo, items: Sequence[RunItem]) -> str:
    """Return tables of all figures with half their 95% interval; they need the package booktabs."""
    figures = aggregates(items)
    if not figures:
        raise AppError(f"run {run.id} has no figures: continue it with the command that began it")
    code = str(run.about.get("revision") or run.about.get("version") or "of unknown version")
    comments = [f"run {run.id} of {run.started_at:%Y-%m-%d}, propcite {code}", *notes(run), *_costs(items)]
    groups = [*comparable_groups(figures), *comparable_groups(mean_over_sources(items))]
    tables = [_table(run, group, f"{run.id}-{number}") for number, group in enumerate(groups, start=1)]
    return "".join(f"% {one_line(line)}\n" for line in comments) + "\n".join(tables)


def _costs(items: Sequence[RunItem]) -> Iterator[str]:
    headings, rows = cost_rows(costs(items))
    for way, cells in rows.items():
        known = [f"{cell} {name}" for cell, name in zip(cells, headings, strict=True) if cell != NO_VALUE]
        yield f"cost of {way}: {', '.join(known)}"


def _table(run: RunInfo, figures: Sequence[Aggregate], label: str) -> str:
    measures = list(dict.fromkeys(figure.measure for figure in figures))
    ways = list(dict.fromkeys(figure.way for figure in figures))
    cells = {(figure.way, figure.measure): _cell(figure) for figure in figures}
    rows = [" & ".join([latex_text(way), *(cells.get((way, m), "--") for m in measures)]) + r" \\" for way in ways]
    lines = [
        r"\begin{table}",
        r"  \centering",
        rf"  \caption{{{_caption(run, figures)}}}",
        rf"  \label{{tab:{label}}}",
        rf"  \begin{{tabular}}{{l{'r' * len(measures)}}}",
        r"    \toprule",
        "    " + " & ".join(["", *(latex_text(measure.heading) for measure in measures)]).strip() + r" \\",
        r"    \midrule",
        *(f"    {row}" for row in rows),
        r"    \bottomrule",
        r"  \end{tabular}",
        r"\end{table}",
    ]
    return "\n".join(lines) + "\n"


def _cell(figure: Aggregate) -> str:
    value = figure.measure.show(figure.value)
    return value if figure.is_single else rf"{value} {{\tiny $\pm$ {figure.measure.show(figure.half)}}}"


def _caption(run: RunInfo, figures: Sequence[Aggregate]) -> str:
    judge = f", judged by {run.judge}" if run.judge else ""
    sources = [name for figure in figures for name in figure.sources]
    means = f"; {sources_caption(sources)}" if sources else ""
    text = latex_text(f"{run.kind} on {run.name}, {max(figure.items for figure in figures)} items{judge}{means}")
    return f"{text}; $\\pm$ half the 95\\% interval over items (bootstrap)."
