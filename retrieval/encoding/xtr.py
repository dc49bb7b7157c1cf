"""XTR's checkpoints: a T5 or mT5 encoder, its projection in `2_Dense`, small letters, no marker and no expansion."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from propcite.retrieval.encoding.checkpoint_files import CONFIG, MODULES, PROJECTION

ENCODERS = {"t5", "mt5", "umt5"}


def is_xtr(path: str) -> bool:
    """Whether a checkpoint is laid out as the authors publish it: no modules.json, so nothing else names its parts."""
    from sentence_transformers.util import load_file_path

    config = load_file_path(path, CONFIG)
    if config is None or json.loads(Path(config).read_text("utf-8")).get("model_type") not in ENCODERS:
        return False
    if load_file_path(path, MODULES) is not None:
        return False
    return (Path(path) / PROJECTION).is_dir() or load_file_path(path, CONFIG, subfolder=PROJECTION) is not None


def modules(path: str) -> list[Any]:
    """The encoder, whose tokenizer reads in lower case, and the projection of its tokens."""
    from sentence_transformers.base.modules import Dense, Transformer

    transformer: Any = Transformer(path)
    lower_cased(transformer.tokenizer)
    projection: Any = Dense.load(path, subfolder=PROJECTION)
    projection.module_input_name = projection.module_output_name = "token_embeddings"
    return [transformer, projection]


def lower_cased(tokenizer: Any) -> None:
    """Let the tokenizer read capitals as small letters; its offsets still count the characters that were given."""
    from tokenizers import normalizers

    backend = getattr(tokenizer, "backend_tokenizer", None)
    if backend is None:  # no fast tokenizer, which the encoder refuses
        return
    steps = [normalizers.Lowercase(), *([backend.normalizer] if backend.normalizer is not None else [])]
    backend.normalizer = normalizers.Sequence(steps)
