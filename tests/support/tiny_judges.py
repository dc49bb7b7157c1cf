"""Build tiny checkpoints in the formats of published judges, with random weights and a toy vocabulary."""

from __future__ import annotations

import string
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors
from transformers import (
    BertConfig,
    BertForSequenceClassification,
    DebertaV2Config,
    DebertaV2ForSequenceClassification,
    PreTrainedTokenizerFast,
    RobertaConfig,
    RobertaForSequenceClassification,
    T5Config,
    T5ForConditionalGeneration,
)

ZERO, ONE = 3, 209  # T5's first tokens of "0", which is a space and a digit, and of "1", which is one token
WORDS = "the harbour gates are made of steel and was dredged in spring premise hypothesis predict".split()
SMALL: dict[str, Any] = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 48}
FACTOR = 1.5  # large enough that the output depends on the input


def t5_tokenizer(*, with_digits: bool = True) -> PreTrainedTokenizerFast:
    """Build a tokenizer like T5's, with the answers at T5's ids."""
    letters = [*string.ascii_letters, *string.punctuation, *"23456789"]
    pieces = ["<pad>", "</s>", "<unk>", "▁", *letters, *(f"▁{word}" for word in WORDS)]
    pieces += [f"<filler{n}>" for n in range(ONE - len(pieces))]
    pieces += ["▁1", "1", "0"] if with_digits else []
    scores = [(piece, 0.0 if n < 3 else -len(pieces) + 3.0 * len(piece)) for n, piece in enumerate(pieces)]
    tokenizer = Tokenizer(models.Unigram(scores, unk_id=2))
    tokenizer.normalizer = normalizers.Sequence([normalizers.NFKC(), normalizers.Replace("\n", " ")])
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.decoder = decoders.Metaspace()
    tokenizer.post_processor = processors.TemplateProcessing(single="$A </s>", special_tokens=[("</s>", 1)])
    return PreTrainedTokenizerFast(  # type: ignore[no-untyped-call]
        tokenizer_object=tokenizer, pad_token="<pad>", eos_token="</s>", unk_token="<unk>", model_max_length=512
    )


def save_t5(folder: Path, answers: Mapping[str, str] | None = None, *, with_digits: bool = True) -> Path:
    """Save a T5 trained to give these answers to these inputs; without any, its weights stay random."""
    torch.manual_seed(5)
    tokenizer = t5_tokenizer(with_digits=with_digits)
    config = T5Config(  # type: ignore[call-arg]
        vocab_size=len(tokenizer), d_model=32, d_kv=8, d_ff=64, num_layers=2, num_heads=4, dropout_rate=0.0,
        pad_token_id=0, eos_token_id=1, decoder_start_token_id=0, initializer_factor=FACTOR,
    )  # fmt: skip
    model = T5ForConditionalGeneration(config)
    if answers:
        train(model, tokenizer, answers)
    model.eval().save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def train(model: Any, tokenizer: Any, answers: Mapping[str, str]) -> None:
    inputs = tokenizer([*answers], padding=True, return_tensors="pt")
    labels = tokenizer([*answers.values()], padding=True, return_tensors="pt")["input_ids"]
    labels = labels.masked_fill(labels == 0, -100)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    for _ in range(300):
        output = model(input_ids=inputs["input_ids"], attention_mask=inputs["attention_mask"], labels=labels)
        optimizer.zero_grad()
        output.loss.backward()
        optimizer.step()
        if output.loss.item() < 0.01:
            return


def pair_tokenizer(family: str, more_words: Sequence[str] = ()) -> PreTrainedTokenizerFast:
    """Build a word piece tokenizer with the special tokens of BERT, RoBERTa or DeBERTa."""
    if family == "roberta":
        special = {"cls_token": "<s>", "pad_token": "<pad>", "sep_token": "</s>", "unk_token": "<unk>"}
        special |= {"bos_token": "<s>", "eos_token": "</s>"}
    else:
        special = {"pad_token": "[PAD]", "unk_token": "[UNK]", "cls_token": "[CLS]", "sep_token": "[SEP]"}
        special |= {"eos_token": "[SEP]"} if family == "deberta" else {}
    pieces = [*string.ascii_lowercase, *string.digits, *string.punctuation]
    words = [
        *special.values(),
        *WORDS,
        *more_words,
        *pieces,
        *(f"##{c}" for c in string.ascii_lowercase + string.digits),
    ]
    vocabulary = {word: number for number, word in enumerate(dict.fromkeys(words))}
    tokenizer = Tokenizer(models.WordPiece(vocabulary, unk_token=special["unk_token"]))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    cls, sep = special["cls_token"], special["sep_token"]
    tokenizer.post_processor = processors.TemplateProcessing(
        single=f"{cls} $A {sep}",
        pair=f"{cls} $A {sep} {sep} $B {sep}" if family == "roberta" else f"{cls} $A {sep} $B:1 {sep}:1",
        special_tokens=[(cls, vocabulary[cls]), (sep, vocabulary[sep])],
    )
    names = ["input_ids", "attention_mask", *(["token_type_ids"] if family == "bert" else [])]
    return PreTrainedTokenizerFast(  # type: ignore[no-untyped-call]
        tokenizer_object=tokenizer, model_max_length=512, model_input_names=names, **special
    )


def save_classifier(folder: Path, labels: Sequence[str], family: str = "bert", positions: int = 64) -> Path:
    torch.manual_seed(7)
    tokenizer = pair_tokenizer(family)
    common = SMALL | {
        "vocab_size": len(tokenizer),
        "initializer_range": 0.5,  # large enough that the output depends on the input
        "pad_token_id": tokenizer.pad_token_id,
        "id2label": dict(enumerate(labels)),
        "label2id": {label: number for number, label in enumerate(labels)},
    }
    model: Any
    if family == "roberta":
        model = RobertaForSequenceClassification(RobertaConfig(**common, max_position_embeddings=positions + 2))
    elif family == "deberta":
        relative = {"relative_attention": True, "position_biased_input": False, "pos_att_type": ["p2c", "c2p"]}
        relative |= {"type_vocab_size": 0, "max_position_embeddings": positions}
        model = DebertaV2ForSequenceClassification(DebertaV2Config(**common, **relative))
    else:
        model = BertForSequenceClassification(BertConfig(**common, max_position_embeddings=positions))
    model.eval().save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder
