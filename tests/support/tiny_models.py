"""Create tiny checkpoints of every layout that an encoder can load: random weights, a toy vocabulary."""

from __future__ import annotations

import json
import string
from collections.abc import Sequence
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file
from sentence_transformers import MultiVectorEncoder, SentenceTransformer
from sentence_transformers.base.modules import Dense, Normalize, Transformer
from sentence_transformers.multi_vector_encoder.modules import MultiVectorMask
from sentence_transformers.sentence_transformer.modules import Pooling
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors
from transformers import (
    BertConfig,
    BertModel,
    ModernBertConfig,
    ModernBertModel,
    MT5Config,
    MT5ForConditionalGeneration,
    PreTrainedTokenizerFast,
    T5Config,
    T5ForConditionalGeneration,
    T5Tokenizer,
)

HIDDEN = 32
POSITIONS = 64
SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "[unused0]", "[unused1]"]
WORDS = "the harbour was dredged in spring and its gates are made of steel query document".split()


def word_piece_tokenizer() -> PreTrainedTokenizerFast:
    """Build a tokenizer like BERT's: lower case, no accents, a few whole words and all letters as word pieces."""
    pieces = [*string.ascii_lowercase, *string.digits, *string.punctuation]
    vocabulary = [*SPECIAL, *WORDS, *pieces, *(f"##{c}" for c in string.ascii_lowercase + string.digits)]
    tokenizer = Tokenizer(
        models.WordPiece({word: i for i, word in enumerate(dict.fromkeys(vocabulary))}, unk_token="[UNK]")
    )
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    return _with_special_tokens(tokenizer)


def byte_level_tokenizer() -> PreTrainedTokenizerFast:
    """Build a tokenizer like ModernBERT's: bytes; a word's first token includes the space before it in its offsets."""
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    merges = [("Ġ", letter) for letter in string.ascii_letters]
    vocabulary = [*SPECIAL, *alphabet, *("".join(pair) for pair in merges)]
    tokenizer = Tokenizer(models.BPE({word: i for i, word in enumerate(vocabulary)}, merges))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    return _with_special_tokens(tokenizer)


def _with_special_tokens(tokenizer: Tokenizer) -> PreTrainedTokenizerFast:
    ends = [(word, tokenizer.token_to_id(word)) for word in ("[CLS]", "[SEP]")]
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=ends
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        unk_token="[UNK]",
        pad_token="[PAD]",
        cls_token="[CLS]",
        sep_token="[SEP]",
        mask_token="[MASK]",
    )


def save_backbone(folder: Path, tokenizer: PreTrainedTokenizerFast) -> Path:
    """Save a bare transformer: config.json, model.safetensors, tokenizer.json."""
    torch.manual_seed(7)
    config = BertConfig(
        vocab_size=len(tokenizer),
        hidden_size=HIDDEN,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=64,
        max_position_embeddings=POSITIONS,
        initializer_range=0.5,  # large, so that a token's vector depends on its neighbours
    )
    BertModel(config).eval().save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def save_modern(folder: Path) -> Path:
    """Save a bare ModernBERT: rotary positions, local attention in every other layer, a byte-level tokenizer."""
    torch.manual_seed(7)
    tokenizer = byte_level_tokenizer()
    config = ModernBertConfig(
        vocab_size=len(tokenizer), hidden_size=HIDDEN, num_hidden_layers=2, num_attention_heads=2,
        intermediate_size=64, max_position_embeddings=POSITIONS, initializer_range=0.5,
        global_attn_every_n_layers=2, local_attention=16, pad_token_id=0, cls_token_id=2, sep_token_id=3,
        bos_token_id=2, eos_token_id=3,
    )  # fmt: skip
    ModernBertModel(config).eval().save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def save_t5(folder: Path) -> Path:
    """Save a bare T5, whose tokenizer has neither our markers nor a token for the whole text."""
    torch.manual_seed(7)
    tokenizer = unigram_tokenizer()
    sizes = {"d_model": HIDDEN, "d_kv": 16, "d_ff": 64, "num_layers": 2, "num_heads": 2}
    T5ForConditionalGeneration(T5Config(vocab_size=len(tokenizer), **sizes)).eval().save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def save_single_vector(folder: Path) -> Path:
    """Save a transformer with pooling, as most embedding models are."""
    transformer = Transformer(str(save_backbone(folder / "backbone", word_piece_tokenizer())))
    SentenceTransformer(modules=[transformer, Pooling(HIDDEN)], device="cpu").save(str(folder / "model"))
    return folder / "model"


def save_native(folder: Path, prompts: dict[str, str], *, dense: int = 16, special: Sequence[str] = ()) -> Path:
    """Save a multi-vector model of sentence-transformers; without a projection if `dense` is 0.

    `special` are registered as special tokens, so that each is one token.
    """
    tokenizer = word_piece_tokenizer()
    tokenizer.add_special_tokens({"additional_special_tokens": list(special)})
    transformer = Transformer(str(save_backbone(folder / "backbone", tokenizer)))
    modules = [transformer, *([_projection(dense)] if dense else []), MultiVectorMask(), _unit()]
    MultiVectorEncoder(modules=modules, prompts=prompts, device="cpu").save_pretrained(str(folder / "model"))
    return folder / "model"


def save_pylate(folder: Path, *, expansion: bool = True) -> Path:
    """Save PyLate's layout: a transformer, a Dense of PyLate's own class, and its settings in one JSON file."""
    save_backbone(folder, word_piece_tokenizer())
    (folder / "1_Dense").mkdir()
    _projection(16).save(str(folder / "1_Dense"))
    dense = json.loads((folder / "1_Dense" / "config.json").read_text("utf-8"))
    plain = {key: dense[key] for key in ("in_features", "out_features", "bias", "activation_function")}
    _write(folder / "1_Dense" / "config.json", plain)
    _write(folder / "sentence_bert_config.json", {"max_seq_length": 47, "do_lower_case": False})
    _write(
        folder / "modules.json",
        [
            {"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.models.Transformer"},
            {"idx": 1, "name": "1", "path": "1_Dense", "type": "pylate.models.Dense.Dense"},
        ],
    )
    _write(
        folder / "config_sentence_transformers.json",
        {
            "model_type": "ColBERT",
            "prompts": {},
            "default_prompt_name": None,
            "similarity_fn_name": "MaxSim",
            "query_prefix": "[unused0]",
            "document_prefix": "[unused1]",
            "query_length": 16,
            "document_length": 40,
            "attend_to_expansion_tokens": False,
            "do_query_expansion": expansion,
            "skiplist_words": list(string.punctuation),
        },
    )
    return folder


def save_stanford(folder: Path) -> Path:
    """Save Stanford ColBERT's layout: HF_ColBERT, the projection in the encoder's file, artifact.metadata."""
    save_backbone(folder, word_piece_tokenizer())
    weights = {f"bert.{name}": weight for name, weight in load_file(folder / "model.safetensors").items()}
    weights["linear.weight"] = torch.randn(16, HIDDEN)
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    config = json.loads((folder / "config.json").read_text("utf-8"))
    _write(folder / "config.json", config | {"architectures": ["HF_ColBERT"]})
    _write(
        folder / "artifact.metadata",
        {
            "query_token_id": "[unused0]",
            "doc_token_id": "[unused1]",
            "query_maxlen": 16,
            "doc_maxlen": 40,
            "attend_to_mask_tokens": False,
            "mask_punctuation": True,
        },
    )
    return folder


def save_xtr(folder: Path, *, multilingual: bool = False) -> Path:
    """Save XTR's layout: T5 with its decoder, the projection as a pickle in its own folder, no modules.json."""
    torch.manual_seed(7)
    tokenizer = unigram_tokenizer()
    kind, config = (MT5ForConditionalGeneration, MT5Config) if multilingual else (T5ForConditionalGeneration, T5Config)
    sizes = {"d_model": HIDDEN, "d_kv": 16, "d_ff": 64, "num_layers": 2, "num_heads": 2}
    kind(config(vocab_size=len(tokenizer), **sizes)).eval().save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    (folder / "2_Dense").mkdir()
    identity = "torch.nn.modules.linear.Identity"
    projection = {"in_features": HIDDEN, "out_features": 16, "bias": False, "activation_function": identity}
    _write(folder / "2_Dense" / "config.json", projection)
    torch.save({"linear.weight": torch.randn(16, HIDDEN)}, folder / "2_Dense" / "pytorch_model.bin")
    return folder


def unigram_tokenizer() -> T5Tokenizer:
    """Build a tokenizer like T5's: pieces that include the space before them, lower-case words only."""
    pieces = [*(f"▁{word}" for word in WORDS), *string.ascii_lowercase, *string.digits, *string.punctuation, "▁"]
    special = [("<pad>", 0.0), ("</s>", 0.0), ("<unk>", 0.0)]
    return T5Tokenizer(vocab=[*special, *((piece, -2.0) for piece in pieces)], extra_ids=2, model_max_length=POSITIONS)


def _projection(dimension: int) -> Dense:
    torch.manual_seed(11)
    return Dense(
        HIDDEN,
        dimension,
        bias=False,
        activation_function=torch.nn.Identity(),
        module_input_name="token_embeddings",
    )


def _unit() -> Normalize:
    return Normalize(module_input_name="token_embeddings")


def _write(path: Path, content: object) -> None:
    path.write_text(json.dumps(content), "utf-8")
