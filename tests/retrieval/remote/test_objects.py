"""Objects are read as they were written, created once, and what a store refuses is said in one line."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import pytest
from object_server import BUCKET

from propcite.retrieval.errors import StorageError
from propcite.retrieval.remote.objects import MissingObjectError, ObjectStore


def test_objects_are_listed_read_and_removed(objects: ObjectStore, tmp_path: Path) -> None:
    assert objects.names() == objects.names("b") == []
    objects.write("a", b"one")
    objects.below("b").write("c/d", b"two")
    (tmp_path / "here").write_bytes(b"three" * 100_000)
    objects.upload(tmp_path / "here", "b/e")
    assert objects.names() == ["a", "b/c/d", "b/e"]
    assert objects.names("b") == ["b/c/d", "b/e"]
    assert (objects.read("a"), objects.below("b").read("c/d")) == (b"one", b"two")
    objects.download("b/e", tmp_path / "there")
    assert (tmp_path / "there").read_bytes() == (tmp_path / "here").read_bytes()
    assert objects.has("a")
    objects.remove(["a", "never"])
    assert not objects.has("a")


def test_an_object_is_created_once(objects: ObjectStore) -> None:
    assert objects.create("v/1", b"first")
    assert not objects.create("v/1", b"second")
    assert objects.read("v/1") == b"first"


def test_of_writers_at_once_one_creates_an_object(objects: ObjectStore) -> None:
    writers, names = 6, [f"race/{number}" for number in range(30)]
    barrier = Barrier(writers)

    def create_all(writer: int) -> list[bool]:
        created = []
        for name in names:
            barrier.wait()
            created.append(objects.create(name, bytes([writer]) * 1000))
        return created

    with ThreadPoolExecutor(writers) as pool:
        by_writer = list(pool.map(create_all, range(writers)))
    for number, name in enumerate(names):
        (winner,) = [writer for writer in range(writers) if by_writer[writer][number]]
        assert objects.read(name) == bytes([winner]) * 1000


def test_what_is_missing_leaves_no_file(objects: ObjectStore, tmp_path: Path) -> None:
    objects.write("a", b"one")
    for call in (lambda: objects.read("b"), lambda: objects.download("b", tmp_path / "b")):
        with pytest.raises(MissingObjectError, match="check the setting storage"):
            call()
    assert not [path for path in tmp_path.iterdir() if path.is_file()]


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("nothing://x", "Protocol not known"),
        ("gs://bucket/folder", "needs a package"),
        ("s3://no-such-bucket/folder", "bucket does not exist"),
        ("file:///proc/nowhere", "did not take"),
    ],
)
def test_a_store_that_cannot_be_used_is_one_line(address: str, said: str, s3: object) -> None:  # noqa: ARG001
    with pytest.raises(StorageError, match=said) as caught:
        ObjectStore(address).write("a", b"one")
    assert "\n" not in str(caught.value)
    assert BUCKET not in str(caught.value)
