"""What an index cannot take is refused in one clear line, in every regime, and changes nothing."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from small_passages import unit_item

from propcite.retrieval.encoding.base import TokenVectors
from propcite.retrieval.errors import IndexFormatError
from propcite.retrieval.index.token_index import TokenIndex
from propcite.retrieval.text import Passage

QUERY = np.eye(2, 8, dtype=np.float32)
WEIGHTS = np.ones((1, 2), np.float32)
NOBODY = 65534


def held(**options: Any) -> TokenIndex:
    index = TokenIndex(8, "made-up", **options)
    made = [unit_item(f"p{number}", number) for number in range(6)]
    index.add([one.passage for one in made], [one.tokens for one in made])
    return index


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> TokenIndex:
    index = held(regime="tokens")
    index.save(tmp_path_factory.mktemp("trained"))
    assert index.stats().regime == "tokens"
    return index


def refused(error: pytest.ExceptionInfo) -> str:
    assert "\n" not in str(error.value)
    return str(error.value)


# How an index is kept


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"bits": 3}, "a token's number may have 16, 8, 4, 2, 1 bits, not 3"),
        ({"bits": 0}, "a token's number may have 16, 8, 4, 2, 1 bits, not 0"),
        ({"regime": "fast"}, "wanted a regime of auto, exact, tokens, faiss, got 'fast'"),
        ({"regime": ""}, "wanted a regime of auto, exact, tokens, faiss, got ''"),
    ],
)
def test_unknown_options_are_refused(options: dict, message: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError) as error:
        TokenIndex(8, "made-up", **options)
    assert refused(error) == message
    held().save(tmp_path)
    with pytest.raises(ValueError) as error:
        TokenIndex.load(tmp_path, **options)
    assert refused(error) == message


# What is asked


@pytest.mark.parametrize("regime", ["exact", "tokens"])
@pytest.mark.parametrize(
    ("query", "weights", "options", "message"),
    [
        (QUERY[:, :7], WEIGHTS, {}, "wanted query vectors of 8 dimensions, got shape (2, 7)"),
        (QUERY[0], WEIGHTS, {}, "wanted query vectors of 8 dimensions, got shape (8,)"),
        (QUERY * np.nan, WEIGHTS, {}, "wanted query vectors of numbers, got one that is none"),
        (QUERY - np.float32(np.inf), WEIGHTS, {}, "wanted query vectors of numbers, got one that is none"),
        (QUERY, WEIGHTS[0], {}, "wanted a weight for each of 2 query vectors, got shape (2,)"),
        (QUERY, WEIGHTS[:, :1], {}, "wanted a weight for each of 2 query vectors, got shape (1, 1)"),
        (QUERY, np.ones((1, 3)), {}, "wanted a weight for each of 2 query vectors, got shape (1, 3)"),
        (
            QUERY,
            WEIGHTS,
            {"passage_weights": np.ones((2, 2))},
            "wanted (1, 2) weights for passages too, got shape (2, 2)",
        ),
        (QUERY, WEIGHTS, {"refine": -1}, "wanted 0 or more candidates to refine, got -1"),
        (QUERY, WEIGHTS, {"retrieved": 0}, "wanted 1 or more tokens to be retrieved, got 0"),
        (QUERY, WEIGHTS, {"refine": 0, "retrieved": -3}, "wanted 1 or more tokens to be retrieved, got -3"),
        (QUERY, WEIGHTS, {"regime": "fast"}, "wanted a regime of auto, exact, tokens, faiss, got 'fast'"),
    ],
)
def test_a_wrong_question_is_refused(
    trained: TokenIndex, regime: str, query: np.ndarray, weights: np.ndarray, options: dict, message: str
) -> None:
    with pytest.raises(ValueError) as error:
        trained.search(query, weights, k=3, **({"regime": regime} | options))
    assert refused(error) == message


@pytest.mark.parametrize("options", [{"regime": "exact"}, {"regime": "tokens"}, {"refine": 0}, {"refine": 2}])
def test_a_question_about_nothing_finds_something_or_nothing_but_fails_nowhere(
    trained: TokenIndex, options: dict
) -> None:
    assert trained.search(QUERY, WEIGHTS[:0], k=3, **options) == []
    assert trained.search(QUERY, WEIGHTS, k=3, allow=(), **options) == [[]]
    assert trained.search(QUERY, WEIGHTS, k=3, allow={"unknown", ""}, **options) == [[]]
    assert [hit.passage_id for hit in trained.search(QUERY, WEIGHTS, k=3, allow={"unknown", "p2"}, **options)[0]] == [
        "p2"
    ]
    for query, weights in ((0 * QUERY, WEIGHTS), (QUERY, 0 * WEIGHTS), (QUERY[:0], WEIGHTS[:, :0])):
        assert all(hit.score == 0.0 for hit in trained.search(query, weights, k=3, **options)[0])


# What is added


@pytest.mark.parametrize(
    ("vectors", "offsets", "message"),
    [
        (np.ones((2, 7)), np.zeros((2, 2)), "wanted vectors of 8 dimensions, got 7"),
        (np.ones(8), np.zeros((8, 2)), "wanted vectors of 8 dimensions, got single numbers"),
        (np.ones((2, 8, 1)), np.zeros((2, 2)), "wanted vectors of 8 dimensions, got 8, 1"),
        (np.ones((2, 8)), np.zeros((3, 2)), "wanted 2 tokens' offsets, got shape (3, 2)"),
        (np.ones((2, 8)), np.zeros(2), "wanted 2 tokens' offsets, got shape (2,)"),
        (np.full((2, 8), np.nan), np.zeros((2, 2)), "passage 'p1' has a vector that is not a number"),
        (np.full((2, 8), -np.inf), np.zeros((2, 2)), "passage 'p1' has a vector that is not a number"),
        (np.eye(2, 8, 7), np.zeros((2, 2)), "passage 'p1' has a vector of zeros"),
        (np.ones((0, 8)), np.zeros((0, 2)), "passage 'p1' has no token"),
    ],
)
def test_an_update_that_is_refused_leaves_the_passages_as_they_were(
    vectors: np.ndarray, offsets: np.ndarray, message: str
) -> None:
    index = held()
    wrong = TokenVectors(vectors.astype(np.float32), offsets.astype(np.int32))
    good = unit_item("p2", 50)
    with pytest.raises(ValueError) as error:
        index.update([good.passage, Passage("p1", "x")], [good.tokens, wrong])
    assert refused(error) == message
    assert index.ids() == {f"p{number}" for number in range(6)}
    for number in range(6):
        assert np.abs(index.vectors(f"p{number}").vectors - unit_item(f"p{number}", number).tokens.vectors).max() < 0.02


# Where it is kept


@contextmanager
def as_nobody(folder: Path) -> Iterator[None]:
    """The rights of an account that owns nothing: root may write everywhere."""
    if os.geteuid():
        yield
        return
    for path in [folder, *folder.iterdir()]:
        os.chown(path, NOBODY, NOBODY)
    os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)


@pytest.fixture
def locked() -> Iterator[Path]:
    """A saved index in a folder that may be read and not written."""
    with tempfile.TemporaryDirectory(prefix="propcite-") as name:  # everyone may reach it, unlike tmp_path
        folder = Path(name)
        held().save(folder)
        for path in folder.iterdir():
            path.chmod(0o444)
        folder.chmod(0o555)
        with as_nobody(folder):
            yield folder
        folder.chmod(0o755)


@pytest.mark.parametrize("write", ["save", "stage", "compact"])
def test_without_the_right_to_write_it_says_so_and_can_be_read(locked: Path, write: str) -> None:
    index = TokenIndex.load(locked)
    index.delete(["p1"])
    index.add([unit_item("q", 9).passage], [unit_item("q", 9).tokens])
    with pytest.raises(PermissionError, match="Permission denied") as error:
        getattr(index, write)(locked)
    assert str(locked) in refused(error)
    assert TokenIndex.load(locked).ids() == {f"p{number}" for number in range(6)}


def test_a_file_in_the_place_of_the_folder_is_no_index(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("no index")
    with pytest.raises(IndexFormatError) as error:
        TokenIndex.load(path)
    assert refused(error) == f"{path} holds no index: run propcite reindex"
    with pytest.raises(FileExistsError) as told:
        held().save(path)
    assert str(path) in refused(told)


def test_a_manifest_that_may_not_be_read_says_so(locked: Path) -> None:
    (locked / "manifest.json").chmod(0)
    with pytest.raises(IndexFormatError, match="cannot be read: Permission denied") as error:
        TokenIndex.load(locked)
    assert refused(error)
