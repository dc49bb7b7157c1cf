"""How good the parts are on data that a user brings."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from propcite.app.commands import cli, note, open_parts

eval_cli = typer.Typer(no_args_is_help=True, help="Measure the parts on data of your own.")
cli.add_typer(eval_cli, name="eval")


class Format(StrEnum):
    table = "table"
    jsonl = "jsonl"


Shape = Annotated[Format, typer.Option("--format", help="table or jsonl.")]
New = Annotated[bool, typer.Option("--new", help="Start another run, though one is unfinished.")]
Limit = Annotated[int, typer.Option(min=0, help="Only so many items; 0: all.")]
Offset = Annotated[int, typer.Option(min=0, help="Pass over so many items first.")]


@eval_cli.command("split")
def eval_split(
    files: Annotated[list[Path], typer.Argument(help="JSON lines of sentence and propositions.", metavar="FILES…")],
    shape: Shape = Format.table,
    most: Annotated[int, typer.Option(min=1, help="Rows of one source in one file, spread evenly.")] = 1500,
    limit: Limit = 0,
    offset: Offset = 0,
    new: New = False,
) -> None:
    """Measure the splitters on sentences whose propositions people wrote, all but those that training has seen."""
    from propcite.app.lab.runs.shares import Share
    from propcite.app.lab.split_scores import as_line, as_table
    from propcite.app.lab.splitting import evaluate

    told = evaluate(files, open_parts(), most, Share(limit, offset, new, note))
    for line in map(as_line, told) if shape is Format.jsonl else [as_table(told)]:
        typer.echo(line)


@eval_cli.command("cite")
def eval_cite(
    files: Annotated[
        list[Path],
        typer.Argument(help="ALCE's JSON of answers with docs, or JSON lines of claims with docs.", metavar="FILES…"),
    ],
    shape: Shape = Format.table,
    most: Annotated[int, typer.Option(min=1, help="Rows of one source, spread evenly.")] = 100_000,
    method: Annotated[list[str] | None, typer.Option(help="Only this way of citing; may be given again.")] = None,
    supported_from: Annotated[
        list[float] | None,
        typer.Option(min=0, max=1, help="The judge's threshold, not that of the settings; may be given again."),
    ] = None,
    limit: Limit = 0,
    offset: Offset = 0,
    new: New = False,
) -> None:
    """Measure citations beside the simpler ways of citing, and the judge beside plain scores."""
    from propcite.app.lab import tables
    from propcite.app.lab.citing.cite import evaluate
    from propcite.app.lab.runs.shares import Share
    from propcite.attribution.citing.methods import METHODS

    share = Share(limit, offset, new, note)
    found = evaluate(files, open_parts(), most, method or METHODS, supported_from or (), share)
    for number, table in enumerate(found):
        if shape is Format.jsonl:
            for told in table:
                typer.echo(tables.as_line(told))
        else:
            typer.echo(("\n" if number else "") + tables.as_table(table))
