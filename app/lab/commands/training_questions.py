"""`propcite train questions` and `train question-calibration`: the reader of questions, on your own data."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from propcite.app.commands import note, open_parts, write_json
from propcite.app.lab.commands.training import Device, Resume, Seed, train_cli

QuestionRows = Annotated[
    list[Path],
    typer.Argument(
        exists=True,
        dir_okay=False,
        metavar="FILES…",
        help="JSON lines: questions with passages or ranked sentences, or passages and documents with questions.",
    ),
]


@train_cli.command("questions")
def train_questions(
    files: QuestionRows,
    out: Annotated[Path, typer.Option(help="File for the question reader.")] = Path("questions.safetensors"),
    work: Annotated[Path, typer.Option(help="Folder for checkpoints.")] = Path("questions-work"),
    start: Annotated[
        Path | None, typer.Option("--from", exists=True, dir_okay=False, help="A question reader to train further.")
    ] = None,
    device: Device = "",
    steps: Annotated[int, typer.Option(min=1)] = 1200,
    batch_pieces: Annotated[int, typer.Option(min=256, help="Word pieces per step.")] = 2048,
    learning_rate: Annotated[float, typer.Option(min=0.0)] = 5e-4,
    rank: Annotated[int, typer.Option(min=1, help="Of the changes to each weight.")] = 16,
    seed: Seed = 0,
    resume: Resume = False,
) -> None:
    """Train the reader of questions: which sentences of a text answer, in which words, and whether any does."""
    from propcite.app.lab.question_training import train_questions as train

    options = {
        "steps": steps, "batch_pieces": batch_pieces, "learning_rate": learning_rate, "rank": rank, "seed": seed,
    }  # fmt: skip
    write_json(train(files, out, work, start=start, device=device, resume=resume, note=note, **options))


@train_cli.command("question-calibration")
def train_question_calibration(
    files: QuestionRows,
    reader: Annotated[Path, typer.Option(exists=True, dir_okay=False, help="The question reader, which is changed.")],
    most: Annotated[int, typer.Option(min=1, help="Questions per file.")] = 400,
    seed: Seed = 0,
) -> None:
    """Fit the probabilities of a question reader to questions that training held out."""
    from propcite.app.lab.question_training import calibrate_questions

    write_json(calibrate_questions(files, reader, open_parts().encoder, most, seed))
