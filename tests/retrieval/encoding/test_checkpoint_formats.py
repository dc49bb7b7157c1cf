"""Each layout against a slow version of what its authors' code computes; one-line errors for incomplete checkpoints."""

from __future__ import annotations

import json
import shutil
import string
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import tiny_models as tiny
import torch
from safetensors.torch import load_file, save_file
from transformers import AutoTokenizer, BertModel, T5ForConditionalGeneration

from propcite.retrieval.encoding.encoder import Encoder
from propcite.retrieval.errors import EncoderError
from propcite.retrieval.splitter import passage_from_text
from propcite.retrieval.text import Granularity, Passage

QUERY = "Steel gates"
PASSAGE = "The harbour was dredged, in spring."
MODEL, DENSE, METADATA = "model.safetensors", "1_Dense/model.safetensors", "artifact.metadata"
Damage = Callable[[Path], object]


def unit(vectors: torch.Tensor) -> np.ndarray:
    return (vectors / vectors.norm(dim=-1, keepdim=True)).detach().numpy()


def colbert(folder: Path, network: BertModel, projection: torch.Tensor, text: str, *, query: bool) -> np.ndarray:
    """Encode [CLS] marker text [SEP]: queries padded with unattended [MASK], passages without punctuation."""
    tokenizer = AutoTokenizer.from_pretrained(folder)
    ids = tokenizer(text, add_special_tokens=False)["input_ids"]
    first, last, mask = (tokenizer.convert_tokens_to_ids(t) for t in ("[CLS]", "[SEP]", "[MASK]"))
    marker = tokenizer.convert_tokens_to_ids("[unused0]" if query else "[unused1]")
    ids = [first, marker, *ids, last]
    fill = 16 - len(ids) if query else 0
    attention = torch.tensor([[1] * len(ids) + [0] * fill])
    ids = [*ids, *[mask] * fill]
    states = network(input_ids=torch.tensor([ids]), attention_mask=attention).last_hidden_state[0]
    marks = set(tokenizer.convert_tokens_to_ids(list(string.punctuation)))
    scored = [i for i, token in enumerate(ids) if query or token not in marks]
    return unit(states[scored] @ projection.T)


def stanford_parts(folder: Path) -> tuple[BertModel, torch.Tensor]:
    weights = load_file(folder / "model.safetensors")
    network = BertModel(BertModel.config_class.from_pretrained(folder)).eval()
    network.load_state_dict({n.removeprefix("bert."): w for n, w in weights.items() if n.startswith("bert.")})
    return network, weights["linear.weight"]


def pylate_parts(folder: Path) -> tuple[BertModel, torch.Tensor]:
    return BertModel.from_pretrained(folder).eval(), load_file(folder / "1_Dense" / "model.safetensors")[
        "linear.weight"
    ]


@pytest.mark.parametrize(
    ("save", "parts"),
    [(tiny.save_stanford, stanford_parts), (tiny.save_pylate, pylate_parts)],
    ids=["Stanford", "PyLate"],
)
def test_colbert_layouts_give_the_vectors_of_their_authors(save, parts, tmp_path: Path) -> None:
    folder = save(tmp_path)
    encoder = Encoder(str(folder), precision="float32")
    network, projection = parts(folder)
    query = encoder.encode_queries([QUERY])[0].vectors
    assert query == pytest.approx(colbert(folder, network, projection, QUERY, query=True), abs=1e-5)
    passage = encoder.encode_passages([Passage("p", PASSAGE)])[0].vectors
    assert passage == pytest.approx(colbert(folder, network, projection, PASSAGE, query=False), abs=1e-5)


def test_a_native_checkpoint_uses_its_prompt_network_and_projection(tmp_path: Path) -> None:
    prompts = {"query": "query: ", "document": "", "query_sentence": "[unused1]"}
    folder = tiny.save_native(tmp_path, prompts, special=["[unused1]"])
    encoder = Encoder(str(folder), precision="float32")
    tokenizer = AutoTokenizer.from_pretrained(folder)
    network = BertModel.from_pretrained(folder).eval()
    projection = load_file(folder / "1_Dense" / "model.safetensors")["linear.weight"]
    for prompt, level in (("query: ", Granularity.PASSAGE), ("[unused1]", Granularity.SENTENCE)):
        ids = tokenizer(prompt + QUERY, return_tensors="pt")["input_ids"]
        slow = unit(network(input_ids=ids).last_hidden_state[0] @ projection.T)
        assert encoder.encode_queries([QUERY], level)[0].vectors == pytest.approx(slow, abs=1e-5)


@pytest.mark.parametrize("multilingual", [False, True])
def test_xtr_lower_cases_and_uses_t5s_encoder_and_a_projection(multilingual: bool, tmp_path: Path) -> None:
    folder = tiny.save_xtr(tmp_path, multilingual=multilingual)
    encoder = Encoder(str(folder), precision="float32")
    kind = tiny.MT5ForConditionalGeneration if multilingual else T5ForConditionalGeneration
    network = kind.from_pretrained(folder).eval().get_encoder()
    projection = torch.load(folder / "2_Dense" / "pytorch_model.bin")["linear.weight"]
    tokenizer = tiny.unigram_tokenizer()
    for text, tokens in (
        (PASSAGE, encoder.encode_passages([Passage("p", PASSAGE)])[0]),
        (QUERY, encoder.encode_queries([QUERY])[0]),
        (QUERY, encoder.encode_queries([QUERY], Granularity.SENTENCE)[0]),
    ):
        ids = tokenizer(text.lower())["input_ids"]
        assert ids[-1] == tokenizer.eos_token_id
        states = network(input_ids=torch.tensor([ids])).last_hidden_state[0]
        assert tokens.vectors == pytest.approx(unit(states @ projection.T), abs=1e-5)
        words = "".join(text[start:end] for start, end in tokens.offsets.tolist() if start >= 0)
        assert words == text.replace(" ", "")
    assert encoder.dimension == 16
    assert not encoder.knows(Granularity.SENTENCE)


def test_xtr_offsets_count_original_characters_where_lower_case_is_longer(tmp_path: Path) -> None:
    encoder = Encoder(str(tiny.save_xtr(tmp_path)), precision="float32")
    text = "İİ steel GATES"  # each dotted capital becomes two characters in lower case
    tokens = encoder.encode_passages([Passage("p", text)])[0]
    assert [text[s:e] for s, e in tokens.offsets.tolist() if s >= 3] == ["steel", "GATES"]


def test_xtr_encodes_a_long_text_in_windows(tmp_path: Path) -> None:
    encoder = Encoder(str(tiny.save_xtr(tmp_path)), precision="float32")
    text = " ".join(["The harbour was dredged in spring."] * 20)
    tokens = encoder.encode_passages([passage_from_text("p", text, "Gates")])[0]
    assert "".join(text[s:e] for s, e in tokens.offsets.tolist() if s >= 0) == text.replace(" ", "")


# Checkpoints that are incomplete or mix several models


def without(name: str) -> Damage:
    def damage(folder: Path) -> None:
        path = folder / name
        shutil.rmtree(path) if path.is_dir() else path.unlink()

    return damage


def with_json(name: str, **values: object) -> Damage:
    def damage(folder: Path) -> None:
        path = folder / name
        path.write_text(json.dumps(json.loads(path.read_text("utf-8")) | values), "utf-8")

    return damage


def with_weights(name: str, change: Callable[[dict[str, torch.Tensor]], object]) -> Damage:
    def damage(folder: Path) -> None:
        weights = load_file(folder / name)
        change(weights)
        save_file(weights, folder / name, metadata={"format": "pt"})

    return damage


def other_width(weights: dict[str, torch.Tensor]) -> None:
    weights["linear.weight"] = torch.zeros(16, 24)


def without_a_layer(weights: dict[str, torch.Tensor]) -> None:
    weights.pop(next(name for name in weights if "layer.1.attention.self.query.weight" in name))


def with_fewer_words(folder: Path) -> None:
    name = "embeddings.word_embeddings.weight"
    with_weights("model.safetensors", lambda weights: weights.update({name: weights[name][:50].clone()}))(folder)
    with_json("config.json", vocab_size=50)(folder)


def truncated(name: str) -> Damage:
    return lambda folder: (folder / name).write_bytes((folder / name).read_bytes()[:300])


def backbone(folder: Path) -> Path:
    return tiny.save_backbone(folder, tiny.word_piece_tokenizer())


LAYER = r"layer\.1\.attention\.self\.query\.weight is missing"


@pytest.mark.parametrize(
    ("save", "damage", "message"),
    [
        (tiny.save_pylate, without(MODEL), "no file named model.safetensors"),
        (tiny.save_pylate, without("config.json"), "there is no .*config.json: .* fetch it again"),
        (tiny.save_pylate, without("tokenizer.json"), "there is no .*tokenizer.json: .* fetch it again"),
        (tiny.save_pylate, without(DENSE), "there is no .*1_Dense/model.safetensors: .* fetch it again"),
        (tiny.save_pylate, without("1_Dense"), "there is no .*1_Dense/config.json: .* fetch it again"),
        (tiny.save_pylate, with_weights(DENSE, other_width), "size mismatch for linear.weight"),
        (
            tiny.save_pylate,
            lambda f: (with_weights(DENSE, other_width)(f), with_json("1_Dense/config.json", in_features=24)(f)),
            "its projection reads 24 numbers per token, its network gives 32",
        ),
        (
            tiny.save_pylate,
            with_json("config_sentence_transformers.json", query_prefix="[Q] "),
            r"does not know the marker \[Q\]",
        ),
        (tiny.save_pylate, truncated(MODEL), "cannot be loaded|is damaged"),
        (tiny.save_stanford, with_json(METADATA, doc_token_id="[Doc]"), r"does not know the marker \[Doc\]"),
        (tiny.save_stanford, truncated("config.json"), "config.json cannot be read"),
        (tiny.save_stanford, lambda f: (f / METADATA).write_text("{"), "artifact.metadata cannot be read"),
        (tiny.save_stanford, with_weights(MODEL, lambda weights: weights.pop("linear.weight")), "has no linear.weight"),
        (tiny.save_stanford, with_weights(MODEL, other_width), "its projection reads 24 numbers per token"),
        (tiny.save_stanford, with_weights(MODEL, without_a_layer), LAYER),
        (tiny.save_xtr, without("2_Dense/pytorch_model.bin"), "there is no .*2_Dense/model.safetensors"),
        (tiny.save_xtr, without("2_Dense/config.json"), "there is no .*2_Dense/config.json"),
        (tiny.save_xtr, with_json("2_Dense/config.json", out_features=8), "size mismatch for linear.weight"),
        (backbone, with_weights(MODEL, without_a_layer), LAYER),
        (backbone, with_fewer_words, r"tokenizer knows \d+ tokens, its network 50"),
        (
            lambda folder: tiny.save_native(folder, {"query_sentence": "[nowhere]"}),
            lambda _: None,
            r"does not know the marker \[nowhere\]",
        ),
    ],
)  # fmt: skip
def test_a_broken_checkpoint_raises_one_line(save, damage: Damage, message: str, tmp_path: Path) -> None:
    folder = save(tmp_path)
    damage(folder)
    with pytest.raises(EncoderError, match=message) as raised:
        Encoder(str(folder), precision="float32")
    assert "\n" not in str(raised.value)


def test_weights_under_older_names_are_not_reported_as_missing(tmp_path: Path) -> None:
    folder = backbone(tmp_path)
    expected = Encoder(str(folder), precision="float32").encode_queries([QUERY])[0].vectors

    def older(weights: dict[str, torch.Tensor]) -> None:
        for name in [n for n in weights if "LayerNorm" in n]:
            weights[name.replace("LayerNorm.weight", "LayerNorm.gamma").replace("LayerNorm.bias", "LayerNorm.beta")] = (
                weights.pop(name)
            )

    with_weights(MODEL, older)(folder)
    assert Encoder(str(folder), precision="float32").encode_queries([QUERY])[0].vectors == pytest.approx(expected)
