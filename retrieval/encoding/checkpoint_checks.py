"""Whether a checkpoint's parts belong together: what does not would rank at random without a word.

What is wrong is raised as a ValueError, which the loader tells in one line with the model's name.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from propcite.retrieval.encoding.checkpoint_files import names_of_weights, network_folder

_MARKER = re.compile(r"\[\w+\]")


def check(model: Any, name: str) -> None:
    """A projection that fits its network, a vocabulary that has the markers and is the network's, no weight missing."""
    _check_dimensions(model)
    transformer = model[0]
    tokenizer, network = getattr(transformer, "tokenizer", None), getattr(transformer, "auto_model", None)
    if tokenizer is None or network is None:
        return
    _check_vocabulary(tokenizer, network)
    _check_markers(model, tokenizer)
    if Path(name).is_dir():
        _check_weights(network, network_folder(Path(name)))


def _check_dimensions(model: Any) -> None:
    given = model[0].get_embedding_dimension() if hasattr(model[0], "get_embedding_dimension") else None
    for module in list(model)[1:]:
        wanted = getattr(module, "in_features", None)
        if given and wanted and wanted != given:
            raise ValueError(
                f"its projection reads {wanted} numbers a token, its network gives {given}: "
                "they are of different models"
            )
        given = getattr(module, "out_features", given)


def _check_vocabulary(tokenizer: Any, network: Any) -> None:
    rows, words = network.get_input_embeddings().num_embeddings, max(tokenizer.get_vocab().values()) + 1
    if words > rows:
        raise ValueError(f"its tokenizer knows {words} tokens, its network {rows}: they are of different models")


def _check_markers(model: Any, tokenizer: Any) -> None:
    """A marker is one token; one that the tokenizer does not know would be read letter by letter."""
    for prompt in {p.strip() for p in model.prompts.values() if p and _MARKER.fullmatch(p.strip())}:
        read = [len(tokenizer(form, add_special_tokens=False)["input_ids"]) for form in (prompt, f"{prompt} ")]
        if 1 not in read:
            raise ValueError(f"its tokenizer does not know the marker {prompt}: register it there, or name another one")


def _check_weights(network: Any, folder: Path) -> None:
    """Every weight of the network stands in its file; else it is a random one."""
    held = names_of_weights(folder)
    if held is None:
        return
    ends = {end for key in held for end in _ends(key)}
    tied = {other: key for key, other in _tied(network)}
    absent = [
        n for n, _ in network.named_parameters()
        if n not in ends and tied.get(n) not in ends and not n.startswith("pooler.")
    ]  # fmt: skip
    if absent and (missing := _missing(network, folder, absent)):
        raise ValueError(f"{missing[0]} is missing in its weights: fetch them anew")


def _ends(key: str) -> list[str]:
    """A weight's name with and without the names of what it stands in."""
    parts = key.split(".")
    return [".".join(parts[i:]) for i in range(len(parts))]


def _tied(network: Any) -> list[tuple[str, str]]:
    """Names of the same weight: a file holds it under one of them."""
    first: dict[int, str] = {}
    told = []
    for name, parameter in network.named_parameters(remove_duplicate=False):
        known = first.setdefault(id(parameter), name)
        if known != name:
            told.append((name, known))
    return told


def _missing(network: Any, folder: Path, absent: list[str]) -> list[str]:
    """Those of these weights that the library misses too: it knows the older names of some."""
    _, told = type(network).from_pretrained(str(folder), output_loading_info=True)
    known = {end for key in told["missing_keys"] for end in _ends(key)}
    return [n for n in absent if n in known]
