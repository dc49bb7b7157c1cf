"""Check a checkpoint: its files are complete and readable, and its parts belong to one model.

Parts of different models would rank at random without any error.  Problems are raised as ValueError in one line; the
loader adds the model's name.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from propcite.retrieval.encoding.layouts import CONFIG, METADATA, MODULES, STANFORD, XTR_PROJECTION

_WEIGHTS, _SHARDS, _OLD_WEIGHTS = "model.safetensors", "model.safetensors.index.json", "pytorch_model.bin"
_TOKENIZERS = ("tokenizer.json", "vocab.txt", "vocab.json", "spiece.model", "tokenizer.model")
_MARKER = re.compile(r"\[\w+\]")


def check_files(folder: Path) -> None:
    """Raise for the first file that is missing or damaged; a folder of an unknown layout passes unchecked."""
    for name in (MODULES, METADATA):
        if (folder / name).exists():
            _read_json(folder / name)
    modules = _modules(folder)
    if modules and not modules[0]["type"].endswith(".Transformer"):
        return
    network = _network_folder(folder)
    config = _read_json(_existing(network / CONFIG))
    _check_any_exists(network, _TOKENIZERS)
    if STANFORD in (config.get("architectures") or []):
        _check_stanford(folder)
    dense = [folder / m["path"] for m in modules if m["type"].rpartition(".")[2] == "Dense"]
    for projection in dense or [folder / XTR_PROJECTION] * (folder / XTR_PROJECTION).is_dir():
        _read_json(_existing(projection / CONFIG))
        _check_any_exists(projection, (_WEIGHTS, _OLD_WEIGHTS))


def check_model(model: Any, name: str) -> None:
    """Raise unless projection, tokenizer, markers and weights fit the model's network."""
    _check_dimensions(model)
    transformer = model[0]
    tokenizer, network = getattr(transformer, "tokenizer", None), getattr(transformer, "auto_model", None)
    if tokenizer is None or network is None:
        return
    _check_vocabulary(tokenizer, network)
    _check_markers(model, tokenizer)
    if Path(name).is_dir():
        _check_weights(network, _network_folder(Path(name)))


def _read_json(path: Path) -> dict[str, Any]:
    try:
        content: dict[str, Any] = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise ValueError(f"{path} cannot be read ({error}): fetch it again") from error
    return content


def _modules(folder: Path) -> list[dict[str, Any]]:
    path = folder / MODULES
    return list(json.loads(path.read_text("utf-8"))) if path.exists() else []


def _network_folder(folder: Path) -> Path:
    modules = _modules(folder)
    return folder / (modules[0].get("path") or "") if modules else folder


def _existing(path: Path) -> Path:
    if not path.exists():
        raise ValueError(f"there is no {path}: the checkpoint is incomplete, fetch it again")
    return path


def _check_any_exists(folder: Path, names: tuple[str, ...]) -> None:
    if not any((folder / name).exists() for name in names):
        _existing(folder / names[0])


def _weight_names(folder: Path) -> set[str] | None:
    """Return the names of the weights in a folder; None for formats that do not list them."""
    from safetensors import SafetensorError, safe_open

    if (folder / _SHARDS).exists():
        return set(_read_json(folder / _SHARDS)["weight_map"])
    if not (folder / _WEIGHTS).exists():
        return None
    try:
        with safe_open(str(folder / _WEIGHTS), "pt") as file:
            return set(file.keys())
    except SafetensorError as error:
        raise ValueError(f"{folder / _WEIGHTS} is damaged ({error}): fetch it again") from error


def _check_stanford(folder: Path) -> None:
    names = _weight_names(folder)
    if names is not None and "linear.weight" not in names:
        raise ValueError(f"{folder / _WEIGHTS} has no linear.weight, the projection of {STANFORD}: fetch it again")


def _check_dimensions(model: Any) -> None:
    size = model[0].get_embedding_dimension() if hasattr(model[0], "get_embedding_dimension") else None
    for module in list(model)[1:]:
        expected = getattr(module, "in_features", None)
        if size and expected and expected != size:
            raise ValueError(
                f"its projection reads {expected} numbers per token, its network gives {size}: "
                "they belong to different models"
            )
        size = getattr(module, "out_features", size)


def _check_vocabulary(tokenizer: Any, network: Any) -> None:
    rows, words = network.get_input_embeddings().num_embeddings, max(tokenizer.get_vocab().values()) + 1
    if words > rows:
        raise ValueError(f"its tokenizer knows {words} tokens, its network {rows}: they belong to different models")


def _check_markers(model: Any, tokenizer: Any) -> None:
    """Raise unless each marker is one token: an unknown marker would be read letter by letter."""
    for prompt in {p.strip() for p in model.prompts.values() if p and _MARKER.fullmatch(p.strip())}:
        sizes = [len(tokenizer(form, add_special_tokens=False)["input_ids"]) for form in (prompt, f"{prompt} ")]
        if 1 not in sizes:
            raise ValueError(f"its tokenizer does not know the marker {prompt}: register it there, or name another one")


def _check_weights(network: Any, folder: Path) -> None:
    """Raise for a weight that is in no file: transformers fills it with random numbers."""
    stored = _weight_names(folder)
    if stored is None:
        return
    suffixes = {suffix for name in stored for suffix in _suffixes(name)}
    tied = dict(_tied_names(network))
    absent = [
        n for n, _ in network.named_parameters()
        if n not in suffixes and tied.get(n) not in suffixes and not n.startswith("pooler.")
    ]  # fmt: skip
    if absent and (missing := _missing(network, folder, absent)):
        raise ValueError(f"{missing[0]} is missing in its weights: fetch them again")


def _suffixes(name: str) -> list[str]:
    """Return a weight's name without its first 0, 1, 2 … parts: files differ in how they prefix it."""
    parts = name.split(".")
    return [".".join(parts[i:]) for i in range(len(parts))]


def _tied_names(network: Any) -> list[tuple[str, str]]:
    """Return pairs (first name, other name) of the same weight: a file holds it under one of them."""
    first: dict[int, str] = {}
    pairs = []
    for name, parameter in network.named_parameters(remove_duplicate=False):
        original = first.setdefault(id(parameter), name)
        if original != name:
            pairs.append((original, name))
    return pairs


def _missing(network: Any, folder: Path, absent: list[str]) -> list[str]:
    """Return those of the weights that transformers misses too: it knows the older names of some."""
    _, loading = type(network).from_pretrained(str(folder), output_loading_info=True)
    missing = {suffix for name in loading["missing_keys"] for suffix in _suffixes(name)}
    return [n for n in absent if n in missing]
