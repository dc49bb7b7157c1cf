"""`propcite train teacher` and `train encoder --teacher` as a person runs them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from quay_rows import propcite, rows_file

from propcite.app.lab.training import train_teacher
from propcite.retrieval.errors import PropCiteError


@pytest.mark.parametrize("kind", ["marked", "joint"])
def test_a_teacher_is_made_and_teaches(kind: str, tmp_path: Path) -> None:
    file, teacher = str(rows_file(tmp_path, 4)), str(tmp_path / "teacher")
    few = ["--steps", "2", "--batch-size", "2"]
    done = propcite("train", "teacher", file, "--out", teacher, "--kind", kind, *few)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == {"teacher": teacher, "kind": kind, "steps": 2}
    assert json.loads((tmp_path / "teacher" / "teacher.json").read_text("utf-8"))["rows"] == 4
    made = propcite("train", "encoder", file, "--out", str(tmp_path / "made"), "--teacher", teacher, *few)
    assert made.returncode == 0, made.stderr
    assert Path(json.loads(made.stdout)["difference"]).exists()


def test_a_folder_without_a_teacher_is_told_before_anything_is_read(tmp_path: Path) -> None:
    done = propcite(
        "train", "encoder", str(rows_file(tmp_path)), "--out", str(tmp_path / "made"), "--teacher", str(tmp_path)
    )
    assert done.returncode == 2
    assert "holds no teacher" in done.stderr
    assert not (tmp_path / "made").exists()


def test_an_unfinished_teaching_is_not_begun_anew_unasked(tmp_path: Path) -> None:
    folder = tmp_path / "work"
    folder.mkdir()
    (folder / "teacher.pt").write_bytes(b"of an interrupted run")
    with pytest.raises(PropCiteError, match="unfinished training: go on with --resume"):
        train_teacher([rows_file(tmp_path)], tmp_path / "made", folder, "", "", resume=False, note=print, steps=1)
    with pytest.raises(PropCiteError, match="cannot be read"):
        train_teacher([rows_file(tmp_path)], tmp_path / "made", folder, "", "", resume=True, note=print, steps=1)
