"""`propcite eval history`: citations of stored answers, and how people's feedback agrees with a judge."""

from __future__ import annotations

from typing import Annotated

import typer

from propcite.app.commands import find_collection, note, open_parts
from propcite.app.lab.commands.evaluation import (
    Format,
    New,
    Offset,
    ScoringJudges,
    Shape,
    eval_cli,
    run_options,
    show_rows,
)
from propcite.app.lab.commands.evaluation_alce import JudgeLabels, JudgeModel, JudgeName


@eval_cli.command("history")
def eval_history(
    collection: Annotated[str, typer.Option("--collection", "-c", help="Only answers of this collection.")] = "",
    judge: JudgeName = ScoringJudges.embedded,
    judge_model: JudgeModel = "",
    judge_labels: JudgeLabels = "",
    limit: Annotated[int, typer.Option(min=0, help="Measure at most this many answers, the newest; 0: all.")] = 0,
    offset: Offset = 0,
    new: New = False,
    shape: Shape = Format.table,
) -> None:
    """Measure citation recall and precision of stored answers, and how people's feedback agrees with a judge."""
    from propcite.app.lab.alce.options import ScoringJudge
    from propcite.app.lab.citing.history import evaluate
    from propcite.app.lab.runs.figures import as_lines, as_text

    parts = open_parts()
    chosen = find_collection(parts, collection) if collection else None
    scoring = ScoringJudge(judge.value, judge_model, judge_labels)
    result = evaluate(parts, chosen, scoring, run_options(limit, offset, new))
    title = f"{result.run.name}; judge: {result.run.judge}"
    for line in as_lines(result.answers) if shape is Format.jsonl else [f"{title}\n{as_text(result.answers)}"]:
        typer.echo(line)
    if result.agreements:
        show_rows(result.agreements, shape, "\n")
    elif shape is Format.table:
        note("there is no feedback on citations yet: the page asks for it below each fact")
