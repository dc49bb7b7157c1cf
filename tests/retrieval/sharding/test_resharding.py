"""Dividing an index, joining it again, and moving its shards: the same passages, in the same bytes, at any time."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from index_samples import Samples

from propcite.retrieval.errors import IndexFormatError
from propcite.retrieval.index import snapshot as snapshots
from propcite.retrieval.index.manifest import MANIFEST_FILE, read_manifest
from propcite.retrieval.index.token_index import TokenIndex
from propcite.retrieval.sharding import resharding
from propcite.retrieval.sharding.folder import (
    check_folder,
    leftover_files,
    open_index,
    repair_folder,
    replace_folder,
    snapshot_folder,
)
from propcite.retrieval.sharding.layout import LAYOUT_FILE, Layout, index_version, shard_folders, shard_numbers
from propcite.retrieval.sharding.resharding import WORK, move_shard, reshard
from propcite.retrieval.sharding.sharded_index import ShardedIndex

NUM = 120


@pytest.fixture
def samples() -> Samples:
    return Samples()


@pytest.fixture
def folder(tmp_path: Path, samples: Samples) -> Path:
    index = TokenIndex(samples.dimension, "made-up", regime="tokens")
    samples.add(index, samples.vectors(NUM))
    index.delete(["p3", "p70"])
    index.save(tmp_path / "index")
    return tmp_path / "index"


def opened(folder: Path) -> ShardedIndex:
    index = open_index(folder, "made-up", regime="tokens")
    assert isinstance(index, ShardedIndex)
    return index


def contents(folder: Path) -> dict[str, bytes]:
    index = open_index(folder)
    return {i: tokens.vectors.tobytes() for i, tokens in index.vectors_of(sorted(index.ids())).items()}


def test_documents_are_spread_evenly_and_stay_together() -> None:
    ids = [f"{document}:{number}" for document in range(4000) for number in range(3)]
    shards = shard_numbers(ids, 8)
    assert (shards.reshape(-1, 3) == shards[::3, None]).all()
    assert np.bincount(shards, minlength=8).min() > 0.8 * len(ids) / 8
    assert (shard_numbers(ids, 16) % 8 == shards).all()  # each shard is divided in two


@pytest.mark.parametrize("steps", [(2, 1), (4, 2, 8, 1), (3, 5, 1)])
def test_an_index_is_divided_and_joined_without_a_change(folder: Path, steps: tuple[int, ...]) -> None:
    before, version = contents(folder), open_index(folder).version
    assert len(before) == NUM - 2
    for number in steps:
        stamp = index_version(folder)
        reshard(folder, number, regime="tokens")
        assert index_version(folder) != stamp
        assert len(shard_folders(folder)) == open_index(folder).stats().shards == number
        assert contents(folder) == before
        assert open_index(folder).version == version
        assert leftover_files(folder) == check_folder(folder) == []
    assert shard_folders(folder) == [folder]
    assert {path.suffix for path in folder.iterdir() if path.is_dir()} == set()


def test_all_shards_have_the_same_centroids(folder: Path) -> None:
    reshard(folder, 4, regime="tokens")
    assert len({read_manifest(place).centroids for place in shard_folders(folder)} - {""}) == 1
    assert opened(folder).stats().regime == "tokens"


def test_a_divided_index_grows_shrinks_and_is_trained_as_one(folder: Path, samples: Samples) -> None:
    reshard(folder, 3, regime="tokens")
    index = opened(folder)
    trained = read_manifest(shard_folders(folder)[0]).centroids
    samples.add(index, samples.vectors(6 * NUM), NUM)  # more than four times as much: trained again
    assert index.delete(["p0", "p500", "unknown"]) == 2
    index.stage(folder)
    assert len(opened(folder)) == NUM - 2  # nothing counts before it is saved
    index.save(folder)
    names = {read_manifest(place).centroids for place in shard_folders(folder)}
    assert len(names) == 1
    assert names != {trained}
    again = opened(folder)
    assert len(again) == len(index) == 7 * NUM - 4
    assert again.digest == index.digest
    assert leftover_files(folder) == []
    with pytest.raises(ValueError, match="passage 'p5' is in the index already"):
        samples.add(again, samples.vectors(1), 5)
    again.compact(folder)
    assert opened(folder).stats().segments == 3
    assert opened(folder).stats().deleted == 0


def test_only_changed_shards_are_written(folder: Path) -> None:
    reshard(folder, 4, regime="tokens")
    before = [read_manifest(place).generation for place in shard_folders(folder)]
    index = opened(folder)
    index.delete(["p1"])
    index.save(folder)
    after = [read_manifest(place).generation for place in shard_folders(folder)]
    assert sum(a != b for a, b in zip(before, after, strict=True)) == 1
    reread = open_index(folder, earlier=index)
    assert isinstance(reread, ShardedIndex)
    shared = [a.segments[0].segment is b.segments[0].segment for a, b in zip(index.shards, reread.shards, strict=True)]
    assert shared == [True] * 4


@pytest.mark.parametrize("step", ["write_merged", "adopt", "put_shards"])
def test_an_interrupted_division_leaves_the_index_as_it_was(
    folder: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    before = contents(folder)

    def interrupt(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(resharding if step == "put_shards" else TokenIndex, step, interrupt)
        with pytest.raises(KeyboardInterrupt):
            reshard(folder, 2, regime="tokens")
    assert contents(folder) == before
    assert not (folder / WORK).exists()
    assert leftover_files(folder) == []


def test_what_a_killed_division_left_is_removed_by_the_next(folder: Path) -> None:
    (folder / "shard-00-of-02-dead").mkdir()
    (folder / "shard-00-of-02-dead" / "segment-1.tokens").write_bytes(b"half")
    (folder / WORK).mkdir()
    assert [path.name for path in leftover_files(folder)] == ["segment-1.tokens"]
    reshard(folder, 2)
    assert leftover_files(folder) == []
    assert not (folder / "shard-00-of-02-dead").exists()


def test_a_shard_moves_to_another_disk_and_back(folder: Path, tmp_path: Path, samples: Samples) -> None:
    before = contents(folder)
    with pytest.raises(IndexFormatError, match="in one piece: divide it first, propcite shards split 2"):
        move_shard(folder, 0, tmp_path / "disk")
    reshard(folder, 2)
    with pytest.raises(IndexFormatError, match="shards 0 to 1, not 2"):
        move_shard(folder, 2, tmp_path / "disk")
    old = shard_folders(folder)[1]
    new = move_shard(folder, 1, tmp_path / "disk")
    assert new.parent == tmp_path / "disk"
    assert not old.exists()
    assert contents(folder) == before
    assert snapshot_folder(folder, tmp_path / "copy")
    assert contents(tmp_path / "copy") == before
    assert shard_folders(tmp_path / "copy")[1].parent == tmp_path / "copy"
    index = open_index(folder)
    samples.add(index, samples.vectors(20), NUM)  # type: ignore[arg-type]
    index.save(folder)
    shutil.copytree(folder, tmp_path / "other", ignore=shutil.ignore_patterns("shard-*"))
    assert shard_folders(folder)[1] == new
    replace_folder(tmp_path / "copy", folder)
    assert shard_folders(folder)[1].parent == tmp_path / "disk"  # a new version stays on the same disk
    assert contents(folder) == before
    assert not new.exists()
    assert move_shard(folder, 1, folder).parent == folder
    assert contents(folder) == before
    assert list((tmp_path / "disk").iterdir()) == []


def test_a_target_that_cannot_be_written_is_one_line(folder: Path, tmp_path: Path) -> None:
    reshard(folder, 2)
    (tmp_path / "file").write_text("")
    with pytest.raises(IndexFormatError, match=r"cannot write .*file.*: give another folder"):
        move_shard(folder, 0, tmp_path / "file" / "deep")
    assert len(contents(folder)) == NUM - 2


def test_a_missing_shard_is_named(folder: Path) -> None:
    reshard(folder, 2)
    away = shard_folders(folder)[1]
    away.rename(folder.parent / "away")
    with pytest.raises(IndexFormatError, match=f"shard 1 of 2 is not at {away}: bring its folder back"):
        open_index(folder)
    tolerant = open_index(folder, tolerant=True)
    assert 0 < len(tolerant) < NUM
    [fault] = check_folder(folder)
    assert fault.file == f"{away.name}/{MANIFEST_FILE}"
    repair_folder(folder, [fault])
    assert open_index(folder).ids() == tolerant.ids()  # the library knows what is missing


def test_damage_in_a_shard_is_found_and_repaired(folder: Path) -> None:
    reshard(folder, 2)
    before = contents(folder)
    place = shard_folders(folder)[0]
    file = next(place.glob("segment-*.tokens"))
    content = bytearray(file.read_bytes())
    content[80] ^= 1
    file.write_bytes(content)
    [fault] = check_folder(folder)
    assert fault.file == f"{place.name}/{file.name}"
    repair_folder(folder, [fault])
    assert check_folder(folder) == []
    left = contents(folder)
    assert before.keys() - left.keys() == set(fault.passages)
    assert left == {i: before[i] for i in left}


@pytest.mark.parametrize("content", ["", "{}", '{"format": 1, "shards": [], "checksum": 0}', '{"format": 1}'])
def test_a_damaged_layout_is_one_line(folder: Path, content: str) -> None:
    reshard(folder, 2)
    (folder / LAYOUT_FILE).write_text(content)
    with pytest.raises(IndexFormatError, match=f"{LAYOUT_FILE} is damaged: run propcite reindex"):
        open_index(folder)
    assert index_version(folder)


def test_a_layout_of_a_newer_version_is_refused(folder: Path) -> None:
    reshard(folder, 2)
    layout = json.loads((folder / LAYOUT_FILE).read_text()) | {"format": 2}
    (folder / LAYOUT_FILE).write_text(json.dumps(layout))
    with pytest.raises(IndexFormatError, match="has format 2, this version reads 1"):
        open_index(folder)


def test_a_shard_of_another_encoder_is_refused(folder: Path, samples: Samples) -> None:
    reshard(folder, 2)
    place = shard_folders(folder)[1]
    shutil.rmtree(place)
    TokenIndex(samples.dimension, "another").save(place)
    with pytest.raises(IndexFormatError, match="shard 0 was made by made-up, shard 1 by another: run propcite reindex"):
        open_index(folder)


def test_a_shard_that_is_there_twice_is_refused(folder: Path) -> None:
    reshard(folder, 2)
    first, second = shard_folders(folder)
    kept = second.rename(folder / "kept")
    shutil.copytree(first, second)
    with pytest.raises(IndexFormatError, match="shards 0 and 1 hold the same passages: bring back the folder"):
        open_index(folder)
    shutil.rmtree(second)
    kept.rename(second)
    assert open_index(folder).ids()
    Layout((first.name, first.name)).write(folder)
    with pytest.raises(IndexFormatError, match=f"{LAYOUT_FILE} is damaged: run propcite reindex"):
        open_index(folder)


def test_a_shard_with_other_centroids_is_read_as_a_whole_until_it_has_the_same(folder: Path, samples: Samples) -> None:
    reshard(folder, 2, regime="tokens")
    queries, weights = samples.queries(samples.vectors(5), 5), np.ones((1, 8), np.float32)
    expected = [open_index(folder, regime="exact").search(query, weights, k=5) for query in queries]
    place = shard_folders(folder)[1]
    (place / read_manifest(place).centroids).unlink()
    repair_folder(folder, check_folder(folder), regime="tokens")
    index = opened(folder)
    assert len({read_manifest(place).centroids for place in shard_folders(folder)}) == 2
    assert [index.search(query, weights, k=5) for query in queries] == expected
    index.save(folder)
    assert len({read_manifest(place).centroids for place in shard_folders(folder)}) == 1


def test_another_writer_is_noticed(folder: Path) -> None:
    reshard(folder, 2)
    first, second = open_index(folder), open_index(folder)
    first.delete(["p1"])
    first.save(folder)
    second.delete(["p1"])
    with pytest.raises(IndexFormatError, match="another process has changed"):
        second.save(folder)


def test_a_snapshot_waits_for_a_division(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The index is divided while its first shard is copied."""
    reshard(folder, 2)
    before, real = contents(folder), snapshots.snapshot
    divided = iter([4])

    def dividing(*pair: Path) -> bool:
        for number in divided:
            reshard(folder, number)
        return real(*pair)

    monkeypatch.setattr("propcite.retrieval.sharding.folder.snapshot", dividing)
    assert snapshot_folder(folder, tmp_path / "copy")
    assert contents(tmp_path / "copy") == before
    assert len(shard_folders(tmp_path / "copy")) == 4


def test_the_number_of_shards_is_checked(folder: Path) -> None:
    for number in (0, -1, 257):
        with pytest.raises(ValueError, match=f"between 1 and 256, got {number}"):
            reshard(folder, number)
