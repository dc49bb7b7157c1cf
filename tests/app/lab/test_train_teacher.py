"""`propcite train teacher` and `train encoder --teacher`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from commanded import Propcite
from quay_rows import train, write_rows

from propcite.app.lab.training import train_teacher
from propcite.retrieval.errors import PropCiteError


@pytest.mark.parametrize("kind", ["marked", "joint"])
def test_a_teacher_is_trained_and_used(kind: str, tmp_path: Path) -> None:
    rows, teacher = write_rows(tmp_path, 4), tmp_path / "teacher"
    few = ("--steps", "2", "--batch-size", "2")
    made = train("teacher", rows, "--out", teacher, "--kind", kind, *few)
    assert made == {"teacher": str(teacher), "kind": kind, "steps": 2}
    assert json.loads((teacher / "teacher.json").read_text("utf-8"))["rows"] == 4
    paths = train("encoder", rows, "--out", tmp_path / "made", "--teacher", teacher, *few)
    assert Path(paths["difference"]).exists()


def test_a_folder_without_a_teacher_is_an_error_before_anything_is_read(propcite: Propcite, tmp_path: Path) -> None:
    refused = propcite("train", "encoder", write_rows(tmp_path), "--out", tmp_path / "made", "--teacher", tmp_path)
    assert refused.code == 2
    assert "cannot read a teacher from" in refused.err
    assert not (tmp_path / "made").exists()


def test_an_unfinished_training_is_not_overwritten(tmp_path: Path) -> None:
    folder = tmp_path / "work"
    folder.mkdir()
    (folder / "teacher.pt").write_bytes(b"of an interrupted run")
    with pytest.raises(PropCiteError, match="unfinished training: go on with --resume"):
        train_teacher([write_rows(tmp_path)], tmp_path / "made", folder, "", "", resume=False, note=print, steps=1)
    with pytest.raises(PropCiteError, match="cannot read"):
        train_teacher([write_rows(tmp_path)], tmp_path / "made", folder, "", "", resume=True, note=print, steps=1)
