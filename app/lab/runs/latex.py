"""A run as a table for a paper: booktabs, a row a way, a column a measure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from propcite.app.errors import AppError
from propcite.app.lab.runs.aggregates import Aggregate, aggregates, costs, grouped
from propcite.app.lab.runs.sources import mean_over_sources
from propcite.app.lab.runs.tables import cost_rows, notes, over_sources_words
from propcite.app.lab.tables import NONE
from propcite.app.library.store.runs import RunInfo, RunItem
from propcite.attribution.formats.plain import one_line

SIGNS = {
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
    "[": "{[}",  # a row that begins with one of these three would be read as what \\ or \midrule may be given
    "]": "{]}",
    "*": "{*}",
}
LIGATURES = re.compile("(?<=[-'`,?!])(?=[-'`,])")  # two signs that LaTeX would draw as one


def latex_text(text: str) -> str:
    """Words as they are, whatever LaTeX would make of their signs.

    >>> latex_text("m''_q & 5%")
    "m'{}'\\\\_q \\\\& 5\\\\%"
    """
    return "".join(SIGNS.get(sign, sign) for sign in LIGATURES.sub("\0", one_line(text))).replace("\0", "{}")


def to_latex(run: RunInfo, items: Sequence[RunItem]) -> str:
    """Each figure with half its 95% interval; needs the package booktabs."""
    figures = aggregates(items)
    if not figures:
        raise AppError(f"run {run.id} has no figures: give the command that began it again, and it goes on")
    code = str(run.about.get("revision") or run.about.get("version") or "of unknown version")
    head = [f"run {run.id} of {run.started_at:%Y-%m-%d}, propcite {code}", *notes(run), *_costs(items)]
    groups = [*grouped(figures), *grouped(mean_over_sources(items))]
    tables = [_table(run, group, f"{run.id}-{number}") for number, group in enumerate(groups, start=1)]
    return "".join(f"% {one_line(line)}\n" for line in head) + "\n".join(tables)


def _costs(items: Sequence[RunItem]) -> Iterator[str]:
    headings, told = cost_rows(costs(items))
    for way, cells in told.items():
        known = [f"{cell} {name}" for cell, name in zip(cells, headings, strict=True) if cell != NONE]
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
    if figure.is_single:
        return figure.measure.show(figure.value)
    return rf"{figure.measure.show(figure.value)} {{\tiny $\pm$ {figure.measure.show(figure.half)}}}"


def _caption(run: RunInfo, figures: Sequence[Aggregate]) -> str:
    judge = f", judged by {run.judge}" if run.judge else ""
    sources = [name for figure in figures for name in figure.sources]
    means = f"; {over_sources_words(sources)}" if sources else ""
    told = latex_text(f"{run.kind} on {run.name}, {max(figure.items for figure in figures)} items{judge}{means}")
    return f"{told}; $\\pm$ half the 95\\% interval over items (bootstrap)."
