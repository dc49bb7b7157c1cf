"""Load a checkpoint and its tokenizer from a folder or the hub; any problem is an AttributionError of one line."""

from __future__ import annotations

import re
from importlib.util import find_spec
from typing import Any

from propcite.attribution.errors import AttributionError
from propcite.retrieval.encoding.loading import check_exists, hide_progress_bars
from propcite.retrieval.encoding.precision import dtype_of
from propcite.retrieval.errors import RetrievalError
from propcite.retrieval.extras import install_command


def load_seq2seq(model: str, device: str = "", precision: str = "") -> tuple[Any, Any]:
    """Return a T5 or similar network, and its tokenizer."""
    network, tokenizer = _load("AutoModelForSeq2SeqLM", model, device, precision)
    if tokenizer.eos_token_id is None:
        raise AttributionError(f"the tokenizer of {model} has no end token: save it with one")
    return network, tokenizer


def load_classifier(model: str, device: str = "", precision: str = "") -> tuple[Any, Any]:
    """Return a network that assigns labels to texts, and its tokenizer."""
    return _load("AutoModelForSequenceClassification", model, device, precision)


def load_question_answering(model: str, device: str = "") -> tuple[Any, Any]:
    """Return a network that marks the answer to a question in a text, and its tokenizer."""
    network, tokenizer = _load("AutoModelForQuestionAnswering", model, device, "float32")
    if not tokenizer.is_fast:
        raise AttributionError(f"the tokenizer of {model} reports no word positions: save it as a fast one")
    return network, tokenizer


def load_causal(model: str, device: str = "") -> tuple[Any, Any]:
    """Return a left-to-right language model, and its tokenizer."""
    return _load("AutoModelForCausalLM", model, device, "", needs_padding=False)


def is_seq2seq(model: str) -> bool:
    """Return whether a checkpoint generates text with an encoder and a decoder, by its config."""
    _check_exists(model)
    try:
        from transformers import AutoConfig

        return bool(AutoConfig.from_pretrained(model).is_encoder_decoder)
    except Exception as error:  # the loaders raise the errors of many file formats
        raise _load_error(model, error) from error


def _load(kind: str, model: str, device: str, precision: str, *, needs_padding: bool = True) -> tuple[Any, Any]:
    _check_exists(model)
    import torch
    import transformers

    hide_progress_bars()
    untyped: Any = transformers.utils.logging
    untyped.set_verbosity_error()  # missing weights are reported below
    device = device or ("cuda" if torch.cuda.is_available() else "cpu")
    try:
        dtype = _dtype(kind, precision, torch.device(device).type)
        tokenizer: Any = transformers.AutoTokenizer.from_pretrained(model)
        loader: Any = getattr(transformers, kind)
        network, info = loader.from_pretrained(model, dtype=dtype, output_loading_info=True)
        network.to(device).eval()
    except Exception as error:  # as above
        raise _load_error(model, error) from error
    if missing := sorted(info["missing_keys"]):
        raise AttributionError(f"the model {model} is for another task: its weights lack {missing[0]}")
    if needs_padding and tokenizer.pad_token_id is None:
        raise AttributionError(f"the tokenizer of {model} has no padding token: save it with one")
    return network, tokenizer


def _check_exists(model: str) -> None:
    try:
        check_exists(model)
    except RetrievalError as error:
        raise AttributionError(str(error)) from error


def _dtype(kind: str, precision: str, device: str) -> Any:
    """Return the checkpoint's own type by default; T5 overflows in float16, so "auto" on CUDA is bfloat16 for it."""
    import torch

    if not precision:
        return "auto"
    if precision == "auto" and device == "cuda" and "Seq2Seq" in kind:
        precision = "bfloat16" if torch.cuda.is_bf16_supported() else "float32"
    return dtype_of(precision, device)


def _load_error(model: str, error: Exception) -> AttributionError:
    reason = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
    if re.search(r"sentencepiece|\.model\b", reason) and find_spec("sentencepiece") is None:
        reason = f"its tokenizer is a sentencepiece model: {install_command('judges')}"
    return AttributionError(f"the model {model} cannot be loaded: {reason}")
