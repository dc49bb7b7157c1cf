"""Build tiny checkpoints in the formats of FactCG, HHEM and LettuceDetect."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save_file
from tiny_judges import FACTOR, save_classifier, t5_tokenizer
from tiny_models import byte_level_tokenizer
from transformers import (
    AutoModelForSequenceClassification,
    ModernBertConfig,
    ModernBertForTokenClassification,
    T5Config,
    T5ForTokenClassification,
)

HHEM_CONFIG = {  # as published: of a class of its own, with no sizes
    "architectures": ["HHEMv2ForSequenceClassification"],
    "auto_map": {
        "AutoConfig": "configuration_hhem_v2.HHEMv2Config",
        "AutoModelForSequenceClassification": "modeling_hhem_v2.HHEMv2ForSequenceClassification",
    },
    "model_type": "HHEMv2Config",
    "torch_dtype": "float32",
}


def save_factcg(folder: Path, favoured: int | None = None, labels: int = 2) -> Path:
    """Save a DeBERTa with random weights; `favoured` is the label it gives to all texts."""
    save_classifier(folder, [f"LABEL_{n}" for n in range(labels)], "deberta")
    if favoured is not None:
        network: Any = AutoModelForSequenceClassification.from_pretrained(folder)
        favour(network.classifier, favoured)
        network.save_pretrained(folder)
    return folder


def hhem_network(favoured: int | None = None) -> Any:
    """Build a T5 with random weights that labels word pieces; `favoured` is the label it gives to all of them."""
    torch.manual_seed(11)
    config = T5Config(  # type: ignore[call-arg]
        vocab_size=len(t5_tokenizer()), d_model=32, d_kv=6, d_ff=48, num_layers=3, num_heads=4, num_labels=2,
        relative_attention_num_buckets=16, feed_forward_proj="gated-gelu", dropout_rate=0.0,
        initializer_factor=FACTOR,
    )  # fmt: skip
    network = T5ForTokenClassification(config).eval()
    with torch.no_grad():
        network.classifier.weight.normal_()
        if favoured is not None:
            favour(network.classifier, favoured)
    return network


def favour(layer: Any, label: int) -> None:
    """Let a layer give this label to every input."""
    with torch.no_grad():
        layer.weight.zero_()
        layer.bias.copy_(torch.tensor([2.0 if n == label else -2.0 for n in range(len(layer.bias))]))


def save_hhem(folder: Path, favoured: int | None = None, *, with_tokenizer: bool = True) -> Path:
    """Save weights under HHEM's names, and code that fails if it is run."""
    folder.mkdir(parents=True, exist_ok=True)
    weights = hhem_network(favoured).state_dict()
    published = {f"t5.{name}": value.clone() for name, value in weights.items() if "embed_tokens" not in name}
    save_file(published, folder / "model.safetensors", metadata={"format": "pt"})
    (folder / "config.json").write_text(json.dumps(HHEM_CONFIG))
    for name in ("configuration_hhem_v2", "modeling_hhem_v2"):
        (folder / f"{name}.py").write_text("raise SystemExit('code of the checkpoint was run')\n")
    if with_tokenizer:
        t5_tokenizer().save_pretrained(folder)
    return folder


def save_lettucedetect(folder: Path, wrong: Sequence[str] = (), labels: int = 2) -> Path:
    """Save a ModernBERT that marks these tokens wherever they are; without any, its weights stay random."""
    torch.manual_seed(13)
    tokenizer = byte_level_tokenizer()
    config = ModernBertConfig(
        vocab_size=len(tokenizer), hidden_size=32, num_hidden_layers=2, num_attention_heads=2, intermediate_size=48,
        max_position_embeddings=512, initializer_range=0.5, global_attn_every_n_layers=2, local_attention=16,
        pad_token_id=0, cls_token_id=2, sep_token_id=3, bos_token_id=2, eos_token_id=3, num_labels=labels,
    )  # fmt: skip
    network: Any = ModernBertForTokenClassification(config).eval()
    if wrong:
        _mark(network, tokenizer.convert_tokens_to_ids([*wrong]))
    network.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


@torch.no_grad()
def _mark(network: Any, wrong: Sequence[int]) -> None:
    """Let a network give the second label to these tokens and the first to all others, whatever stands around them."""
    for name, weight in network.named_parameters():
        if name.endswith("Wo.weight"):
            weight.zero_()  # neither attention nor a hidden layer changes a token's vector
    embeddings = network.model.embeddings.tok_embeddings.weight
    right, marked = embeddings[10].clone(), embeddings[11].clone()
    embeddings.copy_(right.expand_as(embeddings))
    embeddings[list(wrong)] = marked
    one, other = network.head(network.model(torch.tensor([[5, wrong[0]]])).last_hidden_state)[0]
    direction = (other - one) / (other - one).norm() ** 2 * 8
    network.classifier.weight.copy_(torch.stack([torch.zeros_like(direction), direction]))
    network.classifier.bias.copy_(torch.tensor([0.0, -float(direction @ (one + other)) / 2]))


SAVERS: Mapping[str, Callable[..., Path]] = {
    "factcg": save_factcg,
    "hhem": save_hhem,
    "lettucedetect": save_lettucedetect,
}
