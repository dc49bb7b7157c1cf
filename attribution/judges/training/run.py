"""From files of rows to a judge's weights: pairs, training, calibration on what was kept out."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from attribution.errors import AttributionError
from attribution.judges.cross import CrossJudge, mixed
from attribution.judges.training.calibration import even, fit
from attribution.judges.training.corpus import TIMES, is_held_out, pairs_of, rows_of, told_of
from attribution.judges.training.lexicon import Lexicon
from attribution.judges.training.marked import Marked, marked
from attribution.judges.training.rows import Row
from attribution.judges.training.texts import Claims
from attribution.judges.training.trainer import CHECKPOINT, Recipe, Trainer
from attribution.judges.weights import Scale, save
from retrieval.encoder import Encoder

FIRST = Scale()  # before anything is known of the network


def train(
    files: Sequence[Path],
    out: Path,
    folder: Path,
    recipe: Recipe,
    lexicon: Lexicon,
    claims: Claims,
    encoder: Encoder,
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
    save(out, trainer.network, FIRST, about)
    scale = calibrated(CrossJudge(encoder, weights=out), kept_out(rows))
    save(out, trainer.network, scale, about)
    checkpoint.unlink(missing_ok=True)
    return {**about, "scale": asdict(scale)}


def kept_out(rows: Sequence[Row]) -> list[Marked]:
    """The marked rows that training did not see, of sources that weights may be made of."""
    return marked([row for row in rows if row.get("source") in TIMES and is_held_out(row)])


def calibrated(judge: CrossJudge, rows: Sequence[Marked]) -> Scale:
    """The scale by which the judge's probabilities are right on these rows, every source counting as much."""
    known = [mixed(logit, f) for logit, f in judge.known([row.case for row in rows])]
    return fit(known, [row.supported for row in rows], even([row.source for row in rows]))
