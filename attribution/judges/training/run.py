"""From files of rows to a judge's weights: pairs and training."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from propcite.attribution.errors import AttributionError
from propcite.attribution.judges.training.corpus import pairs_of, rows_of, told_of
from propcite.attribution.judges.training.lexicon import Lexicon
from propcite.attribution.judges.training.texts import Claims
from propcite.attribution.judges.training.trainer import CHECKPOINT, Recipe, Trainer
from propcite.attribution.judges.weights import save


def train(
    files: Sequence[Path],
    out: Path,
    folder: Path,
    recipe: Recipe,
    lexicon: Lexicon,
    claims: Claims,
    *,
    resume: bool = False,
    note: Callable[[str], None] = lambda _: None,
    report: Callable[[int, float], None] = lambda *_: None,
) -> dict[str, Any]:
    """Weights in `out`, with what they were made of.  -> what the file says of itself"""
    checkpoint = folder / CHECKPOINT
    if checkpoint.exists() and not resume:
        raise AttributionError(f"{folder} holds an unfinished training: go on with --resume, or give another --work")
    rows = rows_of(files)
    pairs = pairs_of(rows, lexicon, claims, recipe.seed)
    note(f"{len(pairs)} pairs of claim and evidence")
    trainer = Trainer(recipe, pairs, folder)
    if resume and trainer.resume():
        note(f"going on from step {trainer.step}")
    trainer.run(report)
    about = {
        "recipe": asdict(recipe),
        "pairs": told_of(pairs),
        "sources": sorted({str(row["source"]) for row in rows if "source" in row}),
        "made": datetime.date.today().isoformat(),
    }
    save(out, trainer.network, about)
    checkpoint.unlink(missing_ok=True)
    return about
