"""The mean of several trainings of one network."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from retrieval.checkpoints import BASE_PASSAGES, bundled_model, check_trained
from retrieval.errors import RetrievalError
from retrieval.queries import about, apply_difference, tensors_of, with_markers, write
from retrieval.salience import Salience


def average(files: Sequence[Path], out: Path, share: float = 1.0) -> dict[str, Any]:
    """This share of the mean of what these files change in the base, as one file.  -> what it says of itself"""
    for file in files:
        check_trained(file)
    told = [about(file) for file in files]
    if len({one.get("reads", "queries") for one in told}) > 1:
        raise RetrievalError("some of these files read passages and some queries: give those of one kind")
    if len(over := {one.get("over", BASE_PASSAGES) for one in told}) > 1:
        raise RetrievalError(f"these files ask passages of {' and of '.join(sorted(over))}: give those of one kind")
    base = {name: t.clone() for name, t in with_markers(bundled_model()).auto_model.state_dict().items()}
    trained = dict(base)
    saliences = []
    for file in files:
        tensors, network = tensors_of(file), with_markers(bundled_model()).auto_model
        apply_difference(network, tensors, file)
        for name, t in network.state_dict().items():
            if t.is_floating_point():
                trained[name] = trained[name] + (share / len(files)) * (t - base[name])
        if "salience/rarity" in tensors:
            saliences.append(Salience.of(tensors))
    made = {**told[0], "recipe": {"share": share, "mean_of": [one.get("recipe", {}) for one in told]}}
    out.parent.mkdir(parents=True, exist_ok=True)
    write(out, base, trained, _mean(saliences, share) if saliences else None, made)
    return made


def _mean(of: Sequence[Salience], share: float) -> Salience:
    """Rarity is counted, not trained; passages' head is the first's."""
    direction = share * np.mean([one.direction for one in of], axis=0)
    return replace(of[0], direction=direction.astype(np.float32))
