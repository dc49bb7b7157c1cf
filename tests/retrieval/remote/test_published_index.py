"""An index that machines share over an object store: each has the latest version, and none overwrites another's."""

from __future__ import annotations

import json
import multiprocessing
import shutil
from pathlib import Path

import numpy as np
import pytest
from index_samples import Samples
from small_disks import fill, small_disk

from propcite.retrieval.errors import StorageError
from propcite.retrieval.index.manifest import MANIFEST_FILE
from propcite.retrieval.index.token_index import TokenIndex
from propcite.retrieval.remote import published_index
from propcite.retrieval.remote.objects import ObjectStore
from propcite.retrieval.remote.published_index import FETCHED_FILE, KEPT_VERSIONS, PublishedIndex
from propcite.retrieval.sharding.folder import check_folder, leftover_files, open_index
from propcite.retrieval.sharding.layout import shard_folders
from propcite.retrieval.sharding.resharding import move_shard, reshard


@pytest.fixture
def samples() -> Samples:
    return Samples()


class Machine:
    """A machine with a disk of its own."""

    def __init__(self, objects: ObjectStore, folder: Path) -> None:
        self.folder = folder
        self.published = PublishedIndex(objects, folder)

    def ids(self) -> set[str]:
        self.published.fetch()
        return open_index(self.folder).ids()

    def add(self, samples: Samples, number: int, first: int = 0) -> None:
        if (self.folder / MANIFEST_FILE).exists():
            index = TokenIndex.load(self.folder)
        else:
            index = TokenIndex(samples.dimension, "made-up", regime="tokens")
        samples.add(index, samples.vectors(number), first)
        index.save(self.folder)
        self.published.publish()

    def delete(self, *ids: str) -> None:
        index = open_index(self.folder)
        index.delete(ids)
        index.save(self.folder)
        self.published.publish()


@pytest.fixture
def one(objects: ObjectStore, tmp_path: Path) -> Machine:
    return Machine(objects.below("harbour"), tmp_path / "one")


@pytest.fixture
def two(objects: ObjectStore, tmp_path: Path) -> Machine:
    return Machine(objects.below("harbour"), tmp_path / "two")


def numbered(*numbers: int) -> set[str]:
    return {f"p{number}" for number in numbers}


def test_another_machine_has_the_same_files(one: Machine, two: Machine, samples: Samples) -> None:
    two.published.fetch()
    assert not (two.folder / MANIFEST_FILE).exists()  # nothing was ever stored
    one.published.publish()
    assert one.published.latest() == 0  # nothing is here either
    one.add(samples, 50)
    assert two.ids() == numbered(*range(50))
    assert check_folder(two.folder) == leftover_files(two.folder) == []
    query = samples.queries(samples.vectors(3), 1)[0]
    hits = [open_index(folder).search(query, np.ones((1, len(query))), k=50) for folder in (one.folder, two.folder)]
    assert hits[0] == hits[1]


def test_each_machine_goes_on_from_the_latest_version(one: Machine, two: Machine, samples: Samples) -> None:
    one.add(samples, 4)
    two.published.fetch()
    two.add(samples, 4, 4)
    two.delete("p0", "p5")
    assert one.ids() == numbered(1, 2, 3, 4, 6, 7)
    one.delete("p1", "p2")
    one.delete("p7")
    assert two.ids() == numbered(3, 4, 6)
    assert check_folder(one.folder) == check_folder(two.folder) == []


def test_only_what_is_new_is_moved(
    one: Machine, two: Machine, samples: Samples, monkeypatch: pytest.MonkeyPatch
) -> None:
    one.add(samples, 20)
    two.published.fetch()
    moved: list[str] = []
    for name in ("upload", "download"):
        before = getattr(ObjectStore, name)

        def noted(self: ObjectStore, *given: object, before=before) -> None:  # type: ignore[no-untyped-def]
            moved.extend(str(value) for value in given if "files/" in str(value))
            before(self, *given)

        monkeypatch.setattr(ObjectStore, name, noted)
    one.published.publish()
    two.published.fetch()
    assert moved == []
    one.add(samples, 5, 20)
    names = {live.name for live in TokenIndex.load(one.folder).segments}
    assert len({name.split("/")[1].split(".")[0] for name in moved}) == 1 < len(names)
    two.published.fetch()
    assert len(moved) == 2 * len(set(moved))


def test_the_second_of_two_writers_fails_and_gets_the_other_s_version(
    one: Machine, two: Machine, samples: Samples
) -> None:
    one.add(samples, 4)
    two.published.fetch()
    one.add(samples, 4, 4)
    with pytest.raises(StorageError, match="another machine has changed"):
        two.add(samples, 4, 100)
    assert one.ids() == numbered(*range(8))
    assert two.ids() == numbered(*range(8))
    assert leftover_files(two.folder) == []
    two.add(samples, 1, 100)
    assert one.ids() == numbered(*range(8), 100)


def _race(machine: Machine, barrier: object, first: int) -> bool:
    samples = Samples(seed=first)
    machine.published.fetch()
    barrier.wait()  # type: ignore[attr-defined]
    try:
        machine.add(samples, 2, first)
    except StorageError:
        return False
    return True


def test_of_several_writers_at_once_one_wins_each_round(objects: ObjectStore, tmp_path: Path, samples: Samples) -> None:
    machines = [Machine(objects.below("race"), tmp_path / f"m{number}") for number in range(3)]
    machines[0].add(samples, 2)
    spawn = multiprocessing.get_context("spawn")
    with spawn.Manager() as manager, spawn.Pool(3) as pool:
        expected = numbered(0, 1)
        for turn in range(3):
            barrier = manager.Barrier(3)
            firsts = [10 * turn + 100 * number + 10 for number in range(3)]
            won = pool.starmap(_race, [(m, barrier, first) for m, first in zip(machines, firsts, strict=True)])
            assert won.count(True) == 1
            winner = firsts[won.index(True)]
            expected |= numbered(winner, winner + 1)
            assert all(machine.ids() == expected for machine in machines)


def test_old_versions_and_their_files_go_and_what_is_needed_stays(one: Machine, two: Machine, samples: Samples) -> None:
    for number in range(30):  # many enough for merges
        one.add(samples, 1, number)
    objects = one.published.objects
    versions = objects.names("versions")
    assert len(versions) == KEPT_VERSIONS
    named = {f"files/{name}" for version in versions for name in json_objects(objects, version)}
    assert set(objects.names("files")) == named
    assert two.ids() == numbered(*range(30))


def json_objects(objects: ObjectStore, version: str) -> set[str]:
    return {name for part in json.loads(objects.read(version))["parts"] for name, _ in part["files"].values()}


def test_a_version_that_is_replaced_while_it_is_fetched(
    one: Machine, two: Machine, samples: Samples, monkeypatch: pytest.MonkeyPatch
) -> None:
    one.add(samples, 3)
    read = PublishedIndex._read

    def read_then_replaced(self: PublishedIndex, number: int, *listed: object):  # type: ignore[no-untyped-def]
        version = read(self, number, *listed)
        monkeypatch.setattr(PublishedIndex, "_read", read)
        for first in range(10, 10 + 2 * KEPT_VERSIONS):
            one.add(samples, 1, first)
        index = TokenIndex.load(one.folder)
        index.compact(one.folder)
        for _ in range(KEPT_VERSIONS + 1):
            one.add(samples, 1, 3)
            one.delete("p3")
        return version

    monkeypatch.setattr(PublishedIndex, "_read", read_then_replaced)
    assert two.ids() == numbered(0, 1, 2, *range(10, 10 + 2 * KEPT_VERSIONS))
    assert check_folder(two.folder) == []


def test_shards_are_divided_joined_and_moved(one: Machine, two: Machine, samples: Samples, tmp_path: Path) -> None:
    one.add(samples, 60)
    assert len(two.ids()) == 60
    reshard(one.folder, 3)
    one.published.publish()
    assert two.ids() == numbered(*range(60))
    assert [p.name for p in shard_folders(two.folder)] == [p.name for p in shard_folders(one.folder)]
    assert leftover_files(two.folder) == []
    (tmp_path / "disk").mkdir()
    move_shard(one.folder, 1, tmp_path / "disk")
    one.published.publish()
    one.delete("p1", "p2", "p3")
    assert len(two.ids()) == 57
    assert all(path.parent == two.folder for path in shard_folders(two.folder))
    two.delete("p4", "p5", "p6")
    assert len(one.ids()) == 54
    assert [path.parent for path in shard_folders(one.folder)] == [one.folder, tmp_path / "disk", one.folder]
    reshard(one.folder, 1)
    one.published.publish()
    assert len(two.ids()) == 54
    assert shard_folders(two.folder) == [two.folder]
    assert check_folder(two.folder) == leftover_files(two.folder) == []


def test_one_shard_is_fetched_alone(one: Machine, two: Machine, samples: Samples) -> None:
    one.add(samples, 60)
    reshard(one.folder, 3)
    one.published.publish()
    two.published.fetch(())
    places = shard_folders(two.folder)
    assert [place.exists() for place in places] == [False] * 3
    two.published.fetch({places[1].name})
    assert [place.exists() for place in places] == [False, True, False]
    assert TokenIndex.load(places[1]).ids() == TokenIndex.load(shard_folders(one.folder)[1]).ids()
    one.delete("p1", "p2", "p3")
    two.published.fetch({places[1].name})
    assert TokenIndex.load(places[1]).ids() == TokenIndex.load(shard_folders(one.folder)[1]).ids()
    assert two.ids() == open_index(one.folder).ids()


def test_a_store_that_does_not_answer_leaves_what_was_fetched(
    one: Machine, samples: Samples, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    one.add(samples, 4)
    away = Machine(ObjectStore("nothing://x"), one.folder)
    with caplog.at_level("WARNING", logger="propcite.storage"):
        away.published.fetch(soon=True)
    assert "is searched" in caplog.text
    caplog.clear()
    away.published.fetch(soon=True)
    assert caplog.text == ""  # it is not tried again at every search
    assert len(open_index(one.folder)) == 4
    with pytest.raises(StorageError):
        away.published.fetch()
    with pytest.raises(StorageError):
        Machine(ObjectStore("nothing://x"), tmp_path / "empty").published.fetch(soon=True)


def test_a_folder_from_another_store_is_replaced(one: Machine, samples: Samples, tmp_path: Path) -> None:
    one.add(samples, 4)
    other = Machine(ObjectStore(f"file://{tmp_path}/elsewhere"), tmp_path / "three")
    other.add(samples, 2, 50)
    moved = Machine(other.published.objects, one.folder)
    assert moved.ids() == numbered(50, 51)
    first = Machine(ObjectStore(f"file://{tmp_path}/new"), one.folder)
    first.published.fetch()
    first.published.publish()  # into a store that has none yet
    assert Machine(first.published.objects, tmp_path / "four").ids() == numbered(50, 51)


def test_a_killed_download_is_gone_on_with(
    one: Machine, two: Machine, samples: Samples, monkeypatch: pytest.MonkeyPatch
) -> None:
    one.add(samples, 10)
    one.add(samples, 10, 10)
    download, done = ObjectStore.download, []

    def killed(self: ObjectStore, name: str, target: Path) -> None:
        if len(done) == 2:
            raise KeyboardInterrupt
        done.append(name)
        download(self, name, target)

    monkeypatch.setattr(ObjectStore, "download", killed)
    monkeypatch.setattr(published_index, "AT_ONCE", 1)
    with pytest.raises(KeyboardInterrupt):
        two.published.fetch()
    assert not (two.folder / MANIFEST_FILE).exists()
    assert not (two.folder / FETCHED_FILE).exists()
    monkeypatch.setattr(ObjectStore, "download", download)
    assert two.ids() == numbered(*range(20))


def test_a_lost_folder_comes_back(one: Machine, samples: Samples) -> None:
    one.add(samples, 10)
    shutil.rmtree(one.folder)
    assert one.ids() == numbered(*range(10))
    one.published.remove()
    assert one.published.objects.names() == []


def test_a_version_that_cannot_be_read_is_one_line_and_can_be_mended(
    one: Machine, two: Machine, samples: Samples, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(published_index, "TRIES", 2)
    one.add(samples, 4)
    [version] = one.published.objects.names("versions")
    one.published.objects.write(version, b"{")
    for call in (two.published.fetch, two.published.version):
        with pytest.raises(StorageError, match="remove"):
            call()
    one.published.remove()
    two.published.fetch()
    one.published.publish()  # what is here says the same as the removed one
    assert two.ids() == numbered(0, 1, 2, 3)
    one.delete("p0")
    assert two.ids() == numbered(1, 2, 3)


def test_a_machine_whose_disk_is_full_keeps_what_it_has(
    one: Machine, objects: ObjectStore, samples: Samples, tmp_path: Path
) -> None:
    one.add(samples, 3)
    (tmp_path / "disk").mkdir()
    with small_disk(tmp_path / "disk") as disk:
        two = Machine(objects.below("harbour"), disk / "two")
        assert two.ids() == numbered(0, 1, 2)
        one.add(samples, 90, 10)
        for pages in (0, 1, 5):
            fill(disk, pages)
            with pytest.raises(StorageError, match=r"^cannot write .*(No space left on device)\): free space on this"):
                two.published.fetch()
            two.published.fetch(soon=True)  # searches go on
            assert open_index(two.folder).ids() == numbered(0, 1, 2)
            assert check_folder(two.folder) == []
            (disk / "ballast").unlink()
        assert two.ids() == numbered(0, 1, 2, *range(10, 100))
        assert leftover_files(two.folder) == []
