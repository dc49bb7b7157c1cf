"""Train the shipped models on files of rows, with progress, checkpoints and resuming: what `propcite train` runs."""

from __future__ import annotations

import datetime
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from propcite.app.errors import AppError
from propcite.app.settings import load_settings
from propcite.app.terminal_progress import counting
from propcite.retrieval.alignment import NEAREST, alignment_of
from propcite.retrieval.errors import PropCiteError
from propcite.retrieval.saving import atomic_write

if TYPE_CHECKING:
    from propcite.retrieval.encoding.encoder import Encoder
    from propcite.retrieval.training.hard_negatives import Negatives
    from propcite.retrieval.training.passages import EncodedPassages
    from propcite.retrieval.training.query_trainer import QueryRecipe
    from propcite.retrieval.training.rows import Row

TRAINABLE = ("top-k", "top-p", "da")  # alignments of each query token by its similarities alone
RECIPE_FILE = "recipe.json"  # in the folder of a whole model


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
    more_rows: Sequence[Row] = (),
    **options: Any,
) -> dict[str, Any]:
    """Train the network for queries on rows of ranked sentences; return the paths of the results.

    Without a base the bundled queries are trained further.  The passages of `more_rows` are encoded too, for a later
    training.
    """
    from propcite.retrieval.encoding.bundled import BASE, DEFAULT, PASSAGES_FILE, QUERIES_FILE, bundled_model
    from propcite.retrieval.training.query_trainer import CHECKPOINT, QueryRecipe, QueryTrainer
    from propcite.retrieval.training.rows import read_rows
    from propcite.retrieval.training.teacher import Teacher

    recipe = QueryRecipe(**options)
    _check_alignment(recipe)
    folder = work or out / "work"
    checkpoint = _checkpoint_path(folder / CHECKPOINT, resume=resume)
    loaded_teacher = Teacher.open(teacher, device, load_settings().precision) if teacher else None
    rows = [row for file in files for row in read_rows(file)]
    # A projection changes the passages' vectors too, so it is trained over the base and not over the default encoder.
    further = not (base or recipe.dimension)
    encoder_name = DEFAULT if further else base or BASE
    encoder, passages = _encode_passages([*rows, *more_rows], encoder_name, device, folder, note, recipe.negatives)
    network = bundled_model() if base in ("", BASE) else base
    passage_network, start = (PASSAGES_FILE, start or QUERIES_FILE) if further else (None, start)
    trainer = QueryTrainer(
        recipe, rows, passages, network, folder, device, start, loaded_teacher, passage_network
    )  # fmt: skip
    _run(trainer, recipe.steps, folder, resume=resume, note=note)
    paths = trainer.save(out, {**_info(rows), "over": encoder.name})
    checkpoint.unlink()
    return {**{name: str(path) for name, path in paths.items()}, "steps": recipe.steps}


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
    """Train a network that reads query and passage together on rows of ranked sentences; return where it is."""
    from propcite.retrieval.training.rows import read_rows
    from propcite.retrieval.training.teacher_trainer import CHECKPOINT, TeacherRecipe, TeacherTrainer

    recipe = TeacherRecipe(**options)
    folder = work or out / "work"
    checkpoint = _checkpoint_path(folder / CHECKPOINT, resume=resume)
    rows = [row for file in files for row in read_rows(file)]
    trainer = TeacherTrainer(recipe, rows, folder, base, device, load_settings().precision)
    note(f"{len(rows)} training rows")
    _run(trainer, recipe.steps, folder, resume=resume, note=note)
    trainer.save(out, _info(rows))
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
    question_files: Sequence[Path] = (),
    teacher: Path | None = None,
    base: str = "",
    **options: Any,
) -> dict[str, Any]:
    """Train the network for passages on rows of ranked sentences, with fixed queries; return the paths of the results.

    `start` is the network for sentence queries, by default the bundled one.
    """
    from propcite.retrieval.encoding.bundled import BASE, QUERIES_FILE, bundled_model
    from propcite.retrieval.training.passage_trainer import CHECKPOINT, PassageRecipe, PassageTrainer
    from propcite.retrieval.training.rows import read_questions, read_rows
    from propcite.retrieval.training.teacher import Teacher

    if base not in ("", BASE) and not (start and start.is_dir()):
        raise PropCiteError(
            f"passages of {base} need queries over it: propcite train encoder FILES --base {base} --out FOLDER, "
            "then --start FOLDER/model"
        )
    recipe = PassageRecipe(**options)
    folder = work or out / "work"
    checkpoint = _checkpoint_path(folder / CHECKPOINT, resume=resume)
    precision = load_settings().precision
    loaded_teacher = Teacher.open(teacher, device, precision) if teacher else None
    rows = [row for file in files for row in read_rows(file)]
    questions = [row for file in question_files for row in read_questions(file)]
    encoder, passages = _encode_passages([*rows, *questions], base or BASE, device, folder, note, recipe.negatives)
    network = bundled_model() if base in ("", BASE) else base
    trainer = PassageTrainer(
        recipe, rows, passages, encoder, start or QUERIES_FILE, folder, device, network,
        questions=questions, precision=precision, teacher=loaded_teacher,
    )  # fmt: skip
    _run(trainer, recipe.steps, folder, resume=resume, note=note)
    paths = trainer.save(out, _info(rows))
    checkpoint.unlink()
    return {**{name: str(path) for name, path in paths.items()}, "steps": recipe.steps}


def train_model(
    files: Sequence[Path],
    out: Path,
    base: str,
    device: str,
    *,
    resume: bool,
    note: Callable[[str], None],
    question_files: Sequence[Path] = (),
    trainings: int = 2,
    steps: int = 300,
    passage_steps: int = 600,
    batch_size: int = 0,
    seed: int = 0,
) -> dict[str, Any]:
    """Train a whole model: queries, passages with several seeds, and their mean; return the paths of the results.

    Finished parts are not trained again.
    """
    from propcite.retrieval.encoding.bundled import BASE
    from propcite.retrieval.training import passage_trainer, query_trainer
    from propcite.retrieval.training.averaging import average_files, average_models
    from propcite.retrieval.training.rows import read_questions

    work = out / "work"
    recipe = {
        "files": [*map(str, files)], "asked": [*map(str, question_files)], "base": base or BASE,
        "trainings": trainings, "steps": steps, "passage_steps": passage_steps, "batch_size": batch_size, "seed": seed,
    }  # fmt: skip
    _check_recipe(out / RECIPE_FILE, recipe, resume=resume)
    sizes: dict[str, Any] = {"batch_size": batch_size} if batch_size else {}  # 0: the default of each training
    queries, checkpoint = out / "queries", work / query_trainer.CHECKPOINT
    if checkpoint.exists() or not (queries / "model").is_dir():
        note("queries")
        train_encoder(
            files, queries, work, base or BASE, device, resume=checkpoint.exists(), note=note, steps=steps, seed=seed,
            more_rows=[row for file in question_files for row in read_questions(file)], **sizes,
        )  # fmt: skip
    difference = queries / "queries.safetensors"  # exists if the base is the bundled one
    folders = [out / f"passages-{number}" for number in range(1, trainings + 1)]
    checkpoint = work / passage_trainer.CHECKPOINT
    unfinished = [folder for folder in folders if folder.exists()][-1:] if checkpoint.exists() else []
    for number, folder in enumerate(folders, start=1):
        if (folder / "model").is_dir() and folder not in unfinished:
            continue
        note(f"passages, training {number} of {trainings}")
        folder.mkdir(exist_ok=True)
        train_passages(
            files, folder, work, device, resume=folder in unfinished, note=note, question_files=question_files,
            base=base, start=difference if difference.exists() else queries / "model",
            steps=passage_steps, seed=seed + number, **sizes,
        )  # fmt: skip
    average_models([folder / "model" for folder in folders], out / "model")
    result = {"model": str(out / "model"), "trainings": trainings}
    if difference.exists():
        average_files([folder / "passages.safetensors" for folder in folders], out / "passages.safetensors")
        result |= {"queries": str(difference), "passages": str(out / "passages.safetensors")}
    return result


def _check_alignment(recipe: QueryRecipe) -> None:
    alignment = alignment_of(recipe.alignment)
    if alignment.kind not in TRAINABLE or alignment.salient:
        raise AppError(f"a network is not trained by the alignment {alignment}: give {', '.join(TRAINABLE)}")
    if alignment != NEAREST and (recipe.k_train or recipe.salience != "none"):
        raise AppError(f"--alignment {alignment} is trained alone: leave out --k-train and --salience")


def _check_recipe(file: Path, recipe: dict[str, Any], *, resume: bool) -> None:
    """Write the recipe to its file; refuse a folder with another recipe or with other files."""
    folder = file.parent
    if not resume and folder.exists() and any(path != file for path in folder.iterdir()):
        raise PropCiteError(f"{folder} is not empty: go on with --resume, or give another --out folder")
    if resume and file.exists():
        saved = json.loads(file.read_text("utf-8"))
        if different := next((name for name, value in recipe.items() if saved.get(name) != value), ""):
            raise PropCiteError(
                f"{folder} was started with a different {different}: use the same, or another --out folder"
            )
        return
    folder.mkdir(parents=True, exist_ok=True)
    with atomic_write(file, PropCiteError) as new:
        new.write_text(json.dumps(recipe, indent=1), "utf-8")


def _encode_passages(
    rows: Sequence[Row], name: str, device: str, folder: Path, note: Callable[[str], None], negatives: Negatives
) -> tuple[Encoder, EncodedPassages]:
    """Return the encoder with this name and the rows' passages; those not on disk yet are encoded and indexed."""
    from propcite.app.building import build_encoder, build_splitter
    from propcite.retrieval.encoding.bundled import BASE, DEFAULT
    from propcite.retrieval.encoding.layouts import is_multi_vector, is_xtr
    from propcite.retrieval.training.passages import EncodedPassages

    splitter = build_splitter(load_settings(splitter="rules"))

    def split(sentences: Sequence[str]) -> list[list[tuple[Any, ...]]]:
        return [[p.spans for p in group] for group in splitter.split_many(sentences, [()] * len(sentences))]

    encoder = build_encoder(load_settings(encoder=name, device=device or None))
    if name not in (BASE, DEFAULT) and (is_multi_vector(name) or is_xtr(name)):
        raise PropCiteError(f"{name} has a projection or networks of its own: give a plain transformer as --base")
    passages = EncodedPassages(rows, encoder, folder, split)
    note(f"{len(rows)} rows over {len(passages)} passage parts")
    with counting(passages.num_blocks, "encoding passages") as advance:
        passages.encode(advance)
    if negatives == "index":
        note("indexing these passages to find hard negatives")
        passages.index.stats()  # builds the index now, not during the first step
    return encoder, passages


class _Trainer(Protocol):
    """A training loop that can be resumed."""

    step: int

    def run(self, progress: Callable[[int, float], None]) -> None: ...

    def resume(self) -> bool: ...


def _checkpoint_path(checkpoint: Path, *, resume: bool) -> Path:
    """Return the checkpoint's path; refuse to overwrite an existing one without `resume`."""
    if checkpoint.exists() and not resume:
        raise PropCiteError(
            f"{checkpoint.parent} has an unfinished training: go on with --resume, or give another --work folder"
        )
    return checkpoint


def _run(trainer: _Trainer, steps: int, folder: Path, *, resume: bool, note: Callable[[str], None]) -> None:
    """Run the remaining steps with a progress bar."""
    if resume:
        resumed = trainer.resume()
        note(f"going on from step {trainer.step}" if resumed else f"{folder} has no checkpoint: starting at step 1")
    with counting(steps, "training") as advance:
        for _ in range(trainer.step):
            advance("training")
        trainer.run(lambda step, loss: advance(f"step {step}, loss {loss:.2f}"))


def _info(rows: Sequence[Row]) -> dict[str, Any]:
    """Return the description of the training data that is stored with the weights."""
    sources = sorted({row.source for row in rows})
    return {"rows": len(rows), "sources": sources, "made": datetime.date.today().isoformat()}
