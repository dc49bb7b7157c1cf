"""List the models that need no download: purpose, size and training."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from propcite.app.settings import Settings


@dataclass(frozen=True, slots=True)
class Model:
    """A model that a setting names; `chosen` says whether these settings use it."""

    setting: str
    name: str
    chosen: bool
    megabytes: float
    what: str
    made: str


def shipped(settings: Settings) -> Iterator[Model]:
    from propcite.attribution.judges.reader_files import READER
    from propcite.attribution.propositions import SPLITTER_WEIGHTS
    from propcite.attribution.questions.files import QUESTIONS
    from propcite.retrieval.encoding import bundled
    from propcite.retrieval.encoding.trained_networks import network_info

    base = Path(bundled.bundled_model()) / "model.safetensors"
    yield Model(
        "encoder",
        bundled.DEFAULT,
        settings.encoder in ("", bundled.DEFAULT),
        _megabytes(bundled.QUERIES_FILE, bundled.PASSAGES_FILE),
        "a trained network for passages, and one for queries after sentences and propositions",
        _made(network_info(bundled.PASSAGES_FILE)),
    )
    yield Model(
        "encoder",
        bundled.QUERIES_ALONE,
        settings.encoder == bundled.QUERIES_ALONE,
        _megabytes(bundled.QUERIES_FILE),
        f"the same queries over passages as {bundled.BASE} reads them: an index of its own",
        _made(network_info(bundled.QUERIES_FILE)),
    )
    yield Model(
        "encoder",
        bundled.BASE,
        settings.encoder == bundled.BASE,
        _megabytes(base),
        f"{bundled.BUNDLED} token by token, untrained; sentences are asked for as passages are",
        f"published weights, sha256 {bundled.BUNDLED_SHA256[:12]}",
    )
    yield Model(
        "splitter",
        "learned",
        settings.splitter == "learned",
        _megabytes(SPLITTER_WEIGHTS),
        "names the facts of a sentence, over the judge's lower layers",
        "its card: attribution/models/README.md",
    )
    yield Model(
        "judge",
        "reader",
        settings.judge == "reader",
        _megabytes(*READER.glob("*.safetensors")),
        "reads claim, evidence and title together, and marks the words that are wrong",
        "its card: attribution/models/README.md",
    )
    yield Model(
        "questions",
        "question-reader",
        not settings.question_model,
        _megabytes(QUESTIONS),
        "reads a question beside a text: which sentences and words answer it",
        "its card: attribution/models/README.md",
    )
    yield from _small_language_model(settings)


def _small_language_model(settings: Settings) -> Iterator[Model]:
    """Yield the model of the generator `local`, if it is installed."""
    from propcite.app.answering.generators.smollm2 import NAME, PACKAGE, packed_file, smollm2_place

    saved, packed = smollm2_place(settings.data_dir) / "model.safetensors", packed_file()
    file = saved if saved.is_file() else packed
    if file:
        yield Model(
            "generator",
            NAME,
            settings.generator == "local" and not settings.generator_model,
            _megabytes(file),
            "local: writes in this process, fluently and often wrongly",
            f"published weights, from the package {PACKAGE}",
        )


def _megabytes(*files: Path) -> float:
    return round(sum(path.stat().st_size for path in files) / 2**20, 1)


def _made(about: dict[str, Any]) -> str:
    """Return steps, rows and day of a training; for a mean, the steps of all its trainings.

    >>> _made({"recipe": {"mean_of": [{"steps": 200}, {"steps": 300}]}, "rows": 40, "made": "2026-11-22"})
    'mean of 2 trainings, 500 steps over 40 rows, 2026-11-22'
    """
    recipe = about.get("recipe", {})
    parts = recipe.get("mean_of", [])
    mean = f"mean of {len(parts)} trainings, " if parts else ""
    steps = sum(part.get("steps", 0) for part in parts) or recipe.get("steps", "?")
    return f"{mean}{steps} steps over {about.get('rows', '?')} rows, {about.get('made', '?')}"
