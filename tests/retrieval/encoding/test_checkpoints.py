"""Checkpoints of other layouts: they load from their folder, and token offsets are exact."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import tiny_models as tiny
from hypothesis import given, settings
from hypothesis import strategies as st
from sentence_transformers import MultiVectorEncoder

from propcite.retrieval.encoding.base import TokenVectors
from propcite.retrieval.encoding.encoder import Encoder
from propcite.retrieval.errors import EncoderError
from propcite.retrieval.splitter import passage_from_text
from propcite.retrieval.text import Granularity, Passage

TEXT = "The harbour was dredged in spring, and its gates are made of steel."
LONG = " ".join(f"The harbour was dredged in {year}, and its gates are made of steel." for year in range(1990, 2000))
PROMPTS = {"query": "query: ", "document": "document: "}
OWN_PROMPTS = PROMPTS | {"query_sentence": "query steel: ", "query_proposition": "query spring: "}
LAYOUTS: dict[str, Callable[[Path], Path]] = {
    "single vector": tiny.save_single_vector,
    "native": lambda folder: tiny.save_native(folder, OWN_PROMPTS),
    "native without a projection": lambda folder: tiny.save_native(folder, OWN_PROMPTS, dense=0),
    "PyLate": tiny.save_pylate,
    "PyLate without expansion": lambda folder: tiny.save_pylate(folder, expansion=False),
    "Stanford ColBERT": tiny.save_stanford,
}


@pytest.fixture(scope="module")
def load(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Encoder]:
    """Return a function that creates and loads each layout's encoder once."""
    encoders: dict[str, Encoder] = {}

    def load(layout: str) -> Encoder:
        if layout not in encoders:
            encoders[layout] = Encoder(str(LAYOUTS[layout](tmp_path_factory.mktemp("model"))), precision="float32")
        return encoders[layout]

    return load


def words_of_tokens(text: str, tokens: TokenVectors) -> str:
    return " ".join(text[start:end] for start, end in tokens.offsets.tolist() if start >= 0)


def num_wordless(tokens: TokenVectors) -> int:
    return int((tokens.offsets[:, 0] < 0).sum())


def letters(text: str) -> str:
    return "".join(c for c in text if c.isalnum())


@pytest.mark.parametrize("layout", LAYOUTS)
def test_offsets_are_exact_beside_prompts_and_titles(load, layout: str) -> None:
    encoder = load(layout)
    passage = encoder.encode_passages([passage_from_text("p", TEXT, "The gates")])[0]
    query = encoder.encode_queries([TEXT])[0]
    assert words_of_tokens(TEXT, query) == TEXT.replace(",", " ,").replace(".", " .")
    drops_marks = layout not in ("single vector", "native", "native without a projection")  # ColBERT's skip list
    marks = ("", "") if drops_marks else (" ,", " .")
    assert words_of_tokens(TEXT, passage) == TEXT.replace(",", marks[0]).replace(".", marks[1])
    for tokens in (passage, query):
        assert tokens.vectors.shape[1] == encoder.dimension
        assert np.linalg.norm(tokens.vectors, axis=1) == pytest.approx(1.0, abs=1e-5)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_text_longer_than_the_limit_keeps_every_word(load, layout: str) -> None:
    encoder = load(layout)
    passage = encoder.encode_passages([passage_from_text("p", LONG, "The gates")])[0]
    query = encoder.encode_queries([LONG])[0]
    for tokens in (passage, query):
        assert letters(words_of_tokens(LONG, tokens)) == letters(LONG)
    short = encoder.encode_passages([passage_from_text("p", TEXT, "The gates")])[0]
    assert num_wordless(passage) == num_wordless(short)


@pytest.mark.parametrize(
    ("layout", "dimension", "knows"),
    [
        ("single vector", tiny.HIDDEN, [True, False, False]),
        ("native", 16, [True, True, True]),
        ("native without a projection", tiny.HIDDEN, [True, True, True]),
        ("PyLate", 16, [True, False, False]),
        ("Stanford ColBERT", 16, [True, False, False]),
    ],
)
def test_a_checkpoint_keeps_its_projection_and_markers(load, layout: str, dimension: int, knows) -> None:
    encoder = load(layout)
    assert encoder.dimension == dimension
    assert [encoder.knows(granularity) for granularity in Granularity] == knows


def test_with_markers_queries_differ_by_granularity(load) -> None:
    encoder = load("native")
    vectors = [encoder.encode_queries([TEXT], granularity)[0] for granularity in Granularity]
    words = [tokens.vectors[tokens.offsets[:, 0] >= 0] for tokens in vectors]
    assert [words_of_tokens(TEXT, tokens) for tokens in vectors] == [words_of_tokens(TEXT, vectors[0])] * 3
    for one, other in ((0, 1), (0, 2), (1, 2)):
        assert np.abs(words[one] - words[other]).max() > 0.01


def test_without_markers_queries_are_the_same_for_every_granularity(load) -> None:
    encoder = load("PyLate")
    vectors = [encoder.encode_queries([TEXT], granularity)[0].vectors for granularity in Granularity]
    assert vectors[0] == pytest.approx(vectors[1], abs=1e-6)
    assert vectors[0] == pytest.approx(vectors[2], abs=1e-6)


def test_a_granularity_can_be_passed_by_name(load) -> None:
    encoder = load("native")
    by_name, by_member = (
        encoder.encode_queries([TEXT], "sentence")[0],
        encoder.encode_queries([TEXT], Granularity.SENTENCE)[0],
    )
    assert by_name.vectors == pytest.approx(by_member.vectors, abs=1e-6)


@pytest.mark.parametrize("layout", ["PyLate", "Stanford ColBERT"])
def test_expansion_tokens_fill_a_short_query_and_cover_no_character(load, layout: str) -> None:
    encoder = load(layout)
    short, long = encoder.encode_queries(["steel gates", TEXT])
    assert len(short) == 16
    assert num_wordless(short) == 14
    assert num_wordless(long) == 3  # [CLS], the marker and [SEP]: a query longer than the width is not expanded


@pytest.mark.parametrize("layout", ["native", "PyLate", "Stanford ColBERT"])
def test_vectors_equal_those_of_sentence_transformers(load, layout: str, tmp_path: Path) -> None:
    theirs = MultiVectorEncoder(str(LAYOUTS[layout](tmp_path)), device="cpu")
    ours = load(layout)
    query = "steel gates"
    passage = "The harbour was dredged."
    assert ours.encode_queries([query])[0].vectors == pytest.approx(
        theirs.encode_query([query], convert_to_numpy=True)[0], abs=1e-4
    )
    assert ours.encode_passages([Passage("p", passage)])[0].vectors == pytest.approx(
        theirs.encode_document([passage], convert_to_numpy=True)[0], abs=1e-4
    )


def test_the_name_changes_with_the_weights_and_not_with_the_folder(tmp_path: Path) -> None:
    folders = [tiny.save_pylate(tmp_path / place / "mine") for place in ("one", "two")]
    one, two = (Encoder(str(folder)).name for folder in folders)
    assert one == two
    assert one.startswith("mine@")
    weights = folders[1] / "1_Dense" / "model.safetensors"
    content = bytearray(weights.read_bytes())
    content[-1] ^= 1
    weights.write_bytes(content)
    assert Encoder(str(folders[1])).name != one


@pytest.mark.parametrize("layout", LAYOUTS)
def test_texts_around_the_window_size_keep_every_word(load, layout: str) -> None:
    encoder = load(layout)
    texts = [" ".join(["steel"] * count) for count in range(1, encoder.max_tokens + 6)]
    for encoded in (
        encoder.encode_passages([Passage("p", text, "Gates") for text in texts]),
        encoder.encode_queries(texts),
    ):
        assert [letters(words_of_tokens(text, tokens)) for text, tokens in zip(texts, encoded, strict=True)] == [
            letters(text) for text in texts
        ]


@given(
    st.lists(
        st.one_of(
            st.sampled_from(["The", "harbour", "was", "dredged.", "steel,", "[SEP]", "a" * 120, "xyz" * 20, "\n\n"]),
            st.text(max_size=20),
        ),
        max_size=30,
    ),
    st.sampled_from([" ", "", "  "]),
    st.sampled_from(["", "The gates", "gates " * 60]),
)
@settings(max_examples=15)
def test_windows_lose_no_word_and_repeat_none(load, words: list[str], gap: str, title: str) -> None:
    encoder = load("native")
    text = gap.join(words)
    passage = encoder.encode_passages([passage_from_text("p", text, title)])[0]
    query = encoder.encode_queries([text])[0]
    for tokens in (passage, query):
        places = [(start, end) for start, end in tokens.offsets.tolist() if start >= 0]
        covered = np.zeros(len(text), int)
        for start, end in set(places):
            covered[start:end] += 1
        readable = [i for i, c in enumerate(text) if c.isascii() and c.isalnum()]
        assert (covered[readable] >= 1).all()
        assert places == sorted(places)
        assert max((end for _, end in places), default=0) <= len(text)


def test_the_space_in_a_byte_level_token_belongs_to_no_word(tmp_path: Path) -> None:
    """ModernBERT's tokens include the space before them, which belongs to the sentence or title before."""
    encoder = Encoder(str(tiny.save_backbone(tmp_path, tiny.byte_level_tokenizer())))
    text = "Steel gates.  They rust."
    passage = passage_from_text("p", text, "The harbour")
    tokens = encoder.encode_passages([passage])[0]
    second = passage.sentences[1].span
    assert second.of(text) == "They rust."
    assert letters(words_of_tokens(text, tokens)) == letters(text)
    assert "".join(text[start:end] for start, end in tokens.offsets.tolist() if start >= second.start) == "Theyrust."
    assert not any(text[start].isspace() for start, _ in tokens.offsets.tolist() if start >= 0)


def test_a_prompt_that_fills_the_window_raises_one_line(tmp_path: Path) -> None:
    prompts = PROMPTS | {"query": "query " * 70}
    encoder = Encoder(str(tiny.save_native(tmp_path, prompts)))
    with pytest.raises(EncoderError, match="reads 64 tokens at once, which its prompt fills"):
        encoder.encode_queries([TEXT])


def test_trained_passages_change_the_name_and_leave_queries_alone() -> None:
    both, queries_only = Encoder(precision="float32"), Encoder("propcite-queries", precision="float32")
    assert both.name.startswith("propcite-minilm@")
    assert len({both.name, queries_only.name, Encoder("minilm").name}) == 2  # propcite-queries has the base's passages
    assert both.query_name != queries_only.query_name
    for level in Granularity:
        ours, theirs = (e.encode_queries(["How high is the barrier?"], level)[0] for e in (both, queries_only))
        assert ours.vectors == pytest.approx(theirs.vectors, abs=1e-5)
    passage = passage_from_text("p", "The barrier is 6.4 metres high. It was finished in October 2024.", "Barrier")
    new, old = (e.encode_passages([passage])[0] for e in (both, queries_only))
    assert (new.offsets == old.offsets).all()
    cosines = (new.vectors * old.vectors).sum(axis=1)
    assert 0.5 < cosines.mean() < 0.99
