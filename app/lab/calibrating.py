"""Fit the probabilities of a reader to labelled claims, and store how often its verdicts are right."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression

from propcite.app.errors import AppError
from propcite.app.lab.citing.gold import GoldVerdict
from propcite.app.lab.citing.rows import CONTRADICTED, read_gold
from propcite.attribution.judges import SUPPORTED_FROM, plain_case
from propcite.attribution.judges.embedded import probability
from propcite.attribution.judges.reader import Calibration, ReaderJudge
from propcite.attribution.judges.reader_files import update
from propcite.retrieval.encoding.base import TextEncoder

MIN_CLAIMS = 20
WRONG_COSTS = 1.5  # what accepting a wrong claim costs, in right ones that are refused
DENIED_RIGHT = 0.85  # share of the claims called contradicted that must be so


def calibrate(files: Sequence[Path], reader: Path, encoder: TextEncoder) -> dict[str, Any]:
    """Fit a reader's calibration to the claims of these files and store it; return it with its reliability."""
    rows = [row for file in files for row in read_gold(file) if isinstance(row, GoldVerdict)]
    truth = np.array([row.supported for row in rows], dtype=bool)
    if len(rows) < MIN_CLAIMS or truth.all() or not truth.any():
        raise AppError(
            f"{len(rows)} labelled claims do not suffice: give at least {MIN_CLAIMS}, right ones and wrong ones"
        )
    judge = ReaderJudge(encoder, folder=reader)
    cases = [plain_case(row.claim, row.evidence, row.context) for row in rows]
    read = judge.readings(cases)
    readings = [reading.logit for reading in read]
    sources = [row.source for row in rows]
    calibration = fit(np.array(readings), truth, sources)
    p = np.array([probability(calibration.logit(reading)) for reading in readings])
    refused = [(reading.denied, row) for reading, row, one in zip(read, rows, p, strict=True) if one < SUPPORTED_FROM]
    calibration = replace(calibration, denied_from=denied_from(refused))
    stored = {"calibration": asdict(calibration), "reliability": reliability(truth, p >= SUPPORTED_FROM, sources)}
    update(reader, stored)
    return stored


def fit(readings: np.ndarray[Any, Any], truth: np.ndarray[Any, Any], sources: Sequence[str]) -> Calibration:
    """Return a logistic regression in which all sources weigh the same, and wrong claims more than right ones.

    A tick beside a wrong claim does more harm than a missing one beside a right claim.

    >>> fit(np.array([2.0, -2.0, 3.0, -3.0]), np.array([True, False, True, False]), ["a"] * 4).scale > 0
    True
    """
    sizes = Counter(sources)
    weights = np.array([1 / sizes[source] for source in sources]) * np.where(truth, 1.0, WRONG_COSTS)
    model = LogisticRegression(C=100.0).fit(readings[:, None], truth, weights * len(weights) / weights.sum())
    scale, intercept = float(model.coef_[0, 0]), float(model.intercept_[0])
    if scale <= 0:
        raise AppError("this reader prefers wrong claims to right ones: train it longer, or check the labels")
    return Calibration(round(scale, 4), round(intercept, 4))


def denied_from(refused: Sequence[tuple[float, GoldVerdict]]) -> float | None:
    """Return the logit from which enough of the refused claims are labelled as contradicted; None if there is none.

    Sources that label no claim as contradicted say nothing of it.
    """
    tell = {row.source for _, row in refused if row.label == CONTRADICTED}
    ordered = sorted(((logit, row.label == CONTRADICTED) for logit, row in refused if row.source in tell), reverse=True)
    right = np.cumsum([is_denied for _, is_denied in ordered])
    enough = [i for i in range(MIN_CLAIMS, len(ordered)) if right[i] >= DENIED_RIGHT * (i + 1)]
    return round(ordered[enough[-1]][0], 4) if enough else None


def reliability(
    truth: np.ndarray[Any, Any], accepted: np.ndarray[Any, Any], sources: Sequence[str]
) -> Mapping[str, float | int]:
    """Return how often a verdict "supported" and any other is right, in percent, as the mean over the sources."""
    own = np.array(sources)
    right: dict[bool, list[float]] = {True: [], False: []}
    for source in dict.fromkeys(sources):
        for verdict in (True, False):
            given = (own == source) & (accepted == verdict)
            if given.any():
                right[verdict].append(float((truth[given] == verdict).mean()))
    shares = {verdict: round(100 * float(np.mean(values)), 1) for verdict, values in right.items() if values}
    return {
        "claims": len(sources),
        "sources": len(set(sources)),
        "supported_right": shares.get(True, 0.0),
        "refused_right": shares.get(False, 0.0),
    }
