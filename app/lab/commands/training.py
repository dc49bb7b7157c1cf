"""`propcite train`: train the shipped models on your own data."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from propcite.app.commands import Panel, cli, note, write_json

train_cli = typer.Typer(no_args_is_help=True, help="Train the shipped models on your own data.")
cli.add_typer(train_cli, name="train", rich_help_panel=Panel.MEASURING)

RankedFiles = Annotated[
    list[Path], typer.Argument(exists=True, dir_okay=False, help="JSON lines of queries with ranked sentences.")
]
QuestionFiles = Annotated[
    list[Path] | None,
    typer.Option(
        "--asked", exists=True, dir_okay=False,
        help='JSON lines {"query", "title", "text"}: questions whose ranking of passages is kept.',
    ),
]  # fmt: skip
Device = Annotated[str, typer.Option(help="cpu, cuda, …")]
Seed = Annotated[int, typer.Option()]
Resume = Annotated[bool, typer.Option(help="Go on from the last checkpoint.")]
Propositions = Annotated[
    float, typer.Option(min=0.0, max=1.0, help="Share of the steps that rank propositions; the others rank sentences.")
]
Claims = Annotated[
    float, typer.Option(min=0.0, max=1.0, help="Share of the rows whose query is replaced by a claim of the passage.")
]
Share = Annotated[float, typer.Option(min=0.0, max=1.0, help="Share of the change that is kept.")]
TeacherFolder = Annotated[
    Path | None,
    typer.Option(exists=True, file_okay=False, help="A teacher's folder, made by propcite train teacher."),
]
TeacherShare = Annotated[
    float, typer.Option("--taught", min=0.0, max=1.0, help="The teacher's share of the loss; the labels have the rest.")
]


class Salience(StrEnum):
    """How the salience of passage tokens is learned."""

    none = "none"
    gate = "gate"
    relu = "relu"
    top_k = "top-k"


class Negatives(StrEnum):
    """How hard negative passages are found."""

    by_index = "index"
    means = "means"
    none = "none"


@train_cli.command("model")
def train_model(
    files: RankedFiles,
    out: Annotated[Path, typer.Option(help="Folder for the model and its parts.")] = Path("model"),
    questions: QuestionFiles = None,
    base: Annotated[
        str, typer.Option(help="Start from this folder or hub name; by default from the bundled MiniLM.")
    ] = "",
    device: Device = "",
    trainings: Annotated[int, typer.Option(min=1, help="Number of trainings for passages, which are averaged.")] = 2,
    steps: Annotated[int, typer.Option(min=1, help="Steps of the training for queries.")] = 300,
    passage_steps: Annotated[int, typer.Option(min=1, help="Steps of each training for passages.")] = 600,
    batch_size: Annotated[int, typer.Option(min=0, help="Rows per step; 0: 32 for queries, 24 for passages.")] = 0,
    seed: Seed = 0,
    resume: Resume = False,
) -> None:
    """Train a whole encoder: for sentence and proposition queries, then for passages with several seeds, averaged."""
    from propcite.app.lab import training

    write_json(
        training.train_model(
            files, out, base, device, resume=resume, note=note, question_files=questions or (), trainings=trainings,
            steps=steps, passage_steps=passage_steps, batch_size=batch_size, seed=seed,
        )
    )  # fmt: skip


@train_cli.command("encoder")
def train_encoder(
    files: RankedFiles,
    out: Annotated[Path, typer.Option(help="Folder for the model.")] = Path("encoder"),
    work: Annotated[Path | None, typer.Option(help="Folder for encoded passages and checkpoints.")] = None,
    base: Annotated[
        str,
        typer.Option(help="Start from this base: minilm, a folder or a hub name; by default train ours further."),
    ] = "",
    device: Device = "",
    steps: Annotated[int, typer.Option(min=1)] = 300,
    batch_size: Annotated[int, typer.Option(min=2)] = 32,
    learning_rate: Annotated[float, typer.Option(min=0.0)] = 5e-5,
    propositions: Propositions = 0.3,
    claims: Claims = 0.3,
    negatives: Annotated[
        Negatives, typer.Option(help="Hard negative passages: found by our index, by mean vectors, or none.")
    ] = Negatives.none,
    k_train: Annotated[
        int, typer.Option(min=0, help="XTR: tokens of the batch that count for a query token; 0: all.")
    ] = 0,
    alignment: Annotated[str, typer.Option(help="ALIGNER: pairs that count, as top-k=4 or top-p=1%.")] = "top-k=1",
    salience: Annotated[
        Salience,
        typer.Option(help="How the salience of passage tokens is learned: gate (ALIGNER's), relu, top-k or none."),
    ] = Salience.none,
    alpha_q: Annotated[
        float, typer.Option(min=0.01, max=1.0, help="Share of a query's tokens that the gate selects.")
    ] = 0.5,
    alpha_d: Annotated[
        float, typer.Option(min=0.01, max=1.0, help="Share of a passage's tokens that the gate selects.")
    ] = 0.4,
    frozen: Annotated[bool, typer.Option("--frozen", help="Train only the salience, not the network.")] = False,
    start: Annotated[
        Path | None, typer.Option(exists=True, dir_okay=False, help="Start from this queries.safetensors.")
    ] = None,
    share: Share = 0.75,
    lora: Annotated[int, typer.Option(min=0, help="Rank of each layer's change; 0: train all weights.")] = 0,
    dimension: Annotated[
        int, typer.Option(min=0, help="Numbers per token after a trained projection; 0: no projection.")
    ] = 0,
    teacher: TeacherFolder = None,
    teacher_share: TeacherShare = 0.5,
    seed: Seed = 0,
    resume: Resume = False,
) -> None:
    """Train the network for queries on rows of {"query", "title", "sentences", "positive_sentence_ids"}."""
    from propcite.app.lab import training

    write_json(
        training.train_encoder(
            files, out, work, base, device, resume=resume, note=note, steps=steps, batch_size=batch_size,
            learning_rate=learning_rate, propositions=propositions, claims=claims, k_train=k_train, share=share,
            negatives=negatives.value, salience=salience.value, alpha_q=alpha_q, alpha_d=alpha_d, frozen=frozen,
            start=start, teacher=teacher, taught=teacher_share, lora=lora, dimension=dimension, seed=seed,
            alignment=alignment,
        )
    )  # fmt: skip


@train_cli.command("passages")
def train_passages(
    files: RankedFiles,
    out: Annotated[Path, typer.Option(help="Folder for the model.")] = Path("passages"),
    work: Annotated[Path | None, typer.Option(help="Folder for encoded passages and checkpoints.")] = None,
    base: Annotated[
        str, typer.Option(help="Start from this folder or hub name; by default from the bundled MiniLM.")
    ] = "",
    start: Annotated[
        Path | None,
        typer.Option(
            exists=True,
            help="The network for queries: a queries.safetensors, or the folder model of another base; else ours.",
        ),
    ] = None,
    questions: QuestionFiles = None,
    teacher: TeacherFolder = None,
    teacher_share: TeacherShare = 0.5,
    device: Device = "",
    layers: Annotated[int, typer.Option(min=0, help="Top layers that are trained; 0: half of all.")] = 0,
    steps: Annotated[int, typer.Option(min=1)] = 500,
    batch_size: Annotated[
        int, typer.Option(min=2, help="Passages per step: half are drawn, half are hard negatives.")
    ] = 24,
    negatives: Annotated[
        Negatives, typer.Option(help="Hard negative passages: found by our index, by mean vectors, or none.")
    ] = Negatives.by_index,
    weighed: Annotated[
        bool,
        typer.Option("--weighed", help="Weight a row by the base's probability of its passage among the negatives."),
    ] = False,
    together: Annotated[int, typer.Option(min=1, help="Maximum number of rows with the same passage.")] = 3,
    learning_rate: Annotated[float, typer.Option(min=0.0)] = 2e-4,
    likeness: Annotated[float, typer.Option(min=0.0, help="Weight of ranking passages as the base does.")] = 1.0,
    propositions: Propositions = 0.3,
    claims: Claims = 0.3,
    share: Share = 0.75,
    seed: Seed = 0,
    resume: Resume = False,
) -> None:
    """Train the network for passages, which needs an index of its own; rows are as for `train encoder`."""
    from propcite.app.lab import training

    write_json(
        training.train_passages(
            files, out, work, device, resume=resume, note=note, start=start, question_files=questions or (),
            layers=layers, teacher=teacher, taught=teacher_share, negatives=negatives.value, weighed=weighed,
            together=together, base=base,
            steps=steps, batch_size=batch_size, learning_rate=learning_rate, likeness=likeness,
            propositions=propositions, claims=claims, share=share, seed=seed,
        )
    )  # fmt: skip


@train_cli.command("mean")
def mean(
    files: Annotated[
        list[Path],
        typer.Argument(exists=True, help="passages.safetensors or queries.safetensors, or folders of train passages."),
    ],
    out: Annotated[Path, typer.Option(help="The file or folder to write.")],
    share: Annotated[float, typer.Option(min=0.0, max=1.0, help="Share of the mean change that is kept.")] = 1.0,
) -> None:
    """Average several trainings of one network with different seeds or rates."""
    from propcite.retrieval.training.averaging import average_files, average_models

    if all(file.is_dir() for file in files):
        average_models(files, out, share)
        write_json({"model": str(out)})
    else:
        write_json({"weights": str(out), **average_files(files, out, share)})


class Kind(StrEnum):
    """How many sentences a teacher scores at once."""

    marked = "marked"
    joint = "joint"


@train_cli.command("teacher")
def train_teacher(
    files: RankedFiles,
    out: Annotated[Path, typer.Option(help="Folder for the teacher.")] = Path("teacher"),
    work: Annotated[Path | None, typer.Option(help="Folder for checkpoints.")] = None,
    kind: Annotated[
        Kind, typer.Option(help="Score one sentence at a time, between two $ (AGRaME's CE'), or all at once.")
    ] = Kind.marked,
    base: Annotated[str, typer.Option(help="A folder or hub name; by default the bundled MiniLM.")] = "",
    device: Device = "",
    steps: Annotated[int, typer.Option(min=1)] = 600,
    batch_size: Annotated[int, typer.Option(min=1, help="Rows per step.")] = 16,
    negatives: Annotated[int, typer.Option(min=1, help="Wrong sentences per row that a marked teacher reads.")] = 3,
    learning_rate: Annotated[float, typer.Option(min=0.0)] = 5e-5,
    seed: Seed = 0,
    resume: Resume = False,
) -> None:
    """Train a teacher, which reads query and passage together, for `train encoder --teacher`; rows are as there."""
    from propcite.app.lab import training

    write_json(
        training.train_teacher(
            files, out, work, base, device, resume=resume, note=note, kind=kind.value, steps=steps,
            batch_size=batch_size, negatives=negatives, learning_rate=learning_rate, seed=seed,
        )
    )  # fmt: skip
