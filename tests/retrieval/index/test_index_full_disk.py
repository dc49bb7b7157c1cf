"""A full disk is reported and leaves the index as it was; the same write succeeds once there is space."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from index_files import files_in, possible_files
from small_disks import fill, small_disk
from small_passages import random_passage

from propcite.retrieval.index.integrity import check_index
from propcite.retrieval.index.token_index import TokenIndex

Changed = dict[str, list]


@pytest.fixture(scope="module")
def disk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    with small_disk(tmp_path_factory.mktemp("disk")) as place:
        yield place


def add_passages(index: TokenIndex, numbers: range, num_tokens: int = 20) -> None:
    samples = [random_passage(f"p{number}", number, num_tokens) for number in numbers]
    index.add([one.passage for one in samples], [one.tokens for one in samples])


def contents(index: TokenIndex) -> Changed:
    return {i: index.vectors(i).vectors.tolist() for i in sorted(index.ids())}


# Changes in memory, and the functions that write them


def add(index: TokenIndex) -> None:
    add_passages(
        index, range(100, 140), 120
    )  # the centroids of so many take more than the page that the old manifest frees


def delete(index: TokenIndex) -> None:
    index.delete([f"p{number}" for number in range(0, 10, 3)])


def delete_most(index: TokenIndex) -> None:
    index.delete([f"p{number}" for number in range(15)])


def update(index: TokenIndex) -> None:
    samples = [random_passage(f"p{number}", 1000 + number, 30) for number in range(5)]
    index.update([one.passage for one in samples], [one.tokens for one in samples])


def save(index: TokenIndex, folder: Path) -> None:
    index.save(folder)


def stage_and_save(index: TokenIndex, folder: Path) -> None:
    index.stage(folder)
    index.save(folder)


def compact(index: TokenIndex, folder: Path) -> None:
    index.compact(folder)


PLAIN = {"bits": 8}
TRAINED = {"bits": 8, "exact_up_to": 0}
FAISS = {"bits": 4, "exact_up_to": 0, "regime": "faiss"}
CASES = [
    (PLAIN, PLAIN, add, save),
    (PLAIN, PLAIN, add, stage_and_save),
    (PLAIN, PLAIN, delete, save),
    (PLAIN, PLAIN, delete_most, save),
    (PLAIN, PLAIN, update, save),
    (PLAIN, PLAIN, delete, compact),
    (PLAIN, TRAINED, add, save),  # first training of centroids
    (TRAINED, TRAINED, add, save),  # codes of the new segment
    (TRAINED, TRAINED, delete_most, save),
    (TRAINED, TRAINED, update, compact),
    (TRAINED, FAISS, add, save),
    (FAISS, FAISS, add, compact),
]


@pytest.mark.parametrize(("before", "options", "change", "write"), CASES)
def test_a_full_disk_is_reported_and_nothing_is_lost(
    disk: Path,
    tmp_path: Path,
    before: dict,
    options: dict,
    change: Callable[[TokenIndex], None],
    write: Callable[[TokenIndex, Path], None],
) -> None:
    """Each try has one more free page until it succeeds; FAISS takes longer, so it gets several pages more."""
    step = 1
    if "regime" in options:
        pytest.importorskip("faiss")
        step = 6
    start = TokenIndex(8, "made-up", **before)
    for first in range(0, 20, 10):
        add_passages(start, range(first, first + 10))
        start.save(tmp_path / "start")
    folder, free_pages, enough = disk / "index", 0, False
    while not enough:
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(tmp_path / "start", folder)
        index = TokenIndex.load(folder, **options)
        old = contents(index)
        change(index)
        expected = index.ids()
        fill(disk, pages=free_pages)
        try:
            write(index, folder)
            enough = True
        except OSError as error:
            assert "No space left on device" in str(error)  # noqa: PT017
            free_pages += step
        assert index.ids() == expected
        assert contents(TokenIndex.load(folder, **options)) in (old, contents(index))
        assert check_index(folder) == []
        (disk / "ballast").unlink()
        write(index, folder)
        loaded = TokenIndex.load(folder, **options)
        assert contents(loaded) == contents(index)
        assert loaded.stats().regime == index.stats().regime
        assert check_index(folder) == []
        assert files_in(folder) <= possible_files(folder)
    assert free_pages > 0
