"""A collection whose index is in several shards works as any other, from ingesting to restoring a backup."""

from __future__ import annotations

import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from attacking import opened_again, small_library
from commanded import Propcite, commanded
from paths import SUPPORT
from small_disks import fill, small_disk
from word_encoder import WordEncoder

from propcite.app import parts as bootstrap
from propcite.app.errors import InUseError
from propcite.app.ingest.sources import Upload
from propcite.app.library.backup import create_backup, restore_backup
from propcite.app.library.doctor import Doctor, mend
from propcite.app.library.shards import Shards
from propcite.app.parts import Parts
from propcite.app.settings import load_settings
from propcite.retrieval.errors import IndexFormatError, PropCiteError
from propcite.retrieval.sharding.layout import LAYOUT_FILE, shard_folders

NUM = 12
TEXTS = {f"{n}.txt": f"The gate number {n} weighs 30{n} tonnes. It is painted in colour {n}." for n in range(NUM)}
QUERY = "The gate number 7 weighs"


@pytest.fixture
def parts(tmp_path: Path) -> Parts:
    return small_library(tmp_path / "data", TEXTS)


def hits(parts: Parts) -> list[tuple[str, float]]:
    retriever = parts.pipeline(parts.library.collection("harbour")).retriever()
    return [(hit.passage.text, hit.score) for hit in retriever.search(QUERY, k=NUM)]


def test_a_divided_collection_answers_as_before_and_goes_on_growing(parts: Parts) -> None:
    harbour = parts.library.collection("harbour")
    workspace, before = parts.workspace(harbour), hits(parts)
    assert len(before) == NUM
    Shards(workspace).divide(3)
    assert hits(parts) == before
    assert len(Shards(workspace).folders()) == len(Shards(workspace).stats()) == 3
    outcomes = list(parts.ingester(harbour).ingest([Upload("new.txt", b"The gate number 7 weighs nothing.")]))
    assert [outcome.state for outcome in outcomes] == ["added"]
    assert len(hits(parts)) == NUM
    assert "nothing" in str(hits(parts))
    parts.ingester(harbour).remove(parts.library.find_document(harbour, "new.txt").id)
    assert hits(parts) == before
    assert workspace.faults() == []
    assert workspace.stats() is not None


def test_a_rebuilt_index_keeps_its_shards_and_their_disks(parts: Parts, tmp_path: Path) -> None:
    workspace, before = parts.workspace(parts.library.collection("harbour")), hits(parts)
    Shards(workspace).divide(2)
    Shards(workspace).move(1, tmp_path / "disk")
    assert workspace.rebuild(WordEncoder()) == NUM
    assert [path.parent for path in Shards(workspace).folders()] == [workspace.folder, tmp_path / "disk"]
    assert hits(parts) == before
    Shards(workspace).divide(1)
    assert hits(parts) == before
    assert list((tmp_path / "disk").iterdir()) == []
    Shards(workspace).divide(2)
    Shards(workspace).move(0, tmp_path / "disk")
    workspace.remove()
    assert list((tmp_path / "disk").iterdir()) == []


@pytest.mark.parametrize("lost", ["a shard", "all shards", "the layout"])
def test_what_is_lost_is_repaired_from_the_library(parts: Parts, lost: str) -> None:
    workspace, before = parts.workspace(parts.library.collection("harbour")), hits(parts)
    Shards(workspace).divide(2)
    for number, folder in enumerate(Shards(workspace).folders()):
        if lost == "all shards" or (lost == "a shard" and number):
            shutil.rmtree(folder)
    if lost == "the layout":
        (workspace.folder / LAYOUT_FILE).write_text("{")
    with pytest.raises(IndexFormatError, match=r"(bring its folder back|is damaged).*propcite reindex --collection"):
        parts.workspace(parts.library.collection("harbour")).index(parts.encoder)
    parts.__dict__["encoder"] = WordEncoder()
    done, left = mend(list(Doctor(parts).findings()))
    assert done
    assert left == []
    assert hits(parts) == before
    assert len(shard_folders(workspace.folder)) == (2 if lost == "a shard" else 1)


def test_a_full_disk_of_one_shard_leaves_all_shards_as_they_were(parts: Parts, tmp_path: Path) -> None:
    """Each try has one more free page until the documents fit."""
    harbour, place = parts.library.collection("harbour"), tmp_path / "disk"
    Shards(parts.workspace(harbour)).divide(2)
    place.mkdir()
    files = [Upload(f"new-{n}.txt", f"The gate number {n} weighs nothing.".encode()) for n in range(20)]
    with small_disk(place) as disk:
        Shards(parts.workspace(harbour)).move(1, disk)
        before, ids, free, failed = hits(parts), set(parts.library.passage_ids(harbour)), 0, 0
        while True:
            fill(disk, pages=free)
            try:
                outcomes = list(parts.ingester(harbour).ingest(files))
                break
            except PropCiteError as error:
                said = str(error)
            assert ("No space left on device" in said, said.count("\n")) == (True, 0)
            failed, free = failed + 1, free + 1
            assert hits(parts) == before
            assert set(parts.library.passage_ids(harbour)) == ids
            assert parts.workspace(harbour).faults() == []
            (disk / "ballast").unlink()
        assert failed
        assert {outcome.state for outcome in outcomes} == {"added"}
        assert list(Doctor(parts, [harbour]).findings()) == []
        assert hits(parts) != before
        Shards(parts.workspace(harbour)).move(1, parts.workspace(harbour).folder)


def test_a_backup_contains_shards_from_all_disks(parts: Parts, tmp_path: Path) -> None:
    workspace, before = parts.workspace(parts.library.collection("harbour")), hits(parts)
    Shards(workspace).divide(2)
    Shards(workspace).move(1, tmp_path / "disk")
    summary = create_backup(parts.library, parts.settings.data_dir, tmp_path / "backup")
    assert (summary.indexes, summary.notes) == (1, ())
    shutil.rmtree(tmp_path / "disk")
    other = Parts(load_settings(data_dir=tmp_path / "other", splitter="rules", judge="none"))
    other.__dict__["encoder"] = WordEncoder()
    done = restore_backup(tmp_path / "backup", lambda: other.library, other.settings.data_dir)
    assert done.without_index == ()
    assert hits(other) == before
    folders = Shards(other.workspace(other.library.collection("harbour"))).folders()
    assert len(folders) == 2
    assert all(tmp_path / "other" in folder.parents for folder in folders)
    other.library.close()


@pytest.mark.parametrize("step", ["write_merged", "put_shards", "remove_leftovers"])
@pytest.mark.parametrize("number", [2, 1])
def test_a_killed_division_loses_nothing(parts: Parts, step: str, number: int) -> None:
    """It has no shards yet, or three already; after the last step it has the new ones."""
    workspace, before = parts.workspace(parts.library.collection("harbour")), hits(parts)
    if number == 1:
        Shards(workspace).divide(3)
    if (step, number) == ("put_shards", 1):
        step = "_put_whole"
    parts.library.close()
    command = [sys.executable, SUPPORT / "killed_division.py", parts.settings.data_dir, str(number), step]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    if (step, number) != ("write_merged", 1):  # only one shard is written
        assert done.returncode == -signal.SIGKILL, done.stderr
    again = opened_again(parts)
    assert hits(again) == before
    mend(list(Doctor(again).findings()))
    assert list(Doctor(again).findings()) == []
    Shards(again.workspace(again.library.collection("harbour"))).divide(4)
    assert hits(again) == before
    assert list(Doctor(again).findings()) == []
    again.library.close()


def test_a_collection_that_another_process_changes_is_not_divided(parts: Parts) -> None:
    workspace = parts.workspace(parts.library.collection("harbour"))
    with workspace.write_lock(), pytest.raises(InUseError, match="another process is changing 'harbour'"):
        Shards(parts.workspace(parts.library.collection("harbour"))).divide(2)
    assert len(Shards(workspace).folders()) == 1


def test_the_commands_show_divide_and_move(
    parts: Parts, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    parts.library.create_collection("empty")
    monkeypatch.setattr(bootstrap, "build_encoder", lambda _: WordEncoder())
    monkeypatch.setenv("PROPCITE_DATA_DIR", str(parts.settings.data_dir))
    monkeypatch.setenv("PROPCITE_COLLECTION", "harbour")
    propcite: Propcite = commanded(monkeypatch, capsys)
    [whole] = propcite("shards", "show", "--json").json["shards"]
    assert (whole["shard"], whole["passages"]) == (0, NUM)
    said = propcite("shards", "split", "2", "--json").json
    assert said["shards"] == 2
    assert sum(said["passages"]) == NUM
    assert "harbour: 4 shards with " in propcite("shards", "split", "4").err
    assert propcite("index", "stats", "--json").json["shards"] == 4
    disk = tmp_path / "disk"
    assert propcite("shards", "move", "3", str(disk), "--json").json["folder"].startswith(str(disk))
    assert propcite("shards", "show", "--json").json["shards"][3]["folder"].startswith(str(disk))
    assert "passages" in propcite("shards", "show").out
    assert propcite("shards", "move", "9", str(disk)).err == "propcite: there are the shards 0 to 3, not 9\n"
    assert "harbour: one piece with 12 passages" in propcite("shards", "split", "1").err
    refused = propcite("shards", "move", "0", str(disk))
    assert (refused.code, "divide it first, propcite shards split 2" in refused.err) == (2, True)
    assert propcite("shards", "split", "257").code == 2
    nothing = propcite("shards", "show", "-c", "empty")
    assert (nothing.code, nothing.err) == (1, "empty has no index yet: propcite ingest PATH\n")
    assert "has no index to divide yet: propcite ingest PATH" in propcite("shards", "split", "2", "-c", "empty").err
