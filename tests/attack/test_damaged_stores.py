"""Damage to the database, the index and training checkpoints: one line, and never another's code."""

from __future__ import annotations

import pickle
from pathlib import Path
from random import Random

import pytest
import torch
from attacking import EXAMPLES, opened_again, small_library
from word_encoder import WordEncoder

from propcite.app.errors import StoreError
from propcite.app.library.backup import create_backup, restore_backup
from propcite.app.library.store import Library
from propcite.app.parts import Parts
from propcite.app.settings import DATABASE_FILE
from propcite.retrieval.errors import PropCiteError
from propcite.retrieval.index.integrity import check_index


def flipped(data: bytes, random: Random, count: int, end: int = 0) -> bytes:
    changed = bytearray(data)
    for _ in range(count):
        changed[random.randrange(end or len(data))] ^= 1 << random.randrange(8)
    return bytes(changed)


def read_everything(parts: Parts) -> None:
    library = parts.library
    for collection in library.collections():
        for info in library.documents(collection):
            library.document(info.id)
        library.passages(library.passage_ids(collection))
        library.versions(collection)
        library.failures(collection)
    for answer in library.answers():
        library.answer(answer.id)


@pytest.mark.parametrize("count", [3, 12, 200])
def test_a_damaged_database_is_reported_in_one_line(tmp_path: Path, count: int) -> None:
    parts = small_library(tmp_path / "data")
    parts.library.close()
    file = tmp_path / "data" / DATABASE_FILE
    whole = file.read_bytes()
    for seed in range(EXAMPLES):
        for other in file.parent.glob(f"{DATABASE_FILE}-*"):
            other.unlink()
        file.write_bytes(flipped(whole, Random(seed), count))
        again = None
        try:
            again = opened_again(parts)
            read_everything(again)
        except PropCiteError as error:
            assert "\n" not in str(error)  # noqa: PT017
        finally:
            if again is not None and "library" in again.__dict__:
                again.library.close()


@pytest.mark.parametrize("lost", ["emptied", "deleted"])
def test_a_lost_database_is_reported_as_a_loss_and_comes_back(tmp_path: Path, lost: str) -> None:
    parts = small_library(tmp_path / "data")
    create_backup(parts.library, tmp_path / "data", tmp_path / "backup")
    parts.library.close()
    for file in (tmp_path / "data").glob(f"{DATABASE_FILE}*"):
        file.write_bytes(b"") if lost == "emptied" else file.unlink()
    with pytest.raises(StoreError, match=r"is (empty|gone), and the indexes of 1 collections.*propcite restore FILE"):
        _ = Parts(parts.settings).library
    restore_backup(tmp_path / "backup", lambda: Library(parts.settings.database_url), tmp_path / "data")
    again = opened_again(parts)
    assert [c.num_documents for c in again.library.collections()] == [2]
    assert again.workspace(again.library.collection("harbour")).faults() == []


def test_a_new_data_directory_is_no_loss(tmp_path: Path) -> None:
    assert small_library(tmp_path / "data", {}).library.collections()[0].num_documents == 0


def test_flips_in_the_first_bytes_of_a_segment_are_found_and_mended(tmp_path: Path) -> None:
    parts = small_library(tmp_path / "data")
    workspace = parts.workspace(parts.library.collection("harbour"))
    (segment,) = workspace.folder.glob("segment-*.tokens")
    whole = segment.read_bytes()
    for seed in range(EXAMPLES):
        segment.write_bytes(flipped(whole, Random(seed), 1, end=64))
        if segment.read_bytes() != whole:
            assert [fault.file for fault in check_index(workspace.folder)] == [segment.name]
    assert workspace.repair(WordEncoder) == 0  # no passage was damaged, so none is encoded again
    assert workspace.faults() == []


class Evil:
    """Runs code where it is unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[object, tuple[object, ...]]:
        return Path.touch, (self.path,)


def test_no_checkpoint_runs_code(tmp_path: Path) -> None:
    from propcite.retrieval.errors import RetrievalError
    from propcite.retrieval.training.loop import TrainingLoop

    loop = TrainingLoop.__new__(type("Loop", (TrainingLoop,), {"next_loss": lambda _: torch.zeros(())}))
    loop._checkpoint, loop._inputs = tmp_path / "checkpoint.pt", {}
    torch.save({"given": Evil(tmp_path / "ran")}, loop._checkpoint)
    assert pickle.loads(pickle.dumps(Evil(tmp_path / "ran"))) is None  # it does run where pickles are trusted
    (tmp_path / "ran").unlink()
    with pytest.raises(RetrievalError, match="remove it and train without --resume"):
        loop._load_checkpoint()
    assert not (tmp_path / "ran").exists()
