"""Average several trainings of one network."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch

from propcite.retrieval.encoding.bundled import BASE_PASSAGES, bundled_model, check_trained
from propcite.retrieval.encoding.layouts import PASSAGES_NETWORK, QUERIES_NETWORK, SENTENCES_NETWORK
from propcite.retrieval.encoding.salience import SALIENCE_FILE, Salience
from propcite.retrieval.encoding.trained_networks import (
    apply_difference,
    build_routed_model,
    load_tensors,
    load_with_markers,
    network_info,
    write_model,
    write_network,
)
from propcite.retrieval.errors import RetrievalError


def average_files(files: Sequence[Path], out: Path, share: float = 1.0) -> dict[str, Any]:
    """Write one file with this share of the mean difference of the files; return the file's description."""
    for file in files:
        check_trained(file)
    infos = [network_info(file) for file in files]
    if len({info.get("reads", "queries") for info in infos}) > 1:
        raise RetrievalError("some of these files are for passages and some for queries: give files of one kind")
    if len(over := {info.get("over", BASE_PASSAGES) for info in infos}) > 1:
        raise RetrievalError(
            f"these files are queries over passages of {' and of '.join(sorted(over))}: give files of one kind"
        )
    base = {name: t.clone() for name, t in load_with_markers(bundled_model()).auto_model.state_dict().items()}
    trained = dict(base)
    saliences = []
    for file in files:
        tensors, network = load_tensors(file), load_with_markers(bundled_model()).auto_model
        apply_difference(network, tensors, file)
        for name, t in network.state_dict().items():
            if t.is_floating_point():
                trained[name] = trained[name] + (share / len(files)) * (t - base[name])
        if "salience/rarity" in tensors:
            saliences.append(Salience.from_tensors(tensors))
    info = {**infos[0], "recipe": {"share": share, "mean_of": [one.get("recipe", {}) for one in infos]}}
    if any(dates := [one.get("made", "") for one in infos]):
        info["made"] = max(dates)
    write_network(out, base, trained, _mean_salience(saliences, share) if saliences else None, info)
    return info


def average_models(folders: Sequence[Path], out: Path, share: float = 1.0) -> None:
    """Write a model with this share of the mean change of the folders' networks for passages, and their queries."""
    for folder in folders:
        if not all((folder / name).is_dir() for name in (PASSAGES_NETWORK, SENTENCES_NETWORK, QUERIES_NETWORK)):
            raise RetrievalError(f"{folder} is not a model of propcite train passages: give the folder model in it")
    base_queries, queries = (load_with_markers(str(folders[0] / name)) for name in (QUERIES_NETWORK, SENTENCES_NETWORK))
    for name, network in ((QUERIES_NETWORK, base_queries), (SENTENCES_NETWORK, queries)):
        if any(not _has_weights_of(network, folder / name) for folder in folders[1:]):
            raise RetrievalError(
                "these models have different networks for queries: give models of one base and one --start"
            )
    passages = load_with_markers(str(folders[0] / QUERIES_NETWORK))
    base = {name: t.clone() for name, t in base_queries.auto_model.state_dict().items()}
    mean = dict(base)
    for folder in folders:
        for name, t in load_with_markers(str(folder / PASSAGES_NETWORK)).auto_model.state_dict().items():
            if t.is_floating_point():
                mean[name] = mean[name] + (share / len(folders)) * (t - base[name])
    passages.auto_model.load_state_dict(mean)
    model = build_routed_model(passages, queries, passage_queries=base_queries)
    write_model(model, Salience.read(folders[0] / SALIENCE_FILE), out)


def _has_weights_of(network: Any, folder: Path) -> bool:
    own, other = (one.auto_model.state_dict() for one in (network, load_with_markers(str(folder))))
    return own.keys() == other.keys() and all(torch.equal(t, other[name]) for name, t in own.items())


def _mean_salience(saliences: Sequence[Salience], share: float) -> Salience:
    """Average the trained directions; the rarity, which is counted, and the passages' head are the first's."""
    direction = share * np.mean([salience.direction for salience in saliences], axis=0)
    return replace(saliences[0], direction=direction.astype(np.float32))
