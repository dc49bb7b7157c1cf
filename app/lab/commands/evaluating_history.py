"""How well the answers of one's own history are cited, and whether the people who read them agree."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from propcite.app.commands import find_collection, note, open_parts
from propcite.app.lab.commands.evaluating import Format, New, Offset, Shape, eval_cli
from propcite.app.lab.commands.evaluating_alce import JudgeLabels, JudgeModel, JudgeName, ScoringJudges


@eval_cli.command("history")
def eval_history(
    collection: Annotated[str, typer.Option("--collection", "-c", help="Only answers of this collection.")] = "",
    judge: JudgeName = ScoringJudges.embedded,
    judge_model: JudgeModel = "",
    judge_labels: JudgeLabels = "",
    limit: Annotated[int, typer.Option(min=0, help="Only the newest so many answers; 0: all.")] = 0,
    offset: Offset = 0,
    new: New = False,
    shape: Shape = Format.table,
) -> None:
    """Citation recall and precision of kept answers, and how a judge agrees with what people said of citations."""
    from dataclasses import asdict

    from propcite.app.lab.alce.evaluating import Scoring
    from propcite.app.lab.history import evaluate
    from propcite.app.lab.runs.measured import as_lines, as_text
    from propcite.app.lab.runs.shares import Share
    from propcite.app.lab.tables import as_table

    parts = open_parts()
    chosen = find_collection(parts, collection) if collection else None
    scoring, share = Scoring(judge.value, judge_model, judge_labels), Share(limit, offset, new, note)
    told = evaluate(parts, chosen, scoring, share)
    if shape is Format.jsonl:
        for line in as_lines(told.answers):
            typer.echo(line)
        for one in told.agreements:
            typer.echo(json.dumps({"table": "agreement", **asdict(one)}))
        return
    typer.echo(f"{told.run.name}; judge: {told.run.judge}\n{as_text(told.answers)}")
    if told.agreements:
        typer.echo(f"\n{as_table(told.agreements)}")
    else:
        note("nobody has said anything of a citation yet: the page asks below each fact")
