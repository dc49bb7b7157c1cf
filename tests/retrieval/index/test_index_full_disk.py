"""A disk that is full tells it, leaves the index as it was, and hinders nothing once there is room again."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from index_files import files_in, files_named
from small_passages import unit_item

from propcite.retrieval.index.checking import check_index
from propcite.retrieval.index.token_index import TokenIndex

PAGE = 4096  # what the file system gives room in
Changed = dict[str, list]


@pytest.fixture(scope="module")
def disk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    place = tmp_path_factory.mktemp("disk")
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", place], capture_output=True, check=False
    )
    if mounted.returncode:
        pytest.skip("mounting a small disk needs root's rights")
    yield place
    subprocess.run(["umount", "--lazy", place], check=True)


def added(index: TokenIndex, numbers: range, num_tokens: int = 20) -> None:
    made = [unit_item(f"p{number}", number, num_tokens) for number in numbers]
    index.add([one.passage for one in made], [one.tokens for one in made])


def contents(index: TokenIndex) -> Changed:
    return {i: index.vectors(i).vectors.tolist() for i in sorted(index.ids())}


def fill(disk: Path, pages: int) -> None:
    """Leave so many pages free."""
    with (disk / "ballast").open("wb", buffering=0) as ballast:
        free = shutil.disk_usage(disk).free // PAGE - pages
        assert free >= 0
        ballast.write(bytes(free * PAGE))


# What is changed in memory first, and what then writes it


def add(index: TokenIndex) -> None:
    added(index, range(100, 140), 120)  # so many that centroids take more than the page that an old manifest frees


def delete(index: TokenIndex) -> None:
    index.delete([f"p{number}" for number in range(0, 10, 3)])


def delete_most(index: TokenIndex) -> None:
    index.delete([f"p{number}" for number in range(15)])


def update(index: TokenIndex) -> None:
    made = [unit_item(f"p{number}", 1000 + number, 30) for number in range(5)]
    index.update([one.passage for one in made], [one.tokens for one in made])


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
    (PLAIN, TRAINED, add, save),  # centroids are trained for the first time
    (TRAINED, TRAINED, add, save),  # codes for what is new
    (TRAINED, TRAINED, delete_most, save),
    (TRAINED, TRAINED, update, compact),
    (TRAINED, FAISS, add, save),
    (FAISS, FAISS, add, compact),
]


@pytest.mark.parametrize(("before", "options", "change", "write"), CASES)
def test_a_full_disk_is_told_and_nothing_is_lost(
    disk: Path,
    tmp_path: Path,
    before: dict,
    options: dict,
    change: Callable[[TokenIndex], None],
    write: Callable[[TokenIndex, Path], None],
) -> None:
    """The room ends a page later each time, until there is enough; FAISS, which trains for long, gets some at once."""
    step = 1
    if "regime" in options:
        pytest.importorskip("faiss")
        step = 6
    start = TokenIndex(8, "made-up", **before)
    for first in range(0, 20, 10):
        added(start, range(first, first + 10))
        start.save(tmp_path / "start")
    folder, room, enough = disk / "index", 0, False
    while not enough:
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(tmp_path / "start", folder)
        index = TokenIndex.load(folder, **options)
        old = contents(index)
        change(index)
        wanted = index.ids()
        fill(disk, pages=room)
        try:
            write(index, folder)
            enough = True
        except OSError as error:
            assert "No space left on device" in str(error)  # noqa: PT017
            room += step
        assert index.ids() == wanted
        assert contents(TokenIndex.load(folder, **options)) in (old, contents(index))
        assert check_index(folder) == []
        (disk / "ballast").unlink()
        write(index, folder)
        loaded = TokenIndex.load(folder, **options)
        assert contents(loaded) == contents(index)
        assert loaded.stats().regime == index.stats().regime
        assert check_index(folder) == []
        assert files_in(folder) <= files_named(folder)
    assert room > 0
