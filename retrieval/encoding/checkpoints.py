"""Load an encoder's model: the bundled base, one of our networks over it, a folder or a hub name in any layout."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from propcite.retrieval.encoding.bundled import (
    BASE,
    BASE_PASSAGES,
    DEFAULT,
    PASSAGES_FILE,
    QUERIES_ALONE,
    QUERIES_FILE,
    bundled_model,
    file_sha256,
    fingerprint,
)
from propcite.retrieval.encoding.checkpoint_checks import check_files, check_model
from propcite.retrieval.encoding.layouts import (
    PASSAGES_NETWORK,
    PROJECTIONS,
    is_multi_vector,
    is_xtr,
    token_wise,
    xtr_modules,
)
from propcite.retrieval.encoding.loading import hide_progress_bars, hub_revision, loading_errors, model_folder
from propcite.retrieval.encoding.salience import SALIENCE_FILE, Salience
from propcite.retrieval.encoding.trained_networks import READS_PASSAGES, load_routed_model, network_info
from propcite.retrieval.errors import EncoderError

if TYPE_CHECKING:
    from sentence_transformers import MultiVectorEncoder


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A model that is ready to encode.

    `name` changes with the vectors of passages, and an index belongs to it; `query_name` with those of queries.
    """

    model: MultiVectorEncoder
    name: str
    query_name: str
    salience: Salience | None = None


def load_checkpoint(model: str, device: str) -> Checkpoint:
    """Load the model of this name: `DEFAULT`, `QUERIES_ALONE`, `BASE`, a network's file, a folder or a hub name."""
    if model in ("", DEFAULT):
        return _with_passages(PASSAGES_FILE, DEFAULT, device)
    if model == QUERIES_ALONE:
        return _with_queries(QUERIES_FILE, QUERIES_ALONE, BASE_PASSAGES, device)
    if model == BASE:
        return Checkpoint(_open_model(bundled_model(), device, BASE), BASE_PASSAGES, BASE_PASSAGES)
    path = Path(model)
    if path.suffix == QUERIES_FILE.suffix:
        return _from_file(path, device)
    folder, name = model_folder(model), Path(hub_revision(model)[0]).name
    weights, whole = folder / SALIENCE_FILE, fingerprint(str(folder))
    return Checkpoint(
        _open_model(str(folder), device, model),
        f"{name}@{_passages_fingerprint(folder) if (folder / PASSAGES_NETWORK).is_dir() else whole}",
        f"{name}@{whole}",
        Salience.read(weights) if weights.exists() else None,
    )


def _from_file(path: Path, device: str) -> Checkpoint:
    info = network_info(path)
    if info.get("reads") == READS_PASSAGES:
        return _with_passages(path, path.stem, device)
    return _with_queries(path, path.stem, info.get("over", BASE_PASSAGES), device)


def _with_queries(path: Path, name: str, passages: str, device: str) -> Checkpoint:
    """Load a network for queries with the network for passages that it was trained with: the base's or ours."""
    if passages not in (BASE_PASSAGES, ours := passages_name(PASSAGES_FILE, DEFAULT)):
        raise EncoderError(f"{path} was trained for passages of {passages}, here are those of {ours}: train it again")
    with loading_errors(name):
        trained = PASSAGES_FILE if passages == ours else None
        model, salience = load_routed_model(path, bundled_model(), device, trained=trained)
    return Checkpoint(model, passages, f"{name}@{file_sha256(path)[:12]}", salience)


def passages_name(path: Path, name: str) -> str:
    """Return the name of an encoder whose passages are read by the network in this file."""
    return f"{name}@{file_sha256(path)[:12]}"


def _with_passages(path: Path, name: str, device: str) -> Checkpoint:
    """Load our network for queries with a network for passages; an index of these passages fits this pair only."""
    with loading_errors(name):
        model, salience = load_routed_model(QUERIES_FILE, bundled_model(), device, trained=path)
    both = hashlib.sha256(f"{file_sha256(QUERIES_FILE)}{file_sha256(path)}".encode()).hexdigest()
    return Checkpoint(model, passages_name(path, name), f"{name}@{both[:12]}", salience)


def _passages_fingerprint(path: Path) -> str:
    """Return twelve digits that change with the network for passages, of a folder with one for queries beside it."""
    projections = sorted(p for p in path.glob(PROJECTIONS) if p.is_dir())
    digests = [fingerprint(str(p)) for p in (path / PASSAGES_NETWORK, *projections)]
    return digests[0] if len(digests) == 1 else hashlib.sha256("".join(digests).encode()).hexdigest()[:12]


def _open_model(path: str, device: str, name: str) -> MultiVectorEncoder:
    from sentence_transformers import MultiVectorEncoder
    from sentence_transformers.base.modules import Transformer

    hide_progress_bars()
    with loading_errors(name):
        check_files(Path(path))
        if is_multi_vector(path):
            model = MultiVectorEncoder(path, device=device or None)
        else:
            model = token_wise(xtr_modules(path) if is_xtr(path) else [Transformer(path)], device)
        check_model(model, path)
        return model
