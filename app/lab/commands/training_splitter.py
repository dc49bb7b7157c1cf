"""`propcite train splitter` and `train wording`: how sentences are split, and how their claims are worded."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from propcite.app.commands import note, write_json
from propcite.app.lab.commands.training import Device, Seed, train_cli
from propcite.attribution.propositions import SPLITTER_WEIGHTS
from propcite.retrieval.errors import PropCiteError

SplitFiles = Annotated[list[Path], typer.Argument(help="JSON lines of sentence and propositions.", metavar="FILES…")]


@train_cli.command("splitter")
def train_splitter(
    files: SplitFiles,
    out: Annotated[Path, typer.Option(help="File for the weights.")] = Path("splitter.safetensors"),
    parser: Annotated[str, typer.Option(help="A spaCy pipeline, which teaches the grammar.")] = "en_core_web_sm",
    parsed: Annotated[
        Path | None, typer.Option(help="Write the sentences with their parses here: these rows need no pipeline again.")
    ] = None,
    start: Annotated[Path | None, typer.Option(help="Weights of a splitter to train further.", exists=True)] = None,
    epochs: Annotated[int, typer.Option(min=1)] = 5,
    layers: Annotated[int, typer.Option(min=1, max=12, help="Lowest layers of the judge that it lies over.")] = 6,
    device: Device = "",
    seed: Seed = 0,
) -> None:
    """Train the learned splitter; a quarter of the sentences with marked words is held out for evaluation."""
    from propcite.app.terminal_progress import counting
    from propcite.attribution.judges.training.making.pipeline import load_parser
    from propcite.attribution.propositions.training.examples import (
        Example,
        is_held_out,
        read_examples,
        with_parses,
        write_parsed,
    )
    from propcite.attribution.propositions.training.trainer import num_steps, train

    rows: dict[str, Example] = {}
    for example in (example for file in files for example in read_examples(file)):
        rows.setdefault(example.sentence, example)
    examples = [e for e in rows.values() if e.style != "span" or not is_held_out(e.sentence)]
    if not any(e.propositions for e in examples):
        raise PropCiteError("no sentence with propositions in these files: give JSON lines of both")
    note(f"{len(examples)} sentences for training, {len(rows) - len(examples)} held out")
    if unparsed := [e for e in examples if e.parse is None]:
        pipeline = load_parser(parser)
        with counting(len(unparsed), "parsing") as advance:
            new = list(with_parses(unparsed, pipeline, lambda: advance("parsing")))
        examples = [e for e in examples if e.parse is not None] + new
    if parsed is not None:
        write_parsed(parsed, examples)
    with counting(num_steps(examples, epochs), "training") as advance:
        train(
            examples,
            out,
            epochs=epochs,
            seed=seed,
            start=start,
            layers=layers,
            device=device,
            progress=lambda *state: advance(f"loss {state[-1]:.2f}"),
        )
    write_json({"weights": str(out), "sentences": len(examples)})


@train_cli.command("wording")
def train_wording(
    files: SplitFiles,
    out: Annotated[Path, typer.Option(help="File for the weights.")] = Path("splitter.safetensors"),
    start: Annotated[
        Path, typer.Option(help="Weights of the splitter whose claims are worded.", exists=True)
    ] = SPLITTER_WEIGHTS,
    epochs: Annotated[int, typer.Option(min=1)] = 10,
    device: Device = "",
    seed: Seed = 0,
) -> None:
    """Train how the learned splitter words the claims that it finds; its other weights stay as they are."""
    from propcite.app.terminal_progress import counting
    from propcite.attribution.errors import AttributionError
    from propcite.attribution.propositions import splitter_files
    from propcite.attribution.propositions.grouped.writer import ClaimWriter
    from propcite.attribution.propositions.learned import LearnedSplitter
    from propcite.attribution.propositions.network import fingerprint
    from propcite.attribution.propositions.training.examples import read_examples
    from propcite.attribution.propositions.training.wordings import wordings_of
    from propcite.attribution.propositions.training.writer_trainer import num_steps, train
    from propcite.retrieval.saving import atomic_write

    examples = {e.sentence: e for file in files for e in read_examples(file) if e.facts}
    splitter = LearnedSplitter(start)
    with counting(len(examples), "reading") as advance:
        wordings = wordings_of(splitter, list(examples.values()), lambda: advance("reading"))
    if not wordings:
        raise PropCiteError("no proposition in these files is written in its sentence's words: give others")
    note(f"{len(wordings)} claims of {len(examples)} sentences")
    writer = ClaimWriter(wordings[0].states.shape[-1]).to(device or "cpu")
    with counting(num_steps(wordings, epochs), "training") as advance:
        train(writer, wordings, epochs=epochs, seed=seed, progress=lambda loss: advance(f"loss {loss:.2f}"))
    with atomic_write(out, AttributionError) as new:
        splitter_files.with_writer(start, writer, set(map(fingerprint, examples)), new)
    write_json({"weights": str(out), "claims": len(wordings)})
