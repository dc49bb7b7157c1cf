"""The files of a checkpoint's folder: whether those that its layout needs are there and can be read.

What is wrong is raised as a ValueError, which the loader tells in one line with the model's name.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

CONFIG, MODULES, METADATA = "config.json", "modules.json", "artifact.metadata"
STANFORD = "HF_ColBERT"
PROJECTION = "2_Dense"  # of XTR's layout
_WEIGHTS, _PARTS, _OLD = "model.safetensors", "model.safetensors.index.json", ("pytorch_model.bin",)
_TOKENIZERS = ("tokenizer.json", "vocab.txt", "vocab.json", "spiece.model", "tokenizer.model")


def check(folder: Path) -> None:
    """One line for the first file that is missing or damaged; a folder of another layout is left to its loader."""
    for name in (MODULES, METADATA):
        if (folder / name).exists():
            read(folder / name)
    parts = _parts(folder)
    if parts and not parts[0]["type"].endswith(".Transformer"):
        return
    network = network_folder(folder)
    config = read(_there(network / CONFIG))
    _any_there(network, _TOKENIZERS)
    if STANFORD in (config.get("architectures") or []):
        _check_stanford(folder)
    dense = [folder / p["path"] for p in parts if p["type"].rpartition(".")[2] == "Dense"]
    for projection in dense or [folder / PROJECTION] * (folder / PROJECTION).is_dir():
        read(_there(projection / CONFIG))
        _any_there(projection, (_WEIGHTS, *_OLD))


def read(path: Path) -> dict[str, Any]:
    """A file of JSON."""
    try:
        told: dict[str, Any] = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise ValueError(f"{path} cannot be read ({error}): fetch it anew") from error
    return told


def network_folder(folder: Path) -> Path:
    """Where the network's own files lie."""
    parts = _parts(folder)
    return folder / (parts[0].get("path") or "") if parts else folder


def names_of_weights(folder: Path) -> set[str] | None:
    """The weights that a folder holds, by name; none where they are not told without reading them."""
    from safetensors import SafetensorError, safe_open

    if (folder / _PARTS).exists():
        return set(read(folder / _PARTS)["weight_map"])
    if not (folder / _WEIGHTS).exists():
        return None
    try:
        with safe_open(str(folder / _WEIGHTS), "pt") as file:
            return set(file.keys())
    except SafetensorError as error:
        raise ValueError(f"{folder / _WEIGHTS} is damaged ({error}): fetch it anew") from error


def _parts(folder: Path) -> list[dict[str, Any]]:
    listed = folder / MODULES
    return list(json.loads(listed.read_text("utf-8"))) if listed.exists() else []


def _check_stanford(folder: Path) -> None:
    names = names_of_weights(folder)
    if names is not None and "linear.weight" not in names:
        raise ValueError(f"{folder / _WEIGHTS} has no linear.weight, the projection of {STANFORD}: fetch it anew")


def _there(path: Path) -> Path:
    if not path.exists():
        raise ValueError(f"there is no {path}: the checkpoint is not whole, fetch it anew")
    return path


def _any_there(folder: Path, names: tuple[str, ...]) -> None:
    if not any((folder / name).exists() for name in names):
        _there(folder / names[0])
