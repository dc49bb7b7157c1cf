"""`propcite eval`: measure the parts on data of the user; this module has `split` and `cite`."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from propcite.app.commands import Panel, cli, note, open_parts

if TYPE_CHECKING:
    from propcite.app.lab.runs.runner import RunOptions

eval_cli = typer.Typer(no_args_is_help=True, help="Measure the parts on data of your own.")
cli.add_typer(eval_cli, name="eval", rich_help_panel=Panel.MEASURING)


class Format(StrEnum):
    table = "table"
    jsonl = "jsonl"


class ScoringJudges(StrEnum):
    embedded = "embedded"
    reader = "reader"
    true = "true"
    minicheck = "minicheck"
    nli = "nli"
    factcg = "factcg"
    hhem = "hhem"
    lettucedetect = "lettucedetect"
    llm = "llm"


Shape = Annotated[Format, typer.Option("--format", help="table or jsonl.")]
New = Annotated[bool, typer.Option("--new", help="Start another run even if one is unfinished.")]
Limit = Annotated[int, typer.Option(min=0, help="Measure at most this many items; 0: all.")]
Offset = Annotated[int, typer.Option(min=0, help="Skip this many items first.")]


@eval_cli.command("split")
def eval_split(
    files: Annotated[list[Path], typer.Argument(help="JSON lines of sentence and propositions.", metavar="FILES…")],
    shape: Shape = Format.table,
    per_source: Annotated[
        int, typer.Option("--most", min=1, help="Rows per source and file at most, spread evenly.")
    ] = 1500,
    weights: Annotated[
        list[str] | None, typer.Option(help="Further weights of the learned splitter, as NAME=FILE; repeatable.")
    ] = None,
    splitter: Annotated[list[str] | None, typer.Option(help="Only this splitter; repeatable.")] = None,
    judged: Annotated[
        bool, typer.Option("--judge/--no-judge", help="Ask the judge which propositions their sentence supports.")
    ] = True,
    limit: Limit = 0,
    offset: Offset = 0,
    new: New = False,
) -> None:
    """Measure the splitters on sentences with propositions that people wrote, except those seen in training.

    Rows of a sentence alone are measured too: whether it supports its propositions, and whether these are well-formed.
    """
    from propcite.app.errors import AppError
    from propcite.app.lab.splitting.evaluation import evaluate
    from propcite.app.lab.splitting.scores import as_table

    named = [one.partition("=") for one in weights or []]
    if any(not name or not file for name, _, file in named):
        raise AppError("--weights takes a name and a file, such as old=old.safetensors")
    rows = evaluate(
        files,
        open_parts(),
        per_source,
        run_options(limit, offset, new),
        weights={name: Path(file) for name, _, file in named},
        only=splitter or (),
        judged=judged,
    )
    for line in [row.as_json() for row in rows] if shape is Format.jsonl else [as_table(rows)]:
        typer.echo(line)


@eval_cli.command("cite")
def eval_cite(
    files: Annotated[
        list[Path],
        typer.Argument(help="ALCE's JSON of answers with docs, or JSON lines of claims with docs.", metavar="FILES…"),
    ],
    shape: Shape = Format.table,
    per_source: Annotated[int, typer.Option("--most", min=1, help="Rows per source at most, spread evenly.")] = 100_000,
    method: Annotated[list[str] | None, typer.Option(help="Only this method of citing; repeatable.")] = None,
    supported_from: Annotated[
        list[float] | None,
        typer.Option(min=0, max=1, help="Threshold of the judge, instead of the setting; repeatable."),
    ] = None,
    limit: Limit = 0,
    offset: Offset = 0,
    new: New = False,
) -> None:
    """Compare PropCite's citations with simpler methods, and the judge with plain scores."""
    from propcite.app.lab.citing.evaluation import evaluate
    from propcite.attribution.citing.methods import METHODS

    options = run_options(limit, offset, new)
    tables = evaluate(files, open_parts(), per_source, method or METHODS, supported_from or (), options)
    for number, rows in enumerate(tables):
        show_rows(rows, shape, "\n" if number else "")


@eval_cli.command("verdicts")
def eval_verdicts(
    files: Annotated[
        list[Path],
        typer.Argument(help="JSON lines of claim, label, and evidence, passage or docs.", metavar="FILES…"),
    ],
    judge: Annotated[
        list[ScoringJudges] | None,
        typer.Option(help="Only this judge; repeatable (default: embedded, reader)."),
    ] = None,
    shape: Shape = Format.table,
    per_source: Annotated[int, typer.Option("--most", min=1, help="Rows per source at most, spread evenly.")] = 100_000,
    limit: Limit = 0,
    offset: Offset = 0,
    new: New = False,
) -> None:
    """Measure how far judges can be trusted: by source, by kind of error, and by the probability they give."""
    from propcite.app.lab.citing.verdicts import JUDGES, evaluate_verdicts

    names = list(dict.fromkeys(one.value for one in judge)) if judge else JUDGES
    tables = evaluate_verdicts(files, open_parts(), names, per_source, run_options(limit, offset, new))
    for number, rows in enumerate(tables):
        show_rows(rows, shape, "\n" if number else "")


def run_options(limit: int, offset: int, new: bool) -> RunOptions:
    from propcite.app.lab.runs.runner import RunOptions

    return RunOptions(limit, offset, new, report=note)


def show_rows(rows: Sequence[Any], shape: Format, before: str = "") -> None:
    """Print rows as JSON lines, or as a table behind `before`."""
    from propcite.app.lab.runs.text_tables import row_json, rows_table

    for line in map(row_json, rows) if shape is Format.jsonl else [before + rows_table(rows)]:
        typer.echo(line)
