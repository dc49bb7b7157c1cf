"""Invalid input is rejected in one clear line, in every regime, and changes nothing."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from small_passages import random_passage

from propcite.retrieval.encoding.base import TokenVectors
from propcite.retrieval.errors import IndexFormatError
from propcite.retrieval.index.token_index import TokenIndex
from propcite.retrieval.text import Passage

QUERY = np.eye(2, 8, dtype=np.float32)
WEIGHTS = np.ones((1, 2), np.float32)
NOBODY = 65534


def small_index(**options: Any) -> TokenIndex:
    index = TokenIndex(8, "made-up", **options)
    samples = [random_passage(f"p{number}", number) for number in range(6)]
    index.add([one.passage for one in samples], [one.tokens for one in samples])
    return index


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> TokenIndex:
    index = small_index(regime="tokens")
    index.save(tmp_path_factory.mktemp("trained"))
    assert index.stats().regime == "tokens"
    return index


def one_line(error: pytest.ExceptionInfo) -> str:
    assert "\n" not in str(error.value)
    return str(error.value)


# Options


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"bits": 3}, "bits must be one of 16, 8, 4, 2, 1, got 3"),
        ({"bits": 0}, "bits must be one of 16, 8, 4, 2, 1, got 0"),
        ({"regime": "fast"}, "regime must be one of auto, exact, tokens, faiss, got 'fast'"),
        ({"regime": ""}, "regime must be one of auto, exact, tokens, faiss, got ''"),
    ],
)
def test_invalid_options_are_rejected(options: dict, message: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError) as error:
        TokenIndex(8, "made-up", **options)
    assert one_line(error) == message
    small_index().save(tmp_path)
    with pytest.raises(ValueError) as error:
        TokenIndex.load(tmp_path, **options)
    assert one_line(error) == message


# Queries


@pytest.mark.parametrize("regime", ["exact", "tokens"])
@pytest.mark.parametrize(
    ("query", "weights", "options", "message"),
    [
        (QUERY[:, :7], WEIGHTS, {}, "query vectors must have 8 dimensions, got shape (2, 7)"),
        (QUERY[0], WEIGHTS, {}, "query vectors must have 8 dimensions, got shape (8,)"),
        (QUERY * np.nan, WEIGHTS, {}, "query vectors must be finite numbers"),
        (QUERY - np.float32(np.inf), WEIGHTS, {}, "query vectors must be finite numbers"),
        (QUERY, WEIGHTS[0], {}, "weights must have a column for each of 2 query vectors, got (2,)"),
        (QUERY, WEIGHTS[:, :1], {}, "weights must have a column for each of 2 query vectors, got (1, 1)"),
        (QUERY, np.ones((1, 3)), {}, "weights must have a column for each of 2 query vectors, got (1, 3)"),
        (
            QUERY,
            WEIGHTS,
            {"passage_weights": np.ones((2, 2))},
            "weights for passages must have the shape (1, 2), got (2, 2)",
        ),
        (QUERY, WEIGHTS, {"refine": -1}, "refine must be 0 or more, got -1"),
        (QUERY, WEIGHTS, {"num_retrieved": 0}, "num_retrieved must be 1 or more, got 0"),
        (QUERY, WEIGHTS, {"refine": 0, "num_retrieved": -3}, "num_retrieved must be 1 or more, got -3"),
        (QUERY, WEIGHTS, {"regime": "fast"}, "regime must be one of auto, exact, tokens, faiss, got 'fast'"),
    ],
)
def test_an_invalid_query_is_rejected(
    trained: TokenIndex, regime: str, query: np.ndarray, weights: np.ndarray, options: dict, message: str
) -> None:
    with pytest.raises(ValueError) as error:
        trained.search(query, weights, k=3, **({"regime": regime} | options))
    assert one_line(error) == message


@pytest.mark.parametrize("options", [{"regime": "exact"}, {"regime": "tokens"}, {"refine": 0}, {"refine": 2}])
def test_an_empty_query_does_not_fail(trained: TokenIndex, options: dict) -> None:
    assert trained.search(QUERY, WEIGHTS[:0], k=3, **options) == []
    assert trained.search(QUERY, WEIGHTS, k=3, allow=(), **options) == [[]]
    assert trained.search(QUERY, WEIGHTS, k=3, allow={"unknown", ""}, **options) == [[]]
    assert [hit.passage_id for hit in trained.search(QUERY, WEIGHTS, k=3, allow={"unknown", "p2"}, **options)[0]] == [
        "p2"
    ]
    for query, weights in ((0 * QUERY, WEIGHTS), (QUERY, 0 * WEIGHTS), (QUERY[:0], WEIGHTS[:, :0])):
        assert all(hit.score == 0.0 for hit in trained.search(query, weights, k=3, **options)[0])


# Passages


@pytest.mark.parametrize(
    ("vectors", "offsets", "message"),
    [
        (np.ones((2, 7)), np.zeros((2, 2)), "vectors must have 8 dimensions, got 7"),
        (np.ones(8), np.zeros((8, 2)), "vectors must have 8 dimensions, got single numbers"),
        (np.ones((2, 8, 1)), np.zeros((2, 2)), "vectors must have 8 dimensions, got 8, 1"),
        (np.ones((2, 8)), np.zeros((3, 2)), "offsets must have a row for each of 2 tokens, got shape (3, 2)"),
        (np.ones((2, 8)), np.zeros(2), "offsets must have a row for each of 2 tokens, got shape (2,)"),
        (np.full((2, 8), np.nan), np.zeros((2, 2)), "passage 'p1' has a vector that is not finite"),
        (np.full((2, 8), -np.inf), np.zeros((2, 2)), "passage 'p1' has a vector that is not finite"),
        (np.eye(2, 8, 7), np.zeros((2, 2)), "passage 'p1' has a vector of zeros"),
        (np.ones((0, 8)), np.zeros((0, 2)), "passage 'p1' has no token"),
    ],
)
def test_a_rejected_update_leaves_the_passages_as_they_were(
    vectors: np.ndarray, offsets: np.ndarray, message: str
) -> None:
    index = small_index()
    wrong = TokenVectors(vectors.astype(np.float32), offsets.astype(np.int32))
    good = random_passage("p2", 50)
    with pytest.raises(ValueError) as error:
        index.update([good.passage, Passage("p1", "x")], [good.tokens, wrong])
    assert one_line(error) == message
    assert index.ids() == {f"p{number}" for number in range(6)}
    for number in range(6):
        assert (
            np.abs(index.vectors(f"p{number}").vectors - random_passage(f"p{number}", number).tokens.vectors).max()
            < 0.02
        )


# Folders


@contextmanager
def as_nobody(folder: Path) -> Iterator[None]:
    """Take the rights of an account that owns nothing, since root may write everywhere."""
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
    """Return a read-only folder with a saved index."""
    with tempfile.TemporaryDirectory(prefix="propcite-") as name:  # accessible to all accounts, unlike tmp_path
        folder = Path(name)
        small_index().save(folder)
        for path in folder.iterdir():
            path.chmod(0o444)
        folder.chmod(0o555)
        with as_nobody(folder):
            yield folder
        folder.chmod(0o755)


@pytest.mark.parametrize("write", ["save", "stage", "compact"])
def test_a_read_only_index_can_be_read_and_reports_failed_writes(locked: Path, write: str) -> None:
    index = TokenIndex.load(locked)
    index.delete(["p1"])
    index.add([random_passage("q", 9).passage], [random_passage("q", 9).tokens])
    with pytest.raises(PermissionError, match="Permission denied") as error:
        getattr(index, write)(locked)
    assert str(locked) in one_line(error)
    assert TokenIndex.load(locked).ids() == {f"p{number}" for number in range(6)}


def test_a_file_instead_of_a_folder_is_no_index(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("no index")
    with pytest.raises(IndexFormatError) as error:
        TokenIndex.load(path)
    assert one_line(error) == f"{path} holds no index: run propcite reindex"
    with pytest.raises(FileExistsError) as failure:
        small_index().save(path)
    assert str(path) in one_line(failure)


def test_an_unreadable_manifest_is_reported(locked: Path) -> None:
    (locked / "manifest.json").chmod(0)
    with pytest.raises(IndexFormatError, match=r"cannot read .*manifest\.json: Permission denied") as error:
        TokenIndex.load(locked)
    assert one_line(error)
