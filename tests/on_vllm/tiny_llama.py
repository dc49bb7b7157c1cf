"""A Llama of some hundred thousand parameters with a tokenizer and a chat template, made on the spot.

It talks nonsense, always the same.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from propcite.app.answering.prompts import FOLDER

CONTEXT = 4096  # tokens
VOCABULARY = 1200
TEMPLATE = (
    "{% for message in messages %}<|im_start|>{{ message.role }}\n{{ message.content }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
PRINTABLE = [chr(code) for code in range(33, 127)]


def save_tiny_llama(folder: Path) -> Path:
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

    tokenizer = PreTrainedTokenizerFast(tokenizer_object=_tokenizer(), eos_token="<|im_end|>", pad_token="<|pad|>")
    tokenizer.chat_template = TEMPLATE
    tokenizer.save_pretrained(folder)
    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=len(tokenizer),
        hidden_size=64,
        intermediate_size=128,
        num_hidden_layers=2,
        num_attention_heads=2,
        num_key_value_heads=1,
        head_dim=32,
        max_position_embeddings=CONTEXT,
        initializer_range=0.2,  # so that what it writes depends on what it is asked
        bos_token_id=None,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
        tie_word_embeddings=False,
    )
    LlamaForCausalLM(config).float().save_pretrained(folder)
    return folder


def _tokenizer() -> Any:
    """Pieces of ASCII words, so that nonsense can be read; other characters are passed over."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=VOCABULARY,
        special_tokens=["<|pad|>", "<|im_start|>", "<|im_end|>"],
        initial_alphabet=[*PRINTABLE, "Ġ", "Ċ"],
        show_progress=False,
    )
    tokenizer.train_from_iterator([path.read_text("ascii") for path in sorted(FOLDER.glob("*.txt"))], trainer)
    return tokenizer
