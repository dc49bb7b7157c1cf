"""Evaluation runs: listed, shown, compared, exported, read back, joined, removed."""

from __future__ import annotations

from dataclasses import asdict
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from propcite.app.commands import AsJson, cli, note, open_parts, write_json
from propcite.retrieval.errors import PropCiteError

if TYPE_CHECKING:
    from propcite.app.lab.runs.aggregates import Aggregate, Measure
    from propcite.app.lab.runs.comparing import Compared, Comparison
    from propcite.app.library.store import RunInfo

runs_cli = typer.Typer(no_args_is_help=True, help="Evaluation runs that are kept: listed, compared, exported.")
cli.add_typer(runs_cli, name="runs")

RunName = Annotated[str, typer.Argument(help="A run's id, its beginning, or last.", metavar="RUN")]
Side = Annotated[str, typer.Argument(help="A run, or one way of it as RUN:way.", metavar="RUN[:WAY]")]


MOVED = 10  # items that are shown where a measure is named and no number


class Shape(StrEnum):
    csv = "csv"
    json = "json"
    latex = "latex"
    html = "html"


@runs_cli.command("list")
def list_(
    limit: Annotated[int, typer.Option(min=1, help="The newest so many.")] = 50,
    as_json: AsJson = False,
) -> None:
    """List the runs, the newest first."""
    from propcite.app.lab.runs.tables import as_told
    from propcite.app.lab.tables import aligned

    found = open_parts().runs.list(limit)
    if as_json:
        write_json([as_told(run) for run in found])
    elif found:
        rows = [
            [r.id, r.kind, f"{r.started_at:%Y-%m-%d %H:%M}", r.state, str(r.num_items), r.name, r.judge] for r in found
        ]
        typer.echo(aligned([["id", "kind", "begun", "state", "done", "of", "judge"], *rows], left={0, 1, 2, 3, 5, 6}))
    else:
        note("no runs yet: propcite eval --help shows what can be measured")


@runs_cli.command()
def show(run: RunName = "last", as_json: AsJson = False) -> None:
    """Show a run: every figure of every way with its interval, and what it cost."""
    from propcite.app.lab.runs.aggregates import aggregates, costs, whole_cost
    from propcite.app.lab.runs.sources import mean_over_sources
    from propcite.app.lab.runs.tables import as_told, figure_told

    runs = open_parts().runs
    found = runs.run(run)
    items = list(runs.items(found.id))
    figures, means, spent = aggregates(items), mean_over_sources(items), costs(items)
    if as_json:
        told = {"figures": list(map(figure_told, figures)), "over_sources": list(map(figure_told, means))}
        write_json({**as_told(found), **told, "costs": spent, "cost": whole_cost(spent)})
    else:
        _show(found, figures, means, spent)


def _show(found: RunInfo, figures: list[Aggregate], means: list[Aggregate], spent: dict[str, Any]) -> None:
    from propcite.app.lab.runs.tables import costs_table, figures_table, heading, listed, means_table, notes

    typer.echo(heading(found, figures))
    if not figures:
        note("it has no items yet: give the command that began it again, and it goes on")
        return
    typer.echo(f"\n{figures_table(figures)}")
    if means:
        typer.echo(f"\n{means_table(means)}")
    if spent:
        typer.echo(f"\n{costs_table(spent)}")
    for line in notes(found):
        note(line)
    note("in brackets: the 95% interval over items (bootstrap)")
    for name, value in listed(found.settings):
        note(f"{name}: {value}")


@runs_cli.command()
def compare(
    first: Side,
    second: Side,
    items: Annotated[int, typer.Option(min=0, help="Show so many items that moved most.")] = 0,
    measure: Annotated[str, typer.Option(help="The measure by which they moved; otherwise the first that did.")] = "",
    as_json: AsJson = False,
) -> None:
    """Compare two runs, or two ways of one (RUN:way RUN:way2), on the items that both have."""
    from propcite.app.lab.runs.comparing import compare as compare_runs
    from propcite.app.lab.runs.comparing import moved

    items = items or (MOVED if measure else 0)
    told = []
    for found in compare_runs(open_parts().runs, first, second):
        by = _measure(found, measure) if items and found.figures else None
        changed = moved(found, by)[:items] if by else []
        if as_json:
            told.append(_compared(found, by, changed))
        else:
            _show_compared(found, by, changed)
        if found.left_out and not found.figures:
            from propcite.app.lab.runs.tables import judges_differ

            raise PropCiteError(f"{judges_differ(found)}; no other figure is in both runs")
    if as_json:
        write_json(told)


def _measure(found: Comparison, name: str) -> Measure:
    known = {figure.measure.name: figure.measure for figure in found.figures}
    if not name:
        return next((figure for figure in found.figures if figure.changed), found.figures[0]).measure
    if name not in known:
        raise PropCiteError(f"there is no figure {name[:40]!r} to compare: give one of {', '.join(known)}")
    return known[name]


def _show_compared(found: Comparison, by: Measure | None, changed: list[Any]) -> None:
    from propcite.app.lab.runs.keeping import differences
    from propcite.app.lab.runs.tables import comparison_table, judges_differ, moved_table, over_sources_words, sides

    typer.echo(sides(found))
    if found.figures:
        typer.echo(f"\n{comparison_table(found.figures)}\n")
    if found.over_sources:
        typer.echo(f"{over_sources_words(found.sources)}\n{comparison_table(found.over_sources)}\n")
    if found.left_out and found.figures:
        note(judges_differ(found))
    for line in differences(found.a.run.settings, found.b.run.settings):
        note(f"other settings: {line}")
    if by is not None and not changed:
        note(f"no item moved in {by.heading}")
    elif by is not None:
        typer.echo(f"{len(changed)} items that moved most in {by.heading}\n\n{moved_table(changed, by)}\n")


def _compared(found: Comparison, by: Measure | None, changed: list[Any]) -> dict[str, Any]:
    moved = {"measure": by.name if by else None, "items": [_moved(one) for one in changed]}
    return {
        "first": {"run": found.a.run.id, "way": found.a.way, "judge": found.a.run.judge},
        "second": {"run": found.b.run.id, "way": found.b.way, "judge": found.b.run.judge},
        "items": len(found.shared),
        "figures": list(map(_figure_compared, found.figures)),
        "sources": list(found.sources),
        "over_sources": list(map(_figure_compared, found.over_sources)),
        "left_out": [measure.name for measure in found.left_out],
        "moved": moved,
    }


def _moved(one: Any) -> dict[str, Any]:
    texts = {"first_output": dict(one.a.output), "second_output": dict(one.b.output)}
    return {"item": one.a.key, "first": one.before, "second": one.after, "difference": one.by, **texts}


def _figure_compared(figure: Compared) -> dict[str, Any]:
    from propcite.app.lab.runs.tables import measure_told

    return {**measure_told(figure.measure), **{k: v for k, v in asdict(figure).items() if k != "measure"}}


@runs_cli.command()
def export(
    run: RunName,
    shape: Annotated[Shape, typer.Option("--format", "-f", help="csv, json, latex or html.")] = Shape.json,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Write into this file.")] = None,
) -> None:
    """Write a run as a table for a spreadsheet, as JSON (runs import reads it), as a LaTeX table or as a page."""
    from propcite.app.commands.exports import show_data
    from propcite.app.lab.runs.exports import EXPORTS
    from propcite.attribution.formats.plain import encoded

    runs = open_parts().runs
    found = runs.run(run)
    if out is not None and (out.is_dir() or not out.parent.is_dir()):
        raise PropCiteError(f"{out} cannot be written: --out names a file in a folder that exists")
    text = EXPORTS[shape.value](found, list(runs.items(found.id)))
    if out is None:
        show_data(encoded(text))
        return
    try:
        out.write_bytes(encoded(text))
    except OSError as error:
        raise PropCiteError(f"{out} cannot be written ({error.strerror}): give another --out") from error
    note(f"written to {out}")


@runs_cli.command("import")
def import_(
    file: Annotated[str, typer.Argument(help="What runs export --format json wrote; - for standard input.")],
    as_json: AsJson = False,
) -> None:
    """Keep a run that was exported as JSON, under the same id."""
    from propcite.app.commands import opened
    from propcite.app.lab.runs.exports import read_json
    from propcite.app.lab.runs.tables import as_told

    run, items = read_json(opened(file).read(), file)
    runs = open_parts().runs
    runs.keep(run, items)
    if as_json:
        write_json(as_told(runs.run(run.id)))
    else:
        note(f"run {run.id} is kept: {len(items)} items")


@runs_cli.command()
def join(
    names: Annotated[list[str], typer.Argument(help="Runs that --limit and --offset made.", metavar="RUN RUN…")],
    as_json: AsJson = False,
) -> None:
    """Keep one run of all items of several, which were measured in the same way on parts of the same file."""
    from propcite.app.lab.runs.joining import join as join_runs
    from propcite.app.lab.runs.tables import as_told

    joined = join_runs(open_parts().runs, names)
    if as_json:
        write_json(as_told(joined))
    else:
        note(f"run {joined.id} joins them, {joined.num_items} items: propcite runs show {joined.id}")


@runs_cli.command()
def remove(run: RunName, as_json: AsJson = False) -> None:
    """Remove a run with its items."""
    runs = open_parts().runs
    found = runs.run(run)
    runs.remove(found.id)
    if as_json:
        write_json({"id": found.id, "items": found.num_items})
    else:
        note(f"removed run {found.id} with {found.num_items} items")
