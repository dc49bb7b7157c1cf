"""The layouts of checkpoints: file names, how to recognise a layout, and how to open those without modules."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sentence_transformers import MultiVectorEncoder

CONFIG, MODULES, METADATA = "config.json", "modules.json", "artifact.metadata"
STANFORD = "HF_ColBERT"  # the architecture that Stanford ColBERT's config.json names
XTR_PROJECTION = "2_Dense"
XTR_ENCODERS = {"t5", "mt5", "umt5"}

# Folders of a model with several networks, as sentence-transformers saves it.
PASSAGES_NETWORK = "document_0_Transformer"
SENTENCES_NETWORK, QUERIES_NETWORK = "sentence_0_Transformer", "query_0_Transformer"
PROJECTIONS = "*_Dense"  # a pattern: there may be none


def is_multi_vector(path: str) -> bool:
    """Return whether a checkpoint was made for token vectors, by its modules or Stanford ColBERT's architecture."""
    from sentence_transformers.util import load_file_path

    modules = load_file_path(path, MODULES)
    types = [m.get("type", "") for m in json.loads(Path(modules).read_text("utf-8"))] if modules else []
    if any(name in kind for kind in types for name in ("Dense", "MultiVectorMask")):
        return True
    config = load_file_path(path, CONFIG)
    architectures = json.loads(Path(config).read_text("utf-8")).get("architectures") or [] if config else []
    return any(a == STANFORD or a.endswith("ForRetrieval") for a in architectures)


def is_xtr(path: str) -> bool:
    """Return whether a checkpoint has the layout that XTR's authors publish: T5 and a projection, no modules.json."""
    from sentence_transformers.util import load_file_path

    config = load_file_path(path, CONFIG)
    if config is None or json.loads(Path(config).read_text("utf-8")).get("model_type") not in XTR_ENCODERS:
        return False
    if load_file_path(path, MODULES) is not None:
        return False
    return (Path(path) / XTR_PROJECTION).is_dir() or load_file_path(path, CONFIG, subfolder=XTR_PROJECTION) is not None


def xtr_modules(path: str) -> list[Any]:
    """Load XTR's encoder, with a tokenizer that lower-cases, and its projection of tokens.

    XTR has no marker and no query expansion.
    """
    from sentence_transformers.base.modules import Dense, Transformer

    transformer: Any = Transformer(path)
    _lower_case(transformer.tokenizer)
    projection: Any = Dense.load(path, subfolder=XTR_PROJECTION)
    projection.module_input_name = projection.module_output_name = "token_embeddings"
    return [transformer, projection]


def _lower_case(tokenizer: Any) -> None:
    """Make the tokenizer lower-case its input; its offsets still count the characters of the original text."""
    from tokenizers import normalizers

    backend = getattr(tokenizer, "backend_tokenizer", None)
    if backend is None:  # no fast tokenizer, which the encoder refuses
        return
    steps = [normalizers.Lowercase(), *([backend.normalizer] if backend.normalizer is not None else [])]
    backend.normalizer = normalizers.Sequence(steps)


def token_wise(modules: list[Any], device: str, **options: Any) -> MultiVectorEncoder:
    """Build a multi-vector model from modules that yield token vectors; it adds no untrained projection."""
    from sentence_transformers import MultiVectorEncoder
    from sentence_transformers.base.modules import Normalize
    from sentence_transformers.multi_vector_encoder.modules import MultiVectorMask

    modules = [*modules, MultiVectorMask(), Normalize(module_input_name="token_embeddings")]
    return MultiVectorEncoder(modules=modules, device=device or None, **options)


def routes(model: MultiVectorEncoder) -> set[str]:
    """Return the tasks for which a model has its own network or a route; empty if one network serves all."""
    networks = getattr(model[0], "sub_modules", None)
    mapped = {task for task, _ in getattr(model[0], "route_mappings", {})}
    return {*(networks or ()), *mapped} - {None}


def read_queries_whole(model: MultiVectorEncoder) -> None:
    """Lift a checkpoint's limit on queries: [MASK] tokens still fill short ones, but long ones are not cut there."""
    transformer: Any = model[0]
    if getattr(transformer, "query_length", None):
        transformer.query_length = None
    if expansion := getattr(transformer, "query_expansion", None):
        transformer.query_expansion = {**expansion, "strategy": "min"}
