"""Build the base of a tiny reader, with random weights and a toy vocabulary."""

from __future__ import annotations

from pathlib import Path

import torch
from tiny_judges import pair_tokenizer
from transformers import BertConfig, BertModel


def save_base(folder: Path, words: str) -> Path:
    """Save an untrained encoder that knows these words, in the form of a folder from the hub."""
    torch.manual_seed(3)
    tokenizer = pair_tokenizer("bert", words.lower().split())
    config = BertConfig(
        vocab_size=len(tokenizer), hidden_size=64, num_hidden_layers=2, num_attention_heads=2, intermediate_size=96,
        pad_token_id=tokenizer.pad_token_id,
    )  # fmt: skip
    BertModel(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder
