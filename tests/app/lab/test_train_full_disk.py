"""A disk that fills up while a model is trained: one line, the checkpoint stays, and with room it goes on."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import tiny_models as tiny
from quay_rows import rows_file

from propcite.app.lab.training import train_model, train_teacher
from propcite.retrieval.encoding.encoder import Encoder
from propcite.retrieval.errors import PropCiteError
from propcite.retrieval.splitter import passage_from_text

FEW = {"steps": 2, "passage_steps": 2, "trainings": 1, "batch_size": 4}
TEXT = passage_from_text("p", "Quay 1 was built in 1901. It is 100 metres long.", "Quays")
PAGE, ROOM = 4096, 8 << 20


@contextmanager
def disk(place: Path, room: int = ROOM) -> Iterator[Path]:
    """A new one each time: files that are still mapped into memory take room after they are deleted."""
    place.mkdir()
    if mount(place, room):
        pytest.skip("mounting a small disk needs root's rights")
    try:
        yield place
    finally:
        subprocess.run(["umount", "--lazy", place], check=True)


def mount(place: Path, room: int, *options: str) -> int:
    size = ",".join([*options, f"size={max(room // PAGE, 1) * PAGE}"])
    return subprocess.run(["mount", "-t", "tmpfs", "-o", size, "tmpfs", place], check=False).returncode


def test_a_model_that_finds_no_room_goes_on_where_it_stopped(tmp_path: Path) -> None:
    """Less room than it takes, by ever less: each of what it writes is the one that fails."""
    base = str(tiny.save_backbone(tmp_path / "base", tiny.word_piece_tokenizer()))
    rows = rows_file(tmp_path)

    def train(out: Path, *, resume: bool) -> str:
        return str(train_model([rows], out, base, "cpu", resume=resume, note=print, **FEW)["model"])

    def vectors(out: Path) -> list[list[float]]:
        (read,) = Encoder(train(out, resume=True), precision="float32").encode_passages([TEXT])
        return [[float(x) for x in row] for row in read.vectors]

    with disk(tmp_path / "roomy") as roomy:
        train(roomy / "made", resume=False)
        taken = shutil.disk_usage(roomy).used
        whole, failed = vectors(roomy / "made"), set()
    for share in (0, 0.02, 0.2, 0.35, 0.5, 0.65, 0.8, 0.95):
        with disk(tmp_path / f"disk{share}", int(share * taken)) as small:
            out = small / "made"
            with pytest.raises(PropCiteError, match=r"cannot be written .*: free space") as told:
                train(out, resume=False)
            assert "\n" not in str(told.value)
            failed.add(str(told.value).partition(" cannot")[0].removeprefix(str(small)))
            assert not list(out.rglob("*.new"))
            assert not mount(small, ROOM, "remount")
            assert vectors(out) == whole
    assert len(failed) >= 3, "several of its files were the one without room"


def test_a_teacher_without_room_goes_on_too(tmp_path: Path) -> None:
    base, rows = str(tiny.save_backbone(tmp_path / "base", tiny.word_piece_tokenizer())), rows_file(tmp_path)
    given = {"note": print, "steps": 2, "batch_size": 4}
    work = tmp_path / "work"
    with disk(tmp_path / "disk", 2 * PAGE) as small:
        with pytest.raises(PropCiteError, match=r"cannot be written .*: free space"):
            train_teacher([rows], small / "teacher", work, base, "cpu", kind="joint", resume=False, **given)
        assert not mount(small, ROOM, "remount")
        train_teacher([rows], small / "teacher", work, base, "cpu", kind="joint", resume=True, **given)
        assert (small / "teacher" / "teacher.json").exists()
