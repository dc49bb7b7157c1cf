"""`propcite train judge` and `train calibration`: the judge that reads, on your own data."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from propcite.app.commands import note, open_parts, write_json
from propcite.app.lab.commands.training import Device, Resume, Seed, train_cli
from propcite.app.lab.judge_training import SCENES_PER_KIND

BASE = "sentence-transformers/all-mpnet-base-v2"
PARSER = "en_core_web_sm"

HeldOut = Annotated[
    list[Path] | None,
    typer.Option(
        "--held-out", exists=True, dir_okay=False,
        help="Files of claims and passages for measuring: nothing of theirs is trained on.",
    ),
]  # fmt: skip


@train_cli.command("judge")
def train_judge(
    files: Annotated[
        list[Path],
        typer.Argument(
            exists=True,
            dir_okay=False,
            metavar="FILES…",
            help="JSON lines: claims with evidence and a label, questions with passages, sentences with their facts.",
        ),
    ],
    base: Annotated[
        str, typer.Option(help="An encoder's folder or hub name, or a reader's folder to go on from.")
    ] = BASE,
    parser: Annotated[str, typer.Option(help="A spaCy pipeline, which finds what can be rewritten.")] = PARSER,
    lexicon: Annotated[
        Path | None,
        typer.Option(
            exists=True, file_okay=False, help="A folder of WordNet's files: for siblings and synonyms of words."
        ),
    ] = None,
    scenes: Annotated[
        int, typer.Option(min=0, help="Made-up scenes per kind, which teach to calculate and to keep a limit.")
    ] = SCENES_PER_KIND,
    held_out: HeldOut = None,
    out: Annotated[Path, typer.Option(help="Folder for the reader.")] = Path("reader"),
    work: Annotated[Path, typer.Option(help="Folder for examples and checkpoints.")] = Path("judge-work"),
    device: Device = "",
    steps: Annotated[int, typer.Option(min=1)] = 2500,
    batch_pieces: Annotated[int, typer.Option(min=256, help="Word pieces per step.")] = 3600,
    learning_rate: Annotated[float, typer.Option(min=0.0)] = 5e-5,
    dropout: Annotated[float, typer.Option(min=0.0, max=0.9, help="0.1 where examples are seen several times.")] = 0.0,
    marked: Annotated[
        float,
        typer.Option(min=0.0, max=1.0, help="Share of the claims from sources whose wrong words are in [[brackets]]."),
    ] = 0.5,
    low_rank: Annotated[
        int,
        typer.Option(
            min=0,
            help="Keep the reader --base and learn changes of this rank in its upper layers.",
        ),
    ] = 0,
    seed: Seed = 0,
    resume: Resume = False,
) -> None:
    """Train the judge that reads: make wrong and right claims of real passages, learn which words are wrong."""
    from propcite.app.lab.judge_training import train_judge as train

    options = {
        "steps": steps, "batch_pieces": batch_pieces, "learning_rate": learning_rate, "dropout": dropout,
        "marked": marked, "low_rank": low_rank, "seed": seed,
    }  # fmt: skip
    write_json(
        train(
            files, base, parser, out, work,
            held_out=held_out or (), lexicon=lexicon, scenes=scenes, device=device, resume=resume, note=note, **options,
        )
    )  # fmt: skip


@train_cli.command("calibration")
def train_calibration(
    files: Annotated[
        list[Path],
        typer.Argument(
            exists=True, dir_okay=False, metavar="FILES…", help="JSON lines: claim, evidence or docs, label."
        ),
    ],
    reader: Annotated[Path, typer.Option(exists=True, file_okay=False, help="The reader's folder, which is changed.")],
) -> None:
    """Fit a reader's probabilities to labelled claims, each source with the same weight, such as your own feedback."""
    from propcite.app.lab.calibrating import calibrate

    write_json(calibrate(files, reader, open_parts().encoder))
