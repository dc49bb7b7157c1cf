"""A checkpoint with its tokenizer, from a folder or the hub; whatever is wrong with it is told in one line."""

from __future__ import annotations

import re
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from propcite.attribution.errors import AttributionError
from propcite.retrieval.encoding.checkpoints import look_up, quiet
from propcite.retrieval.encoding.precision import dtype_of
from propcite.retrieval.errors import RetrievalError

_HUB_NAME = re.compile(r"\w[\w.-]*(?:/\w[\w.-]*)?")


def load_seq2seq(model: str, device: str = "", precision: str = "") -> tuple[Any, Any]:
    """A T5 or a network like it.  -> the network, its tokenizer"""
    network, tokenizer = _load("AutoModelForSeq2SeqLM", model, device, precision)
    if tokenizer.eos_token_id is None:
        raise AttributionError(f"the tokenizer of {model} has no end token: save it with one")
    return network, tokenizer


def load_classifier(model: str, device: str = "", precision: str = "") -> tuple[Any, Any]:
    """A network that gives texts one of a few labels.  -> the network, its tokenizer"""
    return _load("AutoModelForSequenceClassification", model, device, precision)


def load_reader(model: str, device: str = "") -> tuple[Any, Any]:
    """A network that marks the answer to a question in a text.  -> the network, its tokenizer"""
    network, tokenizer = _load("AutoModelForQuestionAnswering", model, device, "float32")
    if not tokenizer.is_fast:
        raise AttributionError(f"the tokenizer of {model} does not tell the places of words: save it as a fast one")
    return network, tokenizer


def load_causal(model: str, device: str = "") -> tuple[Any, Any]:
    """A language model that reads from left to right.  -> the network, its tokenizer"""
    return _load("AutoModelForCausalLM", model, device, "", pads=False)


def is_seq2seq(model: str) -> bool:
    """Whether a checkpoint writes text, by its config."""
    _find(model)
    try:
        from transformers import AutoConfig

        return bool(AutoConfig.from_pretrained(model).is_encoder_decoder)
    except Exception as error:  # the loaders raise whatever their file formats raise
        raise _unreadable(model, error) from error


def _load(kind: str, model: str, device: str, precision: str, *, pads: bool = True) -> tuple[Any, Any]:
    _find(model)
    import torch
    import transformers

    quiet()
    untyped: Any = transformers.utils.logging
    untyped.set_verbosity_error()  # what is absent is told below
    device = device or ("cuda" if torch.cuda.is_available() else "cpu")
    try:
        dtype = _dtype(kind, precision, torch.device(device).type)
        tokenizer: Any = transformers.AutoTokenizer.from_pretrained(model)
        loader: Any = getattr(transformers, kind)
        network, found = loader.from_pretrained(model, dtype=dtype, output_loading_info=True)
        network.to(device).eval()
    except Exception as error:  # as above
        raise _unreadable(model, error) from error
    if absent := sorted(found["missing_keys"]):
        raise AttributionError(f"the model {model} was made for something else: its weights lack {absent[0]}")
    if pads and tokenizer.pad_token_id is None:
        raise AttributionError(f"the tokenizer of {model} has no padding token: save it with one")
    return network, tokenizer


def _find(model: str) -> None:
    if Path(model).is_dir():
        return
    if not _HUB_NAME.fullmatch(model):
        raise AttributionError(f"there is no folder {model}: name a model's folder, or a hub name such as owner/model")
    try:
        look_up(model)
    except RetrievalError as error:
        raise AttributionError(str(error)) from error


def _dtype(kind: str, precision: str, device: str) -> Any:
    """As the checkpoint has it unless told otherwise; T5 overflows in float16, so "auto" on CUDA is bfloat16 for it."""
    import torch

    if not precision:
        return "auto"
    if precision == "auto" and device == "cuda" and "Seq2Seq" in kind:
        precision = "bfloat16" if torch.cuda.is_bf16_supported() else "float32"
    return dtype_of(precision, device)


def _unreadable(model: str, error: Exception) -> AttributionError:
    reason = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
    if re.search(r"sentencepiece|\.model\b", reason) and find_spec("sentencepiece") is None:
        reason = "its tokenizer is a sentencepiece model: pip install 'propcite[judges]'"
    return AttributionError(f"the model {model} cannot be loaded: {reason}")
