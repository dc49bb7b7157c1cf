"""Train what is shipped on data of your own."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from propcite.app.commands import cli, note, write_json
from propcite.retrieval.errors import PropCiteError

train_cli = typer.Typer(no_args_is_help=True, help="Train what is shipped, on data of your own.")
cli.add_typer(train_cli, name="train")


@train_cli.command("splitter")
def train_splitter(
    files: Annotated[list[Path], typer.Argument(help="JSON lines of sentence and propositions.", metavar="FILES…")],
    out: Annotated[Path, typer.Option(help="Where the weights go.")] = Path("splitter.safetensors"),
    epochs: Annotated[int, typer.Option(min=1)] = 4,
    seed: Annotated[int, typer.Option()] = 0,
) -> None:
    """Train the learned splitter; a quarter of the sentences with marked words is kept out for measuring."""
    from propcite.app.terminal import counting
    from propcite.attribution.propositions.training import is_held_out, num_steps, read_examples, train

    read = [example for file in files for example in read_examples(file)]
    examples = [e for e in read if e.style != "span" or not is_held_out(e.sentence)]
    if not examples:
        raise PropCiteError("no sentence with propositions in these files: give JSON lines of both")
    note(f"{len(examples)} sentences to learn from, {len(read) - len(examples)} kept out")
    with counting(num_steps(examples, epochs), "training") as advance:
        train(examples, out, epochs=epochs, seed=seed, report=lambda *state: advance(f"loss {state[-1]:.2f}"))
    write_json({"weights": str(out), "sentences": len(examples)})


class Salience(StrEnum):
    """How passages' tokens learn to count."""

    none = "none"
    gate = "gate"
    relu = "relu"
    top_k = "top-k"


class Negatives(StrEnum):
    """How passages are found that are hard to tell from the right one."""

    by_index = "index"
    means = "means"
    none = "none"


@train_cli.command("model")
def train_model(
    files: Annotated[list[Path], typer.Argument(exists=True, dir_okay=False, help="JSON lines of ranked sentences.")],
    out: Annotated[Path, typer.Option(help="A folder for the model and all that leads to it.")] = Path("model"),
    asked: Annotated[
        list[Path] | None,
        typer.Option(exists=True, dir_okay=False, help='JSON lines {"query", "title", "text"} whose ranking is kept.'),
    ] = None,
    base: Annotated[str, typer.Option(help="A folder or a hub name; the bundled MiniLM otherwise.")] = "",
    device: Annotated[str, typer.Option(help="cpu, cuda, …")] = "",
    trainings: Annotated[int, typer.Option(min=1, help="Of passages, whose mean is taken.")] = 2,
    steps: Annotated[int, typer.Option(min=1, help="Of the queries' training.")] = 300,
    passage_steps: Annotated[int, typer.Option(min=1, help="Of each training of passages.")] = 600,
    batch_size: Annotated[int, typer.Option(min=0, help="Rows a step; 0: 32 for queries, 24 for passages.")] = 0,
    seed: Annotated[int, typer.Option()] = 0,
    resume: Annotated[bool, typer.Option(help="Go on where it stopped.")] = False,
) -> None:
    """Train a whole encoder: queries for sentences and propositions, then passages by several seeds, and their mean."""
    from propcite.app.lab import training

    write_json(
        training.train_model(
            files, out, base, device, resume=resume, note=note, asked=asked or (), trainings=trainings, steps=steps,
            passage_steps=passage_steps, batch_size=batch_size, seed=seed,
        )
    )  # fmt: skip


@train_cli.command("encoder")
def train_encoder(
    files: Annotated[list[Path], typer.Argument(exists=True, dir_okay=False, help="JSON lines of ranked sentences.")],
    out: Annotated[Path, typer.Option(help="A folder for the model.")] = Path("encoder"),
    work: Annotated[Path | None, typer.Option(help="A folder for encoded passages and checkpoints.")] = None,
    base: Annotated[
        str, typer.Option(help="Begin with this: minilm, a folder or a hub name; else ours are taught further.")
    ] = "",
    device: Annotated[str, typer.Option(help="cpu, cuda, …")] = "",
    steps: Annotated[int, typer.Option(min=1)] = 300,
    batch_size: Annotated[int, typer.Option(min=2)] = 32,
    learning_rate: Annotated[float, typer.Option(min=0.0)] = 5e-5,
    propositions: Annotated[float, typer.Option(min=0.0, max=1.0, help="Share of steps at their level.")] = 0.3,
    claims: Annotated[float, typer.Option(min=0.0, max=1.0, help="Share of rows asked by a passage's claim.")] = 0.3,
    negatives: Annotated[
        Negatives, typer.Option(help="Passages hard to tell from a row's own: found by our index, or read alike.")
    ] = Negatives.none,
    k_train: Annotated[int, typer.Option(min=0, help="XTR: tokens of the batch that count; 0: all.")] = 0,
    salience: Annotated[
        Salience, typer.Option(help="How passages' tokens learn to count: gate (ALIGNER's), relu, top-k or none.")
    ] = Salience.none,
    alpha_q: Annotated[
        float, typer.Option(min=0.01, max=1.0, help="Share of a query's tokens left by the gate.")
    ] = 0.5,
    alpha_d: Annotated[float, typer.Option(min=0.01, max=1.0, help="The same of a passage's.")] = 0.4,
    frozen: Annotated[bool, typer.Option("--frozen", help="Learn salience alone: the network stays.")] = False,
    start: Annotated[
        Path | None, typer.Option(exists=True, dir_okay=False, help="A queries.safetensors to begin with.")
    ] = None,
    share: Annotated[float, typer.Option(min=0.0, max=1.0, help="Of the change that is kept.")] = 0.75,
    lora: Annotated[int, typer.Option(min=0, help="Rank of what each layer learns; 0: every weight learns.")] = 0,
    dimension: Annotated[
        int, typer.Option(min=0, help="Numbers a token after a projection that is trained; 0: none.")
    ] = 0,
    teacher: Annotated[
        Path | None, typer.Option(exists=True, file_okay=False, help="What propcite train teacher made.")
    ] = None,
    taught: Annotated[float, typer.Option(min=0.0, max=1.0, help="The teacher's share, beside the labels.")] = 0.5,
    seed: Annotated[int, typer.Option()] = 0,
    resume: Annotated[bool, typer.Option(help="Go on from the last checkpoint.")] = False,
) -> None:
    """Train the queries' network: rows of {"query", "title", "sentences", "positive_sentence_ids"}."""
    from propcite.app.lab import training

    write_json(
        training.train_encoder(
            files, out, work, base, device, resume=resume, note=note, steps=steps, batch_size=batch_size,
            learning_rate=learning_rate, propositions=propositions, claims=claims, k_train=k_train, share=share,
            negatives=negatives.value, salience=salience.value, alpha_q=alpha_q, alpha_d=alpha_d, frozen=frozen,
            start=start, teacher=teacher, taught=taught, lora=lora, dimension=dimension, seed=seed,
        )
    )  # fmt: skip


@train_cli.command("passages")
def train_passages(
    files: Annotated[list[Path], typer.Argument(exists=True, dir_okay=False, help="JSON lines of ranked sentences.")],
    out: Annotated[Path, typer.Option(help="A folder for the model.")] = Path("passages"),
    work: Annotated[Path | None, typer.Option(help="A folder for encoded passages and checkpoints.")] = None,
    base: Annotated[
        str, typer.Option(help="Begin with this: a folder or a hub name; the bundled MiniLM otherwise.")
    ] = "",
    start: Annotated[
        Path | None,
        typer.Option(
            exists=True,
            help="The queries' network, else the bundled one: queries.safetensors, or another base's folder model.",
        ),
    ] = None,
    asked: Annotated[
        list[Path] | None,
        typer.Option(exists=True, dir_okay=False, help='JSON lines {"query", "title", "text"} whose ranking is kept.'),
    ] = None,
    teacher: Annotated[
        Path | None,
        typer.Option(exists=True, file_okay=False, help="What propcite train teacher made; it tells of --asked too."),
    ] = None,
    taught: Annotated[
        float, typer.Option(min=0.0, max=1.0, help="The teacher's share, beside the labels where there are some.")
    ] = 0.5,
    device: Annotated[str, typer.Option(help="cpu, cuda, …")] = "",
    layers: Annotated[int, typer.Option(min=0, help="Of the network, from its top: those that learn; 0: half.")] = 0,
    steps: Annotated[int, typer.Option(min=1)] = 500,
    batch_size: Annotated[int, typer.Option(min=2, help="Passages: half drawn, half near to those.")] = 24,
    negatives: Annotated[
        Negatives, typer.Option(help="Those near: found for the question by our index, read alike, or none.")
    ] = Negatives.by_index,
    weighed: Annotated[
        bool, typer.Option("--weighed", help="A row counts by how sure the base is of its passage among those near.")
    ] = False,
    together: Annotated[int, typer.Option(min=1, help="Rows at most that ask of one passage.")] = 3,
    learning_rate: Annotated[float, typer.Option(min=0.0)] = 2e-4,
    likeness: Annotated[float, typer.Option(min=0.0, help="Weight of ranking passages as the base does.")] = 1.0,
    propositions: Annotated[float, typer.Option(min=0.0, max=1.0, help="Share of steps at their level.")] = 0.3,
    claims: Annotated[float, typer.Option(min=0.0, max=1.0, help="Share of rows asked by a passage's claim.")] = 0.3,
    share: Annotated[float, typer.Option(min=0.0, max=1.0, help="Of the change that is kept.")] = 0.75,
    seed: Annotated[int, typer.Option()] = 0,
    resume: Annotated[bool, typer.Option(help="Go on from the last checkpoint.")] = False,
) -> None:
    """Train the network that reads passages, which needs an index of its own; rows as for `train encoder`."""
    from propcite.app.lab import training

    write_json(
        training.train_passages(
            files, out, work, device, resume=resume, note=note, start=start, asked=asked or (), layers=layers,
            teacher=teacher, taught=taught, negatives=negatives.value, weighed=weighed,
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
    out: Annotated[Path, typer.Option(help="The file to be written, or the folder.")],
    share: Annotated[float, typer.Option(min=0.0, max=1.0, help="Of the mean change that is kept.")] = 1.0,
) -> None:
    """The mean of several trainings of one network, made with other seeds or rates."""
    from propcite.retrieval.training.averaging import average, average_models

    if all(file.is_dir() for file in files):
        average_models(files, out, share)
        write_json({"model": str(out)})
    else:
        write_json({"weights": str(out), **average(files, out, share)})


class Kind(StrEnum):
    """What a teacher reads at once."""

    marked = "marked"
    joint = "joint"


@train_cli.command("teacher")
def train_teacher(
    files: Annotated[list[Path], typer.Argument(exists=True, dir_okay=False, help="JSON lines of ranked sentences.")],
    out: Annotated[Path, typer.Option(help="A folder for the teacher.")] = Path("teacher"),
    work: Annotated[Path | None, typer.Option(help="A folder for checkpoints.")] = None,
    kind: Annotated[
        Kind, typer.Option(help="One sentence a reading, between two $ (AGRaME's CE'), or all of them at once.")
    ] = Kind.marked,
    base: Annotated[str, typer.Option(help="A folder or hub name; the bundled MiniLM otherwise.")] = "",
    device: Annotated[str, typer.Option(help="cpu, cuda, …")] = "",
    steps: Annotated[int, typer.Option(min=1)] = 600,
    batch_size: Annotated[int, typer.Option(min=1, help="Rows a step.")] = 16,
    negatives: Annotated[int, typer.Option(min=1, help="Wrong sentences of a row that a marked teacher reads.")] = 3,
    learning_rate: Annotated[float, typer.Option(min=0.0)] = 5e-5,
    seed: Annotated[int, typer.Option()] = 0,
    resume: Annotated[bool, typer.Option(help="Go on from the last checkpoint.")] = False,
) -> None:
    """Train a teacher, which reads query and passage together, for `train encoder --teacher`; rows as there."""
    from propcite.app.lab import training

    write_json(
        training.train_teacher(
            files, out, work, base, device, resume=resume, note=note, kind=kind.value, steps=steps,
            batch_size=batch_size, negatives=negatives, learning_rate=learning_rate, seed=seed,
        )
    )  # fmt: skip


@train_cli.command("judge")
def train_judge(
    files: Annotated[
        list[Path],
        typer.Argument(
            exists=True, dir_okay=False, help="JSON lines: ranked sentences, claims, facts.", metavar="FILES…"
        ),
    ],
    words: Annotated[Path, typer.Option(exists=True, file_okay=False, help="A folder with WordNet's data files.")],
    out: Annotated[Path, typer.Option(help="Where the weights go.")] = Path("judge.safetensors"),
    work: Annotated[Path, typer.Option(help="A folder for checkpoints.")] = Path("judge-work"),
    steps: Annotated[int, typer.Option(min=1)] = 2300,
    batch_size: Annotated[int, typer.Option(min=2)] = 32,
    learning_rate: Annotated[float, typer.Option(min=0.0)] = 1e-4,
    seed: Annotated[int, typer.Option()] = 0,
    resume: Annotated[bool, typer.Option(help="Go on from the last checkpoint.")] = False,
) -> None:
    """Train the cross-encoder judge; a third of the rows that people marked is kept out, for measuring."""
    from propcite.app.lab import training

    options = {"steps": steps, "batch_size": batch_size, "learning_rate": learning_rate, "seed": seed}
    write_json(training.train_judge(files, words, out, work, resume=resume, note=note, **options))
