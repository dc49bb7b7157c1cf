"""The models that need no download: what each is for, how large it is and how it was made."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from app.settings import Settings


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
    from attribution.judges.weights import JUDGE
    from attribution.propositions.learned import WEIGHTS
    from retrieval import checkpoints
    from retrieval.queries import about

    base = Path(checkpoints.bundled_model()) / "model.safetensors"
    ours = about(checkpoints.QUERIES)
    yield Model(
        "encoder",
        checkpoints.DEFAULT,
        settings.encoder in ("", checkpoints.DEFAULT),
        _megabytes(checkpoints.QUERIES),
        f"{checkpoints.BASE} for passages, with a queries' network for sentences and propositions",
        _made(ours),
    )
    theirs = about(checkpoints.PASSAGES)
    yield Model(
        "encoder",
        checkpoints.BOTH,
        settings.encoder == checkpoints.BOTH,
        _megabytes(checkpoints.PASSAGES),
        "the same queries over passages that a trained network reads: an index of its own",
        _made(theirs),
    )
    yield Model(
        "encoder",
        checkpoints.BASE,
        settings.encoder == checkpoints.BASE,
        _megabytes(base),
        f"{checkpoints.BUNDLED} token by token, untrained",
        f"published weights, sha256 {checkpoints.BUNDLED_SHA256[:12]}",
    )
    yield Model(
        "splitter",
        "learned",
        settings.splitter == "learned",
        _megabytes(WEIGHTS),
        f"names the facts of a sentence, on {checkpoints.BUNDLED}",
        "its card: attribution/models/README.md",
    )
    yield Model(
        "judge",
        "cross",
        settings.judge == "cross",
        _megabytes(JUDGE),
        f"reads claim and evidence together, on {checkpoints.BUNDLED}",
        "its card: attribution/models/README.md",
    )


def _megabytes(path: Path) -> float:
    return round(path.stat().st_size / 2**20, 1)


def _made(about: dict[str, Any]) -> str:
    recipe = about.get("recipe", {})
    return f"{recipe.get('steps', '?')} steps over {about.get('rows', '?')} rows, {about.get('made', '?')}"
