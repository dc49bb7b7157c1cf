"""`propcite train encoder` as a person runs it: rows in, a model that the settings take out; old work is told."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from app.training import train_encoder
from retrieval.errors import PropCiteError, RetrievalError

ROOT = Path(__file__).parents[2]
OPTIONS = {"steps": 2, "batch_size": 3, "learning_rate": 1e-4}


def rows_file(folder: Path) -> Path:
    file = folder / "rows.jsonl"
    rows = [
        {
            "query": f"How long is quay {number}?",
            "title": "Quays",
            "sentences": [f"Quay {number} was built in 19{number:02}.", f"It is {number}00 metres long."],
            "positive_sentence_ids": [1],
            "source": "quays",
        }
        for number in range(1, 7)
    ]
    file.write_text("\n".join(map(json.dumps, rows)), "utf-8")
    return file


def test_rows_become_a_model_that_the_settings_take(tmp_path: Path) -> None:
    words = [
        "train",
        "encoder",
        str(rows_file(tmp_path)),
        "--out",
        str(tmp_path / "made"),
        "--steps",
        "2",
        "--batch-size",
        "3",
    ]
    done = subprocess.run(
        [sys.executable, "-m", "app.cli", *words],
        env={**os.environ, "PYTHONPATH": str(ROOT), "PROPCITE_DATA_DIR": str(tmp_path / "data")},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    made = json.loads(done.stdout)
    assert made["steps"] == 2
    assert Path(made["difference"]).stat().st_size < 25 * 2**20
    line = json.dumps({"query": "How long is it?", "sentences": ["It is long.", "It is blue."]})
    for encoder in (made["model"], made["difference"]):
        ranked = subprocess.run(
            [sys.executable, "-m", "app.cli", "rank"],
            env={**os.environ, "PYTHONPATH": str(ROOT), "PROPCITE_ENCODER": encoder},
            input=line,
            capture_output=True,
            text=True,
            timeout=300,
        )
        long, blue = json.loads(ranked.stdout)["scores"]
        assert long > blue


def test_what_was_left_unfinished_is_not_begun_anew_unasked(tmp_path: Path) -> None:
    file, notes = rows_file(tmp_path), []
    folder = tmp_path / "work"
    train_encoder([file], tmp_path / "made", folder, "", "", resume=True, note=notes.append, **OPTIONS)
    assert any("holds no checkpoint: from the start" in note for note in notes)
    assert not (folder / "checkpoint.pt").exists()  # what is finished leaves none
    (folder / "checkpoint.pt").write_bytes(b"of an interrupted run")
    with pytest.raises(PropCiteError, match=r"unfinished training: go on with --resume"):
        train_encoder([file], tmp_path / "made", folder, "", "", resume=False, note=notes.append, **OPTIONS)
    with pytest.raises(RetrievalError, match=r"cannot be read .* without --resume"):
        train_encoder([file], tmp_path / "made", folder, "", "", resume=True, note=notes.append, **OPTIONS)


def test_files_that_teach_nothing_are_told(tmp_path: Path) -> None:
    file = tmp_path / "rows.jsonl"
    file.write_text(json.dumps({"query": "q", "sentences": ["one"], "positive_sentence_ids": [0]}), "utf-8")
    with pytest.raises(RetrievalError, match="nothing to learn"):
        train_encoder([file], tmp_path / "made", None, "", "", resume=False, note=print, **OPTIONS)
