"""`propcite eval asqa|eli5|qampari|judge`: citations on ALCE's files, and whether a judge can score them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from inspect import Signature, signature
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from propcite.app.commands import BELOW, note, open_parts
from propcite.app.commands.given import GeneratorName, ModelName
from propcite.app.lab.commands.evaluation import Format, Limit, New, Offset, ScoringJudges, Shape, eval_cli

File = Annotated[Path, typer.Argument(help="ALCE's file: questions with docs, or results; .gz too.", metavar="FILE")]
Ways = Annotated[
    list[str] | None,
    typer.Option("--way", help="Only this way, such as sentence-2, propcite+judge or repair; repeatable."),
]
Contexts = Annotated[list[int] | None, typer.Option("--context", min=1, help="Docs per question; repeatable. [5]")]
Outputs = Annotated[Path | None, typer.Option(help="A result file whose outputs are scored and cited again.")]
Human = Annotated[bool, typer.Option("--human", help="Cite the long answers that people wrote.")]
JudgeName = Annotated[ScoringJudges, typer.Option("--judge", help="The judge that scores; PropCite cites by its own.")]
JudgeModel = Annotated[str, typer.Option(help="Its folder or name; empty: the published one.")]
JudgeLabels = Annotated[str, typer.Option(help="nli: the meaning of its labels, in their order.")]
Margin = Annotated[float, typer.Option(min=0, help="+threshold: by how much the best passage must lead the next.")]
RougeToo = Annotated[bool, typer.Option("--rouge/--no-rouge", help="ROUGE-Lsum against the long answers.")]
QaToo = Annotated[bool, typer.Option("--qa", help="QA-EM, F1 and hit by a reader.")]
QaModel = Annotated[str, typer.Option(help="The reader: a folder or name; implies --qa.")]
MauveToo = Annotated[bool, typer.Option("--mauve", help="MAUVE against the long answers.")]
MauveModel = Annotated[str, typer.Option(help="Its causal language model: a folder or name.")]
OutFolder = Annotated[Path | None, typer.Option("--out", help="A folder for result files, one per way.")]
Force = Annotated[bool, typer.Option("--force", help="Score even by a judge that fails its test.")]
FailedAsEmpty = Annotated[bool, typer.Option("--failed-as-empty", help="Count failed answers as empty.")]

Kind = Literal["asqa", "eli5", "qampari"]


def evaluate_alce(
    *,
    kind: Kind,
    file: File,
    way: Ways = None,
    context: Contexts = None,
    outputs: Outputs = None,
    human: Human = False,
    limit: Limit = 0,
    offset: Offset = 0,
    generator: GeneratorName = None,
    model: ModelName = None,
    judge: JudgeName = ScoringJudges.embedded,
    judge_model: JudgeModel = "",
    judge_labels: JudgeLabels = "",
    margin: Margin = 0.05,
    rouge: RougeToo = True,
    qa: QaToo = False,
    qa_model: QaModel = "",
    mauve: MauveToo = False,
    mauve_model: MauveModel = "",
    out: OutFolder = None,
    new: New = False,
    force: Force = False,
    failed_as_empty: FailedAsEmpty = False,
    shape: Shape = Format.table,
) -> None:
    """Measure one of ALCE's files; its parameters are the options of the commands."""
    from propcite.app.lab.alce.answers import list_prompt
    from propcite.app.lab.alce.evaluation import evaluate
    from propcite.app.lab.alce.options import CONTEXTS, EvalOptions, ScoringJudge
    from propcite.app.lab.alce.reader import QA_MODEL
    from propcite.app.lab.alce.reference_scores import MAUVE_MODEL
    from propcite.app.lab.alce.table import as_lines, as_text
    from propcite.app.lab.alce.ways import WAYS

    if context and outputs:
        from propcite.app.errors import AppError

        raise AppError("a result file says itself which docs were shown: leave out --context")
    options = EvalOptions(
        kind=kind,
        path=file,
        ways=tuple(dict.fromkeys(way or WAYS)),
        contexts=tuple(context or CONTEXTS),
        outputs=outputs,
        human=human,
        limit=limit,
        offset=offset,
        new=new,
        report=note,
        margin=margin,
        judge=ScoringJudge(judge.value, judge_model, judge_labels),
        rouge=rouge,
        qa_model=qa_model or (QA_MODEL if qa else ""),
        mauve_model=mauve_model or (MAUVE_MODEL if mauve else ""),
        out=out,
        force=force,
        failed_as_empty=failed_as_empty,
    )
    settings = {"generator": generator and generator.value, "generator_model": model}
    parts = open_parts(**settings)
    if kind == "qampari":
        parts = open_parts(**settings, prompt=list_prompt(parts.settings))
    result = evaluate(parts, options)
    for line in as_lines(result) if shape is Format.jsonl else [as_text(result)]:
        typer.echo(line)


def _add_command(kind: Kind, help_text: str, without: Sequence[str] = ()) -> None:
    """Add the command of a data set, with the options of `evaluate_alce` except those that do not apply to it."""

    def command(**arguments: Any) -> None:
        evaluate_alce(kind=kind, **arguments)

    parameters = signature(evaluate_alce, eval_str=True).parameters.values()
    options = [parameter for parameter in parameters if parameter.name not in ("kind", *without)]
    command.__signature__ = Signature(options)  # type: ignore[attr-defined]  # Typer reads the options from it
    eval_cli.command(kind, help=help_text)(command)


_add_command(
    "asqa",
    "Measure citation recall and precision on ALCE's ASQA, with STR-EM and ROUGE, for eight ways of citing.",
)
_add_command("eli5", "Measure the same on ALCE's ELI5, with claim recall.", ("human", "qa", "qa_model"))
_add_command(
    "qampari",
    "Measure the same on ALCE's QAMPARI, whose answers are lists: precision, recall and F1, and the -5 variants.",
    ("human", "rouge", "qa", "qa_model", "mauve", "mauve_model"),
)


@eval_cli.command("compare")
def eval_compare(
    file: File,
    candidates: Annotated[
        list[str] | None,
        typer.Option(
            "--with",
            metavar="SETTINGS",
            help='A candidate: "NAME: SETTING=VALUE …", such as "small: llm_model=qwen3"; repeatable.',
        ),
    ] = None,
    outputs: Annotated[
        list[Path] | None, typer.Option(help="A candidate: a result file with its answers; repeatable.")
    ] = None,
    way: Annotated[list[str] | None, typer.Option("--way", help="As in eval asqa. [propcite+judge]")] = None,
    context: Contexts = None,
    limit: Limit = 0,
    offset: Offset = 0,
    judge: JudgeName = ScoringJudges.embedded,
    judge_model: JudgeModel = "",
    judge_labels: JudgeLabels = "",
    rouge: RougeToo = True,
    out: OutFolder = None,
    new: New = False,
    force: Force = False,
    shape: Shape = Format.table,
) -> None:
    """Compare generators, judges, encoders or other settings on the same ALCE questions, with paired tests and costs.

    Each candidate is a run of its own, which is continued where it stopped.  All together are one more run: `propcite
    runs export RUN --format latex` or `html` writes its table.
    """
    from propcite.app.lab.alce.candidates import Candidate, evaluate_candidates, read_candidate
    from propcite.app.lab.alce.files import kind_of
    from propcite.app.lab.alce.options import CONTEXTS, EvalOptions, ScoringJudge
    from propcite.app.lab.runs import figures
    from propcite.app.lab.runs.tables import comparison_fields, comparison_table

    chosen = [read_candidate(one) for one in candidates or ()]
    chosen += [Candidate(path.name, outputs=path) for path in outputs or ()]
    options = EvalOptions(
        kind=kind_of(file), path=file, ways=tuple(dict.fromkeys(way or ("propcite+judge",))),
        contexts=tuple(context or CONTEXTS), limit=limit, offset=offset, new=new, report=note, rouge=rouge,
        judge=ScoringJudge(judge.value, judge_model, judge_labels), out=out, force=force,
    )  # fmt: skip
    run, items, comparisons = evaluate_candidates(chosen, open_parts, options)
    if shape is Format.jsonl:
        for line in [*figures.as_lines(items), *(json.dumps(comparison_fields(one)) for one in comparisons)]:
            typer.echo(line)
        return
    typer.echo(figures.as_text(items))
    for one in comparisons:
        typer.echo(f"\nfirst: {one.a.way}; second: {one.b.way}\n{comparison_table(one.figures)}")
    note(f"run {run.id}: propcite runs export {run.id} --format latex")


@eval_cli.command("judge")
def eval_judge(
    file: File,
    judge: JudgeName = ScoringJudges.embedded,
    judge_model: JudgeModel = "",
    judge_labels: JudgeLabels = "",
    limit: Annotated[int, typer.Option(min=0, help="A sample of this many questions; 0: all.")] = 0,
    offset: Offset = 0,
    new: New = False,
    shape: Shape = Format.table,
) -> None:
    """Test a judge by ALCE's shortcuts: a passage supports only its own sentences.  Exit code 1 if it fails."""
    from propcite.app.lab.alce.evaluation import evaluate_judge
    from propcite.app.lab.alce.options import EvalOptions, ScoringJudge
    from propcite.app.lab.alce.table import checks_text

    scoring = ScoringJudge(judge.value, judge_model, judge_labels)
    options = EvalOptions(kind="asqa", path=file, judge=scoring, limit=limit, offset=offset, new=new, report=note)
    run, checks = evaluate_judge(open_parts(), options)
    if shape is Format.jsonl:
        for one in checks:
            fields = {"questions": one.questions, "recall": one.recall, "precision": one.precision, "passed": one.holds}
            typer.echo(json.dumps({"judge": run.judge, "shortcut": one.check.name, **fields}))
    else:
        typer.echo(f"{run.name}; judge: {run.judge}\n{checks_text(checks)}")
    if not all(one.holds for one in checks):
        raise typer.Exit(BELOW)
