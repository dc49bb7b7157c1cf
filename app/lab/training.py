"""The commands that train what is shipped: files in, weights out, resumable, with their progress shown."""

from __future__ import annotations

import datetime
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from propcite.app.settings import load_settings
from propcite.app.terminal import counting
from propcite.retrieval.errors import PropCiteError
from propcite.retrieval.saving import written

if TYPE_CHECKING:
    from propcite.retrieval.encoding.encoder import Encoder
    from propcite.retrieval.training.neighbours import Negatives
    from propcite.retrieval.training.passages import Passages
    from propcite.retrieval.training.rows import Row

RECIPE = "recipe.json"  # in the folder of a whole model


def train_encoder(
    files: Sequence[Path],
    out: Path,
    work: Path | None,
    base: str,
    device: str,
    *,
    resume: bool,
    note: Callable[[str], None],
    start: Path | None = None,
    teacher: Path | None = None,
    beside: Sequence[Row] = (),
    **options: Any,
) -> dict[str, Any]:
    """The queries' network from rows of ranked sentences; ours is taught further unless a base is named.

    Texts of `beside` are encoded with the rows', for a training that follows.
    """
    from propcite.retrieval.encoding.checkpoints import BASE, DEFAULT, PASSAGES, QUERIES, bundled_model
    from propcite.retrieval.training.rows import read_rows
    from propcite.retrieval.training.teacher import Teacher
    from propcite.retrieval.training.trainer import CHECKPOINT, Recipe, Trainer

    recipe = Recipe(**options)
    folder = work or out / "work"
    checkpoint = _free(folder / CHECKPOINT, resume=resume)
    taught_by = Teacher.open(teacher, device, load_settings().precision) if teacher else None
    rows = [row for file in files for row in read_rows(file)]
    ours = not (base or recipe.dimension)  # a projection is of passages too, and over ours none is trained
    name = DEFAULT if ours else base or BASE
    encoder, passages = _encoded([*rows, *beside], name, device, folder, note, recipe.negatives)
    network = bundled_model() if base in ("", BASE) else base
    reads, begin = (PASSAGES, start or QUERIES) if ours else (None, start)
    trainer = Trainer(recipe, rows, passages, network, folder, device, begin, taught_by, reads)
    _run(trainer, recipe.steps, folder, resume=resume, note=note)
    made = trainer.save(out, {**_about(rows), "over": encoder.name})
    checkpoint.unlink()
    return {**{name: str(path) for name, path in made.items()}, "steps": recipe.steps}


def train_teacher(
    files: Sequence[Path],
    out: Path,
    work: Path | None,
    base: str,
    device: str,
    *,
    resume: bool,
    note: Callable[[str], None],
    **options: Any,
) -> dict[str, Any]:
    """A network that reads query and passage together, from rows of ranked sentences.  -> what was made"""
    from propcite.retrieval.training.rows import read_rows
    from propcite.retrieval.training.teaching import CHECKPOINT, Recipe, Teaching

    recipe = Recipe(**options)
    folder = work or out / "work"
    checkpoint = _free(folder / CHECKPOINT, resume=resume)
    rows = [row for file in files for row in read_rows(file)]
    teaching = Teaching(recipe, rows, folder, base, device, load_settings().precision)
    note(f"{len(rows)} rows to learn from")
    _run(teaching, recipe.steps, folder, resume=resume, note=note)
    teaching.save(out, _about(rows))
    checkpoint.unlink()
    return {"teacher": str(out), "kind": recipe.kind, "steps": recipe.steps}


def train_passages(
    files: Sequence[Path],
    out: Path,
    work: Path | None,
    device: str,
    *,
    resume: bool,
    note: Callable[[str], None],
    start: Path | None = None,
    asked: Sequence[Path] = (),
    teacher: Path | None = None,
    base: str = "",
    **options: Any,
) -> dict[str, Any]:
    """The network that reads passages, under queries that stay, from rows of ranked sentences.  -> what was made"""
    from propcite.retrieval.encoding.checkpoints import BASE, QUERIES, bundled_model
    from propcite.retrieval.training.passage_trainer import CHECKPOINT, PassageTrainer, Recipe
    from propcite.retrieval.training.rows import read_questions, read_rows
    from propcite.retrieval.training.teacher import Teacher

    if base not in ("", BASE) and not (start and start.is_dir()):
        raise PropCiteError(
            f"passages of {base} need queries over it: propcite train encoder FILES --base {base} --out FOLDER, "
            "then --start FOLDER/model"
        )
    recipe = Recipe(**options)
    folder = work or out / "work"
    checkpoint = _free(folder / CHECKPOINT, resume=resume)
    precision = load_settings().precision
    taught_by = Teacher.open(teacher, device, precision) if teacher else None
    rows = [row for file in files for row in read_rows(file)]
    questions = [row for file in asked for row in read_questions(file)]
    encoder, passages = _encoded([*rows, *questions], base or BASE, device, folder, note, recipe.negatives)
    network = bundled_model() if base in ("", BASE) else base
    trainer = PassageTrainer(
        recipe, rows, passages, encoder, start or QUERIES, folder, device, network,
        questions=questions, precision=precision, teacher=taught_by,
    )  # fmt: skip
    _run(trainer, recipe.steps, folder, resume=resume, note=note)
    made = trainer.save(out, _about(rows))
    checkpoint.unlink()
    return {**{name: str(path) for name, path in made.items()}, "steps": recipe.steps}


def train_model(
    files: Sequence[Path],
    out: Path,
    base: str,
    device: str,
    *,
    resume: bool,
    note: Callable[[str], None],
    asked: Sequence[Path] = (),
    trainings: int = 2,
    steps: int = 300,
    passage_steps: int = 600,
    batch_size: int = 0,
    seed: int = 0,
) -> dict[str, Any]:
    """All that one model needs: queries, passages by several seeds, their mean.  What is whole is not made again."""
    from propcite.retrieval.encoding.checkpoints import BASE
    from propcite.retrieval.encoding.trained_networks import PASSAGES
    from propcite.retrieval.training import passage_trainer, trainer
    from propcite.retrieval.training.averaging import average, average_models
    from propcite.retrieval.training.rows import read_questions

    work, told = out / "work", out / RECIPE
    given = {
        "files": [*map(str, files)], "asked": [*map(str, asked)], "base": base or BASE, "trainings": trainings,
        "steps": steps, "passage_steps": passage_steps, "batch_size": batch_size, "seed": seed,
    }  # fmt: skip
    _same_recipe(told, given, resume=resume)
    queries, kept = out / "queries", work / trainer.CHECKPOINT
    sized: dict[str, Any] = {"batch_size": batch_size} if batch_size else {}  # as each training has it otherwise
    if kept.exists() or not (queries / "model").is_dir():
        note("queries")
        train_encoder(
            files, queries, work, base or BASE, device, resume=kept.exists(), note=note, steps=steps, seed=seed,
            beside=[row for file in asked for row in read_questions(file)], **sized,
        )  # fmt: skip
    small = queries / "queries.safetensors"  # where the base is the bundled one
    made = [out / f"{PASSAGES}-{number}" for number in range(1, trainings + 1)]
    kept = work / passage_trainer.CHECKPOINT
    unfinished = [folder for folder in made if folder.exists()][-1:] if kept.exists() else []
    for number, folder in enumerate(made, start=1):
        if (folder / "model").is_dir() and folder not in unfinished:
            continue
        note(f"passages, training {number} of {trainings}")
        folder.mkdir(exist_ok=True)
        train_passages(
            files, folder, work, device, resume=folder in unfinished, note=note, asked=asked, base=base,
            start=small if small.exists() else queries / "model",
            steps=passage_steps, seed=seed + number, **sized,
        )  # fmt: skip
    average_models([folder / "model" for folder in made], out / "model")
    result = {"model": str(out / "model"), "trainings": trainings}
    if small.exists():
        average([folder / "passages.safetensors" for folder in made], out / "passages.safetensors")
        result |= {"queries": str(small), "passages": str(out / "passages.safetensors")}
    return result


def _same_recipe(file: Path, given: dict[str, Any], *, resume: bool) -> None:
    """What the folder is made by is kept in it; another recipe, or a folder of something else, is refused."""
    folder = file.parent
    if not resume and folder.exists() and any(held != file for held in folder.iterdir()):
        raise PropCiteError(f"{folder} is not empty: go on with --resume, or give another --out folder")
    if resume and file.exists():
        known = json.loads(file.read_text("utf-8"))
        if differs := next((name for name, value in given.items() if known.get(name) != value), ""):
            raise PropCiteError(f"{folder} was begun with another {differs}: give the same, or another --out folder")
        return
    folder.mkdir(parents=True, exist_ok=True)
    with written(file, PropCiteError) as new:
        new.write_text(json.dumps(given, indent=1), "utf-8")


def _encoded(
    rows: Sequence[Row], name: str, device: str, folder: Path, note: Callable[[str], None], negatives: Negatives
) -> tuple[Encoder, Passages]:
    """An encoder, and the rows' passages as it reads them: what is not on disk yet is encoded and indexed."""
    from propcite.app.building import build_encoder, build_splitter
    from propcite.retrieval.encoding.checkpoints import BASE, DEFAULT, is_multi_vector
    from propcite.retrieval.encoding.xtr import is_xtr
    from propcite.retrieval.training.passages import Passages

    splitter = build_splitter(load_settings(splitter="rules"))

    def split(sentences: Sequence[str]) -> list[list[tuple[Any, ...]]]:
        return [[p.spans for p in found] for found in splitter.split_many(sentences, [()] * len(sentences))]

    encoder = build_encoder(load_settings(encoder=name, device=device or None))
    if name not in (BASE, DEFAULT) and (is_multi_vector(name) or is_xtr(name)):
        raise PropCiteError(f"{name} has a projection or networks of its own: train over a plain transformer")
    passages = Passages(rows, encoder, folder, split)
    note(f"{len(rows)} rows over {len(passages)} parts of passages")
    with counting(passages.num_blocks, "encoding passages") as advance:
        passages.encode(advance)
    if negatives == "index":
        note("an index of these passages, to find negatives by")
        passages.index.stats()  # made here and not at the first step
    return encoder, passages


class _Running(Protocol):
    """A training that goes on where it stopped."""

    step: int

    def run(self, report: Callable[[int, float], None]) -> None: ...

    def resume(self) -> bool: ...


def _free(checkpoint: Path, *, resume: bool) -> Path:
    """The checkpoint's place; one that lies there is not written over unasked."""
    if checkpoint.exists() and not resume:
        raise PropCiteError(
            f"{checkpoint.parent} holds an unfinished training: go on with --resume, or give another --work folder"
        )
    return checkpoint


def _run(training: _Running, steps: int, folder: Path, *, resume: bool, note: Callable[[str], None]) -> None:
    """The steps that are left, with their progress."""
    if resume:
        found = training.resume()
        note(f"going on from step {training.step}" if found else f"{folder} holds no checkpoint: from the start")
    with counting(steps, "training") as advance:
        for _ in range(training.step):
            advance("training")
        training.run(lambda step, loss: advance(f"step {step}, loss {loss:.2f}"))


def _about(rows: Sequence[Any]) -> dict[str, Any]:
    sources = sorted({row.source for row in rows})
    return {"rows": len(rows), "sources": sources, "made": datetime.date.today().isoformat()}


def train_judge(
    files: Sequence[Path],
    words: Path,
    out: Path,
    work: Path,
    *,
    resume: bool,
    note: Callable[[str], None],
    **options: Any,
) -> dict[str, Any]:
    """The judge's weights from rows that tell what supports what.  -> what was made"""
    from propcite.app.building import build_splitter
    from propcite.attribution.judges.training.lexicon import Lexicon
    from propcite.attribution.judges.training.run import train
    from propcite.attribution.judges.training.trainer import Recipe

    recipe = Recipe(**options)
    lexicon = Lexicon.read(words)
    splitter = build_splitter(load_settings(splitter="learned"))

    def claims(sentences: Sequence[str]) -> list[list[str]]:
        found = splitter.split_many(sentences, [()] * len(sentences))
        return [[p.text for p in told if p.check_worthy] for told in found]

    with counting(recipe.steps, "training") as advance:
        told = train(
            files, out, work, recipe, lexicon, claims,
            resume=resume, note=note, report=lambda step, loss: advance(f"step {step}, loss {loss:.2f}"),
        )  # fmt: skip
    return {"weights": str(out), **told}
