"""How well answers are cited on ALCE's files, and whether a judge can be trusted to say so."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from propcite.app.commands import BELOW, note, open_parts
from propcite.app.commands.given import GeneratorName, ModelName
from propcite.app.lab.commands.evaluating import Format, Limit, New, Offset, Shape, eval_cli

if TYPE_CHECKING:
    from propcite.app.lab.alce.files import Kind


class ScoringJudges(StrEnum):
    embedded = "embedded"
    cross = "cross"
    true = "true"
    minicheck = "minicheck"
    nli = "nli"
    llm = "llm"


File = Annotated[Path, typer.Argument(help="ALCE's file: questions with docs, or results; .gz too.", metavar="FILE")]
Ways = Annotated[
    list[str] | None,
    typer.Option("--way", help="Only this way, as sentence-2, propcite+judge or repair; may be given again."),
]
Contexts = Annotated[list[int] | None, typer.Option("--context", min=1, help="Docs shown; may be given again. [5]")]
Outputs = Annotated[Path | None, typer.Option(help="A result file whose outputs are scored and cited anew.")]
JudgeName = Annotated[ScoringJudges, typer.Option("--judge", help="What scores citations; not what PropCite cites by.")]
JudgeModel = Annotated[str, typer.Option(help="Its folder or name; empty: the published one.")]
JudgeLabels = Annotated[str, typer.Option(help="nli: what its labels mean, in their order.")]
Margin = Annotated[float, typer.Option(min=0, help="+threshold: by how much the best passage must lead the next.")]
RougeToo = Annotated[bool, typer.Option("--rouge/--no-rouge", help="ROUGE-Lsum against the long answers.")]
MauveToo = Annotated[bool, typer.Option("--mauve", help="MAUVE against the long answers.")]
MauveModel = Annotated[str, typer.Option(help="Its causal language model: a folder or name.")]
OutFolder = Annotated[Path | None, typer.Option("--out", help="A folder for result files, one a way.")]
Force = Annotated[bool, typer.Option("--force", help="Score by a judge that fails its own test.")]
FailedAsEmpty = Annotated[bool, typer.Option("--failed-as-empty", help="An answer that cannot be written is empty.")]


@eval_cli.command("asqa")
def eval_asqa(
    file: File,
    way: Ways = None,
    context: Contexts = None,
    outputs: Outputs = None,
    human: Annotated[bool, typer.Option("--human", help="Cite the long answers that people wrote.")] = False,
    limit: Limit = 0,
    offset: Offset = 0,
    generator: GeneratorName = None,
    model: ModelName = None,
    judge: JudgeName = ScoringJudges.embedded,
    judge_model: JudgeModel = "",
    judge_labels: JudgeLabels = "",
    margin: Margin = 0.05,
    rouge: RougeToo = True,
    qa: Annotated[bool, typer.Option("--qa", help="QA-EM, F1 and hit by a reader.")] = False,
    qa_model: Annotated[str, typer.Option(help="The reader: a folder or name; implies --qa.")] = "",
    mauve: MauveToo = False,
    mauve_model: MauveModel = "",
    out: OutFolder = None,
    new: New = False,
    force: Force = False,
    failed_as_empty: FailedAsEmpty = False,
    shape: Shape = Format.table,
) -> None:
    """Citation recall and precision on ALCE's ASQA, with STR-EM, ROUGE and more, for eight ways of citing."""
    from propcite.app.lab.alce.reader import READER

    _evaluate(
        "asqa", file, shape, way, context, mauve=mauve, mauve_model=mauve_model, generator=generator, model=model,
        judge=(judge, judge_model, judge_labels), outputs=outputs, human=human, limit=limit, offset=offset,
        margin=margin, rouge=rouge, qa_model=qa_model or (READER if qa else ""), out=out, new=new, force=force,
        failed_as_empty=failed_as_empty,
    )  # fmt: skip


@eval_cli.command("eli5")
def eval_eli5(
    file: File,
    way: Ways = None,
    context: Contexts = None,
    outputs: Outputs = None,
    limit: Limit = 0,
    offset: Offset = 0,
    generator: GeneratorName = None,
    model: ModelName = None,
    judge: JudgeName = ScoringJudges.embedded,
    judge_model: JudgeModel = "",
    judge_labels: JudgeLabels = "",
    margin: Margin = 0.05,
    rouge: RougeToo = True,
    mauve: MauveToo = False,
    mauve_model: MauveModel = "",
    out: OutFolder = None,
    new: New = False,
    force: Force = False,
    failed_as_empty: FailedAsEmpty = False,
    shape: Shape = Format.table,
) -> None:
    """The same on ALCE's ELI5, with the recall of its claims."""
    _evaluate(
        "eli5", file, shape, way, context, mauve=mauve, mauve_model=mauve_model, generator=generator, model=model,
        judge=(judge, judge_model, judge_labels), outputs=outputs, limit=limit, offset=offset, margin=margin,
        rouge=rouge, out=out, new=new, force=force, failed_as_empty=failed_as_empty,
    )  # fmt: skip


@eval_cli.command("qampari")
def eval_qampari(
    file: File,
    way: Ways = None,
    context: Contexts = None,
    outputs: Outputs = None,
    limit: Limit = 0,
    offset: Offset = 0,
    generator: GeneratorName = None,
    model: ModelName = None,
    judge: JudgeName = ScoringJudges.embedded,
    judge_model: JudgeModel = "",
    judge_labels: JudgeLabels = "",
    margin: Margin = 0.05,
    out: OutFolder = None,
    new: New = False,
    force: Force = False,
    failed_as_empty: FailedAsEmpty = False,
    shape: Shape = Format.table,
) -> None:
    """The same on ALCE's QAMPARI, whose answers are lists: their precision, recall and F1, and the -5 forms."""
    _evaluate(
        "qampari", file, shape, way, context, generator=generator, model=model,
        judge=(judge, judge_model, judge_labels), outputs=outputs, limit=limit, offset=offset, margin=margin, out=out,
        new=new, force=force, failed_as_empty=failed_as_empty,
    )  # fmt: skip


@eval_cli.command("judge")
def eval_judge(
    file: File,
    judge: JudgeName = ScoringJudges.embedded,
    judge_model: JudgeModel = "",
    judge_labels: JudgeLabels = "",
    limit: Annotated[int, typer.Option(min=0, help="Only a sample of so many questions; 0: all.")] = 0,
    offset: Offset = 0,
    new: New = False,
    shape: Shape = Format.table,
) -> None:
    """Try a judge on ALCE's shortcuts: a passage supports its own words, and another's not.  Exit 1 when it fails."""
    import json

    from propcite.app.lab.alce.evaluating import Asked, Scoring, judge_itself
    from propcite.app.lab.alce.table import checks_text

    scoring = Scoring(judge.value, judge_model, judge_labels)
    asked = Asked("asqa", file, scoring=scoring, limit=limit, offset=offset, new=new)
    run, checks = judge_itself(open_parts(), asked, note)
    if shape is Format.jsonl:
        for one in checks:
            told = {"questions": one.questions, "recall": one.recall, "precision": one.precision, "passed": one.holds}
            typer.echo(json.dumps({"judge": run.judge, "shortcut": one.check.name, **told}))
    else:
        typer.echo(f"{run.name}; judge: {run.judge}\n{checks_text(checks)}")
    if not all(one.holds for one in checks):
        raise typer.Exit(BELOW)


def _evaluate(
    kind: Kind,
    file: Path,
    shape: Format,
    ways: list[str] | None,
    contexts: list[int] | None,
    *,
    generator: Any,
    model: str | None,
    judge: tuple[ScoringJudges, str, str],
    mauve: bool = False,
    mauve_model: str = "",
    **options: Any,
) -> None:
    from propcite.app.lab.alce.evaluating import Asked, Scoring, evaluate
    from propcite.app.lab.alce.fluency import MODEL
    from propcite.app.lab.alce.table import as_lines, as_text
    from propcite.app.lab.alce.ways import WAYS
    from propcite.app.lab.alce.writing import LISTS

    if contexts and options["outputs"]:
        from propcite.app.errors import AppError

        raise AppError("a result file says itself what was shown: leave out --context")
    asked = Asked(
        kind,
        file,
        ways=tuple(dict.fromkeys(ways or WAYS)),
        contexts=tuple(contexts or (5,)),
        scoring=Scoring(judge[0].value, *judge[1:]),
        mauve_model=mauve_model or (MODEL if mauve else ""),
        **options,
    )
    chosen = {"generator": generator and generator.value, "generator_model": model}
    parts = open_parts(**chosen)
    if kind == "qampari":
        parts = open_parts(**chosen, prompt=LISTS.get(parts.settings.prompt))
    result = evaluate(parts, asked, note)
    if shape is Format.jsonl:
        for line in as_lines(result):
            typer.echo(line)
    else:
        typer.echo(as_text(result))
