"""Load a checkpoint and its tokenizer from a folder or the hub; any problem is an AttributionError of one line."""

from __future__ import annotations

import re
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from propcite.attribution.errors import AttributionError
from propcite.retrieval.encoding.loading import hide_progress_bars, model_folder
from propcite.retrieval.encoding.precision import dtype_of
from propcite.retrieval.errors import RetrievalError
from propcite.retrieval.extras import install_command

_OTHER = "name a checkpoint of this judge, or choose another judge"


def load_seq2seq(model: str, device: str = "", precision: str = "") -> tuple[Any, Any]:
    """Return a T5 or similar network, and its tokenizer."""
    network, tokenizer = _load("AutoModelForSeq2SeqLM", model, device, precision)
    if tokenizer.eos_token_id is None:
        raise AttributionError(f"the tokenizer of {model} has no end token: save it with one")
    return network, tokenizer


def load_classifier(model: str, device: str = "", precision: str = "") -> tuple[Any, Any]:
    """Return a network that assigns labels to texts, and its tokenizer."""
    return _load("AutoModelForSequenceClassification", model, device, precision)


def load_token_classifier(model: str, device: str = "", precision: str = "") -> tuple[Any, Any]:
    """Return a network that assigns a label to each word piece of a text, and its tokenizer."""
    network, tokenizer = _load("AutoModelForTokenClassification", model, device, precision)
    _check_positions(tokenizer, model)
    return network, tokenizer


def load_labelling_t5(
    model: str, prefix: str, tokenizer: str, device: str = "", precision: str = ""
) -> tuple[Any, Any]:
    """Return a T5 that labels word pieces, and its tokenizer, for weights whose names begin with `prefix`.

    Code that comes with the checkpoint is not run, and its config is not read: the weights have the network's sizes.
    `tokenizer` is the one that it was trained with, unless its folder has a copy.
    """
    folder = _folder(model)
    try:
        parts = _t5_parts(str(folder / "model.safetensors"), prefix)
    except Exception as error:  # the loaders raise the errors of many file formats
        raise _load_error(model, error) from error
    if parts is None:
        lack = f"its weights lack {prefix}classifier.weight"
        raise AttributionError(f"the model {model} is for another task, {lack}: {_OTHER}")
    if (folder / "tokenizer.json").is_file():
        tokenizer = model
    try:
        _folder(tokenizer)
    except AttributionError as error:
        raise AttributionError(f"{error}; or save the tokenizer of {tokenizer} in that of {model}") from error
    return _load("T5ForTokenClassification", model, device, precision, tokenizer=tokenizer, **parts)


def load_question_answering(model: str, device: str = "") -> tuple[Any, Any]:
    """Return a network that marks the answer to a question in a text, and its tokenizer."""
    network, tokenizer = _load("AutoModelForQuestionAnswering", model, device, "float32")
    _check_positions(tokenizer, model)
    return network, tokenizer


def load_causal(model: str, device: str = "") -> tuple[Any, Any]:
    """Return a left-to-right language model, and its tokenizer."""
    return _load("AutoModelForCausalLM", model, device, "", needs_padding=False)


def is_seq2seq(model: str) -> bool:
    """Return whether a checkpoint generates text with an encoder and a decoder, by its config."""
    folder = _folder(model)
    try:
        from transformers import AutoConfig

        return bool(AutoConfig.from_pretrained(folder).is_encoder_decoder)
    except Exception as error:  # the loaders raise the errors of many file formats
        raise _load_error(model, error) from error


def check_labels(network: Any, model: str, number: int) -> None:
    """Raise AttributionError unless the network has so many labels."""
    if network.config.num_labels != number:
        raise AttributionError(f"{model} has {network.config.num_labels} labels, not {number}: {_OTHER}")


def _load(
    kind: str,
    model: str,
    device: str,
    precision: str,
    *,
    needs_padding: bool = True,
    tokenizer: str = "",
    **parts: Any,
) -> tuple[Any, Any]:
    """Return network and tokenizer, both from `model` unless they are given: `parts` are its config and weights."""
    folder = _folder(model)
    import torch
    import transformers

    hide_progress_bars()
    untyped: Any = transformers.utils.logging
    untyped.set_verbosity_error()  # missing weights are reported below
    device = device or ("cuda" if torch.cuda.is_available() else "cpu")
    try:
        dtype = _dtype(kind, precision, torch.device(device).type)
        options = {"trust_remote_code": False} if parts else {}  # else a person is asked about the code of a folder
        reader: Any = transformers.AutoTokenizer.from_pretrained(_folder(tokenizer or model), **options)
        loader: Any = getattr(transformers, kind)
        source = None if parts else folder
        network, info = loader.from_pretrained(source, dtype=dtype, output_loading_info=True, **parts)
        network.to(device).eval()
    except Exception as error:  # as above
        raise _load_error(model, error) from error
    if missing := sorted(info["missing_keys"]):
        raise AttributionError(f"the model {model} is for another task: its weights lack {missing[0]}")
    if needs_padding and reader.pad_token_id is None:
        raise AttributionError(f"the tokenizer of {model} has no padding token: save it with one")
    return network, reader


def _t5_parts(file: str, prefix: str) -> dict[str, Any] | None:
    """Return config and weights of a T5 encoder with a layer that labels; None if the file has no such weights."""
    from safetensors.torch import load_file
    from transformers import T5Config

    weights = {name.removeprefix(prefix): value for name, value in load_file(file).items() if name.startswith(prefix)}
    layer = "transformer.encoder.block.{}.layer."
    first, embedding = layer.format(0), "transformer.shared.weight"
    if "classifier.weight" not in weights or embedding not in weights:
        return None
    buckets, heads = weights[f"{first}0.SelfAttention.relative_attention_bias.weight"].shape
    gated = f"{first}1.DenseReluDense.wi_0.weight" in weights
    config = T5Config(  # type: ignore[call-arg]
        vocab_size=weights[embedding].shape[0],
        d_model=weights[embedding].shape[1],
        d_kv=weights[f"{first}0.SelfAttention.q.weight"].shape[0] // heads,
        d_ff=weights[f"{first}1.DenseReluDense.wo.weight"].shape[1],
        num_layers=sum(name.endswith("SelfAttention.q.weight") for name in weights),
        num_heads=heads,
        relative_attention_num_buckets=buckets,
        feed_forward_proj="gated-gelu" if gated else "relu",
        num_labels=weights["classifier.weight"].shape[0],
    )
    return {"config": config, "state_dict": weights}


def _check_positions(tokenizer: Any, model: str) -> None:
    if not tokenizer.is_fast:
        raise AttributionError(f"the tokenizer of {model} reports no word positions: save it as a fast one")


def _folder(model: str) -> Path:
    try:
        return model_folder(model)
    except RetrievalError as error:
        raise AttributionError(str(error)) from error


def _dtype(kind: str, precision: str, device: str) -> Any:
    """Return the checkpoint's own type by default; T5 overflows in float16, so "auto" on CUDA is bfloat16 for it."""
    import torch

    if not precision:
        return "auto"
    if precision == "auto" and device == "cuda" and ("Seq2Seq" in kind or kind.startswith("T5")):
        precision = "bfloat16" if torch.cuda.is_bf16_supported() else "float32"
    return dtype_of(precision, device)


def _load_error(model: str, error: Exception) -> AttributionError:
    reason = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
    if re.search(r"sentencepiece|\.model\b", reason) and find_spec("sentencepiece") is None:
        reason = f"its tokenizer is a sentencepiece model: {install_command('judges')}"
    return AttributionError(f"the model {model} cannot be loaded: {reason}")
