"""`propcite runs`: list, show, compare, export, import, join and remove stored evaluation runs."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from propcite.app.commands import AsJson, Panel, check_file, cli, note, open_parts, write_file, write_json
from propcite.retrieval.errors import PropCiteError

if TYPE_CHECKING:
    from propcite.app.lab.runs.aggregates import Aggregate, Measure
    from propcite.app.lab.runs.comparison import Comparison, ItemChange
    from propcite.app.library.store import RunInfo

runs_cli = typer.Typer(no_args_is_help=True, help="List, compare and export stored evaluation runs.")
cli.add_typer(runs_cli, name="runs", rich_help_panel=Panel.MEASURING)

RunName = Annotated[str, typer.Argument(help="A run's id, a prefix of it, or last.", metavar="RUN")]
Side = Annotated[str, typer.Argument(help="A run, or one way of it as RUN:way.", metavar="RUN[:WAY]")]

NUM_CHANGES = 10  # items that are shown if a measure is given without --items


class Shape(StrEnum):
    csv = "csv"
    json = "json"
    latex = "latex"
    html = "html"


@runs_cli.command("list")
def list_(
    limit: Annotated[int, typer.Option(min=1, help="At most this many, the newest.")] = 50,
    as_json: AsJson = False,
) -> None:
    """List the runs, the newest first."""
    from propcite.app.lab.runs.tables import run_fields
    from propcite.app.lab.runs.text_tables import align_columns

    runs = open_parts().runs.list(limit)
    if as_json:
        write_json([run_fields(run) for run in runs])
    elif runs:
        rows = [
            [r.id, r.kind, f"{r.started_at:%Y-%m-%d %H:%M}", r.state, str(r.num_items), r.name, r.judge] for r in runs
        ]
        header = ["id", "kind", "begun", "state", "done", "of", "judge"]
        typer.echo(align_columns([header, *rows], left={0, 1, 2, 3, 5, 6}))
    else:
        note("no runs yet: propcite eval --help shows what can be measured")


@runs_cli.command()
def show(run: RunName = "last", as_json: AsJson = False) -> None:
    """Show a run: every figure of every way with its interval, and what it cost."""
    from propcite.app.lab.runs.aggregates import aggregates, costs, mean_over_sources, total_cost
    from propcite.app.lab.runs.tables import figure_fields, run_fields

    runs = open_parts().runs
    info = runs.run(run)
    items = list(runs.items(info.id))
    figures, means, by_way = aggregates(items), mean_over_sources(items), costs(items)
    if as_json:
        fields = {"figures": list(map(figure_fields, figures)), "over_sources": list(map(figure_fields, means))}
        write_json({**run_fields(info), **fields, "costs": by_way, "cost": total_cost(by_way)})
    else:
        _show(info, figures, means, by_way)


def _show(run: RunInfo, figures: list[Aggregate], means: list[Aggregate], costs: dict[str, Any]) -> None:
    from propcite.app.lab.runs.tables import costs_table, figures_table, flat_settings, heading, means_table, notes

    typer.echo(heading(run, figures))
    if not figures:
        note("it has no items yet: continue it with the command that began it")
        return
    typer.echo(f"\n{figures_table(figures)}")
    if means:
        typer.echo(f"\n{means_table(means)}")
    if costs:
        typer.echo(f"\n{costs_table(costs)}")
    for line in notes(run):
        note(line)
    note("in brackets: the 95% interval over items (bootstrap)")
    for name, value in flat_settings(run.settings):
        note(f"{name}: {value}")


@runs_cli.command()
def compare(
    first: Side,
    second: Side,
    items: Annotated[int, typer.Option(min=0, help="Show this many items that changed most.")] = 0,
    measure: Annotated[str, typer.Option(help="The measure that changed; by default the first that did.")] = "",
    as_json: AsJson = False,
) -> None:
    """Compare two runs, or two ways of one (RUN:way RUN:way2), on the items that both have."""
    from propcite.app.lab.runs.comparison import compare as compare_runs
    from propcite.app.lab.runs.comparison import item_changes
    from propcite.app.lab.runs.tables import changes_fields, comparison_fields, judge_difference

    items = items or (NUM_CHANGES if measure else 0)
    fields = []
    for comparison in compare_runs(open_parts().runs, first, second):
        by = _measure(comparison, measure) if items and comparison.figures else None
        changes = item_changes(comparison, by)[:items] if by else []
        if as_json:
            fields.append({**comparison_fields(comparison), "moved": changes_fields(changes, by)})
        else:
            _show_comparison(comparison, by, changes)
        if comparison.left_out and not comparison.figures:
            raise PropCiteError(f"{judge_difference(comparison)}; no other figure is in both runs")
    if as_json:
        write_json(fields)


def _measure(comparison: Comparison, name: str) -> Measure:
    by_name = {figure.measure.name: figure.measure for figure in comparison.figures}
    if not name:
        return next((figure for figure in comparison.figures if figure.changed), comparison.figures[0]).measure
    if name not in by_name:
        raise PropCiteError(f"there is no figure {name[:40]!r} to compare: give one of {', '.join(by_name)}")
    return by_name[name]


def _show_comparison(comparison: Comparison, by: Measure | None, changes: Sequence[ItemChange]) -> None:
    from propcite.app.lab.runs.runner import differences
    from propcite.app.lab.runs.tables import (
        changes_table,
        comparison_table,
        judge_difference,
        sides_text,
        sources_caption,
    )

    typer.echo(sides_text(comparison))
    if comparison.figures:
        typer.echo(f"\n{comparison_table(comparison.figures)}\n")
    if comparison.over_sources:
        typer.echo(f"{sources_caption(comparison.sources)}\n{comparison_table(comparison.over_sources)}\n")
    if comparison.left_out and comparison.figures:
        note(judge_difference(comparison))
    for line in differences(comparison.a.run.settings, comparison.b.run.settings):
        note(f"other settings: {line}")
    if by is not None and not changes:
        note(f"no item changed in {by.heading}")
    elif by is not None:
        typer.echo(f"{len(changes)} items that changed most in {by.heading}\n\n{changes_table(changes, by)}\n")


@runs_cli.command()
def export(
    run: RunName,
    shape: Annotated[Shape, typer.Option("--format", "-f", help="csv, json, latex or html.")] = Shape.json,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Write to this file.")] = None,
) -> None:
    """Write a run as a table for a spreadsheet, as JSON (runs import reads it), as a LaTeX table or as a page."""
    from propcite.app.commands.exports import show_data
    from propcite.app.lab.runs.exports import EXPORTS
    from propcite.attribution.formats.text import utf8

    runs = open_parts().runs
    info = runs.run(run)
    if out is not None:
        check_file(out)
    text = EXPORTS[shape.value](info, list(runs.items(info.id)))
    if out is None:
        show_data(utf8(text))
        return
    write_file(utf8(text), out)


@runs_cli.command("import")
def import_(
    file: Annotated[str, typer.Argument(help="A file of runs export --format json; - for standard input.")],
    as_json: AsJson = False,
) -> None:
    """Import a run that was exported as JSON, under the same id."""
    from propcite.app.commands import open_input
    from propcite.app.lab.runs.exports import read_json
    from propcite.app.lab.runs.tables import run_fields

    run, items = read_json(open_input(file).read(), file)
    runs = open_parts().runs
    runs.import_run(run, items)
    if as_json:
        write_json(run_fields(runs.run(run.id)))
    else:
        note(f"run {run.id} is imported: {len(items)} items")


@runs_cli.command()
def join(
    names: Annotated[
        list[str], typer.Argument(help="Runs over parts of one file (--limit, --offset).", metavar="RUN RUN…")
    ],
    as_json: AsJson = False,
) -> None:
    """Join runs over parts of the same file, measured in the same way, into one run of all items."""
    from propcite.app.lab.runs.join import join_runs
    from propcite.app.lab.runs.tables import run_fields

    joined = join_runs(open_parts().runs, names)
    if as_json:
        write_json(run_fields(joined))
    else:
        note(f"run {joined.id} joins them, {joined.num_items} items: propcite runs show {joined.id}")


@runs_cli.command()
def remove(run: RunName, as_json: AsJson = False) -> None:
    """Remove a run with its items."""
    runs = open_parts().runs
    info = runs.run(run)
    runs.remove(info.id)
    if as_json:
        write_json({"id": info.id, "items": info.num_items})
    else:
        note(f"removed run {info.id} with {info.num_items} items")
