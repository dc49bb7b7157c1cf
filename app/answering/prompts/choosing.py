"""Choose a prompt by the size of the model that reads it."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

AUTO, FOR_SMALL, FOR_OTHERS = "auto", "short", "answer"
# Billions of parameters.  From about this size on a model learns from the examples in a prompt; below it takes them for
# its own task: SmolLM2-135M, shown one that abstains, abstained from 17 of 24 questions, without examples from none.
SMALL_BELOW = 3.0

_COUNT = re.compile(r"(?<![a-z0-9.])e?(?:(\d{1,3})x)?(\d{1,4}(?:[.p]\d{1,3})?)([bm])(?![a-z0-9])")
_SMALL = re.compile(r"(?<![a-z])(?:tiny|smol|(?:mini|small|nano)(?![a-z]))")
_LARGE_ALL_THE_SAME = re.compile(r"(?<![a-z])(?:gpt-\d|o\d|gemini|grok|mistral|magistral|devstral|phi|granite)")


def prompt_for(name: str, model: str) -> str:
    """Return the prompt that `name` means for a model: `auto` means the one for its size, others mean themselves.

    >>> prompt_for("auto", "Qwen/Qwen2.5-0.5B-Instruct"), prompt_for("auto", "llama3.1:8b"), prompt_for("cite", "m")
    ('short', 'answer', 'cite')
    """
    if name != AUTO:
        return name
    return FOR_SMALL if is_small(model) else FOR_OTHERS


def is_small(model: str) -> bool:
    """Return whether a model, by its folder or its name, has few parameters; false where neither tells."""
    size = _size_of_folder(Path(model).expanduser()) or size_in_name(model)
    if size is not None:
        return size < SMALL_BELOW
    name = model.lower().rpartition("/")[2]
    return _SMALL.search(name) is not None and not _LARGE_ALL_THE_SAME.search(name)


def size_in_name(model: str) -> float | None:
    """Return the billions of parameters that a name tells; None where it tells none.

    The largest number counts: beside it names have those of active parameters and of a context in tokens.

    >>> size_in_name("HuggingFaceTB/SmolLM2-135M"), size_in_name("mixtral:8x7b"), size_in_name("Qwen3-30B-A3B")
    (0.135, 56.0, 30.0)
    """
    last = model.lower().rstrip("/").rpartition("/")[2]
    return max(_counts(last), default=max(_counts(model.lower()), default=None))


def _counts(name: str) -> list[float]:
    return [
        int(experts or 1) * float(count.replace("p", ".")) / (1 if unit == "b" else 1000)
        for experts, count, unit in _COUNT.findall(name)
    ]


def _size_of_folder(folder: Path) -> float | None:
    """Return the billions of parameters of a model in a folder, estimated; None where its config.json tells none."""
    try:
        config = json.loads((folder / "config.json").read_text("utf-8"))
    except (OSError, ValueError):
        return None
    if not isinstance(config, dict):
        return None
    inner = config.get("text_config")
    return _size_of(inner if isinstance(inner, dict) else config)


def _size_of(config: Mapping[str, Any]) -> float | None:
    def number(*names: str) -> int:
        return next((config[name] for name in names if isinstance(config.get(name), int)), 0)

    width, layers = number("hidden_size", "n_embd", "d_model"), number("num_hidden_layers", "n_layer", "num_layers")
    if not width or not layers:
        return None
    heads = number("num_attention_heads", "n_head") or 1
    head = number("head_dim") or width // heads
    attention = 2 * width * head * (heads + (number("num_key_value_heads") or heads))
    experts = number("num_local_experts", "num_experts", "n_routed_experts")
    inner = number("moe_intermediate_size") if experts else 0
    inner = inner or number("intermediate_size", "n_inner") or 4 * width
    embeddings = (1 if config.get("tie_word_embeddings") else 2) * number("vocab_size") * width
    return (layers * (attention + 3 * width * inner * (experts or 1)) + embeddings) / 1e9
