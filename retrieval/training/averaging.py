"""The mean of several trainings of one network."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch

from propcite.retrieval.encoding.checkpoints import BASE_PASSAGES, PASSAGES_NETWORK, bundled_model, check_trained
from propcite.retrieval.encoding.salience import FILE, Salience
from propcite.retrieval.encoding.trained_networks import (
    ASKING_NETWORK,
    SENTENCES_NETWORK,
    about,
    apply_difference,
    as_model,
    tensors_of,
    with_markers,
    write,
    write_model,
)
from propcite.retrieval.errors import RetrievalError


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
    if any(dates := [one.get("made", "") for one in told]):
        made["made"] = max(dates)
    write(out, base, trained, _mean(saliences, share) if saliences else None, made)
    return made


def average_models(folders: Sequence[Path], out: Path, share: float = 1.0) -> None:
    """A model whose passages are read by this share of the mean change of these models', under the queries of all."""
    for folder in folders:
        if not all((folder / name).is_dir() for name in (PASSAGES_NETWORK, SENTENCES_NETWORK, ASKING_NETWORK)):
            raise RetrievalError(f"{folder} is no model of propcite train passages: give its folder model")
    asking, queries = (with_markers(str(folders[0] / name)) for name in (ASKING_NETWORK, SENTENCES_NETWORK))
    for name, one in ((ASKING_NETWORK, asking), (SENTENCES_NETWORK, queries)):
        if any(not _alike(one, folder / name) for folder in folders[1:]):
            raise RetrievalError("these models ask by different networks: give those of one base and one --start")
    passages = with_markers(str(folders[0] / ASKING_NETWORK))
    base = {name: t.clone() for name, t in asking.auto_model.state_dict().items()}
    mean = dict(base)
    for folder in folders:
        for name, t in with_markers(str(folder / PASSAGES_NETWORK)).auto_model.state_dict().items():
            if t.is_floating_point():
                mean[name] = mean[name] + (share / len(folders)) * (t - base[name])
    passages.auto_model.load_state_dict(mean)
    write_model(as_model(passages, queries, asking=asking), Salience.read(folders[0] / FILE), out)


def _alike(one: Any, folder: Path) -> bool:
    known, other = (network.auto_model.state_dict() for network in (one, with_markers(str(folder))))
    return known.keys() == other.keys() and all(torch.equal(t, other[name]) for name, t in known.items())


def _mean(of: Sequence[Salience], share: float) -> Salience:
    """Rarity is counted, not trained; passages' head is the first's."""
    direction = share * np.mean([one.direction for one in of], axis=0)
    return replace(of[0], direction=direction.astype(np.float32))
