"""A disk that is full during a training: an error of one line, the checkpoint stays, and the training resumes."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import tiny_models as tiny
from quay_rows import write_rows

from propcite.app.lab.training import train_model, train_teacher
from propcite.retrieval.encoding.encoder import Encoder
from propcite.retrieval.errors import PropCiteError
from propcite.retrieval.splitter import passage_from_text

FEW = {"steps": 2, "passage_steps": 2, "trainings": 1, "batch_size": 4}
TEXT = passage_from_text("p", "Quay 1 was built in 1901. It is 100 metres long.", "Quays")
PAGE, SIZE = 4096, 8 << 20


@contextmanager
def disk(path: Path, size: int = SIZE) -> Iterator[Path]:
    """Mount a small disk, a new one each time: deleted files still take space while they are mapped into memory."""
    path.mkdir()
    if mount(path, size):
        pytest.skip("mounting a small disk needs root's rights")
    try:
        yield path
    finally:
        subprocess.run(["umount", "--lazy", path], check=True)


def mount(path: Path, size: int, *options: str) -> int:
    words = ",".join([*options, f"size={max(size // PAGE, 1) * PAGE}"])
    return subprocess.run(["mount", "-t", "tmpfs", "-o", words, "tmpfs", path], check=False).returncode


def test_a_model_resumes_after_the_disk_was_full(tmp_path: Path) -> None:
    """Try disks of several sizes below the required one, so that different files fail."""
    base = str(tiny.save_backbone(tmp_path / "base", tiny.word_piece_tokenizer()))
    rows = write_rows(tmp_path)

    def train(out: Path, *, resume: bool) -> str:
        return str(train_model([rows], out, base, "cpu", resume=resume, note=print, **FEW)["model"])

    def vectors(out: Path) -> list[list[float]]:
        (tokens,) = Encoder(train(out, resume=True), precision="float32").encode_passages([TEXT])
        return [[float(x) for x in row] for row in tokens.vectors]

    with disk(tmp_path / "roomy") as roomy:
        train(roomy / "made", resume=False)
        required = shutil.disk_usage(roomy).used
        whole, failed = vectors(roomy / "made"), set()
    for share in (0, 0.02, 0.2, 0.35, 0.5, 0.65, 0.8, 0.95):
        with disk(tmp_path / f"disk{share}", int(share * required)) as small:
            out = small / "made"
            with pytest.raises(PropCiteError, match=r"cannot be written .*: free space") as caught:
                train(out, resume=False)
            assert "\n" not in str(caught.value)
            failed.add(str(caught.value).partition(" cannot")[0].removeprefix(str(small)))
            assert not list(out.rglob("*.new"))
            assert not mount(small, SIZE, "remount")
            assert vectors(out) == whole
    assert len(failed) >= 3, "the disk was full at different files"


def test_a_teacher_resumes_after_the_disk_was_full(tmp_path: Path) -> None:
    base, rows = str(tiny.save_backbone(tmp_path / "base", tiny.word_piece_tokenizer())), write_rows(tmp_path)
    options = {"note": print, "steps": 2, "batch_size": 4}
    work = tmp_path / "work"
    with disk(tmp_path / "disk", 2 * PAGE) as small:
        with pytest.raises(PropCiteError, match=r"cannot be written .*: free space"):
            train_teacher([rows], small / "teacher", work, base, "cpu", kind="joint", resume=False, **options)
        assert not mount(small, SIZE, "remount")
        train_teacher([rows], small / "teacher", work, base, "cpu", kind="joint", resume=True, **options)
        assert (small / "teacher" / "teacher.json").exists()
